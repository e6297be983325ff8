"""Bands of ROC, precision-recall and trade-off curves, from draws of all operating points of a score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict, Unpack

import numpy as np

from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.evidence.counts import ratio
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.uncertainty.draws import SEED
from compromis.uncertainty.intervals import read_confidence

CURVE_DRAWS = 1000
MOST_CUTS = 400
"""Cuts that are drawn; finer ones are merged, evenly in true and false positive rate, so that the cost does not depend on the rows."""
PSEUDO_ROWS = 1.0
"""Pseudo-rows of each class, spread over the cuts like all rows: without them a perfect ranking would have no uncertainty."""
GRID = np.linspace(0.0, 1.0, 101)


class DrawOptions(TypedDict, total=False):
    """The options of `draw_cuts`."""

    draws: int
    sizes: tuple[float, float] | None
    random_state: int


@dataclass(frozen=True, eq=False)
class CutDraws:
    """Drawn true and false positives of some cuts of a score."""

    kept: Ints
    """The indices of the cuts in the operating points, from nothing predicted positive to everything."""
    true_positives: Floats
    false_positives: Floats
    """Drawn rows (or weights) at or above each kept cut."""

    @cached_property
    def tpr(self) -> Floats:
        """Drawn true positive rates (recalls), of shape (draws, C)."""
        return self.true_positives / self.true_positives[:, -1:]

    @cached_property
    def fpr(self) -> Floats:
        """Drawn false positive rates, of shape (draws, C)."""
        return self.false_positives / self.false_positives[:, -1:]

    @cached_property
    def precision(self) -> Floats:
        """Drawn precisions, of shape (draws, C); NaN where nothing is predicted positive."""
        return ratio(self.true_positives, self.true_positives + self.false_positives)


def draw_cuts(
    points: OperatingPoints,
    *,
    draws: int = CURVE_DRAWS,
    sizes: tuple[float, float] | None = None,
    random_state: int = SEED,
) -> CutDraws:
    """Draw the rows between the cuts; `sizes` are the effective numbers of positives and negatives, without it those of the points.

    Notes
    -----
    A Bayesian bootstrap of the rows: the rows between two cuts weigh Gamma(their number) together, positives and negatives
    apart, with `PSEUDO_ROWS` of each.
    """
    points.check_ranking("an interval or band of a curve")
    if points.reason:
        raise InputError(f"intervals and bands of curves need rows of both kinds; {points.reason}")
    rng = np.random.default_rng(random_state)
    kept = thinned(points)
    between = [np.diff(part[kept]).astype(np.float64) for part in (points.true_positives, points.false_positives)]
    totals = (points.positives, points.negatives)
    spread = (between[0] + between[1]) / sum(totals)
    drawn = []
    for rows, total, size in zip(between, totals, sizes or points.sizes, strict=True):
        scale = total / size  # the weight of an effective row
        shape = rows / scale + PSEUDO_ROWS * spread
        above = np.cumsum(rng.standard_gamma(shape, size=(draws, len(shape))) * scale, axis=1)
        drawn.append(np.concatenate([np.zeros((draws, 1)), above], axis=1))
    return CutDraws(kept, drawn[0], drawn[1])


def thinned(points: OperatingPoints) -> Ints:
    """Return the indices of at most about `MOST_CUTS` cuts: the first, the last, and others evenly along the ROC curve."""
    if len(points) <= MOST_CUTS:
        return np.arange(len(points))
    along = points.tpr + points.fpr
    last = len(points) - 1
    # the first cuts determine the precision at low recall, where evenly spaced ones would be too coarse
    early = np.geomspace(1, last, MOST_CUTS // 4).astype(np.int64)
    evenly = np.minimum(np.searchsorted(along, np.linspace(0.0, 2.0, MOST_CUTS)), last)
    return np.unique(np.concatenate([[0], early, evenly, [last]]))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Band:
    """A curve over a grid, with the bounds of its band; returned by `roc_band`, `precision_recall_band` and `tradeoff_band`."""

    at: Floats
    """The grid: false positive rates (ROC), recalls (precision-recall) or recall weights (trade-off)."""
    value: Floats
    low: Floats
    high: Floats
    """The curve of the data and its bounds."""
    confidence: float
    """With which a bound holds."""
    simultaneous: bool
    """Whether it holds for the whole curve at once, or for each point of the grid by itself."""


def roc_band(
    points: OperatingPoints, *, confidence: float = 0.95, simultaneous: bool = False, **options: Unpack[DrawOptions]
) -> Band:
    """Return the true positive rate over false positive rates, with its band.

    Parameters
    ----------
    points : OperatingPoints
        The cuts of a score.
    confidence : float
        With which the bounds hold.
    simultaneous : bool
        Whether they are to hold for the whole curve at once.
    **options
        ``draws``, ``sizes`` and ``random_state`` of `draw_cuts`.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38)
    >>> band = cp.uncertainty.roc_band(points)
    >>> bool(band.low[20] < band.value[20] < band.high[20])
    True
    """
    drawn = draw_cuts(points, **options)
    curves = _interpolated(drawn.fpr, drawn.tpr)
    return _band(_interpolated(points.fpr[np.newaxis], points.tpr[np.newaxis])[0], curves, confidence, simultaneous)


def precision_recall_band(
    points: OperatingPoints, *, confidence: float = 0.95, simultaneous: bool = False, **options: Unpack[DrawOptions]
) -> Band:
    """Return the precision over recalls, with its band; the options are those of `roc_band`.

    At each recall it is the precision of the first cut that reaches it, the step that average precision adds up.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38)
    >>> band = cp.uncertainty.precision_recall_band(points)
    >>> bool((band.low <= band.value).all() and (band.value <= band.high).all())
    True
    """
    drawn = draw_cuts(points, **options)
    curves = _precision_at(drawn.true_positives, drawn.false_positives)
    observed = _precision_at(points.true_positives[np.newaxis], points.false_positives[np.newaxis])[0]
    return _band(observed, curves, confidence, simultaneous)


def tradeoff_band(
    points: OperatingPoints,
    *,
    metric: str | Metric = "f",
    confidence: float = 0.95,
    simultaneous: bool = False,
    **options: Unpack[DrawOptions],
) -> Band:
    """Return the best value of a metric over recall weights, with its band; the other options are those of `roc_band`.

    Notes
    -----
    Each recall weight keeps the cut that is best on the data; the draws are values of that cut. Choosing the best cut of each draw
    would add the optimism of choosing a second time: areas of such curves were covered in 81 % instead of 91 %.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38)
    >>> band, whole = (cp.uncertainty.tradeoff_band(points, metric="f", simultaneous=whole) for whole in (False, True))
    >>> bool((whole.high - whole.low).mean() > (band.high - band.low).mean())  # for the whole curve at once
    True
    """
    family = get_metric(metric)
    observed, curves = tradeoff_draws(points, family, GRID, **options)
    return _band(observed, curves, confidence, simultaneous)


def tradeoff_draws(
    points: OperatingPoints, metric: Metric, at: Floats, **options: Unpack[DrawOptions]
) -> tuple[Floats, Floats]:
    """Return the best value of the metric at each recall weight `at`, and draws of what the best cuts are worth."""
    drawn = draw_cuts(points, **options)
    precision, recall = (np.nan_to_num(rate) for rate in (points.precision, points.recall))
    p, r = np.nan_to_num(drawn.precision), drawn.tpr
    observed, curves = np.empty(len(at)), np.empty((len(r), len(at)))
    for i, weight in enumerate(at):
        values = metric.value(precision[drawn.kept], recall[drawn.kept], weight)
        cut = int(values.argmax())
        # merged cuts may hide a slightly better one between the neighbours of the best
        near = slice(drawn.kept[max(cut - 1, 0)], drawn.kept[min(cut + 1, len(values) - 1)] + 1)
        observed[i] = metric.value(precision[near], recall[near], weight).max()
        curves[:, i] = metric.value(p[:, cut], r[:, cut], weight) + observed[i] - values[cut]
    return observed, np.clip(curves, 0.0, 1.0)


def _interpolated(at: Floats, value: Floats) -> Floats:
    """Interpolate each curve on the grid; where it is vertical, its upper end counts."""
    grid = GRID + 1e-12
    return np.stack([np.interp(grid, x, y) for x, y in zip(at, value, strict=True)])


def _precision_at(hits: Floats, alarms: Floats) -> Floats:
    recall = hits / hits[:, -1:]
    precision = ratio(hits, hits + alarms)
    # not before the first cut with true positives: a draw may give it a recall below the tolerance
    cuts = [np.maximum(np.searchsorted(row, GRID - 1e-12), np.flatnonzero(row)[0]) for row in recall]
    return np.stack([row[index] for row, index in zip(precision, cuts, strict=True)])


def _band(observed: Floats, curves: Floats, confidence: float, simultaneous: bool) -> Band:
    level = read_confidence(confidence)
    tail = simultaneous_tail([curves], level) if simultaneous else (1 - level) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    low, high = np.minimum(low, observed), np.maximum(high, observed)
    return Band(at=GRID, value=observed, low=low, high=high, confidence=level, simultaneous=simultaneous)


def simultaneous_tail(stacks: Iterable[Floats], confidence: float) -> float:
    """Return the tail to cut off at each point such that a share `confidence` of the draws lies within everywhere, in every stack."""
    from scipy.stats import rankdata

    depths = []
    for curves in stacks:
        ranks = rankdata(curves, axis=0, method="average")
        depths.append(np.minimum(ranks, len(curves) + 1 - ranks).min(axis=1))
    depth = np.min(depths, axis=0)
    return float(max((np.quantile(depth, 1 - confidence) - 1) / (len(depth) - 1), 0.0))
