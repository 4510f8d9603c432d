"""All systems at once: what is stored, and from the ledger, what became of it and why."""
