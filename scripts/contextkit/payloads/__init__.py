"""Payloads: long output on disk, a receipt in the context."""
