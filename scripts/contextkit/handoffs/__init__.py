"""Handoffs: what one agent leaves to the next when the active agent changes."""
