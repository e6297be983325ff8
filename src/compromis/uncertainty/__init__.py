"""Uncertainty from evidence: intervals, bands and paired tests, at a cost that does not grow with the number of rows."""
