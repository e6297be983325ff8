"""The best cut of a score in data of any size: bins first, then the rows of the few bins that may hide a better one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.frames.bins import Bins
from compromis.frames.bounds import best_inside
from compromis.frames.points import (
    BIN,
    FLAG,
    MOST_CUTS,
    SCORE,
    count_bins,
    find_range,
    group_sizes,
    open_scores,
    refuse_groups,
)  # fmt: skip
from compromis.frames.query import Frame, count_groups
from compromis.labels import plain_label
from compromis.metrics import Metric, get_metric
from compromis.tradeoffs.curve import read_weight


@dataclass(frozen=True, slots=True)
class BestThreshold:
    """The cut of a score with the largest metric value among all that there are.

    Attributes
    ----------
    threshold : float
        Rows with at least this score are predicted positive; it is a score that occurs.
    value, precision, recall : float
        What that reaches, exactly.
    passes : int
        How many times the data was read.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"t": list("abab"), "s": [0.9, 0.2, 0.8, 0.4]})
    >>> cut = cp.frames.best_threshold(frame, truth="t", score="s", pos_label="a")
    >>> cut.threshold, cut.precision, cut.recall
    (0.8, 1.0, 1.0)
    """

    threshold: float
    value: float
    precision: float
    recall: float
    passes: int
    pos_label: Label


def best_threshold(
    frame: Any,
    *,
    truth: str,
    score: str,
    pos_label: Any,
    recall_weight: float = 0.5,
    metric: str | Metric = "kulczynski",
    min_precision: float = 0.0,
    min_recall: float = 0.0,
    bins: int = 4096,
) -> BestThreshold:
    """Return the best cut of a column of scores, exact however many rows there are.

    Parameters
    ----------
    frame : data frame
        Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark.
    truth, score : str
        The columns of true classes and of scores.
    pos_label : label
        The positive class.
    recall_weight : float
        What recall counts against precision: 0 precision alone, 1 recall alone.
    metric : str or Metric
        The metric that is maximised.
    min_precision, min_recall : float
        The least to accept.
    bins : int
        Into how many bins the scores are counted at a time.

    Notes
    -----
    Two passes find the range and count the bins; the edges of bins are exact cuts. A further pass fetches the distinct
    scores of those bins in which a cut could beat the best edge (all its positives, none of its negatives), and so on
    until no bin could: then the best cut is proven.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"t": list("abab"), "s": [0.9, 0.2, 0.8, 0.4]})
    >>> cp.frames.best_threshold(frame, truth="t", score="s", pos_label="a").threshold
    0.8
    """
    label, family = plain_label(pos_label), get_metric(metric)
    weight = float(read_weight(recall_weight))
    opened = open_scores(frame, truth, score, label, None)
    steps = _first_steps(opened, bins)
    if not steps.hits.any():
        raise InputError(f"no row of column {truth!r} is {label!r}; there is nothing to find")
    floors = min_precision, min_recall
    while True:
        value, upper = steps.values(family, weight, floors)
        best = int(value.argmax())
        open_bins = np.flatnonzero(~steps.whole & (upper > value[best]))
        if not len(open_bins) and (steps.whole[best] or not np.isfinite(value[best])):
            break
        # at the end the best edge itself: its cut is the lowest score of its bin
        wanted = _most_promising(steps, open_bins, upper) if len(open_bins) else np.array([best])
        steps = steps.refined(opened, wanted, bins)
    if not np.isfinite(value[best]):
        raise InputError(f"no cut reaches precision {min_precision:g} and recall {min_recall:g}; ask for less")
    hits, alarms = steps.above()
    return BestThreshold(
        float(steps.low[best]), float(value[best]), float(hits[best] / (hits[best] + alarms[best])),
        float(hits[best] / hits[-1]), steps.passes, label,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """Steps of the score, falling: bins, and single scores (`whole`) where it was looked inside."""

    low: Floats
    hits: NDArray[np.int64]
    alarms: NDArray[np.int64]
    whole: NDArray[np.bool_]
    passes: int

    def above(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positives and negatives at or above each step's lower end."""
        return np.cumsum(self.hits), np.cumsum(self.alarms)

    def values(self, metric: Metric, weight: float, floors: tuple[float, float]) -> tuple[Floats, Floats]:
        """Return the value at each step's lower end, and the best that may hide inside it; -inf where a minimum is missed."""
        hits, alarms = self.above()
        before = np.stack([hits - self.hits, alarms - self.alarms])
        positives = float(hits[-1])
        exact = best_inside(metric, np.stack([hits, alarms]), 0, positives, weight)
        hidden = best_inside(metric, before, self.hits, positives, weight)
        return (
            _feasible(exact, hits, alarms, positives, floors),
            _feasible(hidden, before[0] + self.hits, before[1], positives, floors),
        )

    def refined(self, opened: Frame, which: NDArray[np.int64], bins: int) -> _Steps:
        """Return the steps with some bins replaced by what is inside: their scores, or finer bins where those are too many."""
        size = int((self.hits + self.alarms)[which].sum())
        inside = _within(opened, [self._ends(place) for place in which])
        if size <= MOST_CUTS:
            groups = count_groups(inside, [FLAG, SCORE], MOST_CUTS, what="distinct scores")
            found = _from_scores(groups.floats(SCORE), groups.floats(FLAG) == 1, group_sizes(inside, groups))
            return self._joined(which, replace(found, passes=self.passes + 1))
        found = _first_steps(inside, bins)
        if len(found.low) == 1 and not found.whole[0]:
            raise InputError("the scores span more than floats can divide into bins; rescale them first")
        return self._joined(which, replace(found, passes=self.passes + found.passes))

    def _ends(self, place: int) -> tuple[float, float]:
        return float(self.low[place]), float(self.low[place - 1]) if place else np.inf

    def _joined(self, replaced: NDArray[np.int64], found: _Steps) -> _Steps:
        kept = np.ones(len(self.low), dtype=bool)
        kept[replaced] = False
        low = np.concatenate([self.low[kept], found.low])
        order = np.argsort(-low, kind="stable")
        hits, alarms, whole = (
            np.concatenate([own[kept], new])[order]
            for own, new in ((self.hits, found.hits), (self.alarms, found.alarms), (self.whole, found.whole))
        )
        return _Steps(low[order], hits, alarms, whole, found.passes)


def _first_steps(opened: Frame, bins: int) -> _Steps:
    """Return the occupied bins of all scores of a frame."""
    low, high = find_range(opened)
    layout = Bins.over(low, high, bins)
    groups = count_bins(opened, layout)
    refuse_groups(opened, groups, groups.floats(BIN) < 0)
    places, sizes = groups.floats(BIN).astype(np.int64), group_sizes(opened, groups)
    inside = np.zeros((2, layout.count), dtype=np.int64)
    np.add.at(inside, (np.where(groups.floats(FLAG) == 1, 0, 1), places), sizes)
    inside, edges = inside[:, ::-1], layout.edges()[::-1]
    used = inside.any(axis=0)
    whole = np.full(int(used.sum()), low == high)
    return _Steps(edges[used], inside[0, used], inside[1, used], whole, 2)


def _from_scores(scores: Floats, flags: NDArray[np.bool_], sizes: NDArray[np.int64]) -> _Steps:
    distinct, place = np.unique(-scores, return_inverse=True)
    inside = np.zeros((2, len(distinct)), dtype=np.int64)
    np.add.at(inside, (np.where(flags, 0, 1), place), sizes)
    return _Steps(-distinct, inside[0], inside[1], np.ones(len(distinct), dtype=bool), 1)


def _within(opened: Frame, ends: list[tuple[float, float]]) -> Frame:
    """Return the rows whose score lies in one of the intervals, neighbours joined."""
    joined: list[tuple[float, float]] = []
    for low, high in sorted(ends):
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    inside = nw.lit(value=False)
    score = nw.col(SCORE)
    for low, high in joined:
        part = score >= low if np.isinf(high) else (score >= low) & (score < high)
        inside = inside | part
    return opened.with_lazy(opened.lazy.filter(inside))


def _most_promising(steps: _Steps, open_bins: NDArray[np.int64], upper: Floats) -> NDArray[np.int64]:
    """Return the bins to look into next: the best first, as many as can be fetched at once."""
    order = open_bins[np.argsort(-upper[open_bins], kind="stable")][:64]
    sizes = np.cumsum((steps.hits + steps.alarms)[order])
    return order[: max(1, int((sizes <= MOST_CUTS).sum()))]


def _feasible(value: Floats, hits: Any, alarms: Any, positives: float, floors: tuple[float, float]) -> Floats:
    predicted = np.maximum(hits + alarms, 1)
    meets = (hits / predicted >= floors[0] * (1 - 1e-12)) & (hits / positives >= floors[1] * (1 - 1e-12))
    return np.where(meets, value, -np.inf)
