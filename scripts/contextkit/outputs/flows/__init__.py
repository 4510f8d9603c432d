"""The operations on the outputs."""
