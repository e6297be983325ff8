"""PRAGMA: the loss of a result under preferences (lower is better), constraints that are missed, and costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._typing import Flags, Floats
from compromis.evidence.counts import Counts, ratio
from compromis.labels import encode, plain_label, read_labels
from compromis.measures.rates import Confusion, outcomes, precision, recall
from compromis.preferences import PreferenceArrays, Preferences


@dataclass(frozen=True, slots=True, eq=False)
class PragmaLoss:
    """The PRAGMA loss and its parts."""

    total: float
    """The mean of the classes' losses, weighted by importance; with costs the average cost of a row."""
    by_class: Floats
    """f of each class: 0 is perfect, 1 the worst; with costs the average cost of its rows; NaN for a class absent from the truth."""
    share: Floats
    """What each class adds to `total`."""


def pragma(counts: Counts, arrays: PreferenceArrays) -> PragmaLoss:
    """Return the PRAGMA loss of `counts` under `arrays`, or their average cost.

    Notes
    -----
    PRAGMA = sum_k theta_k f_k / sum_k theta_k with f_k = 1 - I(p_k, r_k; l_k), I the metric of the preferences; with
    Kulczynski's this is the paper's plane 1 + a r + b p. A class that is never predicted has f = 1 (the paper's
    f(0, 0)); a class absent from the truth is left out of the mean.
    """
    by_class, share = losses(counts, arrays)
    return PragmaLoss(float(share.sum()), by_class, share)


def losses(counts: Confusion, arrays: PreferenceArrays) -> tuple[Floats, Floats]:
    """Return the loss of each class and what it adds to the whole, both of shape (..., K)."""
    cells = outcomes(counts)
    if arrays.cost is not None:
        paid = (cells.matrix * arrays.cost).sum(axis=-1)
        return ratio(paid, cells.support), ratio(paid, cells.total)
    by_class = losses_at(precision(cells), recall(cells), arrays)
    return by_class, loss_shares(by_class, arrays)


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


def total_cost(counts: Counts, arrays: PreferenceArrays) -> float | None:
    """Return the sum of the costs of all rows; None without costs."""
    return None if arrays.cost is None else float((counts.matrix * arrays.cost).sum())


def preference_score(counts: Counts, arrays: PreferenceArrays) -> float:
    """Return 1 - loss where the constraints are met; else less than any result that meets them, by what is missed of them.

    The worst loss is 1, so that a result that misses constraints has minus the sum of what it misses. With costs the worst is what
    the dearest decisions for these rows cost.
    """
    missed = shortfall(counts, arrays)
    if missed == 0:
        return 1 - pragma(counts, arrays).total
    worst = 1.0 if arrays.cost is None else float(counts.support @ arrays.cost.max(axis=1)) / counts.total
    return 1 - worst - missed


def score_predictions(
    y_true: Any, y_pred: Any, preferences: Preferences, sample_weight: ArrayLike | None = None
) -> float:
    """Return the `preference_score` of the rows of a fold, which may lack classes that the preferences name."""
    counts = fold_counts(y_true, y_pred, sample_weight)
    return preference_score(counts, preferences.on(counts.classes, strict=False))


def among_classes(preferences: Preferences, classes: Iterable[Any], y_true: Any) -> Preferences:
    """Return the preferences for the classes of an estimator and of a fold; see `Preferences.among`."""
    _, occurring = encode(read_labels(y_true, "y_true"))
    return preferences.among(dict.fromkeys((*map(plain_label, classes), *occurring)))


def fold_counts(y_true: Any, y_pred: Any, sample_weight: ArrayLike | None = None) -> Counts:
    """Return the counts of a fold, whose rows may all be predicted wrong, and have no label in common with the predictions."""
    _, classes = encode(read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred"))
    return Counts.from_predictions(y_true, y_pred, labels=classes, sample_weight=sample_weight)
