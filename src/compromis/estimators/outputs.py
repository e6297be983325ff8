"""The door for targets of several outputs, which are refused."""

from __future__ import annotations

from typing import Any

from compromis.errors import InputError


def refuse_many_outputs(y: Any, name: str) -> None:
    """Refuse a target of several columns, and say what to do with it; `name` is the estimator's."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple)):
        shape = (len(y), len(y[0]))
    if shape is not None and len(shape) == 2 and shape[1] > 1:
        raise InputError(
            f"y should be a 1d array, got an array of shape {tuple(shape)}: {shape[1]} outputs; "
            f"fit one {name} per column, for example with sklearn.multioutput.MultiOutputClassifier"
        )
