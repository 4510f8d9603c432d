"""The acts of `make demo`, one module a system."""
