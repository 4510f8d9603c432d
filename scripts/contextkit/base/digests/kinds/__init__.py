"""The kinds of text, one module each, with `is_it(text)` and `units(text)`."""
