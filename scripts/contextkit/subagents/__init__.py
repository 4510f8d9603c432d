"""Subagents: started with a capsule, watched, finished.

documents/registry                     the rows
flows/launch, sandboxes                check everything, make the place, start it
flows/prompts                          what it reads
flows/background                       its process, and how that ended
flows/watch                            its state, read from its files and shown
flows/lifecycle                        its course in its row: what became of it, abort, cleanup
flows/results                          its report, and what follows its end
"""
