"""What is done with events and documents together."""
