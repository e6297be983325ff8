"""The PRAGMA loss for labels, and preferences as a scikit-learn scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.measures.pragma import among_classes, fold_counts, pragma, score_predictions
from compromis.preferences import Preferences, read_preferences, refuse_idle_amount


def pragma_loss(
    y_true: Any,
    y_pred: Any,
    *,
    preferences: Preferences | Mapping[Any, Any],
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    amount: ArrayLike | None = None,
) -> float:
    """Return the PRAGMA loss of predicted classes under the preferences: 0 is perfect, 1 the worst; with costs their average cost.

    It is the loss that `evaluate` shows; constraints have no part in it. `pragma_scorer` puts them first.

    Parameters
    ----------
    y_true, y_pred : list, array or series of labels
        True and predicted classes.
    preferences : Preferences or mapping by class
        What matters.
    labels : sequence, optional
        The classes, absent ones included; a preference for any other class is an error.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    amount : array-like, optional
        A number of at least 0 per row, where decisions cost the amount of a row.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences.prioritise(["bad"], metric="kulczynski")
    >>> round(cp.pragma_loss(["bad", "good", "good"], ["bad", "bad", "good"], preferences=preferences), 4)
    0.0682
    """
    refuse_idle_amount(required_preferences(preferences), amount)
    counts = Counts.from_predictions(y_true, y_pred, labels=labels, sample_weight=sample_weight, amount=amount)
    return pragma(counts, required_preferences(preferences).on(counts.classes)).total


class PragmaScorer:
    """What `pragma_scorer` returns; sample weights are requested as from any scorer of scikit-learn."""

    def __init__(self, preferences: Preferences) -> None:
        from sklearn.metrics import make_scorer

        self._preferences = preferences
        self._scorer = make_scorer(score_predictions, preferences=preferences)
        # what TunedThresholdClassifierCV reads of a scorer to score each threshold
        self._score_func, self._sign, self._kwargs = score_predictions, 1, {"preferences": preferences}

    def __call__(self, estimator: Any, X: Any, y_true: Any, **params: Any) -> float:
        """Return the score of the estimator's predictions."""
        among_classes(self._preferences, getattr(estimator, "classes_", ()), y_true)
        return float(self._scorer(estimator, X, y_true, **params))

    def set_score_request(self, **requests: Any) -> Self:
        """Request metadata, as scorers of scikit-learn do."""
        self._scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata requested."""
        return self._scorer.get_metadata_routing()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PragmaScorer):
            return NotImplemented
        requests = (str(scorer.get_metadata_routing()) for scorer in (self, other))
        return self._preferences == other._preferences and next(requests) == next(requests)

    def __hash__(self) -> int:
        return hash(self._preferences)

    def __repr__(self) -> str:
        return f"pragma_scorer({self._preferences!r})"


def pragma_scorer(preferences: Preferences | Mapping[Any, Any]) -> PragmaScorer:
    """Return a scikit-learn scorer: 1 - loss where the constraints are met, minus what is missed of them where they are not.

    So a model that meets them is better than any that does not, in `GridSearchCV` as in a search for weights. With costs the loss is
    the average cost, and a model that misses a constraint has less than the dearest decisions would have.

    It works inside cross-validation: a class that a fold lacks is left out of the fold's mean. Of a preference for a class that
    neither the estimator nor the fold knows it warns; if there are only such, it raises. Where decisions cost the amount of a row it
    requests that: ``pragma_scorer(preferences).set_score_request(amount=True)``, with metadata routing.

    Two scorers of equal preferences and requests are equal. scikit-learn's TunedThresholdClassifierCV takes one too, as ``scoring=``.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> scorer = cp.pragma_scorer(cp.Preferences.prioritise([2]))
    >>> bool(cross_val_score(DecisionTreeClassifier(random_state=0), *load_iris(return_X_y=True), scoring=scorer).mean() > 0.8)
    True
    """
    return PragmaScorer(required_preferences(preferences))


def fold_loss(y_true: Any, y_pred: Any, *, preferences: Preferences, sample_weight: ArrayLike | None = None) -> float:
    """Return the loss on the rows of a fold, which may lack classes that the preferences name."""
    counts = fold_counts(y_true, y_pred, sample_weight)
    return pragma(counts, preferences.on(counts.classes, strict=False)).total


def required_preferences(preferences: Any) -> Preferences:
    """Return preferences that must be given."""
    read = read_preferences(preferences)
    if read is None:
        raise InputError("preferences is a compromis.Preferences or a mapping by class, got NoneType", "preferences")
    return read
