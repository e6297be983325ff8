"""Evaluate decisions, with or without class distributions, by what matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evaluation.scored import ScoredRows
from compromis.evidence import Counts
from compromis.evidence.distributions import DistributionErrors, read_distributions
from compromis.evidence.grouped import GroupedCounts, group_counts, read_groups
from compromis.evidence.positions import positions_in
from compromis.evidence.weights import read_weights
from compromis.measures.costs import read_cost
from compromis.measures.probability import read_priors, smoothed_shares
from compromis.measures.rates import roc_area_of_decisions
from compromis.preferences import Preferences
from compromis.reporting.evaluation import Evaluation
from compromis.uncertainty.drawing import counts_of
from compromis.uncertainty.interval import read_confidence
from compromis.uncertainty.intervals import report_intervals


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
    confidence: float | None = None,
    groups: Any = None,
) -> Evaluation:
    """Evaluate predicted classes against the truth, by what matters.

    Parameters
    ----------
    y_true : list, array or series of labels
        The true classes.
    y_pred : list, array or series of labels, optional
        The predicted classes. Without it: the class of the largest probability, the first one in a tie.
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
    confidence : float, optional
        Adds confidence intervals of every number, for example 0.95; they cost the same for 50 rows and 50 million.
    groups : labels, optional
        A key per row: rows of one group (a patient, a day) belong together, and the intervals count groups, not rows.

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
                "there is nothing to evaluate: pass y_pred (predicted classes), y_proba (distributions), or both"
            )
        counts = Counts.from_predictions(y_true, y_pred, labels=labels, sample_weight=sample_weight)
        evidence = counts if groups is None else group_counts(y_true, y_pred, groups, counts, sample_weight)
        return evaluate_counts(evidence, preferences=preferences, priors=priors, cost=cost, confidence=confidence)
    classes = _classes(y_true, y_pred, labels)
    truth = positions_in(y_true, classes, "y_true")
    shares = read_distributions(y_proba, len(truth), classes)
    weight = read_weights(sample_weight, len(truth))
    predicted = shares.argmax(axis=1) if y_pred is None else positions_in(y_pred, classes, "y_pred")
    counts = Counts.from_positions(truth, predicted, classes, weight)
    group = None if groups is None else read_groups(groups, len(truth))
    return _evaluation(
        counts if group is None else GroupedCounts.from_positions(truth, predicted, group, counts, weight),
        DistributionErrors.from_distributions(truth, shares, weight),
        ScoredRows(truth, shares, classes, weight, group),
        preferences=preferences,
        priors=priors,
        cost=cost,
        confidence=confidence,
    )


def evaluate_counts(
    counts: Counts | GroupedCounts,
    *,
    preferences: Preferences | None = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    cost: ArrayLike | None = None,
    confidence: float | None = None,
) -> Evaluation:
    """Evaluate confusion counts that are known already, of rows or of groups of rows; the parameters are those of `evaluate`.

    Examples
    --------
    >>> import compromis as cp
    >>> screening = cp.Counts.from_matrix([[190, 10], [210, 3590]], ["cancer", "no cancer"])
    >>> print(cp.evaluate_counts(screening).screening)
    Taking 'cancer' as the condition looked for: a decision for 'no cancer' is right in 99.7 %, so it is good for screening;
    a decision for 'cancer' is right in 47.5 %, so it is poor for diagnosis.
    """
    errors = DistributionErrors.from_counts(counts_of(counts))
    return _evaluation(counts, errors, None, preferences=preferences, priors=priors, cost=cost, confidence=confidence)


def _evaluation(
    evidence: Counts | GroupedCounts,
    errors: DistributionErrors,
    scored: ScoredRows | None,
    *,
    preferences: Preferences | None,
    priors: Mapping[Any, float] | Sequence[float] | None,
    cost: ArrayLike | None,
    confidence: float | None,
) -> Evaluation:
    if preferences is not None and not isinstance(preferences, Preferences):
        raise InputError(f"preferences must be a compromis.Preferences, got {type(preferences).__name__}")
    level, counts = None if confidence is None else read_confidence(confidence), counts_of(evidence)
    shares = smoothed_shares(counts) if priors is None else read_priors(priors, counts.classes)
    costs = None if cost is None else read_cost(cost, counts.classes)
    areas = roc_area_of_decisions(counts) if scored is None else scored.roc_areas()
    votes = None if scored is None else scored.votes
    evaluation = Evaluation(counts, errors, areas, shares, priors is not None, preferences, costs, votes=votes)
    arrays = evaluation.arrays  # a preference for an unknown class is an error here, not when the report is printed
    if level is None:
        return evaluation
    intervals = report_intervals(evidence, arrays=arrays, cost=costs, confidence=level)
    if scored is not None:
        intervals = intervals.with_roc_areas(scored.roc_area_intervals(level))
    return replace(evaluation, intervals=intervals)


def _classes(y_true: Any, y_pred: Any, labels: Sequence[Any] | None) -> tuple[Label, ...]:
    return Counts.from_predictions(y_true, y_true if y_pred is None else y_pred, labels=labels).classes
