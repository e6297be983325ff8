"""Costs of decisions as a person gives them: a matrix, a data frame, or a mapping of (true, predicted)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compromis._text import nearest, shown
from compromis._typing import Label
from compromis.errors import InputError
from compromis.labels import plain_label

AMOUNT = "amount"
"""Stands for the amount of each row among costs."""
LARGEST = 1e100
"""The largest importance or cost: sums and squares of such numbers stay within float64."""


def read_cost(cost: Any, labels: Sequence[Any] | None) -> tuple[tuple[Label, ...], tuple[tuple[float | str, ...], ...]]:
    """Return the classes that costs are of, and the costs as rows of the true class."""
    if cost is None:
        raise InputError("labels name the classes of a cost matrix; give cost too, or leave them out", "labels")
    names = None if labels is None else [plain_label(label) for label in labels]
    if isinstance(cost, Mapping):
        cost, names = _as_matrix(cost, names)
    elif hasattr(cost, "loc"):
        cost, names = read_named_matrix(cost, names, "cost")
    if names is None:
        raise InputError("a cost matrix needs labels=, its classes in the order of rows and columns", "labels")
    if len(set(names)) < len(names) or len(names) < 2:
        given = shown(names) if names else "none"
        raise InputError(f"the labels of a cost matrix are at least two different classes, got {given}", "labels")
    try:
        cells = np.array(cost, dtype=object)
        varies = np.array([[isinstance(cell, str) and cell == AMOUNT for cell in row] for row in cells], dtype=bool)
        matrix = np.where(varies, 0.0, cells).astype(np.float64) if cells.ndim == 2 else cells
    except (TypeError, ValueError):
        raise InputError(
            f"a cost matrix holds {len(names)} x {len(names)} numbers, or 'amount' for the amount of the row; found something else",
            "cost",
        ) from None
    if matrix.shape != (len(names), len(names)):
        raise InputError(
            f"a cost matrix for {len(names)} classes has shape ({len(names)}, {len(names)}), got {matrix.shape}; rows are the truth",
            "cost",
        )
    if not np.isfinite(matrix).all():
        raise InputError("costs must be finite; for 'never' write a large number", "cost")
    if np.abs(matrix).max() > LARGEST:
        raise InputError(
            f"costs are at most {LARGEST:g}, got {matrix.flat[np.abs(matrix).argmax()]:g}; scale them", "cost"
        )
    rows = zip(matrix.tolist(), varies, strict=True)
    return tuple(names), tuple(
        tuple(AMOUNT if of else cell for cell, of in zip(row, where, strict=True)) for row, where in rows
    )


def _as_matrix(cost: Mapping[Any, Any], names: list[Label] | None) -> tuple[list[list[Any]], list[Label]]:
    """Lay costs by (true, predicted) out as a matrix; pairs that are not named cost nothing."""
    for pair in cost:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise InputError(
                f"cost maps pairs (true class, predicted class) to numbers, got {pair!r} as a pair", "cost"
            )
    pairs = {(plain_label(true), plain_label(predicted)): value for (true, predicted), value in cost.items()}
    named = list(dict.fromkeys(label for pair in pairs for label in pair))
    unknown = [] if names is None else [label for label in named if label not in names]
    if unknown:
        raise InputError(f"cost names {unknown[0]!r}, labels do not{nearest(unknown[0], names or ())}", "labels")
    names = names or named
    return [[pairs.get((true, predicted), 0.0) for predicted in names] for true in names], names


def read_named_matrix(frame: Any, names: Sequence[Label] | None, parameter: str) -> tuple[Any, list[Label]]:
    """Put a data frame of pandas with the classes as its index and columns into their order; positions are no names."""
    index, columns = ([plain_label(label) for label in axis] for axis in (frame.index, frame.columns))
    if set(index) != set(columns) or set(index) != set(names or index):
        if names is not None and index == columns == [*range(len(names))]:
            return frame, [*names]
        wanted = "the same classes as" if names is None else f"the classes {shown(names)} as"
        raise InputError(
            f"{parameter} as a data frame has {wanted} its index, got {shown(index)}, and as its columns, got {shown(columns)}",
            parameter,
        )
    names = names or index
    rows, places = [index.index(label) for label in names], [columns.index(label) for label in names]
    return frame.iloc[rows, places], [*names]
