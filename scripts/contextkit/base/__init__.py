"""Code that needs no document: the command line, files, git, names, settings, templates, text."""
