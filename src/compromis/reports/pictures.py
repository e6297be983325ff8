"""One class against the rest as its weight grows and the others stay: the cuts behind the curves of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes, vote_distribution
from compromis.metrics import Metric
from compromis.preferences import Preferences
from compromis.tradeoffs import TradeoffCurve
from compromis.weights import weight_sweep
from compromis.weights.decision import Decision


class ClassCuts:
    """The cuts of each class for given weights; the decision itself is one of them.

    A row's score for class k is its weighted vote for k as a share of that and of the best other class's, so that
    cutting anywhere is deciding with another weight for k.
    """

    def __init__(self, patterns: Votes, weights: Floats, smoothing: float = 0.0) -> None:
        self._patterns = patterns
        self._scores = (patterns.dense() + smoothing) * weights
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


WIDTH, HEIGHT = 150.0, 100.0
"""The size of a picture's plane in its own units."""
_STEP = 1.0
_GRID = np.linspace(0.0, 1.0, 41)


@dataclass(frozen=True, slots=True)
class CurvePicture:
    """The curves of one class, with the chosen point of each (x, y); None where it is undefined."""

    label: Label
    tradeoff: str
    own: str
    tradeoff_point: tuple[float, float] | None
    precision_recall: str
    precision_recall_point: tuple[float, float] | None
    roc: str
    roc_point: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SweepPicture:
    """Recall, precision and loss as one class's weight is divided and multiplied by up to 100."""

    label: Label
    recall: str
    precision: str
    loss: str
    loss_point: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class VotePicture:
    """How the votes for one class are distributed over its own rows and over all others."""

    label: Label
    own: str
    others: str
    unvoted: float
    """The share of its own rows without any vote for it."""


def path(x: Floats, y: Floats) -> str:
    """Return the path through points in the unit square; those too near to be told apart are left out, and undefined ones."""
    known = ~np.isnan(x + y)
    left, top = x[known] * WIDTH, (1 - y[known]) * HEIGHT
    cells = np.column_stack([np.rint(left / _STEP), np.rint(top / _STEP)])
    kept = np.ones(len(left), dtype=bool)
    kept[1:-1] = (cells[1:-1] != cells[:-2]).any(axis=1)
    corners = (f"{across:.1f},{down:.1f}" for across, down in zip(left[kept], top[kept], strict=True))
    return "M" + "L".join(corners) if kept.any() else ""


def vote_pictures(patterns: Votes, places: list[int], bins: int = 20) -> Iterator[VotePicture]:
    """Return the vote distribution of each class, own rows and others each scaled to their highest bin."""
    for k in places:
        found = vote_distribution(patterns, patterns.classes[k], bins=bins)
        own, others = found.rows[:, k], found.rows.sum(axis=1) - found.rows[:, k]
        support = patterns.support[k]
        yield VotePicture(
            patterns.classes[k],
            _bars(own),
            _bars(others),
            float(found.unvoted[k] / support) if support else float("nan"),
        )


def _bars(rows: NDArray[np.float64]) -> str:
    """A filled outline of bars, one for each step of the share."""
    highest = rows.max()
    if highest <= 0:
        return ""
    edges = np.linspace(0.0, WIDTH, len(rows) + 1)
    tops = HEIGHT * (1 - rows / highest)
    corners = [f"M0,{HEIGHT:g}"]
    for place, top in enumerate(tops):
        corners.append(f"L{edges[place]:.1f},{top:.1f}L{edges[place + 1]:.1f},{top:.1f}")
    return "".join(corners) + f"L{WIDTH:g},{HEIGHT:g}Z"


def curve_pictures(
    cuts: ClassCuts,
    rates: dict[str, Floats],
    weights: tuple[Metric, Floats],
    labels: tuple[Label, ...],
    places: list[int],
) -> Iterator[CurvePicture]:
    """Return the curves of the classes at `places`, with the points that the `rates` of the decision are."""
    metric, recall_weight = weights
    for k in places:
        points = cuts.points(k)
        precision, recall, rest = (float(rates[name][k]) for name in ("precision", "recall", "false_positive_rate"))
        curve = TradeoffCurve(points, metric=metric)
        own = metric.value(np.nan_to_num(precision), np.nan_to_num(recall), _GRID)
        worth = float(metric.value(np.nan_to_num(precision), np.nan_to_num(recall), recall_weight[k]))
        best = np.nan_to_num(curve.value(_GRID))
        yield CurvePicture(
            labels[k],
            path(_GRID, best),
            path(_GRID, own),
            _point(float(recall_weight[k]), worth),
            path(points.recall, points.precision),
            _point(recall, precision),
            path(*_whole(np.nan_to_num(points.fpr), np.nan_to_num(points.tpr))),
            _point(rest, recall),
        )


def sweep_picture(patterns: Votes, preferences: Preferences, decision: Decision, k: int) -> SweepPicture:
    """Return what the weight of class k does around the weights of a decision."""
    ratios = np.logspace(-2, 2, 41)
    sweep = weight_sweep(
        patterns,
        label=patterns.classes[k],
        preferences=preferences,
        ratios=ratios,
        weights=decision.weights,
        smoothing=decision.smoothing,
    )
    at = np.linspace(0.0, 1.0, len(ratios))
    return SweepPicture(
        label=sweep.label,
        recall=path(at, sweep.recall[:, k]),
        precision=path(at, sweep.precision[:, k]),
        loss=path(at, sweep.loss),
        loss_point=_point(0.5, float(sweep.loss[len(ratios) // 2])),
    )


def _whole(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """A ROC curve goes from (0, 0) to (1, 1)."""
    return np.concatenate([[0.0], x, [1.0]]), np.concatenate([[0.0], y, [1.0]])


def _point(x: float, y: float) -> tuple[float, float] | None:
    return None if np.isnan(x) or np.isnan(y) else (round(x * WIDTH, 1), round((1 - y) * HEIGHT, 1))
