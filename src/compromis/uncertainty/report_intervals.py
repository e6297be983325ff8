"""Moving draws to where the pseudo-rows would move a measure if it had them for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.measures.rates import ratio
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.draws import (
    CELLS_AT_ONCE,
    DRAWS,
    PRIOR,
    SEED,
    Evidence,
    counts_of,
    draw_counts,
    effective_sizes,
    prior_for,
    row_scale,
    share_parts,
    typical_group,
)
from compromis.uncertainty.intervals import Interval, from_draws, read_confidence, wilson_bounds

MOST_CLASSES = 64
"""Above, the K x K slopes of every measure cost more than they mend, and draws stay where they are."""
STEP = 1e-6
BOUNDS = {"kappa": (-1.0, 1.0), "matthews": (-1.0, 1.0), "average_cost": (-np.inf, np.inf)}
"""Every other measure lies in [0, 1]."""

Measures = Callable[[Floats], dict[str, Floats]]


def centre(evidence: Evidence, measures: Measures, drawn: dict[str, Floats]) -> dict[str, Floats]:
    """Return the draws of each measure, moved by what its own pseudo-rows would do instead of everybody's.

    Notes
    -----
    Each class has its pseudo-rows, so that its recall and precision are covered. In an average over K classes the shifts of all K
    add up, while the spread of an average falls: kappa of six classes was covered in 88 %. By the expansion of Cornish and Fisher the
    shift that makes an interval equal-tailed is proportional to the third cumulant over the second; with slopes g and rows m
    of the cells, PRIOR sum g^3 m / sum g^2 m. For a recall or a precision this is the very shift of its own pseudo-rows.
    """
    counts = counts_of(evidence)
    if len(counts.classes) > MOST_CLASSES:
        return drawn
    scale = row_scale(counts)
    if isinstance(evidence, GroupedCounts):
        scale = np.full(counts.matrix.shape, typical_group(evidence))
    prior = prior_for(counts)
    smooth = counts.matrix + prior * scale
    observed, start = measures(counts.matrix[np.newaxis]), measures(smooth[np.newaxis])
    rows = (smooth / scale).ravel()
    slopes = _slopes(measures, smooth, scale, start)
    moved = {}
    for name, draws in drawn.items():
        slope = slopes[name]
        spread = np.einsum("ck,c->k", slope**2, rows)
        own = PRIOR * np.divide(
            np.einsum("ck,c->k", slope**3, rows), spread, out=np.zeros_like(spread), where=spread > 0
        )
        shift = own - (start[name] - observed[name]).ravel()
        low, high = BOUNDS.get(name, (0.0, 1.0))
        moved[name] = np.clip(draws + np.nan_to_num(shift).reshape(draws.shape[1:]), low, high)
    return moved


def _slopes(measures: Measures, smooth: Floats, scale: Floats, start: dict[str, Floats]) -> dict[str, Floats]:
    """Return the slope of each measure in the effective rows of each cell, of shape (K * K, numbers)."""
    cells, step = smooth.size, STEP * float((smooth / scale).sum())
    at_once = max(1, CELLS_AT_ONCE // cells)
    parts: list[dict[str, Floats]] = []
    for first in range(0, cells, at_once):
        size = min(at_once, cells - first)
        stack = np.repeat(smooth.reshape(1, cells), size, axis=0)
        stack[np.arange(size), first + np.arange(size)] += step * scale.ravel()[first : first + size]
        parts.append(measures(stack.reshape(size, *smooth.shape)))
    return {
        name: (np.concatenate([part[name].reshape(len(part[name]), -1) for part in parts]) - start[name].reshape(1, -1))
        / step
        for name in start
    }


AVERAGED = ("recall", "precision", "f_measure", "false_positive_rate", "specificity")
OVERALL = ("accuracy", "error_rate", "kappa", "balanced_accuracy", "matthews", "g_mean")
"""The numbers of the whole that need nothing but counts; `summaries` adds averages, the cost and the loss."""


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Matrices of counts of shape (draws, K, K) with their margins; `present` marks the classes that occur in the data."""

    matrix: Floats
    hits: Floats
    support: Floats
    predicted: Floats
    total: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, matrix: NDArray[np.generic], present: NDArray[np.bool_]) -> Stack:
        """Return the stack with its margins."""
        cells = matrix.astype(np.float64, copy=False)
        support, predicted = cells.sum(axis=2), cells.sum(axis=1)
        return cls(cells, np.diagonal(cells, axis1=1, axis2=2), support, predicted, support.sum(axis=1), present)


def class_rates(stack: Stack) -> dict[str, Floats]:
    """Return the rates of each class against the rest, each of shape (draws, K)."""
    total = stack.total[:, np.newaxis]
    others, against = total - stack.support, total - stack.predicted
    kept = total - stack.support - stack.predicted + stack.hits
    recall, alarms = ratio(stack.hits, stack.support), ratio(stack.predicted - stack.hits, others)
    return {
        "recall": recall,
        "precision": ratio(stack.hits, stack.predicted),
        "specificity": ratio(kept, others),
        "negative_predictive_value": ratio(kept, against),
        "false_negative_rate": ratio(stack.support - stack.hits, stack.support),
        "false_positive_rate": alarms,
        "f_measure": ratio(2 * stack.hits, stack.support + stack.predicted),
        "roc_area": (1 + recall - alarms) / 2,
        "share_predicted": ratio(stack.predicted, np.broadcast_to(total, stack.predicted.shape)),
    }


def class_losses(stack: Stack, arrays: PreferenceArrays, rates: dict[str, Floats]) -> Floats:
    """Return f of each class, of shape (draws, K): 1 if it is never predicted, NaN if it does not occur."""
    loss = 1 - arrays.metric.value(rates["precision"], rates["recall"], arrays.recall_weight)
    return np.where(stack.present, np.where(stack.predicted == 0, 1.0, loss), np.nan)


def losses(by_class: Floats, arrays: PreferenceArrays) -> Floats:
    """Return the PRAGMA loss of each draw: the mean over the classes that occur, weighted by importance."""
    importance = np.where(np.isnan(by_class), 0.0, arrays.importance)
    return ratio((importance * np.nan_to_num(by_class)).sum(axis=1), importance.sum(axis=1))


def summaries(stack: Stack, rates: dict[str, Floats]) -> dict[str, Floats]:
    """Return the numbers of the whole, one per draw."""
    accuracy = ratio(stack.hits.sum(axis=1), stack.total)
    named = {
        "accuracy": accuracy,
        "error_rate": 1 - accuracy,
        "kappa": _kappa(stack),
        "balanced_accuracy": _average(rates["recall"], stack.present.astype(np.float64)),
        "matthews": _matthews(stack),
        "g_mean": _geometric_mean(rates["recall"], stack.present),
    }
    for kind, weights in (("macro", np.where(stack.support > 0, 1.0, 0.0)), ("weighted", stack.support)):
        for name in AVERAGED:
            rate = np.nan_to_num(rates[name]) if name == "precision" else rates[name]
            named[f"{kind}_{name}"] = _average(rate, weights)
    return named


def average_costs(stack: Stack, cost: Floats) -> Floats:
    """Return the expected cost of a row in each draw."""
    return ratio((stack.matrix * cost).sum(axis=(1, 2)), stack.total)


def _average(rates: Floats, weights: Floats) -> Floats:
    use = np.where(np.isnan(rates), 0.0, weights)
    return ratio((np.nan_to_num(rates) * use).sum(axis=1), use.sum(axis=1))


def _kappa(stack: Stack) -> Floats:
    agreed, chance = ratio(stack.hits.sum(axis=1), stack.total), _chance(stack, stack.support, stack.predicted)
    return ratio(agreed - chance, 1 - chance)


def _matthews(stack: Stack) -> Floats:
    agreed, chance = ratio(stack.hits.sum(axis=1), stack.total), _chance(stack, stack.support, stack.predicted)
    spreads = [1 - _chance(stack, part, part) for part in (stack.support, stack.predicted)]
    return ratio(agreed - chance, np.sqrt(np.maximum(spreads[0] * spreads[1], 0.0)))


def _chance(stack: Stack, first: Floats, second: Floats) -> Floats:
    return ratio((first * second).sum(axis=1), stack.total**2)


def _geometric_mean(recalls: Floats, present: NDArray[np.bool_]) -> Floats:
    with np.errstate(divide="ignore"):
        logs = np.log(recalls[:, present])
    return np.exp(logs.mean(axis=1)) if logs.shape[1] else np.full(len(recalls), np.nan)


Intervals = Mapping[str, Interval]


@dataclass(frozen=True, slots=True, eq=False)
class ReportIntervals:
    """The intervals of a report, by the names its numbers have there.

    Attributes
    ----------
    confidence : float
        How often such intervals hold the true value.
    summary : mapping of name to Interval
        Those of the whole; the averages are called macro_recall, weighted_precision and so on.
    per_class : mapping of label to mapping of name to Interval
        Those of each class.
    draws : int
        The draws behind the intervals that have no formula.
    """

    confidence: float
    summary: Intervals
    per_class: Mapping[Label, Intervals]
    draws: int

    def with_roc_areas(self, areas: Mapping[Label, Interval]) -> ReportIntervals:
        """Return the same with other intervals of the areas under the ROC curves: those of scores instead of decisions."""
        per_class = {
            label: MappingProxyType({**intervals, "roc_area": areas[label]})
            for label, intervals in self.per_class.items()
        }
        return ReportIntervals(self.confidence, self.summary, MappingProxyType(per_class), self.draws)


def report_intervals(
    evidence: Evidence,
    *,
    arrays: PreferenceArrays | None = None,
    cost: Floats | None = None,
    confidence: float = 0.95,
    draws: int = DRAWS,
    random_state: int = SEED,
) -> ReportIntervals:
    """Return the intervals of every rate (Wilson) and of every other number (draws on the counts).

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.uncertainty.report_intervals import report_intervals
    >>> report = report_intervals(cp.Counts.from_matrix([[8, 2], [12, 978]], ["sick", "well"]))
    >>> print(report.per_class["sick"]["recall"])
    0.800 (0.490 to 0.943)
    """
    level, counts = read_confidence(confidence), counts_of(evidence)

    def measures(matrix: NDArray[Any]) -> dict[str, Floats]:
        return _numbers(matrix, counts, arrays, cost)

    observed = measures(counts.matrix[np.newaxis])
    parts = [measures(matrix) for matrix in draw_counts(evidence, draws, random_state)]
    drawn = centre(evidence, measures, {name: np.concatenate([part[name] for part in parts]) for name in observed})
    intervals = {name: from_draws(observed[name], drawn[name], level) for name in observed}
    for name, bounds in _shares(evidence, level).items():
        pairs = zip(observed[name].ravel().tolist(), *(bound.tolist() for bound in bounds), strict=True)
        intervals[name] = [Interval(*numbers) for numbers in pairs]
    per_class = {
        label: MappingProxyType(
            {name.removeprefix("class_"): one[k] for name, one in intervals.items() if name.startswith("class_")}
        )
        for k, label in enumerate(counts.classes)
    }
    whole = {name: one[0] for name, one in intervals.items() if not name.startswith("class_")}
    return ReportIntervals(level, MappingProxyType(whole), MappingProxyType(per_class), draws)


def _numbers(
    matrix: NDArray[np.generic], counts: Counts, arrays: PreferenceArrays | None, cost: Floats | None
) -> dict[str, Floats]:
    """Return every number for each matrix of a stack; those of classes are named class_..."""
    stack = Stack.of(matrix, counts.support > 0)
    rates = class_rates(stack)
    named = {f"class_{name}": values for name, values in rates.items()} | summaries(stack, rates)
    if arrays is not None:
        named["class_loss"] = class_losses(stack, arrays, rates)
        named["loss"] = losses(named["class_loss"], arrays)
    if cost is not None:
        named["average_cost"] = average_costs(stack, cost)
    return named


def _shares(evidence: Evidence, confidence: float) -> dict[str, tuple[Floats, Floats]]:
    """Return Wilson's bounds of every share of rows."""
    parts = share_parts(counts_of(evidence).matrix)
    sizes = effective_sizes(evidence, confidence)
    return {name: wilson_bounds(ratio(above, below), sizes[name], confidence) for name, (above, below) in parts.items()}
