"""A random forest whose votes are weighted by the preference."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from compromis._typing import Floats
from compromis.errors import InputError, UninformativeWarning
from compromis.estimators.fitting import Prepared, binned, plan_for, prepare, whole
from compromis.estimators.tuning import (
    PreferencesReprMixin,
    ShowsTuning,
    TuningOptions,
    auto_resamples,
    depth_shown,
    tune,
    wording_of,
)
from compromis.evidence.votes import Votes
from compromis.preferences import Preferences
from compromis.trees.criteria import OwnCriterion
from compromis.trees.grow import UNLIMITED, LocalModel, grow_forest
from compromis.trees.store import mean_shares, tree_text, vote_shares


class PragmaForestClassifier(PreferencesReprMixin, ShowsTuning, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A random forest whose class votes are weighted so that decisions meet the preferences.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : str or function, default="gini"
        As in `PragmaTreeClassifier`.
    preferences : Preferences, optional
        What matters; read by the pragma criteria and by the tuning of the vote weights.
    max_features : "sqrt", "log2", None, int or float, default="sqrt"
        Features drawn at random at each node.
    tune : bool, default=True
        Whether the vote weights are tuned to the preferences on the out-of-bag votes; else all are 1.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, min_gain, max_leaf_nodes, class_weight, categorical_features, local_model
        As in `PragmaTreeClassifier`.
    bootstrap : bool, default=True
        Whether each tree is grown on a bootstrap sample.
    n_jobs : int, optional
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Where the seeds of the trees are drawn from.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, sorted.
    weights_ : ndarray
        Vote weight of each class.
    tuning_ : Tuned or None
        Weights, counts, verdict, search and stability together; ``tuning_.summary()`` says in sentences what was found. None if no search
        ran, and so are its parts:
    search_ : WeightSearch or None
        What the search found on the out-of-bag votes.
    verdict_ : Verdict or None
        What ``weights_`` are worth on the out-of-bag votes.
    loss_ : float or None
        The PRAGMA loss of ``weights_`` on the out-of-bag votes.
    stability_ : Stability or None
        How far the weights depend on the rows: they are the geometric mean over resamples of those votes.
    oob_votes_ : ndarray of shape (rows, classes)
        Shares of the hard votes of the trees that did not see the row; zeros where all saw it (or it has weight 0).
    trees_ : Trees
        All trees as flat arrays.
    binning_, columns_, feature_importances_, n_features_in_, feature_names_in_
        As in `PragmaTreeClassifier`.

    Notes
    -----
    Trees are grown as Breiman (2001) does: full depth, bootstrap samples, k random features at each node. The
    decision is the largest of weight times votes, the first of equals. `predict_proba` is the mean of the leaves'
    class shares, which the weights leave alone: weighting would ruin them as probabilities.

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
        preferences: Preferences | None = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees on rows X of classes y, and tune the vote weights."""
        n_trees = whole("n_estimators", self.n_estimators, 1)
        if n_trees == UNLIMITED:
            raise InputError("n_estimators is a whole number of at least 1, got None")
        if self.tune and not self.bootstrap:
            raise InputError(
                "tuning needs out-of-bag votes, which bootstrap=False has not; set tune=False or bootstrap=True"
            )
        prepared = prepare(self, X, y, sample_weight)
        plan = plan_for(self, prepared.classes.tolist(), self.n_features_in_)
        random = check_random_state(self.random_state)
        seeds = random.randint(2**31 - 1, size=n_trees)
        self.trees_, votes = grow_forest(prepared.training, plan, seeds, resample=self.bootstrap, n_jobs=self.n_jobs)
        self.classes_ = prepared.classes
        self.columns_ = prepared.columns
        self.binning_ = prepared.binning
        self.oob_votes_ = votes_of_all_rows(votes, prepared)
        self.tuning_, self.weights_ = None, np.ones(len(self.classes_))
        if self.tune and len(self.classes_) > 1:
            self._tune(votes, prepared, int(random.randint(2**31 - 1)))
        return self

    def votes(self, X: Any) -> Floats:
        """Share of the trees that vote for each class."""
        check_is_fitted(self)
        return vote_shares(self.trees_, binned(self, X), len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest weight times votes, the first of equals."""
        check_is_fitted(self)
        predicted: NDArray[Any] = self.classes_[np.argmax(self.votes(X) * self.weights_, axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """Class shares of the leaves, averaged over trees; the vote weights leave them alone."""
        check_is_fitted(self)
        return mean_shares(self.trees_, binned(self, X), len(self.classes_))

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain times weight of all splits, averaged over trees."""
        check_is_fitted(self)
        return self.trees_.importances(self.n_features_in_)

    def export_text(self, tree: int = 0, max_depth: int | None = None) -> str:
        """One tree as indented text."""
        check_is_fitted(self)
        return tree_text(self.trees_, self._place(tree), wording_of(self), depth_shown(max_depth, UNLIMITED))

    def plot(self, tree: int = 0, ax: Any = None, max_depth: int | None = 4) -> Any:
        """Draw one tree with matplotlib; gives the axes."""
        check_is_fitted(self)
        from compromis.estimators.pragma_tree import draw_tree

        place = self._place(tree)
        return draw_tree(self.trees_, place, wording_of(self), depth_shown(max_depth, UNLIMITED), ax)

    def _tune(self, votes: Floats, prepared: Prepared, seed: int) -> None:
        """Search the vote weights on out-of-bag votes, as `TunedDecisionClassifier` does."""
        labels = prepared.classes.tolist()
        truth = prepared.classes[prepared.training.labels]
        patterns = Votes.from_proba(truth, votes, labels=labels, sample_weight=prepared.weights)
        preferences = Preferences() if self.preferences is None else self.preferences
        options = TuningOptions(resamples=auto_resamples(len(labels)))
        found = tune(patterns, preferences, options, np.random.default_rng(seed))
        self.tuning_, self.weights_ = found, found.weights
        if not found.verdict.informative:
            warnings.warn(str(found.verdict), UninformativeWarning, stacklevel=3)

    def _place(self, tree: int) -> int:
        if not 0 <= tree < len(self.trees_):
            raise InputError(f"tree is a number from 0 to {len(self.trees_) - 1}, got {tree!r}")
        return tree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def votes_of_all_rows(votes: Floats, prepared: Prepared) -> Floats:
    """Out-of-bag votes with zeros for the rows of weight 0, which no tree saw."""
    if prepared.kept is None:
        return votes
    everywhere = np.zeros((len(prepared.kept), votes.shape[1]))
    everywhere[prepared.kept] = votes
    return everywhere
