"""The modules of regression."""
