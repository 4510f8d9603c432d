"""The kinds of text, one module each, with `confidence(text)` and `units(text)`."""
