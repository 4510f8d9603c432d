"""The commands of the external memory script."""
