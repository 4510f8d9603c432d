"""The documents that this system stores."""
