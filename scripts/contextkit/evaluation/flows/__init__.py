"""Which texts are tried, and the calls to the model."""
