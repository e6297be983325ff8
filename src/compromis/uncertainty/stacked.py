"""The measures of `compromis.measures` on stacks of drawn counts, many matrices at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.measures.rates import ratio
from compromis.preferences import PreferenceArrays

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
