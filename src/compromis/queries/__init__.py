"""Queries: small tables from data frames of any engine, computed where the rows are."""
