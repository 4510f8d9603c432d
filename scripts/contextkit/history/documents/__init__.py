"""The search index: its tables and its query language."""
