"""A random forest whose votes are weighted by the preferences."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from compromis._typing import Flags, Floats, Ints
from compromis.errors import InputError
from compromis.estimators.fitting import BinnedTrees, whole
from compromis.estimators.tuned_decision import TunedClassifier, refuse_idle_review
from compromis.estimators.tuning import TuningOptions
from compromis.evidence.readers import read_weights
from compromis.labels import check_row_order
from compromis.measures.by_group import ByGroup
from compromis.preferences import Preferences, read_preferences, refuse_idle_amount
from compromis.trees._kernels import UNLIMITED
from compromis.trees.criteria import OwnCriterion
from compromis.trees.grow import LocalModel, grow_forest, out_of_bag_shares
from compromis.trees.store import Trees, vote_shares
from compromis.weights.guarantee import warn_of_idle_confidence
from compromis.weights.review import Review, check_review

SAMPLINGS = ("auto", "rows", "limited", "classes")
MOST_TIMES, FEW = 3, 25
"""How many times as often as the rarest a class is drawn at most, and rows of the rarest from which on more times; see docs/study.md."""


class PragmaForestClassifier(TunedClassifier, BinnedTrees):
    """A random forest whose class votes are weighted so that decisions meet the preferences.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : str or function, default="gini"
        One of those of `PragmaTreeClassifier`, whose default is pragma: once votes are tuned, gini grows trees as good.
    preferences : Preferences or mapping by class, optional
        What matters; the pragma criteria take importance and recall weight only, the tuning of the vote weights all of it.
    max_features : "sqrt", "log2", None, int or float, default="sqrt"
        Features drawn at random at each node.
    tune : bool, default=True
        Whether the vote weights are tuned to the preferences on the out-of-bag votes; else all are 1.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, min_gain, max_leaf_nodes, class_weight, categorical_features, local_model
        As in `PragmaTreeClassifier`.
    bootstrap : bool, default=True
        Whether each tree is grown on a bootstrap sample.
    sampling : {"auto", "rows", "limited", "classes"}
        What bootstrap samples are drawn from. ``"rows"``: all rows. ``"classes"``: as many rows of each class as the rarest has.
        ``"limited"``: as many rows of each class as there are, but at most three times as many as the rarest class has, and more times
        where that has more than 25; where a class has few rows, tuned votes of such trees lose less on new rows. ``"auto"``: limited
        where the votes are tuned, else rows.
    review : Review, optional
        How much a person may look at, as in `TunedDecisionClassifier`.
    n_jobs : int, optional
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Where the seeds of the trees are drawn from.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, sorted.
    weights_, smoothing_, tuning_, search_, verdict_, loss_, stability_, guarantee_, review_, patterns_, decision_
        As in `TunedDecisionClassifier`, tuned on the out-of-bag votes; without tuning all weights are 1, and what a search leaves is None.
    oob_votes_ : ndarray of shape (rows, classes)
        Shares of the hard votes of the trees that did not see the row; zeros where all saw it (or it has weight 0).
    trees_ : Trees
        All trees as flat arrays.
    class_factors_ : ndarray or None
        What probabilities are multiplied by to be at the class shares of the training rows, where classes were sampled.
    binning_, columns_, feature_importances_, n_features_in_, feature_names_in_
        As in `PragmaTreeClassifier`.

    Notes
    -----
    Trees are grown as Breiman (2001) does: full depth, bootstrap samples, k random features at each node. The
    decision is the largest of weight times votes, the first of equals. `predict_proba` is the mean of the leaves'
    class shares, which the weights leave alone: weighting would ruin them as probabilities. Inside a
    `TunedDecisionClassifier` the forest gives its own out-of-bag votes.

    Examples
    --------
    >>> import numpy as np
    >>> from compromis.estimators.pragma_forest import PragmaForestClassifier
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> forest = PragmaForestClassifier(20, tune=False, random_state=0).fit(X, X[:, 0] > 20)
    >>> forest.predict([[3.0], [33.0]]).tolist()
    [False, True]
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | OwnCriterion = "gini",
        preferences: Preferences | Mapping[Any, Any] | None = None,
        max_features: str | float | None = "sqrt",
        tune: bool = True,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_gain: float = 0.0,
        max_leaf_nodes: int | None = None,
        class_weight: str | dict[Any, float] | None = None,
        categorical_features: Any = None,
        local_model: str | LocalModel = "frequency",
        bootstrap: bool = True,
        sampling: str = "auto",
        review: Review | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.preferences = preferences
        self.max_features = max_features
        self.tune = tune
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_gain = min_gain
        self.max_leaf_nodes = max_leaf_nodes
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.local_model = local_model
        self.bootstrap = bootstrap
        self.sampling = sampling
        self.review = review
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        search_sample_weight: ArrayLike | None = None,
        by: Any = None,
        amount: ArrayLike | None = None,
    ) -> Self:
        """Grow the trees on rows X of classes y, and tune the vote weights.

        `sample_weight` is for the growth of the trees; the search counts each row of weight above 0 once, or with its
        `search_sample_weight`. `by` is a group per row (hospital, sex), in each of which the minima of the preferences must hold, by the
        same weights. `amount` is a number per row, where decisions cost the amount of a row; see `Preferences`.
        """
        n_trees = whole("n_estimators", self.n_estimators, 1)
        if n_trees == UNLIMITED:
            raise InputError(f"n_estimators is below {UNLIMITED:,}, got {self.n_estimators!r}")
        if self.tune and not self.bootstrap:
            raise InputError(
                "tuning needs out-of-bag votes, which bootstrap=False has not; set tune=False or bootstrap=True"
            )
        refuse_idle_amount(self.preferences, amount)
        check_row_order(y, search_sample_weight=search_sample_weight, by=by, amount=amount)
        if self.review is not None:
            check_review(self.review)
        if not self.tune:
            refuse_idle_review(self.review, "votes without tuning")
        prepared = self._prepare(X, y, sample_weight)
        if not self.tune:
            warn_of_idle_confidence(read_preferences(self.preferences), self.classes_, "votes without tuning")
        random = check_random_state(self.random_state)
        self._seeds = random.randint(2**31 - 1, size=n_trees)
        self._labels, self._draws = prepared.training.labels, self._draws_for(prepared.training.labels)
        self._trees, votes = grow_forest(
            prepared.training,
            prepared.plan,
            self._seeds,
            resample=self.bootstrap,
            draws=self._draws,
            n_jobs=self.n_jobs,
        )
        self._kept = prepared.kept
        self.oob_votes_ = _of_all_rows(votes, prepared.kept)
        self._set_weights(np.ones(len(self.classes_)), 0.0)
        if self.tune and len(self.classes_) > 1:
            truth = self.classes_[prepared.training.labels]
            generator = np.random.default_rng(int(random.randint(2**31 - 1)))
            weight = read_weights(search_sample_weight, len(self.oob_votes_), name="search_sample_weight")
            if weight is not None and prepared.kept is not None:
                weight = weight[prepared.kept]
            amounts = read_weights(amount, len(self.oob_votes_), name="amount")
            if amounts is not None and prepared.kept is not None:
                amounts = amounts[prepared.kept]
            groups = None if by is None else ByGroup.read(by, len(self.oob_votes_))
            if groups is not None and prepared.kept is not None:
                groups = groups[prepared.kept]
            options = TuningOptions(preferences=prepared.preferences, review=self.review)
            self._tune(truth, votes, weight, options, generator, amount=amounts, by=groups)
        return self

    def _draws_for(self, labels: NDArray[np.uint16]) -> Ints | None:
        """Return how many rows of each class a tree's sample has; None for as many as there are, of any class."""
        if self.sampling not in SAMPLINGS:
            raise InputError(f"sampling is one of {', '.join(SAMPLINGS)}, got {self.sampling!r}", parameter="sampling")
        support = np.bincount(labels, minlength=len(self.classes_))
        rarest = support[support > 0].min()
        most = rarest if self.sampling == "classes" else np.ceil(MOST_TIMES * rarest * max(1.0, rarest / FEW))
        limited = self.sampling in ("limited", "classes") or (self.sampling == "auto" and self.tune)
        if not (limited and self.bootstrap) or support.max() <= most:
            return None
        return np.minimum(support, int(most))

    @property
    def trees_(self) -> Trees:
        """All trees as flat arrays."""
        return self._trees

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the trees that vote for each class, before weighting."""
        check_is_fitted(self)
        return vote_shares(self._trees, self._binned(X), len(self.classes_))

    def predict_proba(self, X: Any) -> Floats:
        """Return the class shares of each row's leaf, averaged over trees, at the class shares of the training rows."""
        return self._at_training_shares(super().predict_proba(X))

    @property
    def class_factors_(self) -> Floats | None:
        """Rows of each class over draws, by which probabilities are multiplied and then scaled; None where all rows were drawn from."""
        if self._draws is None:
            return None
        support = np.bincount(self._labels, minlength=len(self._draws))
        return np.divide(support, self._draws, out=np.ones(len(support)), where=self._draws > 0)

    def _at_training_shares(self, shares: Floats) -> Floats:
        """Undo what the sampling of classes does to probabilities."""
        factors = self.class_factors_
        if factors is None:
            return shares
        weighted = shares * factors
        total = weighted.sum(axis=1, keepdims=True)
        return np.divide(weighted, total, out=weighted, where=total > 0)

    def leaves_rows_out(self) -> bool:
        """Whether trees leave rows out of their training, so that there are out-of-bag votes."""
        return bool(self.bootstrap)

    def oob_votes(self, X: Any, *, hard: bool = True) -> Floats:
        """Return the votes for the training rows X of the trees that did not see them; zeros where all of them saw the row.

        With `hard` shares of the trees' decisions (`oob_votes_`), else means of their leaves' class shares.
        """
        check_is_fitted(self)
        if len(X) != len(self.oob_votes_):
            raise InputError(f"X has {len(X)} rows, but the forest was grown on {len(self.oob_votes_)}; pass those")
        if hard or not self.bootstrap:
            return self.oob_votes_
        bins = self._binned(X)
        seen = bins if self._kept is None else np.ascontiguousarray(bins[:, self._kept])
        shares = out_of_bag_shares(self._trees, (seen, self._labels), self._seeds, self._draws, len(self.classes_))
        return _of_all_rows(self._at_training_shares(shares), self._kept)

    def with_hard_votes(self) -> Self:
        """Return a copy whose ``predict_proba`` is `vote_shares`, for converters to other formats."""
        twin = copy.copy(self)
        twin._trees, twin._draws = self._trees.with_hard_leaves(), None  # noqa: SLF001 (a copy of this object)
        return twin

    def export_text(self, tree: int = 0, max_depth: int | None = None) -> str:
        """Return one tree as indented text."""
        return self._tree_text(self._index(tree), max_depth)

    def plot(self, tree: int = 0, ax: Any = None, max_depth: int | None = 4) -> Any:
        """Draw one tree with matplotlib; return the axes."""
        return self._draw(self._index(tree), max_depth, ax)

    def _voter(self) -> Self:
        return self.with_hard_votes()

    def _index(self, tree: int) -> int:
        check_is_fitted(self)
        if not 0 <= tree < len(self._trees):
            raise InputError(f"tree is a number from 0 to {len(self._trees) - 1}, got {tree!r}")
        return tree


def _of_all_rows(votes: Floats, kept: Flags | None) -> Floats:
    """Return the votes with zeros for the rows of weight 0, which no tree saw."""
    if kept is None:
        return votes
    everywhere = np.zeros((len(kept), votes.shape[1]))
    everywhere[kept] = votes
    return everywhere
