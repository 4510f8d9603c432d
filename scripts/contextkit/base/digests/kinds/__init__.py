"""The kinds of text. Each module here is one: `is_it(text)` and `units(text)`."""
