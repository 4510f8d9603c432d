"""Summarize a long text in few tokens, facts first: `engine.tell`, with one module per kind."""
