"""Capsules, reminders and notebooks: what an agent hands to the one that takes over."""
