"""Several models in the trade-off space, for one class: who is best for which recall weight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes
from compromis.measures.rates import precision, recall
from compromis.studio.jobs import Report
from compromis.tradeoffs import Comparison, TradeoffCurve, compare_curves

GRID = np.linspace(0.0, 1.0, 101)
MOST_POINTS = 200
"""Points of a curve that are drawn."""


def class_points(patterns: Votes, label: Any) -> OperatingPoints:
    """Return the cuts of the share of votes for one class."""
    if label not in patterns.classes:
        raise InputError(f"there is no class {label!r} among {len(patterns.classes)} classes; choose one that is there")
    place = patterns.classes.index(label)
    kept = patterns.multiplicity > 0
    votes = patterns.votes[kept]
    own = votes[:, [place]].toarray()[:, 0] if hasattr(votes, "toarray") else votes[:, place]
    total = np.asarray(votes.sum(axis=1), dtype=np.float64).reshape(-1)
    weight = patterns.multiplicity[kept].astype(np.float64)
    return OperatingPoints.from_flags(patterns.truth[kept] == place, own / total, label, weight)


def compare_class(evidence: Mapping[str, Votes], label: Any, metric: str, report: Report) -> dict[str, Any]:
    """Return the trade-off curves of the models for one class, who is best where, and the verdict."""
    points = {}
    for number, (name, patterns) in enumerate(evidence.items()):
        report(number / (len(evidence) + 1), f"cutting the votes of {name}")
        points[name] = class_points(patterns, label)
    report(len(points) / (len(points) + 1), "comparing")
    comparison = compare_curves(points, metric)
    return {
        "label": label,
        "metric": metric,
        "recall_weight": GRID.tolist(),
        "curves": [_curve(name, curve, comparison) for name, curve in comparison.curves.items()],
        "winners": [{"low": one.low, "high": one.high, "best": list(one.best)} for one in comparison.intervals],
        "verdict": comparison.verdict,
    }


def _curve(name: str, curve: TradeoffCurve, comparison: Comparison) -> dict[str, Any]:
    rates = curve.candidates.first_rate, curve.candidates.second_rate
    return {
        "name": name,
        "value": numbers(curve.value(GRID)),
        "area": number(comparison.areas[name]),
        "share": number(comparison.shares[name]),
        "prevalence": number(curve.points.prevalence),
        "precision": numbers(_thinned(rates[0])),
        "recall": numbers(_thinned(rates[1])),
    }


def class_rates(counts: Counts) -> dict[str, list[float | None]]:
    """Return recall and precision of each class; None where undefined."""
    return {"recall": numbers(recall(counts)), "precision": numbers(precision(counts))}


def numbers(values: NDArray[np.float64] | Sequence[float]) -> list[float | None]:
    """Return numbers that JSON can hold."""
    return [number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def number(value: float) -> float | None:
    """Return the number, or None where it is undefined."""
    return float(value) if math.isfinite(value) else None


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) <= MOST_POINTS:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int)]
