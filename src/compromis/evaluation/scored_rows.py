"""Rows with a distribution over the classes each: their counts, ROC areas and intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Ints, Label
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes
from compromis.measures.ranking import roc_area
from compromis.uncertainty.area_intervals import clustered_variance, roc_area_interval
from compromis.uncertainty.intervals import Interval


def count_positions(
    *, truth: Ints, predicted: Ints, classes: tuple[Label, ...], weight: NDArray[Any] | None, group: Ints | None
) -> Counts | GroupedCounts:
    """Count true against predicted classes, given as positions; by group where there are groups."""
    counts = Counts.from_positions(truth, predicted, classes, weight)
    return counts if group is None else GroupedCounts.from_positions(truth, predicted, group, counts, weight)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoredRows:
    """True classes (as positions) and distributions, with weights and groups where there are some."""

    truth: Ints
    shares: Floats
    classes: tuple[Label, ...]
    weight: NDArray[Any] | None = None
    """Sample weights; whole numbers say how many equal rows each row stands for."""
    group: Ints | None = None

    @property
    def votes(self) -> Votes:
        """The distributions as votes; rows without any are left out."""
        empty = ~self.shares.any(axis=1)
        counted = np.ones(len(self.truth), dtype=np.int64) if self.weight is None else self.weight
        left_out = int(empty.sum())
        return Votes(
            votes=self.shares,
            truth=self.truth,
            multiplicity=np.where(empty, counted.dtype.type(0), counted),
            classes=self.classes,
            rows=len(self.truth) - left_out,
            left_out=left_out,
        )

    def roc_areas(self) -> Floats:
        """Return the area under each class's ROC curve."""
        return np.array([roc_area(points) for _, points in self._points()])

    def roc_area_intervals(self, confidence: float, repeats: float = 1.0) -> dict[Label, Interval]:
        """Return the area under each class's ROC curve with its interval; rows occur `repeats` times on average."""
        return {
            label: roc_area_interval(
                points, confidence=confidence, sizes=self._sizes(k, repeats), variance=self._variance(k, points)
            )
            for k, (label, points) in enumerate(self._points())
        }

    def _points(self) -> Iterator[tuple[Label, OperatingPoints]]:
        weight = None if self.weight is None else self.weight.astype(np.float64)
        for k, label in enumerate(self.classes):
            yield label, OperatingPoints.from_flags(self.truth == k, self.shares[:, k], label, weight)

    def _sizes(self, k: int, repeats: float) -> tuple[float, float]:
        """Return the effective numbers of rows of the class and of the rest: Kish's (sum w)^2 / sum w^2."""
        own = self.truth == k
        weight = np.ones(len(own)) if self.weight is None else self.weight
        squares = weight if weight.dtype.kind == "i" else weight**2  # n equal rows weigh n, squared too
        first, second = (
            float(weight[part].sum() ** 2 / max(float(squares[part].sum()), np.finfo(float).tiny)) / repeats
            for part in (own, ~own)
        )
        return first, second

    def _variance(self, k: int, points: OperatingPoints) -> float | None:
        if self.group is None:
            return None
        return clustered_variance(points, self.truth == k, self.shares[:, k], self.group, self.weight)
