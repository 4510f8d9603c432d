"""The index of what is stored."""
