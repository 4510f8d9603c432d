"""Handoffs: what one agent leaves for the next when the active agent changes.

documents/artifacts       what is left: its fields, how it is read and checked, where it is stored
documents/state           who is active in each session, and the order of its artifacts

flows/switch              write an artifact, then load the next agent
flows/work                what can be known about the work: branch, files, story, decisions
flows/fitting             what blocks, what carries over from the last artifact, and what is cut
flows/incoming            the next agent's context: artifacts, then its profile; what that saves
"""
