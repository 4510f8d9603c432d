"""The commands of the review scripts."""
