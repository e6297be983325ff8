"""Any classifier, with its decision tuned to the preferences."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, indexable

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.estimators.fitting import refuse_many_outputs
from compromis.estimators.honest_votes import (
    check_votes_are_possible,
    out_of_bag_votes,
    out_of_fold_votes,
    votes_of,
    voting_ensemble,
)
from compromis.estimators.tuning import PreferencesReprMixin, TuningMixin, TuningOptions
from compromis.evidence.readers import read_class_weights
from compromis.labels import plain_label
from compromis.preferences import Preferences
from compromis.weights.decision import normalised

AUTO_FOLDS = 5
AUTO_SMOOTHING = 0.0
"""Half a vote for every class ranked best but once predicted constantly; see docs/tuning.md."""


def _estimator_has(name: str) -> Any:
    def check(self: TunedDecisionClassifier) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return check


class TunedDecisionClassifier(PreferencesReprMixin, TuningMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier, with the decision tuned to what matters: the largest weight x votes wins, ties go to the first class.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba``, or an ensemble whose members vote.
    preferences : Preferences or mapping by class, optional
        What matters. Without it every class counts alike.
    weights : mapping or sequence, optional
        Weights set by hand, by class; nothing is searched then.
    votes : {"auto", "hard", "proba"}
        What is weighed: each member's decision (``"hard"``, for forests and bagging), or probabilities. ``"auto"`` takes hard
        votes where there are members.
    cv : {"auto", "prefit"}, int, or splitter
        Where honest votes come from. ``"auto"``: out-of-bag votes where members leave rows out (one fit), else five stratified folds;
        with a splitter that repeats, votes are averaged over the repetitions; ``"prefit"``: the estimator is fitted and (X, y)
        were held out from it.
    method : str
        The search: ``"auto"``, ``"exact"`` (two or three classes), ``"sweep"`` or ``"annealing"``.
    smoothing : float or "auto"
        Votes added to every class, as a share: a row without a vote for a class can never be predicted as it otherwise. Half a
        vote is 0.5 / (number of members). ``"auto"`` adds nothing, because half a vote can end in a constant decision.
    resamples : int or "auto"
        Average the log-weights over so many bootstrap resamples of the evidence. ``"auto"``: 20 for two and three classes, 6 for more.
    max_ratio : float, optional
        A bound on the ratio of any two weights.
    n_jobs : int, optional
        Folds fitted at once.
    random_state : int, RandomState or None
        For the folds, the search and the resamples; pass an int for the same result every time.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray
        The classes.
    weights_ : ndarray
        The weight of each class; their geometric mean is 1.
    tuning_ : Tuned or None
        Weights, counts, verdict, search and stability together; ``tuning_.summary()`` gives them in sentences. None for weights set by
        hand, and so are its parts:
    search_ : WeightSearch or None
        The search on all honest votes, and whether it is proven optimal. With resamples its weights are not those predicted with: its
        loss is lower on these votes, and too optimistic for new rows.
    verdict_ : Verdict or None
        What ``weights_`` are worth on the honest votes.
    loss_ : float or None
        The PRAGMA loss of ``weights_`` on the honest votes.
    stability_ : Stability or None
        The spread of weights and loss over resamples.
    patterns_ : Votes or None
        The honest votes that were searched.
    smoothing_ : float
        What is added to every share of votes.
    votes_are_hard_ : bool
        Whether members' decisions are weighed, or probabilities.
    decision_ : Decision
        The decision that can be carried elsewhere.

    Notes
    -----
    Section 3 of the PRAGMA paper, with an exact search in place of simulated annealing. `predict_proba` is the base estimator's: weighting
    would ruin its calibration; `weighted_votes` shows what the decision is taken from.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> arrays = cp.Preferences.prioritise([0], metric="f")
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> tuned = cp.TunedDecisionClassifier(forest, preferences=arrays, random_state=0).fit(X, y)
    >>> bool(tuned.weights_[0] > tuned.weights_[1])
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        preferences: Preferences | Mapping[Any, Any] | None = None,
        weights: Mapping[Any, float] | Sequence[float] | None = None,
        votes: str = "auto",
        cv: Any = "auto",
        method: str = "auto",
        smoothing: float | str = "auto",
        resamples: int | str = "auto",
        max_ratio: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.preferences = preferences
        self.weights = weights
        self.votes = votes
        self.cv = cv
        self.method = method
        self.smoothing = smoothing
        self.resamples = resamples
        self.max_ratio = max_ratio
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the estimator, gather honest votes, and search the weights that serve the preferences best.

        Parameters
        ----------
        X : array-like, frame or sparse matrix
            The rows.
        y : labels
            Their classes.
        sample_weight : array-like, optional
            A weight per row, for the estimator and for the search.
        **params
            Further parameters of the estimator's fit.
        """
        refuse_many_outputs(y, type(self).__name__)
        X, y, sample_weight = indexable(X, column_or_1d(y, warn=True), sample_weight)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        X = _with_shape(X)
        _refuse_one_class(y)
        hard = self.votes_are_hard_ = self._hard()
        check_votes_are_possible(self.estimator, hard=hard)
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        votes = self._fit_and_vote(X, y, self._fit_params(sample_weight, params), generator)
        self.smoothing_ = self._smoothing()
        if self.weights is None:
            self._tune(y, votes, sample_weight, generator)
        else:
            self.weights_ = normalised(
                read_class_weights(self.weights, [plain_label(label) for label in self.classes_])
            )
            self.tuning_, self.patterns_ = None, None
        return self

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the votes for each class, before weighting."""
        check_is_fitted(self, "weights_")
        return votes_of(self.estimator_, _with_shape(X), self.classes_, hard=self.votes_are_hard_)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the base estimator's probabilities: weighting would ruin their calibration."""
        check_is_fitted(self, "weights_")
        shares: Floats = self.estimator_.predict_proba(X)
        return shares

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata goes where: the estimator's fit, the splitter, and sample_weight to the search."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if _is_splitter(self.cv):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _hard(self) -> bool:
        if self.votes not in ("auto", "hard", "proba"):
            raise InputError(f"votes is 'auto', 'hard' or 'proba', got {self.votes!r}")
        return self.votes == "hard" or (self.votes == "auto" and voting_ensemble(self.estimator) is not None)

    def _fit_params(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the parameters for the estimator's fit and for the splitter."""
        given = params if sample_weight is None else {**params, "sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            splitting = routed["splitter"]["split"] if _is_splitter(self.cv) else {}
            return {"estimator": dict(routed["estimator"]["fit"]), "splitter": dict(splitting)}
        if sample_weight is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            given = params  # the search takes the weights all the same
        return {"estimator": given, "splitter": {}}

    def _fit_and_vote(
        self, X: Any, y: Any, params: dict[str, dict[str, Any]], generator: np.random.Generator
    ) -> Floats:
        """Fit the estimator and return honest votes for the rows; none where weights are set by hand."""
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        self.estimator_ = (
            _checked_fitted(self.estimator) if prefit else clone(self.estimator).fit(X, y, **params["estimator"])
        )
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if self.weights is not None:
            return np.empty((0, len(self.classes_)))
        hard = self.votes_are_hard_
        if prefit:
            return votes_of(self.estimator_, X, self.classes_, hard=hard)
        ensemble = voting_ensemble(self.estimator)
        if isinstance(self.cv, str) and self.cv == "auto" and ensemble is not None and ensemble.leaves_rows_out():
            return out_of_bag_votes(self.estimator_, X, self.classes_, hard=hard)
        splits = self._folds(y, generator).split(X, y, **params["splitter"])
        return out_of_fold_votes(
            self.estimator,
            X,
            y,
            splits,
            self.classes_,
            hard=hard,
            fit_params=params["estimator"],
            n_jobs=self.n_jobs,
        )

    def _folds(self, y: Any, generator: np.random.Generator) -> Any:
        if isinstance(self.cv, str) and self.cv != "auto":
            raise InputError(f"cv is 'auto', 'prefit', a number of folds or a splitter, got {self.cv!r}")
        if not isinstance(self.cv, (str, int)):
            return check_cv(self.cv, y, classifier=True)
        smallest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
        folds = self.cv if isinstance(self.cv, int) else max(2, min(AUTO_FOLDS, smallest))
        return StratifiedKFold(folds, shuffle=True, random_state=int(generator.integers(2**31)))

    def _smoothing(self) -> float:
        if self.smoothing == "auto":
            return AUTO_SMOOTHING
        if isinstance(self.smoothing, str) or not 0 <= self.smoothing < np.inf:
            raise InputError(f"smoothing is 'auto' or a number of at least 0, got {self.smoothing!r}")
        return float(self.smoothing)

    def _options(self) -> TuningOptions:
        return TuningOptions(
            method=self.method, smoothing=self.smoothing_, resamples=self.resamples, max_ratio=self.max_ratio
        )

    def _voter(self) -> Any:
        ensemble = voting_ensemble(self.estimator_) if self.votes_are_hard_ else None
        return self.estimator_ if ensemble is None else ensemble.with_hard_votes()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = copy.copy(inner.input_tags)
        tags.non_deterministic = inner.non_deterministic
        return tags


def _with_shape(X: Any) -> Any:
    return X if hasattr(X, "shape") else np.asarray(X)


def _refuse_one_class(y: NDArray[Any]) -> None:
    if len(y) and (y == y[0]).all():
        raise InputError(f"y has only one class, {plain_label(y[0])!r}; there is nothing to decide")


def _is_splitter(cv: Any) -> bool:
    return hasattr(cv, "split") and not isinstance(cv, str)


def _checked_fitted(estimator: Any) -> Any:
    try:
        check_is_fitted(estimator, "classes_")
    except NotFittedError:
        raise NotFittedError(
            f"cv='prefit' needs a fitted estimator, and {type(estimator).__name__} is not; fit it on other rows first"
        ) from None
    return estimator
