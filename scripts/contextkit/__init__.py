"""contextkit: carry an agent's context to the next agent. The map is manuals/structure.md."""
