"""Subagents: started with a capsule, watched, finished.

documents/registry                     the rows
flows/launch, prompts, sandboxes       check everything, assemble the prompt, make the place
flows/background                       the process, and how it ended
flows/watch, lifecycle                 its state: read and shown, written into its row
flows/finish, endings                  what it hands in, and what follows its end
flows/briefs                           the context of a subagent that a host starts by itself
"""
