"""The modules of reports."""
