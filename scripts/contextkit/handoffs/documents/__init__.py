"""The documents of handoffs and the files they are read from."""
