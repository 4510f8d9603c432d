"""The toolkit as a whole: commands that span all systems."""
