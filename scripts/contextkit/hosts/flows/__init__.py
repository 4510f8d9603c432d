"""The operations on the documents."""
