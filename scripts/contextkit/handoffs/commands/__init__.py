"""What the scripts offer."""
