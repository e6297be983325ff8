"""The answers of a trade-off curve: intervals of recall weights, and the best result at one."""

from __future__ import annotations

from dataclasses import dataclass

from compromis._typing import Label


@dataclass(frozen=True, slots=True)
class Interval:
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
    position, threshold, name, precision, recall : see Interval
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
