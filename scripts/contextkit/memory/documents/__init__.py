"""The documents of external memory and their formats."""
