"""Evaluate decisions, with or without class distributions, by what matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.evidence.distributions import DistributionErrors, read_distributions
from compromis.evidence.labels import read_positions
from compromis.evidence.points import OperatingPoints
from compromis.evidence.weights import read_weights
from compromis.measures.costs import read_cost
from compromis.measures.probability import read_priors, smoothed_shares
from compromis.measures.ranking import roc_area
from compromis.measures.rates import roc_area_of_decisions
from compromis.preferences import Label, Preferences
from compromis.reporting.evaluation import Evaluation


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_proba: Any = None,
    preferences: Preferences | None = None,
    labels: Sequence[Any] | None = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Evaluation:
    """Evaluate decided classes against the truth, by what matters.

    Parameters
    ----------
    y_true : list, array or series of labels
        The true classes.
    y_pred : list, array or series of labels, optional
        The decided classes. Without it: the class of the largest probability, the first one in a tie.
    y_proba : array-like of shape (n, K), optional
        A distribution over the classes per row, in the order of `labels` (else sorted); a frame whose columns are named after
        the classes; or one column, the probability of the second of two classes. Votes are scaled to shares.
    preferences : Preferences, optional
        What matters; adds the preference section, the baselines and the verdict.
    labels : sequence, optional
        The classes in the order wanted, absent ones included.
    priors : mapping or sequence, optional
        The classes' shares in the training rows, which Weka's relative errors are relative to; see `training_priors`.
    cost : array-like of shape (K, K), optional
        What each decision costs, rows the truth.
    sample_weight : array-like, optional
        A weight of at least 0 per row.

    Returns
    -------
    Evaluation
        ``str()`` is the report; ``.summary``, ``.per_class``, ``.counts``, ``.verdict``, ``.to_frame()``, ``.to_json()``.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good", "good", "good"], ["bad", "bad", "good", "good"])
    >>> result.per_class["bad"].precision
    0.5
    >>> result.summary.accuracy
    0.75
    """
    if y_proba is None:
        if y_pred is None:
            raise InputError(
                "there is nothing to evaluate: pass y_pred (decided classes), y_proba (distributions), or both"
            )
        counts = Counts.from_predictions(y_true, y_pred, labels=labels, sample_weight=sample_weight)
        return evaluate_counts(counts, preferences=preferences, priors=priors, cost=cost)
    classes = _classes(y_true, y_pred, labels)
    truth = read_positions(y_true, classes, "y_true")
    shares = read_distributions(y_proba, len(truth), classes)
    weight = read_weights(sample_weight, len(truth))
    decided = shares.argmax(axis=1) if y_pred is None else read_positions(y_pred, classes, "y_pred")
    return _evaluation(
        Counts.from_positions(truth, decided, classes, weight),
        DistributionErrors.from_distributions(truth, shares, weight),
        _roc_areas(truth, shares, classes, weight),
        preferences=preferences,
        priors=priors,
        cost=cost,
    )


def evaluate_counts(
    counts: Counts,
    *,
    preferences: Preferences | None = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    cost: ArrayLike | None = None,
) -> Evaluation:
    """Evaluate confusion counts that are known already; the parameters are those of `evaluate`.

    Examples
    --------
    >>> import compromis as cp
    >>> screening = cp.Counts.from_matrix([[190, 10], [210, 3590]], ["cancer", "no cancer"])
    >>> print(cp.evaluate_counts(screening).screening)
    Taking 'cancer' as the condition looked for: a decision for 'no cancer' is right in 99.7 %, so it is good for screening;
    a decision for 'cancer' is right in 47.5 %, so it is poor for diagnosis.
    """
    errors = DistributionErrors.from_counts(counts)
    return _evaluation(counts, errors, roc_area_of_decisions(counts), preferences=preferences, priors=priors, cost=cost)


def _evaluation(
    counts: Counts,
    errors: DistributionErrors,
    roc_areas: NDArray[np.float64],
    *,
    preferences: Preferences | None,
    priors: Mapping[Any, float] | Sequence[float] | None,
    cost: ArrayLike | None,
) -> Evaluation:
    if preferences is not None and not isinstance(preferences, Preferences):
        raise InputError(f"preferences must be a compromis.Preferences, got {type(preferences).__name__}")
    shares = smoothed_shares(counts) if priors is None else read_priors(priors, counts.classes)
    costs = None if cost is None else read_cost(cost, counts.classes)
    evaluation = Evaluation(counts, errors, roc_areas, shares, priors is not None, preferences, costs)
    _ = evaluation.wish  # a preference for an unknown class is an error here, not when the report is printed
    return evaluation


def _classes(y_true: Any, y_pred: Any, labels: Sequence[Any] | None) -> tuple[Label, ...]:
    return Counts.from_predictions(y_true, y_true if y_pred is None else y_pred, labels=labels).classes


def _roc_areas(
    truth: NDArray[np.int64],
    shares: NDArray[np.float64],
    classes: tuple[Label, ...],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    points = (OperatingPoints.from_flags(truth == k, shares[:, k], label, weight) for k, label in enumerate(classes))
    return np.array([roc_area(one) for one in points])
