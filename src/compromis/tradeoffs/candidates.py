"""Candidates: the results that may be best for some weight, with their two rates as exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Ints
from compromis.errors import InputError, nearest
from compromis.evidence.points import OperatingPoints

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
    from compromis.kernels.hull import mark_promising

    marked = np.empty(len(first), dtype=bool)
    mark_promising(first, second, np.empty(len(first) // _PER_BIN + 1), marked)
    return np.flatnonzero(marked)


def _dominating(first: Floats, second: Floats, order: Ints) -> Ints:
    from compromis.kernels.hull import mark_dominating

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
