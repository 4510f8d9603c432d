"""A host is declared in one module here, under its name; nothing elsewhere names it."""
