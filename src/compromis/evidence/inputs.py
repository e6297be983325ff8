"""The door for sample weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import on_host
from compromis._text import shown
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.labels import plain_label


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


def prevalence_factors(
    shares: Mapping[Any, float] | Sequence[float], classes: Sequence[Label], support: NDArray[Any]
) -> Floats:
    """Return new share / old share of each class; a share for a class without rows is an error."""
    new = read_shares(shares, classes)
    lacking = [label for label, share, rows in zip(classes, new, support, strict=True) if share > 0 and rows == 0]
    if lacking:
        raise InputError(f"there is no row of {shown(lacking)} in the evidence; its share cannot be raised above 0")
    old = support / support.sum()
    return np.divide(new, old, out=np.zeros(len(new)), where=old > 0)


def read_shares(shares: Mapping[Any, float] | Sequence[float], classes: Sequence[Label]) -> Floats:
    """Return checked class shares in the order of the classes, scaled to sum to 1."""
    given: Any = shares
    if isinstance(shares, Mapping):
        by_label = {plain_label(label): share for label, share in shares.items()}
        missing = [label for label in classes if label not in by_label]
        unknown = [label for label in by_label if label not in classes]
        if missing:
            raise InputError(f"the new shares miss {shown(missing)}; give one for every class")
        if unknown:
            raise InputError(f"there is a share for {shown(unknown)}, but the classes are {shown(classes)}")
        given = [by_label[label] for label in classes]
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"new shares are numbers of at least 0, one per class, got {shares!r}") from None
    if values.shape != (len(classes),) or not np.all(np.isfinite(values)) or (values < 0).any() or not values.any():
        raise InputError(f"new shares are {len(classes)} finite numbers of at least 0, one per class, got {shares!r}")
    normalised: Floats = values / values.sum()
    return normalised
