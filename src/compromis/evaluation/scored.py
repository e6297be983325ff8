"""Rows with a distribution over the classes: the areas under their ROC curves, with intervals where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes
from compromis.measures.ranking import roc_area
from compromis.uncertainty.interval import Interval
from compromis.uncertainty.roc_area import clustered_variance, roc_area_interval


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """True classes (as positions) and distributions, with weights and groups where there are some."""

    truth: Ints
    shares: Floats
    classes: tuple[Label, ...]
    weight: Floats | None = None
    group: Ints | None = None
    repeats: float = 1.0
    """How often each row stands here, on average."""

    @property
    def votes(self) -> Votes:
        """The distributions as votes; rows without any are left out."""
        empty = ~self.shares.any(axis=1)
        counted = np.ones(len(self.truth), dtype=np.int64) if self.weight is None else self.weight
        multiplicity = np.where(empty, counted.dtype.type(0), counted)
        left_out = int(empty.sum())
        return Votes(self.shares, self.truth, multiplicity, self.classes, len(self.truth) - left_out, left_out, False)

    def roc_areas(self) -> Floats:
        """Return the area under each class's ROC curve."""
        return np.array([roc_area(points) for _, points in self._points()])

    def roc_area_intervals(self, confidence: float) -> dict[Label, Interval]:
        """Return the area under each class's ROC curve with its interval."""
        return {
            label: roc_area_interval(
                points, confidence=confidence, sizes=self._sizes(k), variance=self._variance(k, points)
            )
            for k, (label, points) in enumerate(self._points())
        }

    def _points(self) -> Iterator[tuple[Label, OperatingPoints]]:
        for k, label in enumerate(self.classes):
            yield label, OperatingPoints.from_flags(self.truth == k, self.shares[:, k], label, self.weight)

    def _sizes(self, k: int) -> tuple[float, float]:
        """Return the effective numbers of rows of the class and of the rest."""
        own = self.truth == k
        weight = np.ones(len(own)) if self.weight is None else self.weight
        first, second = (
            float(weight[part].sum() ** 2 / max(float((weight[part] ** 2).sum()), np.finfo(float).tiny)) / self.repeats
            for part in (own, ~own)
        )
        return first, second

    def _variance(self, k: int, points: OperatingPoints) -> float | None:
        if self.group is None:
            return None
        return clustered_variance(points, self.truth == k, self.shares[:, k], self.group, self.weight)
