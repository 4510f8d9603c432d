"""Does it help? Questions that the user's own model answers from what we hand over."""
