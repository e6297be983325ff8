"""The answers of a trade-off curve: intervals of recall weights, and the best result at one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import shown_label
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.tradeoffs.areas import Density, area_under, check_range, mass
from compromis.tradeoffs.envelope import Candidates, Envelope, Pair, candidates_of, get_pair, upper_envelope


@dataclass(frozen=True, slots=True)
class BestRange:
    """One result and the recall weights for which it is best.

    Attributes
    ----------
    low, high : float
        The range of recall weights; neighbours share their ends.
    position : int
        Where the result stands among the operating points.
    threshold : float
        Decide positive from this score on; NaN for a group.
    name : label or None
        The name of the group; None for a cut of a score.
    precision, recall, specificity : float
        The rates of the result.
    size : float
        The rows (or weights) predicted positive.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> first = cp.TradeoffCurve(points, metric="f").intervals[0]
    >>> first.threshold, first.precision, round(first.high, 4)  # best up to a recall weight of 1/7
    (0.9, 1.0, 0.1429)
    """

    low: float
    high: float
    position: int
    threshold: float
    name: Label
    precision: float
    recall: float
    specificity: float
    size: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The best result at one recall weight, or why there is none.

    Attributes
    ----------
    feasible : bool
        Whether a result meets the minima.
    value : float
        The value of the metric; NaN if nothing is feasible.
    position, threshold, name, precision, recall : see BestRange
        Position is -1, and the rates are NaN, if nothing is feasible.
    reason : str
        Why nothing is feasible, and what the nearest results are; empty otherwise.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> curve = cp.TradeoffCurve(points, metric="f")
    >>> choice = curve.best(0.5)
    >>> choice.threshold, choice.precision, choice.recall
    (0.4, 0.75, 1.0)
    >>> curve.best(0.5, min_precision=0.8, min_recall=0.5).feasible
    False
    """

    feasible: bool
    value: float
    position: int
    threshold: float
    name: Label
    precision: float
    recall: float
    reason: str = ""


NOTHING = (math.nan, -1, math.nan, None, math.nan, math.nan)


def choose(curve: TradeoffCurve, weight: float, min_precision: float | None, min_recall: float | None) -> Choice:
    """Return the best point of the curve's points that meets the minima.

    The dominating points suffice, in either space: one that dominates another finds no less, raises no more false
    alarms for it, and so meets every minimum that the other meets.
    """
    least = {
        "precision": _read_minimum("min_precision", min_precision),
        "recall": _read_minimum("min_recall", min_recall),
    }
    if curve.reason:
        return Choice(False, *NOTHING, reason=curve.reason)
    bounded = any(least.values())
    positions = curve.candidates.position
    rates = {"precision": curve.points.precision[positions], "recall": curve.points.recall[positions]}
    meets = np.ones(len(positions), dtype=bool)
    if bounded:
        meets = (rates["precision"] >= least["precision"]) & (rates["recall"] >= least["recall"])
    if not meets.any():
        return Choice(False, *NOTHING, reason=_infeasible(curve, rates, least))
    first = rates["precision"] if curve.pair.name == "precision-recall" else curve.points.specificity[positions]
    values = np.where(meets, curve.metric.value(first, rates["recall"], weight), -np.inf)
    place = _first_of_best(values, first + rates["recall"])
    return _choice(curve, int(positions[place]), float(values[place]))


def _first_of_best(values: Floats, tie: Floats) -> int:
    """Among equal values (l = 0 or 1, a break) the one that is better all in all."""
    return int(np.argmax(np.where(values == values.max(), tie, -np.inf)))


def _choice(curve: TradeoffCurve, position: int, value: float) -> Choice:
    points = curve.points
    hits, size = float(points.true_positives[position]), float(points.group_size[position])
    name = None if points.names is None else points.names[position]
    precision = hits / size if size else math.nan
    return Choice(True, value, position, float(points.threshold[position]), name, precision, hits / points.positives)


def _read_minimum(name: str, minimum: float | None) -> float:
    if minimum is None:
        return 0.0
    if not 0 <= minimum <= 1:
        raise InputError(f"{name} is a share between 0 and 1, got {minimum}")
    return float(minimum)


def _infeasible(curve: TradeoffCurve, rates: dict[str, Floats], least: dict[str, float]) -> str:
    what = "cut" if curve.points.names is None else "group"
    preferences = " and ".join(f"{name} >= {minimum:g}" for name, minimum in least.items() if minimum)
    reaches = []
    for name, other in (("precision", "recall"), ("recall", "precision")):
        meets = rates[name] >= least[name]
        if not least[name]:
            continue
        if meets.any():
            reaches.append(f"with {name} >= {least[name]:g} {other} reaches {rates[other][meets].max():.4g}")
        else:
            reaches.append(f"{name} never exceeds {np.nanmax(rates[name]):.4g}")
    return f"no {what} has {preferences}; {', '.join(reaches)}"


def read_weight(recall_weight: ArrayLike) -> Floats:
    """Return recall weights as a checked array."""
    weight = np.asarray(recall_weight, dtype=np.float64)
    wrong = ~((weight >= 0) & (weight <= 1))
    if wrong.any():
        raise InputError(
            f"a recall weight lies between 0 (precision alone) and 1 (recall alone), got {weight[wrong].flat[0]:g}"
        )
    return weight


class TradeoffCurve:
    """The optimal trade-off curve of a set of operating points: the upper envelope of their curves.

    Parameters
    ----------
    points : OperatingPoints
        The cuts of a score, or found groups.
    metric : str or Metric
        ``"kulczynski"``, ``"f"``, ``"fowlkes_mallows"``, ``"jaccard"`` or one's own.
    pair : str
        ``"precision-recall"``, or ``"specificity-sensitivity"`` where true negatives matter: specificity then takes
        the place of precision.

    Attributes
    ----------
    breaks : ndarray
        The recall weights where the best result changes, with 0 and 1 at the ends.
    positions : ndarray
        The best points in turn: ``positions[i]`` from ``breaks[i]`` to ``breaks[i + 1]``.

    Notes
    -----
    Hanczar and Nadif, section 4.2. Breaks are exact to rounding, from the counts, for the four metrics and for any
    with a transform; for a metric of one's own without one see `compromis.tradeoffs.envelope` (roots to 1e-14, values
    to 1e-13). For all but Kulczynski a point with a rate of 0 is worth 0 inside (0, 1); at l = 0 and l = 1 themselves
    it is worth its other rate, which `value` and `best` respect.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> curve = cp.TradeoffCurve(points, metric="f")
    >>> for part in curve.intervals:
    ...     print(f"{part.low:.3f} to {part.high:.3f}: score >= {part.threshold}")
    0.000 to 0.143: score >= 0.9
    0.143 to 1.000: score >= 0.4
    >>> round(float(curve.value(0.5)), 3), round(curve.area(), 3)
    (0.857, 0.88)
    """

    __slots__ = ("_candidates", "_envelope", "metric", "pair", "points")

    def __init__(
        self, points: OperatingPoints, metric: str | Metric = "kulczynski", *, pair: str | Pair = "precision-recall"
    ) -> None:
        if not isinstance(points, OperatingPoints):
            raise InputError(
                f"points must be OperatingPoints, got {type(points).__name__}; "
                f"make them with from_predictions or from_groups"
            )
        self.points = points
        self.metric = get_metric(metric)
        self.pair = get_pair(pair)
        self._candidates = candidates_of(points, self.pair)
        self._envelope = upper_envelope(self._candidates, self.metric)

    def with_metric(self, metric: str | Metric) -> TradeoffCurve:
        """Return the curve of the same points for another metric, without looking for the dominating points again."""
        other = object.__new__(TradeoffCurve)
        other.points, other.pair, other._candidates = self.points, self.pair, self._candidates
        other.metric = get_metric(metric)
        other._envelope = upper_envelope(self._candidates, other.metric)
        return other

    @property
    def candidates(self) -> Candidates:
        """The dominating points, which the envelope is made of."""
        return self._candidates

    @property
    def envelope(self) -> Envelope:
        """Which candidate is best where."""
        return self._envelope

    @property
    def breaks(self) -> Floats:
        """The recall weights where the best result changes, 0 and 1 included; empty if the curve is undefined."""
        return self._envelope.breaks

    @property
    def positions(self) -> NDArray[np.int64]:
        """The best points in turn."""
        return self._candidates.position[self._envelope.chosen]

    @property
    def reason(self) -> str:
        """Why the curve is NaN everywhere; empty if it is not."""
        return (
            ""
            if len(self._candidates)
            else self.points.reason or "nothing is ever predicted positive: precision is undefined"
        )

    @property
    def intervals(self) -> tuple[BestRange, ...]:
        """For which recall weights which point is best; they cover [0, 1] without gaps or overlaps."""
        at = self.positions
        names = self.points.names
        columns = (self.breaks[:-1], self.breaks[1:], at, self.points.threshold[at])
        rates = (rate[at] for rate in (self.points.precision, self.points.recall, self.points.specificity))
        numbers = [column.tolist() for column in (*columns, *rates, self.points.group_size[at])]
        return tuple(
            BestRange(low, high, position, threshold, None if names is None else names[position], *rest)
            for low, high, position, threshold, *rest in zip(*numbers, strict=True)
        )

    def value(self, recall_weight: ArrayLike) -> Any:
        """Return the optimal value at each recall weight; NaN where `reason` says why.

        Parameters
        ----------
        recall_weight : float or array-like
            l in [0, 1].
        """
        weight = read_weight(recall_weight)
        if not len(self._candidates):
            return np.full(weight.shape, np.nan)[()]
        first, second = self._candidates.first_rate, self._candidates.second_rate
        best = self._envelope.at(weight)
        inside = self.metric.value(first[best], second[best], weight)
        return np.select([weight == 0, weight == 1], [first.max(), second.max()], inside)[()]

    def family(self, recall_weight: ArrayLike) -> Floats:
        """Return the value of every point (rows) at every recall weight (columns): the curves below the envelope."""
        weight = np.atleast_1d(read_weight(recall_weight))
        rates = (
            (self.points.precision, self.points.specificity)[self.pair.name != "precision-recall"],
            self.points.recall,
        )
        return self.metric.value(rates[0][:, None], rates[1][:, None], weight[None, :])

    def best(
        self, recall_weight: float, *, min_precision: float | None = None, min_recall: float | None = None
    ) -> Choice:
        """Return the best point at one recall weight among those that meet the minima.

        Parameters
        ----------
        recall_weight : float
            l in [0, 1].
        min_precision, min_recall : float, optional
            The least precision and recall to accept (section 5.1 of the trade-off paper).

        Examples
        --------
        >>> import compromis as cp
        >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
        >>> cp.TradeoffCurve(points).best(0.5, min_precision=0.9).threshold
        0.9
        >>> cp.TradeoffCurve(points).best(0.5, min_precision=1, min_recall=0.5).reason.split("; ")[0]
        'no cut has precision >= 1 and recall >= 0.5'
        """
        return choose(self, float(read_weight(recall_weight)), min_precision, min_recall)

    def area(self, low: float = 0.0, high: float = 1.0, density: Density | None = None) -> float:
        """Return the integral of the optimal value from `low` to `high`, times the density if there is one.

        Parameters
        ----------
        low, high : float
            The range of recall weights.
        density : callable or Beta, optional
            How likely each recall weight is to be wanted, from 0 to 1; it need not integrate to 1. Peaks of a
            callable narrower than about 1e-4 may be missed; a Beta may be as narrow as it likes.

        Notes
        -----
        A closed form on each interval for the four metrics without density; quadrature otherwise.
        """
        check_range(low, high)
        mass(density, low, high)
        if not len(self._candidates):
            return float("nan")
        chosen = self._candidates.take(self._envelope.chosen)
        return area_under(self.metric, (chosen.first_rate, chosen.second_rate), self.breaks, low, high, density)

    def mean(self, low: float = 0.0, high: float = 1.0, density: Density | None = None) -> float:
        """Return the mean optimal value: the area divided by the width of the range, or by the density's mass in it."""
        return self.area(low, high, density) / mass(density, low, high)

    def frame(self) -> dict[str, list[Any]]:
        """Return the intervals as columns."""
        return {name: [getattr(part, name) for part in self.intervals] for name in BestRange.__slots__}

    def __repr__(self) -> str:
        parts = f"{len(self.positions)} intervals"
        return f"TradeoffCurve({self.points!r}, metric={self.metric.name!r}, pair={self.pair.name!r}: {parts})"

    def __str__(self) -> str:
        if self.reason:
            return f"{self!r}: {self.reason}"
        lines = [repr(self), "recall weight         cut               precision  recall"]
        for part in self.intervals:
            cut = f"score >= {part.threshold:.6g}" if part.name is None else shown_label(part.name)
            lines.append(f"{part.low:.4f} to {part.high:.4f}   {cut:<16}  {part.precision:9.4f}  {part.recall:6.4f}")
        return "\n".join(lines)
