"""The best threshold of a score in data of any size: count bins, then the rows of the few bins that may hide a better one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from compromis._typing import Flags, Floats, Ints, Label
from compromis.errors import InputError
from compromis.frames.bounds import best_inside
from compromis.frames.points import (
    BIN,
    FLAG,
    MOST_CUTS,
    SCORE,
    count_bins,
    find_range,
    open_scores,
    refuse_groups,
    sum_by_flag,
)
from compromis.frames.query import ROWS, Bins, Frame, count_groups
from compromis.labels import plain_label
from compromis.metrics import Metric, get_metric, read_one_weight


@dataclass(frozen=True, slots=True, kw_only=True)
class BestThreshold:
    """The threshold of a score with the largest metric value among all that there are.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"t": list("abab"), "s": [0.9, 0.2, 0.8, 0.4]})
    >>> best = cp.frames.best_threshold(frame, truth="t", score="s", pos_label="a")
    >>> best.threshold, best.precision, best.recall
    (0.8, 1.0, 1.0)
    """

    threshold: float
    """Rows with at least this score are predicted positive; it is a score that occurs."""
    value: float
    precision: float
    recall: float
    """What that reaches, exactly."""
    passes: int
    """How many times the data was read."""
    pos_label: Label
    """The positive class."""


def best_threshold(
    frame: Any,
    *,
    truth: str,
    score: str,
    pos_label: Any,
    recall_weight: float = 0.5,
    metric: str | Metric = "f",
    min_precision: float = 0.0,
    min_recall: float = 0.0,
    bins: int = 4096,
) -> BestThreshold:
    """Return the best threshold of a column of scores, exact however many rows there are.

    Parameters
    ----------
    frame, truth, score, pos_label
        As in `OperatingPoints.from_frame`.
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
    Two passes find the range and count the bins; the edges of bins are exact thresholds. A further pass fetches the
    distinct scores of those bins in which a threshold could beat the best edge (all its positives, none of its
    negatives), and so on until no bin could: then the best threshold is proven.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"t": list("abab"), "s": [0.9, 0.2, 0.8, 0.4]})
    >>> cp.frames.best_threshold(frame, truth="t", score="s", pos_label="a").threshold
    0.8
    """
    label, family = plain_label(pos_label), get_metric(metric)
    weight = read_one_weight(recall_weight)
    opened = open_scores(frame, truth, score, label, None)
    steps = _first_steps(opened, bins)
    if not steps.hits.any():
        raise InputError(f"no row of column {truth!r} is {label!r}; there is nothing to find")
    least = min_precision, min_recall
    while True:
        value, upper = steps.values(family, weight, least)
        best = int(value.argmax())
        open_bins = np.flatnonzero(~steps.whole & (upper > value[best]))
        if not len(open_bins) and (steps.whole[best] or not np.isfinite(value[best])):
            break
        # at the end the best edge itself: its threshold is the lowest score of its bin
        wanted = _most_promising(steps, open_bins, upper) if len(open_bins) else np.array([best])
        steps = steps.refined(opened, wanted, bins)
    if not np.isfinite(value[best]):
        raise InputError(f"no threshold reaches precision {min_precision:g} and recall {min_recall:g}; ask for less")
    hits, alarms = steps.above()
    return BestThreshold(
        threshold=float(steps.low[best]),
        value=float(value[best]),
        precision=float(hits[best] / (hits[best] + alarms[best])),
        recall=float(hits[best] / hits[-1]),
        passes=steps.passes,
        pos_label=label,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Steps:
    """Steps of the score, falling: bins, and single scores (`whole`) where a bin was opened."""

    low: Floats
    hits: Ints
    alarms: Ints
    whole: Flags
    passes: int

    def above(self) -> tuple[Ints, Ints]:
        """Return the positives and negatives at or above each step's lower end."""
        return np.cumsum(self.hits), np.cumsum(self.alarms)

    def values(self, metric: Metric, weight: float, least: tuple[float, float]) -> tuple[Floats, Floats]:
        """Return the value at each step's lower end, and the best that may hide inside it; -inf where a minimum is missed."""
        hits, alarms = self.above()
        before = np.stack([hits - self.hits, alarms - self.alarms])
        positives = float(hits[-1])
        exact = best_inside(metric, np.stack([hits, alarms]), 0, positives, weight)
        hidden = best_inside(metric, before, self.hits, positives, weight)
        return (
            _feasible(exact, hits, alarms, positives, least),
            _feasible(hidden, before[0] + self.hits, before[1], positives, least),
        )

    def refined(self, opened: Frame, which: Ints, bins: int) -> _Steps:
        """Return the steps with some bins replaced by what is inside: their scores, or finer bins where those are too many."""
        size = int((self.hits + self.alarms)[which].sum())
        inside = _within(opened, [self._ends(number) for number in which])
        if size <= MOST_CUTS:
            groups = count_groups(inside, [FLAG, SCORE], MOST_CUTS, what="distinct scores")
            finer = _from_scores(groups.floats(SCORE), groups.floats(FLAG) == 1, groups.counts(ROWS))
        else:
            finer = _first_steps(inside, bins)
            if len(finer.low) == 1 and not finer.whole[0]:
                raise InputError("the scores span more than floats can divide into bins; rescale them first")
        return self._joined(which, finer)

    def _ends(self, number: int) -> tuple[float, float]:
        return float(self.low[number]), float(self.low[number - 1]) if number else np.inf

    def _joined(self, replaced: Ints, finer: _Steps) -> _Steps:
        kept = np.ones(len(self.low), dtype=bool)
        kept[replaced] = False
        order = np.argsort(-np.concatenate([self.low[kept], finer.low]), kind="stable")
        low, hits, alarms, whole = (
            np.concatenate([getattr(self, name)[kept], getattr(finer, name)])[order]
            for name in ("low", "hits", "alarms", "whole")
        )
        return _Steps(low=low, hits=hits, alarms=alarms, whole=whole, passes=self.passes + finer.passes)


def _first_steps(opened: Frame, bins: int) -> _Steps:
    """Return the occupied bins of all scores of a frame."""
    low, high = find_range(opened)
    layout = Bins.over(low, high, bins)
    groups = count_bins(opened, layout)
    refuse_groups(opened, groups, groups.floats(BIN) < 0)
    numbers = groups.floats(BIN).astype(np.int64)
    inside = sum_by_flag(groups.floats(FLAG) == 1, numbers, groups.counts(ROWS), layout.count)[:, ::-1]
    edges, used = layout.edges()[::-1], inside.any(axis=0)
    whole = np.full(int(used.sum()), low == high)
    return _Steps(low=edges[used], hits=inside[0, used], alarms=inside[1, used], whole=whole, passes=2)


def _from_scores(scores: Floats, flags: Flags, sizes: Ints) -> _Steps:
    falling, step = np.unique(-scores, return_inverse=True)
    hits, alarms = sum_by_flag(flags, step, sizes, len(falling))
    return _Steps(low=-falling, hits=hits, alarms=alarms, whole=np.ones(len(falling), dtype=bool), passes=1)


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


def _most_promising(steps: _Steps, open_bins: Ints, upper: Floats) -> Ints:
    """Return the bins to look into next: the best first, as many as can be fetched at once."""
    order = open_bins[np.argsort(-upper[open_bins], kind="stable")][:64]
    sizes = np.cumsum((steps.hits + steps.alarms)[order])
    return order[: max(1, int((sizes <= MOST_CUTS).sum()))]


def _feasible(value: Floats, hits: Any, alarms: Any, positives: float, least: tuple[float, float]) -> Floats:
    predicted = np.maximum(hits + alarms, 1)
    meets = (hits / predicted >= least[0] * (1 - 1e-12)) & (hits / positives >= least[1] * (1 - 1e-12))
    return np.where(meets, value, -np.inf)
