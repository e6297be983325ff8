"""One class against the rest as its weight grows and the others stay: the cuts behind the curves of a report."""

from __future__ import annotations

import numpy as np

from compromis._typing import Floats
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes
from compromis.reporting.panel.binning import dense_votes


class ClassCuts:
    """The cuts of each class for given weights; the decision itself is one of them.

    A row's score for class k is its weighted vote for k as a share of that and of the best other class's, so that
    cutting anywhere is deciding with another weight for k.
    """

    def __init__(self, patterns: Votes, weights: Floats, smoothing: float = 0.0) -> None:
        self._patterns = patterns
        self._scores = (dense_votes(patterns) + smoothing) * weights
        rows = np.arange(len(patterns))
        self._first = self._scores.argmax(axis=1)
        self._best = self._scores[rows, self._first]
        rest = self._scores.copy()
        rest[rows, self._first] = -1.0
        self._second = rest.max(axis=1)

    def points(self, k: int) -> OperatingPoints:
        """Return the cuts of class k as operating points."""
        own = self._scores[:, k]
        other = np.where(self._first == k, self._second, self._best)
        together = own + other
        score = np.divide(own, together, out=np.zeros_like(own), where=together > 0)
        weight = self._patterns.multiplicity.astype(np.float64)
        counted = weight > 0
        truth = self._patterns.truth == k
        return OperatingPoints.from_flags(truth[counted], score[counted], self._patterns.classes[k], weight[counted])
