"""Estimators: all of the scikit-learn API."""
