"""The door for class shares: what the classes would weigh in a population with other shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.errors import InputError, shown
from compromis.labels import plain_label


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
