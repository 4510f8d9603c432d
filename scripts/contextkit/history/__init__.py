"""History: what was stored, delivered, read and used, and why; a search; a report page."""
