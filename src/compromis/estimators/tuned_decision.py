"""Estimators that decide by weights tuned to the preferences."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d, estimator_html_repr, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, indexable

from compromis._rows import Fold, choose_folds, shuffled_folds
from compromis._text import shown, shown_label
from compromis._typing import Floats, Ints
from compromis.errors import InputError, NotBetterWarning
from compromis.estimators.honest_votes import (
    check_votes_are_possible,
    fit_classifier,
    out_of_bag_votes,
    out_of_fold_votes,
    votes_of,
    voting_ensemble,
)
from compromis.estimators.tuning import AUTO_SMOOTHING, GroupedVotes, Tuned, TuningOptions, tune
from compromis.evidence.readers import read_class_weights, read_smoothing, read_weights
from compromis.evidence.votes import Votes, decide_votes
from compromis.labels import check_row_order, plain_label, read_groups, refuse_many_outputs
from compromis.measures.by_group import ByGroup
from compromis.measures.pragma import among_classes, amount_missing, score_predictions
from compromis.preferences import Preferences, read_preferences, refuse_amounts_of_groups, refuse_idle_amount
from compromis.uncertainty.verdict import Verdict
from compromis.weights.decision import Decision, Threshold, more_important
from compromis.weights.guarantee import Guarantee, warn_of_idle_confidence
from compromis.weights.predictor import decide_or_review
from compromis.weights.problem import normalised
from compromis.weights.review import Review, Reviewed
from compromis.weights.search import WeightSearch, warn_of_class_weights
from compromis.weights.stability import Stability

AUTO_FOLDS = 5
BEST_REPEATS = 3
"""How often `effort="best"` goes through the folds, each time with another division."""


_STYLE = "margin: .4em 0 0; padding: .3em .8em; border-left: .3em solid #1f6f9f; font: 13px/1.5 system-ui, sans-serif;"


class PreferencesMixin:
    """A mixin for before BaseEstimator: scores by the preferences, and their words below scikit-learn's diagram in notebooks."""

    preferences: Any
    classes_: NDArray[Any]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, amount: Any = None) -> float:
        """Return how well the predictions serve the preferences, so that `GridSearchCV` chooses by them; accuracy without preferences.

        1 - loss where the constraints are met, minus what is missed of them where they are not, as `pragma_scorer` has it. Where decisions
        cost the amount of a row, `amount` has a number per row; `GridSearchCV` hands it on by metadata routing.
        """
        preferences = read_preferences(self.preferences)
        if preferences is None:
            accuracy: float = super().score(X, y, sample_weight)  # type: ignore[misc]
            return accuracy
        known = among_classes(preferences, self.classes_, y)
        return score_predictions(y, self.predict(X), known, sample_weight, amount)  # type: ignore[attr-defined]

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        try:
            preferences = read_preferences(self.preferences)
        except InputError:  # fit says what is wrong with them
            preferences = None
        if preferences is None:
            return diagram
        lines = "<br>".join(escape(shown_label(line)) for line in preferences.describe().split("\n"))
        return f'{diagram}<div class="compromis-preferences" style="{_STYLE}"><strong>What matters</strong><br>{lines}</div>'


class TunedClassifier(PreferencesMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What estimators with a tuned decision share: the decision and the parts of `tuning_`, each None where no search ran."""

    classes_: NDArray[Any]
    weights_: Floats
    smoothing_: float
    tuning_: Tuned | None
    patterns_: Votes | None

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the votes for each class, before weighting."""
        raise NotImplementedError

    def predict(self, X: Any, *, by: Any = None, return_review: bool = False) -> Any:
        """Return the class of the largest weight x votes for each row; ties go to the first class.

        With `by`, the group of each row, each is predicted by weights that were searched on the rows of its group alone (after
        ``fit(X, y, by=...)``; ``tuning_.by_group`` has the searches), without it by the weights that all groups share. With `return_review`
        also which rows a person should look at; their class counts where nobody does.
        """
        shares = self.vote_shares(X)  # first: it checks that the estimator is fitted
        if by is not None:
            if return_review:
                raise InputError(
                    "a review is planned for the weights that all groups share; leave by out, or return_review", "by"
                )
            return self._predict_by_group(shares, by)
        if return_review:
            ratio = None if self.review_ is None else self.review_.ratio
            return decide_or_review(shares, self.weights_, self.smoothing_, self.classes_, ratio)
        return self.classes_[decide_votes(shares, self.weights_, self.smoothing_)]

    def _predict_by_group(self, shares: Floats, by: Any) -> NDArray[Any]:
        searches = None if self.tuning_ is None else self.tuning_.by_group
        if searches is None or self._by is None:
            raise InputError("there are no weights by group; fit with by=, or leave by out", "by")
        groups = ByGroup.read(by, len(shares))
        unknown = [name for name in groups.names if name not in self._by.names]
        if unknown:
            raise InputError(
                f"by has groups that fit has not seen, {shown(unknown)}; leave by out for the weights that all groups share",
                "by",
            )
        predicted = decide_votes(shares, self.weights_, self.smoothing_)
        for number, name in enumerate(groups.names):
            if name in searches:
                own = groups.code == number
                predicted[own] = decide_votes(shares[own], searches[name].weights, self.smoothing_)
        return self.classes_[predicted]

    def weighted_votes(self, X: Any) -> Floats:
        """Return weight x votes of each class, scaled to sum to 1 in each row: what the decision is taken from."""
        weighted = (self.vote_shares(X) + self.smoothing_) * self.weights_
        return weighted / weighted.sum(axis=1, keepdims=True)

    def with_prevalence(self, new_shares: Mapping[Any, float] | Sequence[float]) -> Self:
        """Return a copy whose weights suit a population with other class shares.

        Searches again on the same honest votes, rows of class k weighing new share / old share. That is right when only
        the shares have changed (prior shift), and the rows of each class still look the same.

        Parameters
        ----------
        new_shares : mapping by class, or sequence in the order of ``classes_``
            Shares of the classes where the decisions will be taken.
        """
        check_is_fitted(self, "weights_")
        if self.patterns_ is None or self.tuning_ is None:
            raise InputError(
                "weights that were not searched have no evidence to search again; fit without weights=, tune=False or store_evidence=False"
            )
        if self.guarantee_ is not None:
            raise InputError(
                "a guarantee counts rows as they were drawn, with_prevalence weighs them; a guaranteed recall holds for other "
                "class shares as it is: keep this model, or fit without confidence"
            )
        if self.review_ is not None and self.tuning_.options.review.is_sure:  # type: ignore[union-attr]
            raise InputError(
                "a cap on review with a confidence counts rows as they were drawn, with_prevalence weighs them; fit with max_share "
                "without confidence"
            )
        twin = copy.copy(self)
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        twin._search(self.patterns_.with_prevalence(new_shares), self.tuning_.options, generator, by=self._by)  # noqa: SLF001 (a copy)
        return twin

    @property
    def decision_(self) -> Decision:
        """The decision that can be carried elsewhere: JSON, SQL, ONNX; it takes `vote_shares`."""
        check_is_fitted(self, "weights_")
        classes = self.classes_.tolist()
        preferences = read_preferences(self.preferences) or Preferences()
        importance = np.array([preferences.of(label).importance for label in classes])
        positive = more_important(classes, importance)
        ratio = None if self.review_ is None else self.review_.ratio
        return Decision(tuple(classes), self.weights_, smoothing=self.smoothing_, pos_label=positive, review=ratio)

    @property
    def threshold_(self) -> Threshold:
        """Of two classes: from which share of votes on a row is predicted as the more important one, else as the second."""
        return self.decision_.threshold

    def to_onnx(self, X: Any, *, path: str | os.PathLike[str] | None = None) -> Any:
        """Return an ONNX model of the fitted classifier with its tuned decision; see `Decision.to_onnx`."""
        return self.decision_.to_onnx(self._voter(), X, path=path)

    def _voter(self) -> Any:
        """Return a fitted classifier whose ``predict_proba`` is `vote_shares`."""
        raise NotImplementedError

    @property
    def search_(self) -> WeightSearch | None:
        """The search on all honest votes; with resamples its weights are not those predicted with, and its loss is too optimistic."""
        return None if self.tuning_ is None else self.tuning_.search

    @property
    def verdict_(self) -> Verdict | None:
        """Whether the tuned decision is better than no model, each fifth of the honest votes judged by a search on the others."""
        return None if self.tuning_ is None else self.tuning_.verdict

    @property
    def loss_(self) -> float | None:
        """The PRAGMA loss of ``weights_`` on the honest votes, which chose them; that of ``verdict_`` is cross-fitted."""
        return None if self.tuning_ is None else self.tuning_.loss

    @property
    def guarantee_(self) -> Guarantee | None:
        """What holds on new rows, where the preferences name a confidence."""
        return None if self.tuning_ is None else self.tuning_.guarantee

    @property
    def review_(self) -> Reviewed | None:
        """Which rows a person looks at and what that is worth on the honest votes, where a review was asked for."""
        return None if self.tuning_ is None else self.tuning_.review

    @property
    def stability_(self) -> Stability | None:
        """The spread of weights and loss over resamples."""
        return None if self.tuning_ is None else self.tuning_.stability

    def _tune(
        self,
        y: NDArray[Any],
        votes: Floats,
        weight: Floats | None,
        options: TuningOptions,
        generator: np.random.Generator,
        *,
        group: Ints | None = None,
        amount: NDArray[Any] | None = None,
        by: ByGroup | None = None,
    ) -> None:
        """Search the weights on honest votes; warn if they are no better than no model, or chance explains them as well."""
        if weight is not None:
            warn_of_class_weights(np.unique(y, return_inverse=True)[1], weight, "search_sample_weight", stacklevel=4)
        merge = "auto" if by is None else False
        given = {"labels": self.classes_.tolist(), "sample_weight": weight, "amount": amount}
        patterns = Votes.from_proba(y, votes, **given, merge=merge)
        rows = None
        if group is not None:
            apart = Votes.from_proba(y, votes, labels=patterns.classes, sample_weight=weight, merge=False)
            rows = GroupedVotes(apart, group)
        verdict = self._search(patterns, options, generator, rows, by).verdict
        if verdict.state == "no better" or verdict.by_chance:
            warnings.warn(verdict.sentence, NotBetterWarning, stacklevel=3)

    def _search(
        self,
        patterns: Votes,
        options: TuningOptions,
        generator: np.random.Generator,
        rows: GroupedVotes | None = None,
        by: ByGroup | None = None,
    ) -> Tuned:
        tuned = tune(patterns, options, generator, rows, by)
        self.smoothing_ = options.smoothing
        self.tuning_, self.weights_, self.patterns_, self._by = tuned, tuned.weights, patterns, by
        return tuned

    def _set_weights(self, weights: Floats, smoothing: float) -> None:
        """Decide with weights that were not searched."""
        self.weights_, self.smoothing_, self.tuning_, self.patterns_ = weights, smoothing, None, None
        self._by = None


def refuse_idle_review(review: Review | None, without: str) -> None:
    """Raise if a review is asked for where no votes are searched that could plan it."""
    if review is not None:
        raise InputError(
            f"a review is planned on the honest votes of a search, and {without} need none; leave review out, or let the weights be "
            f"searched",
            "review",
        )


def _estimator_has(name: str) -> Any:
    def check(self: TunedDecisionClassifier) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return check


class TunedDecisionClassifier(MetaEstimatorMixin, TunedClassifier):  # type: ignore[misc]
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
        Average the log-weights over so many bootstrap resamples of the evidence, and with those that expected counts ask for where a class
        has few rows (docs/tuning.md); 0 takes one search as it is. ``"auto"``: 20 for two and three classes, 6 for more.
    max_ratio : float, optional
        A bound on the ratio of any two weights.
    review : Review, optional
        How much a person may look at; ``review_`` tells what that is worth, and ``predict(X, return_review=True)`` which rows.
    effort : {"auto", "best"}
        ``"best"`` takes the mean probabilities of three times five folds, also where members leave rows out: 15 fits more, for votes
        that are cast by as many members as those of new rows (docs/study.md).
    store_evidence : bool
        Whether the honest votes stay in ``patterns_``: votes and class of each training row, which `with_prevalence` searches again.
        Without them a fitted estimator is smaller, and tells nothing about single rows.
    n_jobs : int, optional
        Folds fitted at once.
    random_state : int, RandomState or None
        For the folds, the search and the resamples; pass an int for the same result every time.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier; XGBoost's takes only the classes 0, 1, ..., so it knows the positions of the labels in ``classes_``.
    classes_ : ndarray
        The classes.
    weights_ : ndarray
        The weight of each class; their geometric mean is 1.
    tuning_ : Tuned or None
        What the search on the honest votes found; its ``str()`` gives it in sentences. None for weights set by hand.
    search_, verdict_, loss_, stability_, guarantee_, review_
        Its parts, each None for weights set by hand.
    patterns_ : Votes or None
        The honest votes that were searched; None without `store_evidence`.
    smoothing_ : float
        What is added to every share of votes.
    votes_are_hard_ : bool
        Whether members' decisions are weighed, or probabilities.
    decision_ : Decision
        The decision that can be carried elsewhere.
    threshold_ : Threshold
        Of two classes: from which `vote_shares` on a row is predicted as the more important one (else as the second); ``>=`` where the
        class is the first, ``>`` where it is the second, as ties go to the first. AttributeError for more classes.

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
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> tuned = cp.TunedDecisionClassifier(forest, preferences=cp.Preferences.prioritise([0]), random_state=0).fit(X, y)
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
        review: Review | None = None,
        effort: str = "auto",
        store_evidence: bool = True,
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
        self.review = review
        self.effort = effort
        self.store_evidence = store_evidence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        search_sample_weight: Any = None,
        groups: Any = None,
        by: Any = None,
        amount: Any = None,
        **params: Any,
    ) -> Self:
        """Fit the estimator, gather honest votes, and search the weights that serve the preferences best.

        Parameters
        ----------
        X : array-like, frame or sparse matrix
            The rows.
        y : labels
            Their classes.
        sample_weight : array-like, optional
            A weight per row for the estimator's fit. The search counts each row once, but leaves out rows of weight 0.
        search_sample_weight : array-like, optional
            A weight per row for the search: how many rows of the population it stands for. With metadata routing the search
            also takes a ``sample_weight`` that this estimator itself requests.
        groups : labels, optional
            A key per row: rows of one group stay in one fold. Members of a forest would see other rows of a group, so votes then come
            from folds.
        by : labels, optional
            A group per row (hospital, sex): the minima of the preferences must hold in each group, by the same weights.
        amount : array-like, optional
            A number of at least 0 per row for the search, where decisions cost the amount of a row; see `Preferences`.
        **params
            Further parameters of the estimator's fit.
        """
        refuse_many_outputs(y, type(self).__name__)
        beside = {"X": X, "sample_weight": sample_weight, "search_sample_weight": search_sample_weight}
        check_row_order(y, **beside, groups=groups, by=by, amount=amount)
        X, y, sample_weight, search_sample_weight, groups, by = indexable(
            X, column_or_1d(y, warn=True), sample_weight, search_sample_weight, groups, by
        )
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        X = _with_shape(X)
        if len(y) and (y == y[0]).all():
            raise InputError(f"y has only one class, {plain_label(y[0])!r}; there is nothing to decide")
        self.votes_are_hard_ = self._hard()
        check_votes_are_possible(self.estimator, hard=self.votes_are_hard_)
        known = _checked_fitted(self.estimator).classes_ if self._is_cv("prefit") else np.unique(y)
        classes = [plain_label(label) for label in known]
        options, by_hand = self._options(classes), self._weights_by_hand(classes)
        if by is not None and by_hand is not None:
            raise InputError(
                "weights set by hand are not searched, so nothing holds by group; leave by out, or weights", "by"
            )
        refuse_idle_amount(options.preferences, amount)
        refuse_amounts_of_groups(amount, groups)
        if amount is None and options.preferences.costs_amounts and by_hand is None:
            raise amount_missing()
        amounts = read_weights(amount, len(y), name="amount")
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        own_params, split_params = self._fit_params(sample_weight, groups, params)
        folds = self._folds(X, y, groups, split_params, generator) if by_hand is None else None
        calibration = "held-out" if self._is_cv("prefit") else "out-of-bag" if folds is None else "out-of-fold"
        self._fit_estimator(X, y, own_params)
        if by_hand is None:
            votes = self._honest_votes(X, y, own_params, folds)
            if search_sample_weight is None and self._searches_with_sample_weight():
                search_sample_weight = sample_weight
            counted = np.flatnonzero(np.ones(len(y)) if sample_weight is None else sample_weight)
            weight = read_weights(search_sample_weight, len(y), name="search_sample_weight")
            weight = None if weight is None else weight[counted]
            amounts = None if amounts is None else amounts[counted]
            group = None if groups is None else read_groups(groups, len(y), "y")[counted]
            parts = None if by is None else ByGroup.read(by, len(y))[counted]
            options = replace(options, calibration=calibration)
            self._tune(y[counted], votes[counted], weight, options, generator, group=group, amount=amounts, by=parts)
            if not self.store_evidence:
                self.patterns_, self._by = None, None if self._by is None else self._by[:0]
        else:
            self._set_weights(by_hand, options.smoothing)
        return self

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the votes for each class, before weighting."""
        check_is_fitted(self, "weights_")
        return votes_of(self.estimator_, _with_shape(X), self.classes_, hard=self.votes_are_hard_, found=self.classes_)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the base estimator's probabilities: weighting would ruin their calibration."""
        check_is_fitted(self, "weights_")
        return self.estimator_.predict_proba(X)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata goes where: to the search, the estimator's fit, and the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if self._has_splitter:
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    @property
    def _has_splitter(self) -> bool:
        return hasattr(self.cv, "split") and not isinstance(self.cv, str)

    def _hard(self) -> bool:
        if self.votes not in ("auto", "hard", "proba"):
            raise InputError(f"votes is 'auto', 'hard' or 'proba', got {self.votes!r}")
        if self.effort not in ("auto", "best"):
            raise InputError(f"effort is 'auto' or 'best', got {self.effort!r}", "effort")
        if self._is_best and not self._is_cv("auto"):
            raise InputError("effort='best' makes the folds itself; leave cv out, or effort", "effort")
        members = voting_ensemble(self.estimator) is not None and not self._is_best
        return self.votes == "hard" or (self.votes == "auto" and members)

    def _options(self, classes: Sequence[Any]) -> TuningOptions:
        """Return how to search, all of it checked."""
        options = TuningOptions(
            preferences=(read_preferences(self.preferences) or Preferences()).among(classes),
            method=self.method,
            smoothing=AUTO_SMOOTHING if self.smoothing == "auto" else read_smoothing(self.smoothing, "'auto' or "),
            resamples=self.resamples,
            max_ratio=self.max_ratio,
            review=self.review,
        )
        options.check(classes)
        return options

    def _weights_by_hand(self, classes: Sequence[Any]) -> Floats | None:
        if self.weights is None:
            return None
        refuse_idle_review(self.review, "weights set by hand")
        warn_of_idle_confidence(read_preferences(self.preferences), classes, "weights set by hand")
        return normalised(read_class_weights(self.weights, classes))

    def _fit_params(
        self, sample_weight: Any, groups: Any, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters for the estimator's fit and for the splitter, which gets the groups in any case."""
        given = params if sample_weight is None else {**params, "sample_weight": sample_weight}
        to_split = {} if groups is None else {"groups": groups}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given, **to_split)
            split = dict(routed["splitter"]["split"]) if self._has_splitter else {}
            return dict(routed["estimator"]["fit"]), split | to_split
        if sample_weight is not None and (
            self._is_cv("prefit") or not has_fit_parameter(self.estimator, "sample_weight")
        ):
            raise InputError(
                f"the fit of {type(self.estimator).__name__} takes no sample_weight{' with prefit' if self._is_cv('prefit') else ''}; "
                "pass step__sample_weight for a step of a pipeline, or search_sample_weight for the search",
                "sample_weight",
            )
        return given, to_split

    def _searches_with_sample_weight(self) -> bool:
        """Whether metadata routing sends ``sample_weight`` to this estimator itself, which is the search."""
        if not get_config()["enable_metadata_routing"]:
            return False
        own = super().get_metadata_routing()
        return "sample_weight" in own.consumes("fit", ["sample_weight"])

    def _fit_estimator(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        if self._is_cv("prefit"):
            self.estimator_ = _checked_fitted(self.estimator)
            self.classes_ = self.estimator_.classes_
        else:
            self.estimator_ = clone(self.estimator)
            self.classes_ = fit_classifier(self.estimator_, X, y, params)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _honest_votes(self, X: Any, y: Any, own_params: dict[str, Any], folds: list[Fold] | None) -> Floats:
        """Return votes for the rows by members or models that have not seen them."""
        hard = self.votes_are_hard_
        if self._is_cv("prefit"):
            return votes_of(self.estimator_, X, self.classes_, hard=hard)
        if folds is None:
            return out_of_bag_votes(self.estimator_, X, self.classes_, hard=hard)
        return out_of_fold_votes(
            self.estimator, X, y, folds, self.classes_, hard=hard, fit_params=own_params, n_jobs=self.n_jobs
        )

    @property
    def _is_best(self) -> bool:
        return bool(self.effort == "best")

    def _is_cv(self, word: str) -> bool:
        return isinstance(self.cv, str) and self.cv == word

    def _folds(
        self, X: Any, y: Any, groups: Any, params: dict[str, Any], generator: np.random.Generator
    ) -> list[Fold] | None:
        """Return the folds that honest votes come from; None where they need no folds."""
        cv, ensemble = self.cv, voting_ensemble(self.estimator)
        out_of_bag = ensemble is not None and ensemble.leaves_rows_out() and groups is None
        if self._is_cv("prefit") or (self._is_cv("auto") and out_of_bag and not self._is_best):
            return None
        if isinstance(cv, str) and cv != "auto":
            raise InputError(f"cv is 'auto', 'prefit', a number of folds or a splitter, got {cv!r}")
        group = None if groups is None else read_groups(groups, len(y), "y")
        if isinstance(cv, (str, int)):
            pairs = np.unique(y, return_inverse=True)[1] if group is None else _classes_of_groups(y, group)
            number = cv if isinstance(cv, int) else max(2, min(AUTO_FOLDS, int(np.bincount(pairs).min())))
            seeds = generator.integers(2**31, size=BEST_REPEATS if self._is_best else 1).tolist()
            splitters = [shuffled_folds(number, seed, stratified=True, grouped=group is not None) for seed in seeds]
        else:
            splitters = [check_cv(cv, y, classifier=True)]
        return [fold for one in splitters for fold in choose_folds(one.split(X, y, **params), X, y, group=group)]

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


def _classes_of_groups(y: NDArray[Any], group: Ints) -> Ints:
    """Return the class of each distinct pair of class and group: a rare class may stand in a few groups only."""
    classes: Ints = np.unique(np.stack([np.unique(y, return_inverse=True)[1], group]), axis=1)[0]
    return classes


def _checked_fitted(estimator: Any) -> Any:
    try:
        check_is_fitted(estimator, "classes_")
    except NotFittedError:
        raise NotFittedError(
            f"cv='prefit' needs a fitted estimator, and {type(estimator).__name__} is not; fit it on other rows first"
        ) from None
    return estimator
