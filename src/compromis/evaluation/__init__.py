"""Evaluating: rows at the door, an Evaluation out."""
