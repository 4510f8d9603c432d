"""The documents of handoffs."""
