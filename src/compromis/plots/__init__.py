"""Displays: each reads numbers and draws them with matplotlib, which is imported when something is drawn."""
