"""Reporting: one Evaluation, rendered as text, HTML, JSON or a frame. Renderers read numbers and compute nothing."""
