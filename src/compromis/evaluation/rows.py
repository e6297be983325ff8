"""Rows of whatever holds them: arrays, frames, sparse matrices, lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError


def count_rows(values: Any, name: str) -> int:
    """Return the number of rows; `name` is what messages call the values."""
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 0:
        return int(shape[0])
    if hasattr(values, "__len__") and not isinstance(values, (str, bytes)):
        return len(values)
    raise InputError(f"{name} must be an array, frame, sparse matrix or list of rows, got {type(values).__name__}")


def take_rows(values: Any, positions: NDArray[np.int64]) -> Any:
    """Return the rows at `positions`, in the container they came in."""
    if hasattr(values, "iloc"):
        return values.iloc[positions]
    module = type(values).__module__.partition(".")[0]
    if module == "polars":
        return values[positions.tolist()] if values.__class__.__name__ == "Series" else values[positions.tolist(), :]
    if module == "pyarrow":
        return values.take(positions)
    if is_sparse(values):
        return values.tocsr()[positions]
    if isinstance(values, Sequence):
        return [values[row] for row in positions]
    return values[positions]


def is_sparse(values: Any) -> bool:
    """Whether the values are a matrix or array of scipy.sparse."""
    return hasattr(values, "tocsr") and hasattr(values, "nnz")
