"""The door for sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.arrays import on_host
from compromis.errors import InputError


def read_weights(sample_weight: Any, rows: int) -> NDArray[np.float64] | None:
    """Return the weights as a checked float64 array, or None where there are none."""
    if sample_weight is None:
        return None
    try:
        weight = np.array(on_host(sample_weight), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers; found something else") from None
    if weight.shape != (rows,):
        raise InputError(
            f"sample_weight has shape {weight.shape}, but there are {rows:,} rows; give one weight per row"
        )
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"sample_weight must be finite and at least 0, got {weight[row]:g} in row {row}; drop such rows or weigh them 0"
        )
    if not weight.any():
        raise InputError("sample_weight is 0 for every row; nothing would count")
    return weight
