"""Choosing a result at one recall weight, under minima of precision and recall."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.tradeoffs.interval import Choice

if TYPE_CHECKING:
    from compromis.tradeoffs.curve import TradeoffCurve


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
