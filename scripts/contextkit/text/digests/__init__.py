"""Summarize a long text in few tokens, facts first: `engine.digest`, with one module per kind."""
