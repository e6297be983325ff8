"""Compiled searches for weights."""
