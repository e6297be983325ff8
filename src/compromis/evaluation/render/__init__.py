"""The modules of render."""
