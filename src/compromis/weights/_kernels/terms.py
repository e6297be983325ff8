"""What one class adds to a search's objective: scalar values of the metrics, losses and shortfalls."""

from __future__ import annotations

from typing import Any, NamedTuple

from compromis._kernel import kernel
from compromis._typing import Floats

COST = 9
"""The code of an objective that is a cost matrix; 0 to 3 are the metrics, -1 is one's own."""
MERGED = 1e-11
"""Flip points closer than this, relatively, are one: equal ratios of votes differ by rounding."""
EQUAL = 1e-12
"""Shortfalls and losses closer than this are equal: sums of the same terms in another order differ by rounding."""


class Objective(NamedTuple):
    """What a search minimises: the sum of the shortfalls from the minima first, then the loss."""

    code: int
    formula: Any
    """One's own metric as a compiled function of precision, recall and recall weight; never called where code is 0 or more."""
    share: Floats
    """Importance of each class, in shares of those that occur; 0 for the others."""
    recall_weight: Floats
    support: Floats
    min_precision: Floats
    min_recall: Floats
    constrained: bool
    cost: Floats
    """Cost of (truth, decision), scaled so that the sum over rows lies within -1 and 1; one cell when there are no costs."""
    tiny: float
    """Sums of weights up to this are 0 but for rounding."""


@kernel
def metric_at(code: int, formula: Any, precision: float, recall: float, recall_weight: float) -> float:
    """Return the value of the metric with that code; `compromis.metrics` has the formulas and their limits."""
    if code < 0:
        return formula(precision, recall, recall_weight)
    if code == 0:
        return (1.0 - recall_weight) * precision + recall_weight * recall
    if recall_weight <= 0.0:
        return precision
    if recall_weight >= 1.0:
        return recall
    if precision <= 0.0 or recall <= 0.0:
        return 0.0
    if code == 1:
        return 1.0 / (recall_weight / recall + (1.0 - recall_weight) / precision)
    if code == 2:
        return precision ** (1.0 - recall_weight) * recall**recall_weight
    of_precision, of_recall = min(2.0 * recall_weight, 1.0), min(2.0 - 2.0 * recall_weight, 1.0)
    both = 1.0 - abs(1.0 - 2.0 * recall_weight)
    return precision * recall / (of_precision * precision + of_recall * recall - both * precision * recall)


@kernel
def loss_term(
    code: int, formula: Any, share: float, recall_weight: float, hits: float, predicted: float, support: float
) -> float:
    """Return what one class adds to the loss: its share x (1 - metric), the whole share if it is never predicted."""
    if share == 0.0:
        return 0.0
    if predicted <= 0.0:
        return share
    return share * (1.0 - metric_at(code, formula, hits / predicted, hits / support, recall_weight))


@kernel
def shortfall_term(min_precision: float, min_recall: float, hits: float, predicted: float, support: float) -> float:
    """Return what one class misses of its minimal precision and recall."""
    if support == 0.0:
        return 0.0
    precision = hits / predicted if predicted > 0.0 else 0.0
    return max(min_precision - precision, 0.0) + max(min_recall - hits / support, 0.0)


@kernel
def class_loss(objective: Objective, k: int, hits: float, predicted: float) -> float:
    """Return what class k adds to the loss."""
    certain = predicted if predicted > objective.tiny else 0.0
    return loss_term(
        objective.code,
        objective.formula,
        objective.share[k],
        objective.recall_weight[k],
        hits,
        certain,
        objective.support[k],
    )


@kernel
def class_shortfall(objective: Objective, k: int, hits: float, predicted: float) -> float:
    """Return what class k misses of its minima."""
    certain = predicted if predicted > objective.tiny else 0.0
    return shortfall_term(objective.min_precision[k], objective.min_recall[k], hits, certain, objective.support[k])


@kernel
def is_better(shortfall: float, loss: float, best_shortfall: float, best_loss: float) -> bool:
    """Return whether the shortfall is smaller, or at an equal one the loss: the one comparison of results, in every method."""
    if shortfall < best_shortfall - EQUAL:
        return True
    return shortfall <= best_shortfall + EQUAL and loss < best_loss - EQUAL
