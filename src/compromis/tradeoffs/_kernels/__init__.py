"""Compiled hulls."""
