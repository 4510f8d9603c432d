"""Telling a long text in few tokens, fact first: `engine.tell`; each kind of text a module."""
