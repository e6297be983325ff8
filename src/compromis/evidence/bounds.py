"""What binned votes leave open: for every weighting, between which numbers each count lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import ratio
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.scores import is_sparse
from compromis.evidence.votes import Votes, read_class_weights

_ROUNDING = 1e-9
"""Relative: what is nearer than this may go either way."""


@dataclass(frozen=True, slots=True, eq=False)
class CountBounds:
    """Counts that are known between two numbers each; the rows of each true class are known exactly.

    Attributes
    ----------
    low, high : ndarray of shape (K, K)
        The rows (or weights) that are predicted so for sure, and those that may be; rows are the truth.
    support : ndarray of shape (K,)
        The rows (or weights) of each true class.
    classes : tuple
        The labels of rows and columns.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> low, high = np.array([[3, 0], [0, 4]]), np.array([[4, 1], [1, 5]])
    >>> bounds = cp.evidence.CountBounds(low, high, np.array([4, 5]), ("bad", "good"))
    >>> bounds.support.tolist(), bounds.classes
    ([4, 5], ('bad', 'good'))
    """

    low: NDArray[Any]
    high: NDArray[Any]
    support: NDArray[Any]
    classes: tuple[Label, ...]

    @property
    def recall(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and highest recall of each class; NaN for a class without rows."""
        low, high = (ratio(np.diag(part), self.support) for part in (self.low, self.high))
        return low, high

    @property
    def precision(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def bound_counts(patterns: Votes, weights: Any, smoothing: float = 0.0) -> CountBounds:
    """Return between which numbers the counts of a weighting lie, where votes are known up to `patterns.width`."""
    if is_sparse(patterns.votes):
        raise InputError("bounds are for binned votes, which are dense; sparse votes are exact, use counts")
    weight = read_class_weights(weights, len(patterns.classes))
    possible = _possible(np.asarray(patterns.votes, dtype=np.float64), patterns.width, weight, smoothing)
    sure = possible.sum(axis=1) == 1
    shape = (len(patterns.classes), len(patterns.classes))
    low = np.zeros(shape, dtype=patterns.multiplicity.dtype)
    high = np.zeros(shape, dtype=patterns.multiplicity.dtype)
    for place in range(len(patterns.classes)):
        np.add.at(high[:, place], patterns.truth, np.where(possible[:, place], patterns.multiplicity, 0))
        np.add.at(low[:, place], patterns.truth, np.where(possible[:, place] & sure, patterns.multiplicity, 0))
    return CountBounds(low, high, patterns.support, patterns.classes)


def _possible(
    votes: NDArray[np.float64], width: float, weight: NDArray[np.float64], smoothing: float
) -> NDArray[np.bool_]:
    """Return which classes each row may be predicted as: those whose highest vote reaches every other's lowest."""
    lowest = weight * (np.maximum(votes - width, 0.0) + smoothing)
    highest = weight * (votes + width + smoothing)
    if width == 0:  # exact votes: the first of the largest
        first = lowest.argmax(axis=1)
        return np.asarray(np.arange(votes.shape[1]) == first[:, None])
    reach: NDArray[np.bool_] = highest >= lowest.max(axis=1, keepdims=True) * (1 - _ROUNDING)
    return reach
