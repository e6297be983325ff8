"""The door for numeric targets and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.arrays import on_host
from compromis.errors import InputError

LARGEST = 1e150
"""The square of anything larger, summed over rows, could overflow."""


def read_targets(values: Any, name: str) -> Floats:
    """Return one finite float64 number per row; `name` is what messages call the values."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(f"{name} must be a list, array or series of numbers, got {type(values).__name__}")
    targets = _as_floats(values, name)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise InputError(
            f"{name} must hold one number per row, got shape {targets.shape}; evaluate each output of a model by itself"
        )
    _refuse_unusable(targets, name)
    return targets


def check_same_targets(y_true: Any, y_pred: Any, truth: Floats, prediction: Floats, name: str = "y_pred") -> None:
    """Refuse targets and predictions of different rows, or of none."""
    if len(truth) != len(prediction):
        raise InputError(
            f"y_true has {len(truth):,} rows, {name} has {len(prediction):,}; they must describe the same rows"
        )
    if len(truth) == 0:
        raise InputError(f"y_true and {name} are empty; there is nothing to evaluate")
    first, second = (_row_labels(values) for values in (y_true, y_pred))
    if first is not None and second is not None and not first.equals(second):
        raise InputError(
            f"y_true and {name} have different pandas indexes; align them with reindex, "
            f"or pass .to_numpy() if the rows are in the same order"
        )


def mean_of(targets: Floats, weight: Floats | None = None) -> float:
    """Return the mean, exactly the value itself where all are equal: deviations from a constant must be 0, not rounding."""
    return float(targets[0] + np.average(targets - targets[0], weights=weight))


def _row_labels(values: Any) -> Any:
    """The index of pandas, where there is one; a list has an index too, of another kind."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def _as_floats(values: Any, name: str) -> Floats:
    try:
        array = np.asarray(on_host(values))
        if array.dtype.kind in "bcmMSU" or (
            array.dtype == object and any(isinstance(one, (str, bool)) for one in array.flat)
        ):
            raise InputError(f"{name} must hold numbers, found {_kind(array)}; convert the values first")
        return np.array(array, dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, one per row; found something else") from None


def _kind(array: NDArray[Any]) -> str:
    words = {"b": "true and false", "c": "complex numbers", "m": "durations", "M": "dates"}
    return words.get(array.dtype.kind, "text")


def _refuse_unusable(targets: Floats, name: str) -> None:
    wrong = ~np.isfinite(targets)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} must be finite, got {targets[row]} in row {row}, counting from 0 ({int(wrong.sum()):,} such values); drop those rows"
        )
    wrong = np.abs(targets) > LARGEST
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} has {targets[row]:g} in row {row}, whose square cannot be summed; change the unit so that no value exceeds {LARGEST:g}"
        )
