"""Engines on text that know no document: digests, facts."""
