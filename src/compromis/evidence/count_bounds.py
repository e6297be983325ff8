"""What binned votes leave open: for every weighting, between which numbers each count lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.evidence.counts import ratio


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountBounds:
    """Counts that are known between two numbers each; the rows of each true class are known exactly.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> low, high = np.array([[3, 0], [0, 4]]), np.array([[4, 1], [1, 5]])
    >>> bounds = cp.evidence.CountBounds(low=low, high=high, support=np.array([4, 5]), classes=("bad", "good"))
    >>> bounds.support.tolist(), bounds.classes
    ([4, 5], ('bad', 'good'))
    """

    low: NDArray[Any]
    high: NDArray[Any]
    """Of shape (K, K): the rows (or weights) that are predicted so for sure, and those that may be; rows are the truth."""
    support: NDArray[Any]
    """Of shape (K,): the rows (or weights) of each true class."""
    classes: tuple[Label, ...]
    """The labels of rows and columns."""

    @property
    def recall(self) -> tuple[Floats, Floats]:
        """The lowest and highest recall of each class; NaN for a class without rows."""
        low, high = (ratio(np.diag(part), self.support) for part in (self.low, self.high))
        return low, high

    @property
    def precision(self) -> tuple[Floats, Floats]:
        """The lowest and highest precision of each class; NaN where the class is never predicted."""
        hits_low, hits_high = np.diag(self.low), np.diag(self.high)
        alarms_low, alarms_high = self.low.sum(axis=0) - hits_low, self.high.sum(axis=0) - hits_high
        low = ratio(hits_low, hits_low + alarms_high)
        high = ratio(hits_high, hits_high + alarms_low)
        # with no sure row the class may have no right decision at all, or only wrong ones
        return np.where(np.isnan(low) & (hits_high > 0), 0.0, low), np.where(
            np.isnan(high) & (alarms_high > 0), 0.0, high
        )

    @property
    def accuracy(self) -> tuple[float, float]:
        """The lowest and highest share of right decisions."""
        total = float(self.support.sum())
        return float(np.trace(self.low)) / total, float(np.trace(self.high)) / total
