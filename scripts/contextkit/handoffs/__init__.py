"""Handoffs: what one agent leaves for the next when the active agent changes."""
