"""The toolkit as a whole: all systems at once."""
