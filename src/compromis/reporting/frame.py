"""The numbers of each class as a data frame of the user's kind."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from compromis.frames import make_frame
from compromis.reporting.evaluation import Evaluation
from compromis.reporting.summaries import ClassSummary


def to_frame(evaluation: Evaluation, backend: str | None) -> Any:
    """Return one row per class, one column per number."""
    rows = evaluation.per_class.values()
    return make_frame(
        {field.name: [getattr(row, field.name) for row in rows] for field in fields(ClassSummary)}, backend
    )
