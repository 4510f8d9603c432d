"""Engines on text that know no document: blocks, digests, facts."""
