"""The upper envelope of results over the recall weight: which is best where, by a convex hull.

With u the transform of a metric each result is the straight line (1 - m) u(p) + m u(r), so that the envelope is the
upper hull of the points (u(r), u(p)); m is l itself but for Jaccard. Flach and Kull (Precision-recall-gain curves, NIPS
2015) had the intervals of F-beta first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats, Ints
from compromis.metrics import Metric
from compromis.tradeoffs.candidates import Candidates

_TRANSFORM = {0: 0, 1: 1, 2: 2, 3: 1}
"""The transform of each metric in compiled code: Jaccard has the hull of f."""
_RECIPROCAL = 1
_MANY = 1000


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
        from compromis.tradeoffs.numeric import numeric_envelope

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
    if code == 2 and len(usable) > _MANY:
        # isolines of f bend more than those of Fowlkes-Mallows: its hull holds theirs, and needs no logarithms
        some, _ = _chain(first, second, np.arange(len(usable)), _RECIPROCAL, margin=-1e-9)
        first, second, usable = first[:, some], second[:, some], usable[some]
    return _chain(first, second, usable, code)


def _chain(first: Floats, second: Floats, names: Ints, code: int, margin: float = 4e-15) -> tuple[Ints, Floats]:
    from compromis.kernels import hull

    chain, odds = np.empty(len(names), dtype=np.int64), np.empty(len(names))
    first, second = np.ascontiguousarray(first), np.ascontiguousarray(second)
    size = hull.upper_envelope(first, second, code, margin, chain, odds)
    return names[chain[:size]], odds[:size]


def _without_gaps(chain: Ints, starts: Floats) -> Envelope:
    """Drop results whose interval rounding has closed; the others touch each other."""
    kept = np.append(starts[1:], 1.0) > starts
    return Envelope(chain[kept], np.append(starts[kept], 1.0))
