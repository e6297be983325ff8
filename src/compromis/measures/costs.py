"""What errors cost: a matrix of costs applied to counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence import Counts


def read_cost(cost: Any, labels: Sequence[Label]) -> NDArray[np.float64]:
    """Return a checked K x K matrix of costs, rows the truth, columns the decision; negative costs are gains.

    A pandas frame whose rows and columns are named after the classes is put into their order.
    """
    classes = len(labels)
    if hasattr(cost, "loc") and set(cost.index) == set(cost.columns) == set(labels):
        cost = cost.loc[list(labels), list(labels)]
    try:
        matrix = np.array(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a cost matrix holds {classes} x {classes} numbers; found something else") from None
    if matrix.shape != (classes, classes):
        raise InputError(
            f"a cost matrix for {classes} classes has shape ({classes}, {classes}), got {matrix.shape}; rows are the truth"
        )
    if not np.all(np.isfinite(matrix)):
        raise InputError("costs must be finite; for 'never' write a large number")
    return matrix


def total_cost(counts: Counts, cost: NDArray[np.float64]) -> float:
    """Return the sum of the costs of all rows."""
    return float((counts.matrix * cost).sum())


def average_cost(counts: Counts, cost: NDArray[np.float64]) -> float:
    """Return the expected cost of a row."""
    return total_cost(counts, cost) / counts.total if counts.total else float("nan")
