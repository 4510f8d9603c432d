"""What is done with the documents."""
