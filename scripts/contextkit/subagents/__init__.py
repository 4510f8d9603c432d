"""Subagents: started with a capsule, watched, finished.

documents/registry                     the rows, and where each subagent works
flows/launch                           check everything, make the place, start it
flows/prompts                          what it reads
flows/background                       its process, how that ended, and how it is shown
flows/lifecycle                        its course in its row: its state, its report, its end
"""
