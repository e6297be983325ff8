"""Draws of the cuts of a score: what other samples of rows might have given for every operating point at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import ratio
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.uncertainty.draws import SEED
from compromis.uncertainty.intervals import read_confidence

CURVE_DRAWS = 1000
MOST_CUTS = 400
"""Cuts that are drawn; finer ones are merged, evenly in true and false positive rate, so that rows cost nothing."""
PSEUDO_ROWS = 1.0
"""Rows of each kind that are spread like all rows: without them a perfect ranking would have no uncertainty."""


@dataclass(frozen=True, slots=True, eq=False)
class CutDraws:
    """Drawn true and false positives of some cuts of a score.

    Attributes
    ----------
    kept : ndarray of shape (C,)
        The positions of the cuts in the operating points, from nothing predicted positive to everything.
    true_positives, false_positives : ndarray of shape (draws, C)
        Drawn rows (or weights) at or above each kept cut.
    """

    kept: NDArray[np.int64]
    true_positives: Floats
    false_positives: Floats

    @property
    def tpr(self) -> Floats:
        """Drawn true positive rates (recalls), of shape (draws, C)."""
        return self.true_positives / self.true_positives[:, -1:]

    @property
    def fpr(self) -> Floats:
        """Drawn false positive rates, of shape (draws, C)."""
        return self.false_positives / self.false_positives[:, -1:]

    @property
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
    """Draw the rows between the cuts anew; `sizes` are the effective numbers of positives and negatives, where rows have weights.

    Notes
    -----
    The rows between two cuts weigh Gamma(their number) together, positives and negatives apart; what is drawn is a
    Bayesian bootstrap of the rows, with `PSEUDO_ROWS` of each kind spread like all rows.
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
    for rows, total, size in zip(between, totals, sizes or totals, strict=True):
        scale = total / size  # the weight of an effective row
        shape = rows / scale + PSEUDO_ROWS * spread
        above = np.cumsum(rng.standard_gamma(shape, size=(draws, len(shape))) * scale, axis=1)
        drawn.append(np.concatenate([np.zeros((draws, 1)), above], axis=1))
    return CutDraws(kept, drawn[0], drawn[1])


def thinned(points: OperatingPoints, most: int = MOST_CUTS) -> NDArray[np.int64]:
    """Return the positions of at most about `most` cuts: the first, the last, and others evenly along the ROC curve."""
    if len(points) <= most:
        return np.arange(len(points))
    along = points.tpr + points.fpr
    wanted = np.linspace(0.0, 2.0, most)
    # the first cuts decide the precision at low recall, where evenly spaced ones would be too coarse
    early = np.geomspace(1, len(points) - 1, most // 4).astype(np.int64)
    found = np.minimum(np.searchsorted(along, wanted), len(points) - 1)
    return np.unique(np.concatenate([[0], early, found, [len(points) - 1]]))


GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """A curve over a grid, with the bounds of its band.

    Attributes
    ----------
    at : ndarray
        The grid: false positive rates (ROC), recalls (precision-recall) or recall weights (trade-off).
    value, low, high : ndarray
        The curve of the data and its bounds.
    confidence : float
        With which a bound holds.
    simultaneous : bool
        Whether it holds for the whole curve at once, or for each point of the grid by itself.
    """

    at: Floats
    value: Floats
    low: Floats
    high: Floats
    confidence: float
    simultaneous: bool


def roc_band(
    points: OperatingPoints, *, confidence: float = 0.95, simultaneous: bool = False, **options: object
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
    >>> import numpy as np
    >>> import compromis as cp
    >>> from compromis.uncertainty.bands import roc_band
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(500) < 0.3
    >>> band = roc_band(cp.OperatingPoints.from_predictions(truth, truth + rng.normal(size=500)))
    >>> bool(band.low[20] < band.value[20] < band.high[20])
    True
    """
    drawn = draw_cuts(points, **options)  # type: ignore[arg-type]
    curves = _interpolated(drawn.fpr, drawn.tpr)
    return _band(_interpolated(points.fpr[np.newaxis], points.tpr[np.newaxis])[0], curves, confidence, simultaneous)


def precision_recall_band(
    points: OperatingPoints, *, confidence: float = 0.95, simultaneous: bool = False, **options: object
) -> Band:
    """Return the precision over recalls, with its band; the options are those of `roc_band`.

    At each recall it is the precision of the first cut that reaches it, the step that average precision adds up.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) < 60
    >>> points = cp.OperatingPoints.from_predictions(y, y * 1.5 + rng.normal(size=300))
    >>> band = cp.uncertainty.precision_recall_band(points)
    >>> bool((band.low <= band.value).all() and (band.value <= band.high).all())
    True
    """
    drawn = draw_cuts(points, **options)  # type: ignore[arg-type]
    curves = _precision_at(drawn.true_positives, drawn.false_positives)
    observed = _precision_at(points.true_positives[np.newaxis], points.false_positives[np.newaxis])[0]
    return _band(observed, curves, confidence, simultaneous)


def tradeoff_band(
    points: OperatingPoints,
    *,
    metric: str | Metric = "kulczynski",
    confidence: float = 0.95,
    simultaneous: bool = False,
    **options: object,
) -> Band:
    """Return the best value of a metric over recall weights, with its band; the other options are those of `roc_band`.

    Notes
    -----
    Each recall weight keeps the cut that the data chose, and the draws say how that cut does. Choosing anew in each draw would
    add the luck of choosing once more: areas of such curves were covered in 81 % instead of 91 %.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) < 60
    >>> points = cp.OperatingPoints.from_predictions(y, y * 1.5 + rng.normal(size=300))
    >>> band, whole = (cp.uncertainty.tradeoff_band(points, metric="f", simultaneous=whole) for whole in (False, True))
    >>> bool((whole.high - whole.low).mean() > (band.high - band.low).mean())  # sure of the whole curve at once
    True
    """
    family = get_metric(metric)
    observed, curves = tradeoff_draws(points, family, GRID, **options)
    return _band(observed, curves, confidence, simultaneous)


def tradeoff_draws(points: OperatingPoints, metric: Metric, at: Floats, **options: object) -> tuple[Floats, Floats]:
    """Return the best value of the metric at each recall weight `at`, and draws of what the best cuts are worth."""
    drawn = draw_cuts(points, **options)  # type: ignore[arg-type]
    precision, recall = (np.nan_to_num(rate) for rate in (points.precision, points.recall))
    p, r = np.nan_to_num(drawn.precision), drawn.tpr
    observed, curves = np.empty(len(at)), np.empty((len(r), len(at)))
    for place, weight in enumerate(at):
        values = metric.value(precision[drawn.kept], recall[drawn.kept], weight)
        cut = int(values.argmax())
        # merged cuts may hide a slightly better one between the neighbours of the best
        near = slice(drawn.kept[max(cut - 1, 0)], drawn.kept[min(cut + 1, len(values) - 1)] + 1)
        observed[place] = metric.value(precision[near], recall[near], weight).max()
        curves[:, place] = metric.value(p[:, cut], r[:, cut], weight) + observed[place] - values[cut]
    return observed, np.clip(curves, 0.0, 1.0)


def _interpolated(at: Floats, value: Floats) -> Floats:
    """Interpolate each curve on the grid; where it is vertical, its upper end counts."""
    grid = GRID + 1e-12
    return np.stack([np.interp(grid, x, y) for x, y in zip(at, value, strict=True)])


def _precision_at(hits: Floats, alarms: Floats) -> Floats:
    recall = hits / hits[:, -1:]
    precision = ratio(hits, hits + alarms)
    # from the first cut that finds anything on: a draw may give it less than what is taken for rounding
    places = [np.maximum(np.searchsorted(one, GRID - 1e-12), np.flatnonzero(one)[0]) for one in recall]
    return np.stack([one[place] for one, place in zip(precision, places, strict=True)])


def _band(observed: Floats, curves: Floats, confidence: float, simultaneous: bool) -> Band:
    level = read_confidence(confidence)
    tail = _simultaneous_tail(curves, level) if simultaneous else (1 - level) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    return Band(GRID, observed, np.minimum(low, observed), np.maximum(high, observed), level, simultaneous)


def _simultaneous_tail(curves: Floats, confidence: float) -> float:
    """Return the tail to cut off at each point such that a share `confidence` of the curves lies within everywhere."""
    from scipy.stats import rankdata

    ranks = rankdata(curves, axis=0, method="average")
    depth = np.minimum(ranks, len(curves) + 1 - ranks).min(axis=1)
    return float(max((np.quantile(depth, 1 - confidence) - 1) / (len(curves) - 1), 0.0))
