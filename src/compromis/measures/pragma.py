"""PRAGMA: the loss of a result against what a person wants, lower is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.measures.rates import Rates, precision, recall
from compromis.preferences import PreferenceArrays


@dataclass(frozen=True, slots=True, eq=False)
class PragmaLoss:
    """The PRAGMA loss and its parts.

    Attributes
    ----------
    total : float
        The mean of the classes' losses, weighted by importance.
    by_class : ndarray
        f of each class: 0 is perfect, 1 the worst; NaN for a class absent from the truth.
    share : ndarray
        What each class adds to `total`.
    """

    total: float
    by_class: Rates
    share: Rates


def pragma(counts: Counts, arrays: PreferenceArrays) -> PragmaLoss:
    """Return the PRAGMA loss of `counts` under `arrays`.

    Notes
    -----
    PRAGMA = sum_k theta_k f_k / sum_k theta_k with f_k = 1 - I(p_k, r_k; l_k), I the metric of the preferences; with
    Kulczynski's this is the paper's plane 1 + a r + b p. A class that is never predicted has f = 1 (the paper's
    f(0, 0)); a class absent from the truth is left out of the mean.
    """
    by_class = class_losses(counts, arrays)
    importance = np.where(np.isnan(by_class), 0.0, arrays.importance)
    weight = importance.sum()
    if weight == 0:
        return PragmaLoss(math.nan, by_class, np.full(len(by_class), np.nan))
    share = importance * np.nan_to_num(by_class) / weight
    return PragmaLoss(float(share.sum()), by_class, share)


def class_losses(counts: Counts, arrays: PreferenceArrays) -> Rates:
    """Return f of each class: 1 - the metric, 1 if the class is never predicted, NaN if it does not occur."""
    found, right = recall(counts), precision(counts)
    loss = 1 - arrays.metric.value(right, found, arrays.recall_weight)
    return np.select([counts.support == 0, counts.predicted == 0], [np.nan, 1.0], loss)


def violations(counts: Counts, arrays: PreferenceArrays) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much each class's precision and recall fall short of their minimum, 0 where they do not.

    A class absent from the truth asks for nothing; one that is never predicted has the whole minimum missing. A rate that
    misses its minimum by rounding alone meets it.
    """
    present = counts.support > 0
    short = []
    for rate, floor in ((precision(counts), arrays.min_precision), (recall(counts), arrays.min_recall)):
        missing = floor - np.nan_to_num(rate)
        short.append(np.where(present & (missing > 1e-12 * floor), missing, 0.0))
    return short[0], short[1]


def read_cost(cost: Any, labels: Sequence[Label]) -> NDArray[np.float64]:
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


def total_cost(counts: Counts, cost: NDArray[np.float64]) -> float:
    """Return the sum of the costs of all rows."""
    return float((counts.matrix * cost).sum())


def average_cost(counts: Counts, cost: NDArray[np.float64]) -> float:
    """Return the expected cost of a row."""
    return total_cost(counts, cost) / counts.total if counts.total else float("nan")
