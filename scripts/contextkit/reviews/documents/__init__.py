"""The stored documents."""
