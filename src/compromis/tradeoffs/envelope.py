"""Which result is best at which recall weight: pairs of rates, the results worth looking at, their upper envelope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from compromis._text import unknown_name
from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints, dominating_of
from compromis.metrics import Metric

Kind = TypeVar("Kind")

_MANY_GROUPS, _GROUPS_PER_BIN = 10_000, 4
"""From this many groups on, a pass over bins removes most dominated ones before the rest is sorted."""
_MANY_CORNERS = 1000
"""From this many candidates on, the hull of f thins those of Fowlkes-Mallows."""
_IDENTITY, _RECIPROCAL, _LOGARITHM = range(3)
_TRANSFORM = {"kulczynski": _IDENTITY, "f": _RECIPROCAL, "fowlkes_mallows": _LOGARITHM, "jaccard": _RECIPROCAL}
"""The transform of each built-in metric as the kernel of hulls numbers it: Jaccard has the hull of f."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rates that are traded for each other: recall weight 0 is the first alone, 1 the second alone."""

    name: str
    first: str
    second: str
    _: KW_ONLY
    has_precision: bool
    """Whether the first rate is precision, so that `PrecisionRecallSpace` has its landmarks; else it is specificity."""

    def defined(self, points: OperatingPoints) -> bool:
        """Return whether the data have the rows that both rates need."""
        return bool(points.positives and (self.has_precision or points.negatives))

    def fractions(self, points: OperatingPoints, at: Any = slice(None)) -> tuple[Floats, Floats]:
        """Return numerators and denominators of both rates, for the points at the given positions."""
        return self._fractions(points, points.true_positives[at], points.false_positives[at])

    def maximal(self, points: OperatingPoints) -> Candidates:
        """Return the maximal group: everything is predicted positive."""
        everything = np.array([points.positives]), np.array([points.negatives])
        return Candidates(*self._fractions(points, *everything), position=np.array([-1]), owner=np.array([0]))

    def rates(self, points: OperatingPoints) -> tuple[Floats, Floats]:
        """Return both rates of every point; NaN where they are undefined."""
        first, second = (above / np.where(below > 0, below, np.nan) for above, below in self.fractions(points))
        return first, second

    def candidates(self, points: OperatingPoints) -> Candidates:
        """Return the dominating points, the second rate rising; none where a rate is undefined for lack of rows."""
        at = self._front(points) if self.defined(points) else np.empty(0, dtype=np.int64)
        return Candidates(*self.fractions(points, at), position=at, owner=np.zeros(len(at), dtype=np.int64))

    def _fractions(self, points: OperatingPoints, hits: NDArray[Any], alarms: NDArray[Any]) -> tuple[Floats, Floats]:
        kept, negatives = points.negatives - alarms, points.negatives
        first = _fraction(hits, hits + alarms) if self.has_precision else _fraction(kept, negatives)
        return first, _fraction(hits, points.positives)

    def _front(self, points: OperatingPoints) -> Ints:
        if self.has_precision and points.names is None:  # the counts of cuts tell without a division
            return np.flatnonzero(points.dominating)
        first, second = self.rates(points)
        order = np.arange(len(first))
        if points.names is not None:  # groups come in any order, and empty ones have no precision
            order = order if len(first) < _MANY_GROUPS else _promising(first, second)
            order = order[~np.isnan(first[order])]
            order = order[np.argsort(second[order])]
        return dominating_of(first, second, order)


def _fraction(above: NDArray[Any], below: Any) -> Floats:
    return np.stack([above.astype(np.float64), np.broadcast_to(np.asarray(below, dtype=np.float64), above.shape)])


PRECISION_RECALL = Pair("precision-recall", "precision", "recall", has_precision=True)
SPECIFICITY_SENSITIVITY = Pair("specificity-sensitivity", "specificity", "sensitivity", has_precision=False)
PAIRS: dict[str, Pair] = {pair.name: pair for pair in (PRECISION_RECALL, SPECIFICITY_SENSITIVITY)}


def get_pair(pair: str | Pair) -> Pair:
    """Return the pair of that name, or the pair itself."""
    if isinstance(pair, Pair):
        return pair
    if not isinstance(pair, str) or pair not in PAIRS:
        raise InputError(unknown_name("pair", pair, PAIRS))
    return PAIRS[pair]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Dominating results, the second rate rising and the first falling."""

    first: Floats
    second: Floats
    """Of shape (2, k): numerators and denominators of the rates; 0 / 0 never occurs."""
    _: KW_ONLY
    position: Ints
    """Of shape (k,): index of each result among the points of its owner; -1 for a result that is none of the points."""
    owner: Ints
    """Of shape (k,): which set of points the result comes from, where several were joined."""

    @classmethod
    def single(cls, first: tuple[float, float], second: tuple[float, float]) -> Candidates:
        """Return one result that is none of the points, from the numerators and denominators of its rates."""
        rates = np.array([first, second], dtype=np.float64)[:, :, None]
        return cls(*rates, position=np.array([-1]), owner=np.array([0]))

    @classmethod
    def join(cls, parts: Sequence[Candidates]) -> Candidates:
        """Return the dominating results of all parts; `owner` is the index of the part, and twins are all kept."""
        joined = cls(
            np.concatenate([part.first for part in parts], axis=1),
            np.concatenate([part.second for part in parts], axis=1),
            position=np.concatenate([part.position for part in parts]),
            owner=np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        )
        rates = joined.first_rate, joined.second_rate
        return joined.take(dominating_of(*rates, np.argsort(rates[1], kind="stable")))

    def __len__(self) -> int:
        return len(self.position)

    @cached_property
    def first_rate(self) -> Floats:
        """The first rate of each result."""
        return self.first[0] / self.first[1]

    @cached_property
    def second_rate(self) -> Floats:
        """The second rate of each result."""
        return self.second[0] / self.second[1]

    def twins(self, index: int) -> slice:
        """Return where the results with the rates of one stand: dominating ones of one second rate have one first rate."""
        low, high = (np.searchsorted(self.second_rate, self.second_rate[index], side) for side in ("left", "right"))
        return slice(low, high)

    def take(self, which: Any) -> Candidates:
        """Return some of the results, in the given order."""
        position, owner = self.position[which], self.owner[which]
        return Candidates(self.first[:, which], self.second[:, which], position=position, owner=owner)


NEVER_POSITIVE, ALWAYS_POSITIVE = Candidates.single((1, 1), (0, 1)), Candidates.single((0, 1), (1, 1))
"""The constant decisions by specificity and sensitivity."""


def _promising(first: Floats, second: Floats) -> Ints:
    from compromis.tradeoffs._kernels import mark_promising

    marked = np.empty(len(first), dtype=bool)
    mark_promising(first, second, np.empty(len(first) // _GROUPS_PER_BIN + 1), marked.view(np.uint8))
    return np.flatnonzero(marked)


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The best result on each interval of recall weights.

    `chosen[i]`, an index among the candidates, is best from ``breaks[i]`` to ``breaks[i + 1]``; the breaks rise strictly
    from 0 to 1.
    """

    chosen: Ints
    breaks: Floats

    def at(self, weight: Floats) -> Ints:
        """Return the candidate that is best at each weight; at a break, the one after it."""
        return self.chosen[np.searchsorted(self.breaks[1:-1], weight, side="right")]

    def runs(self, kinds: Iterable[Kind]) -> Iterator[tuple[Kind, float, float]]:
        """Yield (kind, low, high) over the intervals, each of which has one of `kinds`; neighbours of one kind are joined."""
        intervals = zip(kinds, self.breaks[:-1].tolist(), self.breaks[1:].tolist(), strict=True)
        for kind, group in groupby(intervals, key=itemgetter(0)):
            run = list(group)
            yield kind, run[0][1], run[-1][2]


def upper_envelope(candidates: Candidates, metric: Metric) -> Envelope:
    """Return which candidate is best at which recall weight.

    Results with a rate of 0 are worth 0 inside (0, 1) unless the metric is defined there, and are left out first; if
    nothing else is left, one of them holds the whole range.
    """
    if len(candidates) == 0:
        return Envelope(np.empty(0, dtype=np.int64), np.empty(0))
    usable = np.arange(len(candidates))
    if not metric.defined_at_zero:
        usable = np.flatnonzero((candidates.first[0] > 0) & (candidates.second[0] > 0))
    if len(usable) <= 1:
        return Envelope(usable if len(usable) else np.array([len(candidates) - 1]), np.array([0.0, 1.0]))
    if metric.transform is None:
        chosen, breaks = numeric_envelope(candidates.first_rate[usable], candidates.second_rate[usable], metric)
        return Envelope(usable[chosen], breaks)
    chain, odds = _hull(candidates, usable, metric)
    starts = np.asarray(metric.bend(odds / (1 + odds)), dtype=np.float64)
    starts[0] = 0.0
    wide = np.append(starts[1:], 1.0) > starts  # rounding may have closed an interval; the others touch each other
    return Envelope(chain[wide], np.append(starts[wide], 1.0))


def _hull(candidates: Candidates, usable: Ints, metric: Metric) -> tuple[Ints, Floats]:
    """Return the corners of the hull, and the odds of the recall weight from which each is best."""
    if not metric.built_in or metric.name not in _TRANSFORM:
        assert metric.transform is not None
        rates = (candidates.first_rate[usable], candidates.second_rate[usable])
        first, second = (np.stack([metric.transform(rate), np.ones(len(usable))]) for rate in rates)
        return _chain(first, second, usable, 0, margin=1e-11)  # differences of u have lost some digits
    first, second = candidates.first, candidates.second
    if len(usable) < len(candidates):
        first, second = first[:, usable], second[:, usable]
    code = _TRANSFORM[metric.name]
    if code == _LOGARITHM and len(usable) > _MANY_CORNERS:
        # isolines of f bend more than those of Fowlkes-Mallows: its hull holds theirs, and needs no logarithms
        some, _ = _chain(first, second, np.arange(len(usable)), _RECIPROCAL, margin=-1e-9)
        first, second, usable = first[:, some], second[:, some], usable[some]
    return _chain(first, second, usable, code)


def _chain(first: Floats, second: Floats, names: Ints, code: int, margin: float = 4e-15) -> tuple[Ints, Floats]:
    from compromis.tradeoffs import _kernels

    chain, odds = np.empty(len(names), dtype=np.int64), np.empty(len(names))
    size = _kernels.upper_envelope(first, second, code, margin, chain, odds)
    return names[chain[:size]], odds[:size]


_GRID = 256
"""Steps of the first pass of the numeric envelope over [0, 1]."""
_TOLERANCE = 1e-13
"""How much better a result must be at a crossing of two others to get an interval of its own."""
_DEEPEST = 60

Best = tuple[float, int]
"""A recall weight, and the result that is best there."""


def numeric_envelope(first: Floats, second: Floats, metric: Metric) -> tuple[Ints, Floats]:
    """Return the best results in turn, and the weights where they change, for a metric that is only a formula.

    Notes
    -----
    Breaks are roots to 1e-14. A result is found if it is best at a multiple of 1/256 or at the crossing of two results
    that are best next to each other; the envelope is never wrong by more than 1e-13 if the curves of two results cross
    at most once between two neighbouring multiples.
    """
    grid = np.linspace(0.0, 1.0, _GRID + 1).tolist()
    known = [(weight, int(np.argmax(metric.value(first, second, weight)))) for weight in grid]
    chosen, breaks = [known[0][1]], [0.0]
    for start, end in pairwise(known):
        for weight, winner in _changes((first, second), metric, start, end):
            if weight > breaks[-1]:
                chosen.append(winner)
                breaks.append(weight)
            else:  # the change is at the very beginning of the interval before
                chosen[-1] = winner
    if breaks[-1] >= 1.0:
        chosen, breaks = chosen[:-1], breaks[:-1]
    return np.array(chosen), np.append(breaks, 1.0)


def _changes(rates: tuple[Floats, Floats], metric: Metric, start: Best, end: Best, depth: int = 0) -> Iterator[Best]:
    """Yield where the best result changes between two weights whose best results are known."""
    (low, left), (high, right) = start, end
    if left == right:
        return
    first, second = rates
    crossing = _crossing(first[[left, right]], second[[left, right]], metric, low, high)
    values = metric.value(first, second, crossing)
    best = int(np.argmax(values))
    if values[best] > max(values[left], values[right]) + _TOLERANCE and low < crossing < high and depth < _DEEPEST:
        yield from _changes(rates, metric, start, (crossing, best), depth + 1)
        yield from _changes(rates, metric, (crossing, best), end, depth + 1)
    else:
        yield crossing, right


def _crossing(first: Floats, second: Floats, metric: Metric, low: float, high: float) -> float:
    """Return the weight between `low` and `high` where the second of two results draws level with the first."""
    from scipy.optimize import brentq

    def lead(weight: float) -> float:
        values = metric.value(first, second, weight)
        return float(values[0] - values[1])

    if lead(low) <= 0:
        return low
    if lead(high) >= 0:
        return high
    return float(brentq(lead, low, high, xtol=1e-14))
