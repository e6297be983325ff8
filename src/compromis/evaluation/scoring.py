"""The PRAGMA loss for labels, and as a scikit-learn scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.labels import encode, plain_label, read_labels
from compromis.measures.pragma import pragma
from compromis.preferences import Preferences, read_preferences


def pragma_loss(
    y_true: Any,
    y_pred: Any,
    *,
    preferences: Preferences | Mapping[Any, Any],
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the PRAGMA loss of predicted classes under the preferences: 0 is perfect, 1 the worst.

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

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences.prioritise(["bad"], metric="kulczynski")
    >>> round(cp.pragma_loss(["bad", "good", "good"], ["bad", "bad", "good"], preferences=preferences), 4)
    0.0682
    """
    counts = Counts.from_predictions(y_true, y_pred, labels=labels, sample_weight=sample_weight)
    return pragma(counts, required_preferences(preferences).on(counts.classes)).total


class PragmaScorer:
    """What `pragma_scorer` returns; sample weights are requested as from any scorer of scikit-learn."""

    def __init__(self, preferences: Preferences) -> None:
        from sklearn.metrics import make_scorer

        self._preferences = preferences
        self._scorer = make_scorer(fold_loss, greater_is_better=False, preferences=preferences)

    def __call__(self, estimator: Any, X: Any, y_true: Any, **params: Any) -> float:
        """Return the PRAGMA loss of the estimator's predictions, its sign changed."""
        _, classes = encode(read_labels(y_true, "y_true"))
        self._preferences.among(dict.fromkeys((*map(plain_label, getattr(estimator, "classes_", ())), *classes)))
        return float(self._scorer(estimator, X, y_true, **params))

    def set_score_request(self, **requests: Any) -> Self:
        """Request metadata, as scorers of scikit-learn do."""
        self._scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata requested."""
        return self._scorer.get_metadata_routing()

    def __repr__(self) -> str:
        return f"pragma_scorer({self._preferences!r})"


def pragma_scorer(preferences: Preferences | Mapping[Any, Any]) -> PragmaScorer:
    """Return a scikit-learn scorer, the PRAGMA loss with its sign changed: greater is better.

    It works inside cross-validation: a class that a fold lacks is left out of the fold's mean. Of a preference for a class that
    neither the estimator nor the fold knows it warns; if there are only such, it raises.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> scorer = cp.pragma_scorer(cp.Preferences.prioritise([2]))
    >>> bool(cross_val_score(DecisionTreeClassifier(random_state=0), *load_iris(return_X_y=True), scoring=scorer).mean() > -0.2)
    True
    """
    return PragmaScorer(required_preferences(preferences))


def fold_loss(y_true: Any, y_pred: Any, *, preferences: Preferences, sample_weight: ArrayLike | None = None) -> float:
    """Return the loss on the rows of a fold, which may lack classes that the preferences name."""
    # the rows of a fold may all be predicted wrong, and have no label in common with the predictions
    _, classes = encode(read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred"))
    counts = Counts.from_predictions(y_true, y_pred, labels=classes, sample_weight=sample_weight)
    return pragma(counts, preferences.on(classes, strict=False)).total


def required_preferences(preferences: Any) -> Preferences:
    """Return preferences that must be given."""
    read = read_preferences(preferences)
    if read is None:
        raise InputError("preferences is a compromis.Preferences or a mapping by class, got NoneType", "preferences")
    return read
