"""PRAGMA: the loss of a result under preferences (lower is better), constraints that are missed, and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compromis._typing import Flags, Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts, ratio
from compromis.measures.rates import Confusion, outcomes, precision, recall
from compromis.preferences import PreferenceArrays


@dataclass(frozen=True, slots=True, eq=False)
class PragmaLoss:
    """The PRAGMA loss and its parts."""

    total: float
    """The mean of the classes' losses, weighted by importance."""
    by_class: Floats
    """f of each class: 0 is perfect, 1 the worst; NaN for a class absent from the truth."""
    share: Floats
    """What each class adds to `total`."""


def pragma(counts: Counts, arrays: PreferenceArrays) -> PragmaLoss:
    """Return the PRAGMA loss of `counts` under `arrays`.

    Notes
    -----
    PRAGMA = sum_k theta_k f_k / sum_k theta_k with f_k = 1 - I(p_k, r_k; l_k), I the metric of the preferences; with
    Kulczynski's this is the paper's plane 1 + a r + b p. A class that is never predicted has f = 1 (the paper's
    f(0, 0)); a class absent from the truth is left out of the mean.
    """
    by_class = class_losses(counts, arrays)
    share = loss_shares(by_class, arrays)
    return PragmaLoss(float(share.sum()), by_class, share)


def class_losses(counts: Confusion, arrays: PreferenceArrays) -> Floats:
    """Return f of each class, of shape (..., K)."""
    cells = outcomes(counts)
    return losses_at(precision(cells), recall(cells), arrays)


def losses_at(precision: Floats, recall: Floats, arrays: PreferenceArrays) -> Floats:
    """Return f of each class at its precision and recall: 1 without precision (never predicted), NaN without recall (it does not occur)."""
    loss = 1 - arrays.metric.value(precision, recall, arrays.recall_weight)
    return np.where(np.isnan(recall), np.nan, np.where(np.isnan(precision), 1.0, loss))


def loss_shares(by_class: Floats, arrays: PreferenceArrays) -> Floats:
    """Return what each class adds to the PRAGMA loss, of shape (..., K); NaN where no class that matters occurs."""
    importance = np.where(np.isnan(by_class), 0.0, arrays.importance)
    return ratio(importance * np.nan_to_num(by_class), importance.sum(axis=-1, keepdims=True))


def violations(counts: Confusion, arrays: PreferenceArrays) -> tuple[Floats, Floats, Floats]:
    """Return by how much each class's precision, recall and share of the predictions miss their constraint, 0 where they do not.

    A class absent from the truth misses no minimum; a class that is never predicted misses its whole minimum.
    """
    cells = outcomes(counts)
    occurs = cells.support > 0
    return (
        shortfalls_at(precision(cells), arrays.min_precision, occurs),
        shortfalls_at(recall(cells), arrays.min_recall, occurs),
        excess_at(ratio(cells.predicted, cells.total), arrays.max_share),
    )


def shortfalls_at(rates: Floats, minimum: Floats, occurs: Flags) -> Floats:
    """Return by how much rates of the classes that occur miss a minimum; a minimum missed by rounding alone counts as met."""
    missing = minimum - np.nan_to_num(rates)
    return np.where(occurs & (missing > 1e-12 * minimum), missing, 0.0)


def excess_at(shares: Floats, most: Floats) -> Floats:
    """Return by how much shares of predictions exceed the largest allowed; one exceeded by rounding alone counts as met."""
    over = np.nan_to_num(shares) - most
    return np.where(over > 1e-12 * most, over, 0.0)


def shortfall(counts: Counts, arrays: PreferenceArrays) -> float:
    """Return the sum of what the classes miss of their constraints."""
    return float(sum(part.sum() for part in violations(counts, arrays)))


def read_cost(cost: Any, labels: Sequence[Label]) -> Floats:
    """Return a checked K x K matrix of costs, rows the truth, columns the decision; negative costs are gains.

    A pandas frame whose rows and columns are named after the classes is put into their order.
    """
    classes = len(labels)
    if hasattr(cost, "loc") and set(cost.index) == set(cost.columns) == set(labels):
        cost = cost.loc[list(labels), list(labels)]
    try:
        matrix = np.array(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a cost matrix holds {classes} x {classes} numbers; found something else") from None
    if matrix.shape != (classes, classes):
        raise InputError(
            f"a cost matrix for {classes} classes has shape ({classes}, {classes}), got {matrix.shape}; rows are the truth"
        )
    if not np.all(np.isfinite(matrix)):
        raise InputError("costs must be finite; for 'never' write a large number")
    return matrix


def total_cost(counts: Counts, cost: Floats) -> float:
    """Return the sum of the costs of all rows."""
    return float((counts.matrix * cost).sum())


def average_cost(counts: Counts, cost: Floats) -> float:
    """Return the expected cost of a row."""
    return float(average_costs(counts, cost))


def average_costs(counts: Confusion, cost: Floats) -> Floats:
    """Return the expected cost of a row, of shape (...)."""
    cells = outcomes(counts)
    return ratio((cells.matrix * cost).sum(axis=(-2, -1)), cells.total[..., 0])
