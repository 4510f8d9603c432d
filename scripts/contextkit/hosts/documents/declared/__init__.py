"""Host declarations, one module per host; no other code names a host."""
