"""Hosts: hooks, adoption into a repository, doctor."""
