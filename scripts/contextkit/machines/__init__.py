"""Machines: sharing one context between a laptop, a sandbox, CI and a team."""
