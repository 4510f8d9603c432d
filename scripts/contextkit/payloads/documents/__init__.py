"""The documents that are stored."""
