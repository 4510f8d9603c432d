"""Reviews and verdicts: what many agents found, from the start of a run to its gate."""
