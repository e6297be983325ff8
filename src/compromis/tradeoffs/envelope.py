"""Candidates: the results that may be best for some weight, with their two rates as exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import nearest
from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric

Fractions = Callable[[OperatingPoints, Any], tuple[Floats, Floats]]

_MANY = 10_000
"""From this many groups on, most dominated ones are removed by a pass over bins before the rest is sorted."""
_PER_BIN = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rates that are traded for each other: l = 0 is the first alone, l = 1 the second alone."""

    name: str
    first: str
    second: str
    fractions: Fractions
    """Numerators and denominators of both rates, for the points at the given positions."""


def _precision_recall(points: OperatingPoints, at: Any) -> tuple[Floats, Floats]:
    hits = points.true_positives[at]
    return _fraction(hits, hits + points.false_positives[at]), _fraction(hits, points.positives)


def _specificity_sensitivity(points: OperatingPoints, at: Any) -> tuple[Floats, Floats]:
    kept = points.negatives - points.false_positives[at]
    return _fraction(kept, points.negatives), _fraction(points.true_positives[at], points.positives)


def _fraction(above: NDArray[Any], below: Any) -> Floats:
    return np.stack([above.astype(np.float64), np.broadcast_to(np.asarray(below, dtype=np.float64), above.shape)])


PAIRS: dict[str, Pair] = {
    pair.name: pair
    for pair in (
        Pair("precision-recall", "precision", "recall", _precision_recall),
        Pair("specificity-sensitivity", "specificity", "sensitivity", _specificity_sensitivity),
    )
}
"""The spaces: the trade-off paper's, and the one it says is preferred where true negatives matter."""


def get_pair(pair: str | Pair) -> Pair:
    """Return the pair of that name, or the pair itself."""
    if isinstance(pair, Pair):
        return pair
    if pair not in PAIRS:
        raise InputError(f"there is no pair {pair!r}{nearest(pair, PAIRS)}; choose one of {', '.join(PAIRS)}")
    return PAIRS[pair]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Dominating results, the second rate rising and the first falling.

    Attributes
    ----------
    first, second : ndarray of shape (2, k)
        Numerators and denominators of the rates; 0 / 0 never occurs.
    position : ndarray of shape (k,)
        Where each stands among its owner's points; -1 for a result that belongs to nobody.
    owner : ndarray of shape (k,)
        Whose point it is, where several sets of points were joined.
    """

    first: Floats
    second: Floats
    position: Ints
    owner: Ints

    def __len__(self) -> int:
        return len(self.position)

    @property
    def first_rate(self) -> Floats:
        """The first rate of each result."""
        return self.first[0] / self.first[1]

    @property
    def second_rate(self) -> Floats:
        """The second rate of each result."""
        return self.second[0] / self.second[1]

    def take(self, which: Any) -> Candidates:
        """Return some of the results, in the given order."""
        return Candidates(self.first[:, which], self.second[:, which], self.position[which], self.owner[which])


def candidates_of(points: OperatingPoints, pair: Pair) -> Candidates:
    """Return the dominating points of a pair of rates; none where a rate is undefined for lack of rows."""
    defined = points.positives and (points.negatives or pair.name == "precision-recall")
    positions = _front(points, pair) if defined else np.empty(0, dtype=np.int64)
    return Candidates(*pair.fractions(points, positions), positions, np.zeros(len(positions), dtype=np.int64))


def _front(points: OperatingPoints, pair: Pair) -> Ints:
    if points.names is None and pair.name == "precision-recall":
        return np.flatnonzero(points.dominating)  # cuts come with recall rising
    first, second = (fraction[0] / _nonzero(fraction[1]) for fraction in pair.fractions(points, slice(None)))
    if points.names is None:
        return _dominating(first, second, np.arange(len(first)))
    promising = np.arange(len(first)) if len(first) < _MANY else _promising(first, second)
    promising = promising[~np.isnan(first[promising])]
    return _dominating(first, second, promising[np.argsort(second[promising])])


def _nonzero(below: Floats) -> Floats:
    return np.where(below > 0, below, np.nan)


def _promising(first: Floats, second: Floats) -> Ints:
    from compromis.tradeoffs._kernels.hull import mark_promising

    marked = np.empty(len(first), dtype=bool)
    mark_promising(first, second, np.empty(len(first) // _PER_BIN + 1), marked)
    return np.flatnonzero(marked)


def _dominating(first: Floats, second: Floats, order: Ints) -> Ints:
    from compromis.evidence._kernels.ranking import mark_dominating

    marked = np.zeros(len(first), dtype=bool)
    mark_dominating(first, second, order, marked)
    return order[marked[order]]


def join(parts: Sequence[Candidates]) -> Candidates:
    """Return the dominating results of all parts; `owner` says which part each comes from, and twins are all kept."""
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    first = np.concatenate([part.first for part in parts], axis=1)
    second = np.concatenate([part.second for part in parts], axis=1)
    joined = Candidates(first, second, np.concatenate([part.position for part in parts]), owner)
    rates = joined.first_rate, joined.second_rate
    return joined.take(_dominating(*rates, np.argsort(rates[1], kind="stable")))


def single(first: tuple[float, float], second: tuple[float, float]) -> Candidates:
    """Return one result that belongs to nobody, from the numerators and denominators of its rates."""
    nobody = np.array([-1])
    return Candidates(
        np.array(first, dtype=np.float64)[:, None], np.array(second, dtype=np.float64)[:, None], nobody, nobody + 1
    )


GRID = 256
"""Steps of the first pass over [0, 1]."""
TOLERANCE = 1e-13
"""How much better a result must be at a crossing of two others to get an interval of its own."""


def numeric_envelope(first: Floats, second: Floats, metric: Metric) -> tuple[NDArray[np.int64], Floats]:
    """Return the best results in turn, and the weights where they change.

    Notes
    -----
    Breaks are roots to 1e-14. A result is found if it is best at a multiple of 1/256 or at the crossing of two results
    that are best next to each other; the envelope is never wrong by more than 1e-13 if the curves of two results cross
    at most once between two neighbouring multiples.
    """
    weights = np.linspace(0.0, 1.0, GRID + 1)
    winners = [_best(first, second, metric, weight) for weight in weights.tolist()]
    chosen, breaks = [winners[0]], [0.0]
    for low, high, left, right in zip(weights[:-1], weights[1:], winners[:-1], winners[1:], strict=True):
        for weight, winner in _changes(first, second, metric, (float(low), left), (float(high), right)):
            if weight > breaks[-1]:
                chosen.append(winner)
                breaks.append(weight)
            else:  # the change is at the very beginning of the interval before
                chosen[-1] = winner
    if breaks[-1] >= 1.0:
        chosen, breaks = chosen[:-1], breaks[:-1]
    return np.array(chosen), np.append(breaks, 1.0)


def _best(first: Floats, second: Floats, metric: Metric, weight: float) -> int:
    return int(np.argmax(metric.value(first, second, weight)))


Place = tuple[float, int]


def _changes(
    first: Floats, second: Floats, metric: Metric, start: Place, end: Place, depth: int = 0
) -> Iterator[Place]:
    """Yield where the best result changes between two weights whose best results are known."""
    (low, left), (high, right) = start, end
    if left == right:
        return
    crossing = _crossing(first[[left, right]], second[[left, right]], metric, low, high)
    values = metric.value(first, second, crossing)
    best = int(np.argmax(values))
    if values[best] > max(values[left], values[right]) + TOLERANCE and low < crossing < high and depth < 60:
        yield from _changes(first, second, metric, start, (crossing, best), depth + 1)
        yield from _changes(first, second, metric, (crossing, best), end, depth + 1)
    else:
        yield crossing, right


def _crossing(first: Floats, second: Floats, metric: Metric, low: float, high: float) -> float:
    """The weight between `low` and `high` where the second result draws level with the first."""
    from scipy.optimize import brentq

    def lead(weight: float) -> float:
        values = metric.value(first, second, weight)
        return float(values[0] - values[1])

    if lead(low) <= 0:
        return low
    if lead(high) >= 0:
        return high
    return float(brentq(lead, low, high, xtol=1e-14))


_TRANSFORM = {0: 0, 1: 1, 2: 2, 3: 1}
"""The transform of each metric in compiled code: Jaccard has the hull of f."""
_RECIPROCAL = 1
_MANY_envelope = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The best result on each interval of recall weights.

    `chosen[i]`, a place among the candidates, is best from ``breaks[i]`` to ``breaks[i + 1]``; the breaks rise strictly
    from 0 to 1.
    """

    chosen: Ints
    breaks: Floats

    def at(self, weight: Floats) -> Ints:
        """Return the candidate that is best at each weight; at a break, the one after it."""
        places = np.searchsorted(self.breaks[1:-1], weight, side="right")
        return self.chosen[places]


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
        part = candidates.take(usable)
        chosen, breaks = numeric_envelope(part.first_rate, part.second_rate, metric)
        return Envelope(usable[chosen], breaks)
    chain, odds = _hull(candidates, usable, metric)
    starts = np.asarray(metric.bend(odds / (1 + odds)), dtype=np.float64)
    starts[0] = 0.0
    return _without_gaps(chain, starts)


def _hull(candidates: Candidates, usable: Ints, metric: Metric) -> tuple[Ints, Floats]:
    if metric.code < 0:
        assert metric.transform is not None
        rates = (candidates.first_rate[usable], candidates.second_rate[usable])
        first, second = (np.stack([metric.transform(rate), np.ones(len(usable))]) for rate in rates)
        return _chain(first, second, usable, 0, margin=1e-11)  # differences of u have lost some digits
    first, second = candidates.first, candidates.second
    if len(usable) < len(candidates):
        first, second = first[:, usable], second[:, usable]
    code = _TRANSFORM[metric.code]
    if code == 2 and len(usable) > _MANY_envelope:
        # isolines of f bend more than those of Fowlkes-Mallows: its hull holds theirs, and needs no logarithms
        some, _ = _chain(first, second, np.arange(len(usable)), _RECIPROCAL, margin=-1e-9)
        first, second, usable = first[:, some], second[:, some], usable[some]
    return _chain(first, second, usable, code)


def _chain(first: Floats, second: Floats, names: Ints, code: int, margin: float = 4e-15) -> tuple[Ints, Floats]:
    from compromis.tradeoffs._kernels import hull

    chain, odds = np.empty(len(names), dtype=np.int64), np.empty(len(names))
    first, second = np.ascontiguousarray(first), np.ascontiguousarray(second)
    size = hull.upper_envelope(first, second, code, margin, chain, odds)
    return names[chain[:size]], odds[:size]


def _without_gaps(chain: Ints, starts: Floats) -> Envelope:
    """Drop results whose interval rounding has closed; the others touch each other."""
    kept = np.append(starts[1:], 1.0) > starts
    return Envelope(chain[kept], np.append(starts[kept], 1.0))
