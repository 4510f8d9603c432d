"""What the commands do with the documents."""
