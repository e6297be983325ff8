"""The optimal trade-off curve of operating points: which of them is best at which recall weight."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import Result, columns_of
from compromis._text import Table, count, fixed
from compromis._typing import Flags, Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, check_range, get_metric, read_one_weight, read_weight
from compromis.tradeoffs._tables import span
from compromis.tradeoffs.areas import Density, mass, weighted_area
from compromis.tradeoffs.envelope import PRECISION_RECALL, Candidates, Envelope, Pair, get_pair, upper_envelope

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRange:
    """One result and the recall weights for which it is best."""

    low: float
    high: float
    """The range of recall weights; neighbours share their ends."""
    position: int
    """Index of the result among the operating points."""
    threshold: float
    """Predict positive from this score on; NaN for a group."""
    name: Label
    """The name of the group; None for a threshold on a score."""
    precision: float
    recall: float
    specificity: float
    """The rates of the result."""
    size: float
    """The rows (or weights) predicted positive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best result at one recall weight, or why there is none."""

    feasible: bool = False
    """Whether a result meets the constraints."""
    value: float = math.nan
    """The value of the metric; NaN if nothing is feasible."""
    position: int = -1
    threshold: float = math.nan
    name: Label = None
    precision: float = math.nan
    recall: float = math.nan
    """Position is -1, and the rates are NaN, if nothing is feasible."""
    reason: str = ""
    """Why nothing is feasible, and what the nearest results are; empty otherwise."""


class TradeoffCurve(Result):
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

    schema = "compromis/tradeoff-curve"

    def __init__(
        self, points: OperatingPoints, metric: str | Metric = "f", *, pair: str | Pair = "precision-recall"
    ) -> None:
        if not isinstance(points, OperatingPoints):
            raise InputError(
                f"points must be OperatingPoints, got {type(points).__name__}; "
                f"make them with from_predictions or from_groups"
            )
        self.points = points
        self.metric = get_metric(metric)
        self.pair = get_pair(pair)

    @cached_property
    def candidates(self) -> Candidates:
        """The dominating points, which the envelope is made of."""
        return self.pair.candidates(self.points)

    @cached_property
    def envelope(self) -> Envelope:
        """Which candidate is best where."""
        return upper_envelope(self.candidates, self.metric)

    def with_metric(self, metric: str | Metric) -> TradeoffCurve:
        """Return the curve of the same points for another metric, without looking for the dominating points again."""
        other = TradeoffCurve(self.points, metric, pair=self.pair)
        other.candidates = self.candidates
        return other

    def with_constraints(self, *, min_precision: float | None = None, min_recall: float | None = None) -> TradeoffCurve:
        """Return the curve of the points that meet the constraints; everything else about the problem stays.

        Parameters
        ----------
        min_precision, min_recall : float, optional
            The least precision and recall to accept (section 5.1 of the trade-off paper).

        Examples
        --------
        >>> import compromis as cp
        >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
        >>> cp.TradeoffCurve(points).with_constraints(min_precision=0.6, min_recall=0.5).points.threshold.tolist()
        [0.6, 0.4, 0.3]
        """
        choice = self.best(0.5, min_precision=min_precision, min_recall=min_recall)
        if not choice.feasible:
            raise InputError(choice.reason)
        points, least = self.points, _least(min_precision, min_recall)
        if not any(least.values()):
            return self
        kept = _meets({"precision": points.precision, "recall": points.recall}, least)
        names = None if points.names is None else tuple(points.names[at] for at in np.flatnonzero(kept))
        counts = {name: getattr(points, name)[kept] for name in ("threshold", "true_positives", "false_positives")}
        return TradeoffCurve(replace(points, **counts, names=names), self.metric, pair=self.pair)

    @property
    def summary(self) -> dict[str, float]:
        """The area over all recall weights."""
        return {"area": self.area()}

    @property
    def breaks(self) -> Floats:
        """The recall weights where the best result changes, 0 and 1 included; empty if the curve is undefined."""
        return self.envelope.breaks

    @cached_property
    def chosen(self) -> Candidates:
        """The best results in turn."""
        return self.candidates.take(self.envelope.chosen)

    @property
    def positions(self) -> Ints:
        """The best points in turn: ``positions[i]`` from ``breaks[i]`` to ``breaks[i + 1]``."""
        return self.chosen.position

    @property
    def reason(self) -> str:
        """Why the curve is NaN everywhere; empty if it is not."""
        if len(self.candidates):
            return ""
        return self.points.reason or "nothing is ever predicted positive: precision is undefined"

    @cached_property
    def intervals(self) -> tuple[BestRange, ...]:
        """For which recall weights which point is best; they cover [0, 1] without gaps or overlaps."""
        at, points = self.positions, self.points
        names = None if points.names is None else [points.names[position] for position in at]
        columns = {
            "low": self.breaks[:-1].tolist(),
            "high": self.breaks[1:].tolist(),
            "position": at.tolist(),
            "name": names or [None] * len(at),
            "size": points.group_size[at].tolist(),
            **{
                rate: getattr(points, rate)[at].tolist() for rate in ("threshold", "precision", "recall", "specificity")
            },
        }
        rows = zip(*columns.values(), strict=True)
        return tuple(BestRange(**dict(zip(columns, row, strict=True))) for row in rows)

    @cached_property
    def domain(self) -> tuple[Range, ...]:
        """The recall weights where some point is better than the maximal group; see `domain_of_application`."""
        if not len(self.candidates):
            return ()
        maximal = self.pair.maximal(self.points)
        both = Candidates.join([self.candidates, maximal])
        like_maximal = (both.first_rate == maximal.first_rate) & (both.second_rate == maximal.second_rate)
        envelope = upper_envelope(both, self.metric)
        better = (~like_maximal[envelope.chosen]).tolist()
        return tuple((low, high) for wins, low, high in envelope.runs(better) if wins)

    def domain_text(self) -> str:
        """Return the domain in words."""
        spans = " and ".join(f"from {low:.3g} to {high:.3g}" for low, high in self.domain)
        what = "better than predicting all as positive"
        return f"{what} for recall weights {spans}" if spans else f"nowhere {what}"

    def value(self, recall_weight: ArrayLike) -> Any:
        """Return the optimal value at each recall weight l in [0, 1]; NaN where `reason` says why."""
        weight = read_weight(recall_weight)
        if not len(self.candidates):
            return np.full(weight.shape, np.nan)[()]
        first, second = self.candidates.first_rate, self.candidates.second_rate
        best = self.envelope.at(weight)
        inside = self.metric.value(first[best], second[best], weight)
        return np.select([weight == 0, weight == 1], [first.max(), second.max()], inside)[()]

    def family(self, recall_weight: ArrayLike) -> Floats:
        """Return the value of every point (rows) at every recall weight (columns): the curves below the envelope."""
        weight = np.atleast_1d(read_weight(recall_weight))
        first, second = self.pair.rates(self.points)
        return self.metric.value(first[:, None], second[:, None], weight[None, :])

    def best(
        self, recall_weight: float, *, min_precision: float | None = None, min_recall: float | None = None
    ) -> Choice:
        """Return the best point at one recall weight among those that meet the constraints.

        Parameters
        ----------
        recall_weight : float
            l in [0, 1].
        min_precision, min_recall : float, optional
            The least precision and recall to accept (section 5.1 of the trade-off paper).

        Notes
        -----
        The dominating points suffice, in either space: one that dominates another finds no less, raises no more false
        alarms for it, and so meets every constraint that the other meets.

        Examples
        --------
        >>> import compromis as cp
        >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
        >>> cp.TradeoffCurve(points).best(0.5, min_precision=0.9).threshold
        0.9
        >>> cp.TradeoffCurve(points).best(0.5, min_precision=1, min_recall=0.5).reason.split("; ")[0]
        'no threshold has precision >= 1 and recall >= 0.5'
        """
        weight, least = read_one_weight(recall_weight), _least(min_precision, min_recall)
        if not len(self.candidates):
            return Choice(reason=self.reason)
        points, at = self.points, self.candidates.position
        rates = {"precision": points.precision[at], "recall": points.recall[at]}
        meets = _meets(rates, least)
        if not meets.any():
            return Choice(reason=_infeasible("threshold" if points.names is None else "group", rates, least))
        first, second = self.candidates.first_rate, self.candidates.second_rate
        values = np.where(meets, self.metric.value(first, second, weight), -np.inf)
        # among equal values (l = 0 or 1, a break) the result that is better all in all
        best = int(np.argmax(np.where(values == values.max(), first + second, -np.inf)))
        return Choice(
            feasible=True,
            value=float(values[best]),
            position=int(at[best]),
            threshold=float(points.threshold[at[best]]),
            name=None if points.names is None else points.names[at[best]],
            precision=float(rates["precision"][best]),
            recall=float(rates["recall"][best]),
        )

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
        if not len(self.candidates):
            return float("nan")
        columns = self.chosen.first_rate, self.chosen.second_rate, self.breaks[:-1], self.breaks[1:]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        parts = ((first, second, max(low, start), min(high, end)) for first, second, start, end in rows)
        return sum(self._part_area(*part, density) for part in parts if part[2] < part[3])

    def _part_area(self, first: float, second: float, low: float, high: float, density: Density | None) -> float:
        if density is None:
            return float(self.metric.area(first, second, low, high))
        return weighted_area(lambda weight: float(self.metric.value(first, second, weight)), low, high, density)

    def mean(self, low: float = 0.0, high: float = 1.0, density: Density | None = None) -> float:
        """Return the mean optimal value: the area divided by the width of the range, or by the density's mass in it."""
        return self.area(low, high, density) / mass(density, low, high)

    def columns(self) -> dict[str, list[Any]]:
        """Return the intervals as lists by column name."""
        return columns_of(self.intervals, BestRange)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        return self.heading() | self.numbers()

    def numbers(self) -> dict[str, Any]:
        """Return the document without its heading, for the document of a comparison."""
        points = self.points
        return {
            "metric": self.metric.name,
            "pair": self.pair.name,
            "pos_label": points.pos_label,
            "positives": points.positives,
            "negatives": points.negatives,
            "reason": self.reason,
            "area": self.area(),
            "domain": self.domain,
            "intervals": self.intervals,
        }

    def sentences(self) -> list[str]:
        """Return the metric, the class and the area; or why the curve is undefined."""
        if self.reason:
            return [self.reason]
        return [f"metric {self.metric.name} for {self.points.pos_label}: area {self.area():.4f}, {self.domain_text()}"]

    def tables(self) -> list[Table]:
        """Return which point is best where; nothing if the curve is undefined."""
        rows = [
            [
                f"score >= {part.threshold:.6g}" if part.name is None else str(part.name),
                span(part.low, part.high),
                *(fixed(rate, 4) for rate in (part.precision, part.recall)),
                *(
                    count(float(rows[part.position]))
                    for rows in (self.points.false_negatives, self.points.false_positives)
                ),
                fixed(part.specificity, 4),
            ]
            for part in self.intervals
        ]
        header = ("Best", "Recall weight", "Precision", "Recall", "Missed", "False alarms", "Specificity")
        return [Table("Best by recall weight", header, rows)] if rows else []

    def __repr__(self) -> str:
        parts = f"{len(self.positions)} intervals"
        return f"TradeoffCurve({self.points!r}, metric={self.metric.name!r}, pair={self.pair.name!r}: {parts})"


def _least(min_precision: float | None, min_recall: float | None) -> dict[str, float]:
    """Return the checked constraints by rate; 0 for none."""
    given = {"precision": min_precision, "recall": min_recall}
    for name, minimum in given.items():
        if minimum is not None and not (isinstance(minimum, Real) and 0 <= minimum <= 1):
            raise InputError(f"min_{name} is a share between 0 and 1, got {minimum!r:.60}")
    return {name: minimum or 0.0 for name, minimum in given.items()}


def _meets(rates: dict[str, Floats], least: dict[str, float]) -> Flags:
    """Return which results meet the constraints; without any all do, an undefined precision included."""
    meets = np.ones(len(rates["recall"]), dtype=bool)
    for name, minimum in least.items():
        if minimum:
            meets &= rates[name] >= minimum
    return meets


def _infeasible(what: str, rates: dict[str, Floats], least: dict[str, float]) -> str:
    constraints = " and ".join(f"{name} >= {minimum:g}" for name, minimum in least.items() if minimum)
    reaches = []
    for name, other in (("precision", "recall"), ("recall", "precision")):
        meets = rates[name] >= least[name]
        if not least[name]:
            continue
        if meets.any():
            reaches.append(f"with {name} >= {least[name]:g} {other} reaches {rates[other][meets].max():.4g}")
        else:
            reaches.append(f"{name} never exceeds {np.nanmax(rates[name]):.4g}")
    return f"no {what} has {constraints}; {', '.join(reaches)}"


def domain_of_application(points: OperatingPoints, metric: str | Metric = "f") -> tuple[Range, ...]:
    """Return the intervals of recall weights where some point is better than the maximal group.

    Outside of them always predicting the positive class is as good (section 4.1 of the trade-off paper, which calls the result
    uninformative there). Empty if it is as good everywhere.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.tradeoffs import domain_of_application
    >>> points = cp.OperatingPoints.from_groups(range(10), {"found": range(5, 15)}, 50)
    >>> [tuple(round(end, 3) for end in part) for part in domain_of_application(points, metric="kulczynski")]
    [(0.0, 0.375)]
    """
    return TradeoffCurve(points, metric, pair=PRECISION_RECALL).domain
