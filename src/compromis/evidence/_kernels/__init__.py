"""Compiled loops over rows, votes and cuts."""
