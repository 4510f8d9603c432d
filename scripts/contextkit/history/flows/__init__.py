"""The operations on events and documents."""
