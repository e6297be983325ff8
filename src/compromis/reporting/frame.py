"""The numbers of each class as a data frame of the user's kind."""

from __future__ import annotations

from dataclasses import fields
from importlib.util import find_spec
from typing import Any

from compromis.errors import InputError, MissingExtra
from compromis.reporting.evaluation import Evaluation
from compromis.reporting.summaries import ClassSummary

BACKENDS = ("pandas", "polars", "pyarrow")


def to_frame(evaluation: Evaluation, backend: str | None) -> Any:
    """Return one row per class, one column per number."""
    import narwhals as nw

    if backend is not None and backend not in BACKENDS:
        raise InputError(f"there is no backend {backend!r}; choose one of {', '.join(BACKENDS)}")
    chosen = backend or next((name for name in BACKENDS if find_spec(name)), None)
    if chosen is None:
        raise MissingExtra(
            "a data frame needs pandas, polars or pyarrow; install one, for example with: pip install pandas"
        )
    rows = evaluation.per_class.values()
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in fields(ClassSummary)}
    frame = nw.from_dict(columns, backend=chosen)  # type: ignore[arg-type]
    return frame.to_native()
