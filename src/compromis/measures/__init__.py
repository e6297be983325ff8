"""Measures: pure functions of evidence. Values that are undefined are NaN."""
