"""A decision tree whose splits are chosen by what the classes matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from compromis._typing import Ints
from compromis.estimators.fitting import BinnedTrees
from compromis.estimators.tuned_decision import PreferencesMixin
from compromis.preferences import Preferences
from compromis.trees.criteria import OwnCriterion
from compromis.trees.grow import LocalModel, grow_tree, sampled
from compromis.trees.store import Trees, tree_leaves


class PragmaTreeClassifier(PreferencesMixin, BinnedTrees):
    """A decision tree whose splits are chosen by what the classes matter.

    Parameters
    ----------
    criterion : str or function, default="pragma"
        ``"pragma"`` (same as ``"pragma_f"``), ``"pragma_linear"``, ``"pragma_phi2"``, ``"pragma_steady"``, ``"gini"``,
        ``"entropy"``, ``"gain_ratio"``, ``"hellinger"``, ``"off_centred"``, or a function
        ``f(left, node, n_left, n, importance, recall_weight, prior)``: what one class adds to the gain of a cut;
        a C function of seven doubles is called without Python (`scipy.LowLevelCallable`, ctypes, or with an ``address``).
    preferences : Preferences or mapping by class, optional
        Importances and recall weights of the classes, which the pragma criteria read; else 1 and 1/2. Constraints do not
        enter a tree.
    max_depth : int, optional
        Most tests from the root to a leaf.
    min_samples_leaf : int, default=1
        Least number of rows in a leaf.
    min_weight_fraction_leaf : float, default=0
        Least share of the training weight in a leaf.
    min_gain : float, default=0
        Least gain of a split, times the share of the training weight in its node.
    max_leaf_nodes : int, optional
        Most leaves; splits of the largest gain are then made first.
    max_features : None, "sqrt", "log2", int or float, default=None
        Features drawn at random at each node; None takes all.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes' rows; one for a class that the rows lack, as a fold may, is ignored with a warning.
    categorical_features : sequence of names or indices, or mask, optional
        Nominal columns beside a frame's text, boolean and categorical ones.
    local_model : {"frequency", "laplace"} or function, default="frequency"
        How the class weights of leaves, one row per leaf, become class shares.
    random_state : int, RandomState or None, default=None
        Where features are drawn from.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    tree_ : Trees
        The tree as flat arrays.
    binning_ : Binning
        Thresholds and bins of the columns.
    columns_ : tuple of Column
        Name and, for nominal columns, categories of each column.
    feature_importances_ : ndarray
        Share of each feature in the gain times weight of all splits.

    Notes
    -----
    Values up to a threshold go left. Missing values, and categories not seen in training, go to the side that was
    better in training, or to the heavier one where the node had no missing value. The decision is the class of
    largest share in the leaf, the first of equals.

    Examples
    --------
    >>> from compromis.estimators.pragma_tree import PragmaTreeClassifier
    >>> tree = PragmaTreeClassifier(max_depth=1).fit([[1, 5], [2, 6], [3, 5], [4, 6]], ["a", "a", "b", "b"])
    >>> print(tree.export_text())
    x0 <= 2.5 or missing: a (1 of 2)
    x0 > 2.5: b (1 of 2)
    >>> tree.predict([[0, 0], [9, 9]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        criterion: str | OwnCriterion = "pragma",
        preferences: Preferences | Mapping[Any, Any] | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_gain: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: str | float | None = None,
        class_weight: str | dict[Any, float] | None = None,
        categorical_features: Any = None,
        local_model: str | LocalModel = "frequency",
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.preferences = preferences
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_gain = min_gain
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.local_model = local_model
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree on rows X of classes y."""
        prepared = self._prepare(X, y, sample_weight)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.Generator(np.random.PCG64(seed))
        self._trees = grow_tree(prepared.training, sampled(prepared.training), prepared.plan, rng)
        return self

    @property
    def tree_(self) -> Trees:
        """The tree as flat arrays."""
        return self._trees

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row's leaf."""
        leaves = self.apply(X)
        return self.classes_[self._trees.majorities[leaves]]

    def apply(self, X: Any) -> Ints:
        """Return the number of each row's leaf, counted from 0."""
        check_is_fitted(self)
        return tree_leaves(self.tree_, 0, self._binned(X)).astype(np.int64)

    def get_depth(self) -> int:
        """Return the most tests from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def export_text(self, max_depth: int | None = None) -> str:
        """Return the tree as indented text."""
        check_is_fitted(self)
        return self._tree_text(0, max_depth)

    def plot(self, ax: Any = None, max_depth: int | None = 4) -> Any:
        """Draw the tree with matplotlib; return the axes."""
        check_is_fitted(self)
        return self._draw(0, max_depth, ax)
