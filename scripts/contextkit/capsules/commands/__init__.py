"""The commands that the scripts offer."""
