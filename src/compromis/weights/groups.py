"""The same weights for every group, with the minima held in each: searches under constraints that are tightened for the groups behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from compromis._typing import Floats
from compromis.measures.by_group import shortfall_by_group
from compromis.measures.rates import precision, recall
from compromis.weights.guarded import least_weight
from compromis.weights.problem import SearchProblem
from compromis.weights.sweep import Sweep

_ROUNDS = 12
"""Searches under tightened constraints; each tightens by what the worst group still misses."""
_ROUNDING = 1e-9


def held_in_each(problem: SearchProblem, first: Floats) -> Floats:
    """Return weights under which the groups together miss as little of the minima as was found, and then lose as little.

    A minimum that holds in each group holds in all rows together, so `first`, which is best for these, is best where it holds in each.
    """
    if not shortfall_by_group(problem.by_group(first), problem.arrays):
        return first
    found = [first, *_tightened(problem, first)]
    found += [_raised(problem, weights) for weights in found]
    return min(found, key=lambda weights: _value(problem, weights))


def _value(problem: SearchProblem, weights: Floats) -> tuple[float, float]:
    shortfall, loss = problem.value(problem.counts(weights))
    return shortfall + shortfall_by_group(problem.by_group(weights), problem.arrays), loss


def _tightened(problem: SearchProblem, weights: Floats) -> Iterator[Floats]:
    """Yield what searches find whose constraints rise by what the worst group lacks, until none lacks anything."""
    arrays = problem.arrays
    bounds: dict[str, Any] = {"min_recall": arrays.min_recall.copy(), "min_precision": arrays.min_precision.copy()}
    for _ in range(_ROUNDS):
        groups = list(problem.by_group(weights).values())
        for name, rate in (("min_recall", recall), ("min_precision", precision)):
            rates = [np.where(counts.support > 0, np.nan_to_num(rate(counts)), np.inf) for counts in groups]
            worst = np.min(rates, axis=0)
            lacking = np.where(getattr(arrays, name) > 0, np.maximum(getattr(arrays, name) - worst, 0.0), 0.0)
            bounds[name] = np.minimum(bounds[name] + lacking, 1.0)
        tight = replace(problem, arrays=replace(arrays, **bounds), by=None)
        weights = Sweep.from_weights(tight, weights)
        yield weights
        if not shortfall_by_group(problem.by_group(weights), arrays):
            return


def _raised(problem: SearchProblem, weights: Floats) -> Floats:
    """Return the weights with those of classes of a minimal recall raised to the least that holds it in each group."""
    weights = weights.copy()
    for k in np.flatnonzero(problem.arrays.min_recall).tolist():
        least = float(problem.arrays.min_recall[k])
        rows = np.array([counts.support[k] for counts in problem.by_group(weights).values()])
        allowed = np.floor((1 - least) * rows + _ROUNDING).astype(np.int64)
        weights[k] = max(weights[k], least_weight(problem, k, weights, allowed))
    return weights
