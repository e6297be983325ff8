"""Compare the decisions of several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from numpy.typing import ArrayLike

from compromis.errors import InputError
from compromis.evaluation.evaluate import evaluate_counts
from compromis.evidence.counts import Counts
from compromis.evidence.paired import PairedCounts, classes_of
from compromis.evidence.positions import positions_in
from compromis.evidence.weights import read_weights
from compromis.preferences import Preferences
from compromis.reporting.cross_evaluation import CrossEvaluation
from compromis.reporting.models import ModelComparison, adjusted
from compromis.uncertainty.folds import FoldMean, fold_mean
from compromis.uncertainty.interval import read_confidence
from compromis.uncertainty.paired import compare_paired


def compare_models(
    decisions: Mapping[str, Any],
    y_true: Any,
    *,
    preferences: Preferences | None = None,
    measure: str | None = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ModelComparison:
    """Compare models by their decisions on the same rows: which is better, by how much, and how sure that is.

    Parameters
    ----------
    decisions : mapping of name to labels
        The predicted classes of each model, for the rows of `y_true`, in their order.
    y_true : labels
        The true classes.
    preferences : Preferences, optional
        What matters; the models are then compared by the loss.
    measure : str, optional
        Another measure to decide by, such as ``"accuracy"``, ``"kappa"`` or ``"macro_f_measure"``; without preferences it is the
        balanced accuracy.
    labels : sequence, optional
        The classes, absent ones included.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    ModelComparison
        ``str()`` is a table and a verdict; ``.pairs`` has every pair with the difference of every measure and its interval.

    Notes
    -----
    The same draws of rows judge both models of a pair, so that what they share cancels; see `compromis.uncertainty.paired`. McNemar's
    mid-p values are adjusted for the number of pairs by Holm's method.

    Examples
    --------
    >>> import compromis as cp
    >>> truth = ["bad"] * 40 + ["good"] * 160
    >>> eager = ["bad"] * 60 + ["good"] * 140
    >>> shy = ["bad"] * 10 + ["good"] * 190
    >>> result = cp.compare_models({"eager": eager, "shy": shy}, truth, preferences=cp.Preferences.prioritise(["bad"]))
    >>> print(result.verdict)
    'eager' is better than 'shy': loss 0.0360 against 0.6208, difference -0.5848 (95 % interval -0.6... to -0.4...)
    """
    level = read_confidence(confidence)
    _check(decisions)
    classes = classes_of(y_true, dict(decisions), labels)
    truth = positions_in(y_true, classes, "y_true")
    predicted = {name: positions_in(values, classes, name) for name, values in decisions.items()}
    weight = read_weights(sample_weight, len(truth))
    arrays = None if preferences is None else preferences.on(classes)
    evaluations = {
        name: evaluate_counts(
            Counts.from_positions(truth, one, classes, weight), preferences=preferences, confidence=level
        )
        for name, one in predicted.items()
    }
    pairs = tuple(
        compare_paired(
            PairedCounts.from_positions(truth, predicted[first], predicted[second], classes, weight),
            arrays=arrays,
            measure=measure,
            names=(first, second),
            confidence=level,
        )
        for first, second in combinations(predicted, 2)
    )
    return ModelComparison(evaluations, pairs, adjusted([pair.mcnemar.mid_p for pair in pairs]), level)


def compare_folds(
    first: CrossEvaluation, second: CrossEvaluation, *, measure: str | None = None, confidence: float = 0.95
) -> FoldMean:
    """Compare two cross-validations on the same folds: the mean difference, first minus second, and the corrected t-test.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> bayes, dummy = (cp.cross_evaluate(one, *load_iris(return_X_y=True)) for one in (GaussianNB(), DummyClassifier()))
    >>> difference = cp.compare_folds(bayes, dummy, measure="accuracy")
    >>> bool(difference.mean.low > 0.5 and difference.p_value < 0.001)
    True
    """
    if first.test_rows != second.test_rows or any(
        (one.counts.support != other.counts.support).any() for one, other in zip(first.folds, second.folds, strict=True)
    ):
        raise InputError("the two cross-validations have different folds; run both with the same cv and the same rows")
    name = measure or ("loss" if first.preferences is not None else "balanced_accuracy")
    known = set(first.averages) & set(second.averages)
    if name not in known:
        raise InputError(f"there is no measure {name!r} in both; choose one of {', '.join(sorted(known))}")
    values = [
        getattr(one.summary, name) - getattr(other.summary, name)
        for one, other in zip(first.folds, second.folds, strict=True)
    ]
    shares = [test / train for test, train in zip(first.test_rows, first.train_rows, strict=True)]
    return fold_mean(values, sum(shares) / len(shares), confidence=confidence)


def _check(decisions: Any) -> None:
    if not isinstance(decisions, Mapping):
        raise InputError(f"decisions is a mapping of names to predicted classes, got {type(decisions).__name__}")
    if len(decisions) < 2:
        raise InputError(
            f"there is nothing to compare: give the decisions of at least two models, got {len(decisions)}"
        )
