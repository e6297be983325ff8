"""Columns of text become labels, numbers and class scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compromis.engines.table import Column, Table
from compromis.errors import InputError, shown


def numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column as numbers; anything else is named with its row."""
    column = table.columns[name]
    try:
        return np.array(column, dtype=np.float64)
    except (TypeError, ValueError):
        row, value = next((row, value) for row, value in enumerate(column) if not _is_number(value))
        what = "nothing" if value is None else repr(value)
        raise InputError(
            f"column {name!r} of {table.source} must hold numbers, got {what} in data row {row + 1}"
        ) from None


def drop_missing(table: Table, names: Sequence[str], *, drop: bool) -> tuple[Table, int]:
    """Return the table without the rows in which a label is missing, and their number; refuse them unless told to `drop`."""
    missing = np.zeros(len(table), dtype=bool)
    for name in names:
        gaps = np.fromiter((value is None for value in table.columns[name]), dtype=bool, count=len(table))
        if gaps.any() and not drop:
            raise InputError(
                f"column {name!r} of {table.source} has {int(gaps.sum()):,} missing values (the first in data row "
                f"{int(gaps.argmax()) + 1}); fill them, or leave those rows out with --drop-missing"
            )
        missing |= gaps
    if not missing.any():
        return table, 0
    kept = np.flatnonzero(~missing).tolist()
    columns: dict[str, Column] = {name: [column[row] for row in kept] for name, column in table.columns.items()}
    weights = None if table.weights is None else [table.weights[row] for row in kept]
    return Table(table.source, columns, weights), int(missing.sum())


def score_matrix(table: Table, class_of: dict[str, str], classes: Sequence[str]) -> NDArray[np.float64]:
    """Return the scores with one column per class, in the order of `classes`."""
    column_of = {label: column for column, label in class_of.items()}
    lacking = [label for label in classes if label not in column_of]
    if lacking:
        raise InputError(f"there is no score column for {shown(lacking)}; the score columns are {shown(class_of)}")
    return np.column_stack([numbers(table, column_of[label]) for label in classes])


def _is_number(value: str | None) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True
