"""Machines: the same context on a laptop, in a sandbox, in CI, for a team."""
