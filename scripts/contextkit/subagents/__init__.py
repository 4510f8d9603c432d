"""Subagents: started with a capsule, watched, finished."""
