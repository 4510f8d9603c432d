"""History: what was stored, delivered, read and used; why; a search; a page that shows it."""
