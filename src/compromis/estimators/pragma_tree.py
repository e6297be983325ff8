"""A diagram of one tree."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from compromis._typing import Floats
from compromis.errors import MissingExtra
from compromis.estimators.fitting import binned, plan_for, prepare
from compromis.estimators.tuning import PreferencesReprMixin, depth_shown, wording_of
from compromis.preferences import Preferences
from compromis.trees._kernels.growing import CHILD, FEATURE, LEAF, ROWS
from compromis.trees.criteria import OwnCriterion
from compromis.trees.grow import UNLIMITED, LocalModel, grow_tree, sampled
from compromis.trees.store import Trees, Wording, leaf_text, mean_shares, test_texts, tree_leaves, tree_text


def draw_tree(trees: Trees, tree: int, wording: Wording, max_depth: int, ax: Any = None) -> Any:
    """Draw a tree into `ax` (a new one if None), down to `max_depth`; gives the axes."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise MissingExtra("drawing a tree needs matplotlib; install compromis[plot]") from error
        _, ax = plt.subplots()
    places, leaves = _layout(trees, int(trees.roots[tree]), max_depth)
    for node, (x, depth, shown_children) in places.items():
        for child, text in zip(shown_children, test_texts(trees, node, wording) if shown_children else (), strict=True):
            below = places[child]
            ax.plot([x, below[0]], [-depth, -below[1]], color="0.6", linewidth=1, zorder=1)
            middle = ((x + below[0]) / 2, -(depth + below[1]) / 2)
            ax.text(*middle, text, ha="center", va="center", fontsize=8, zorder=3)
        is_leaf = trees.nodes[node, FEATURE] == LEAF
        label = leaf_text(trees, node, wording) if is_leaf else f"{int(trees.figures[node, ROWS])} rows"
        box = {"boxstyle": "round", "facecolor": "white" if is_leaf else "0.92", "edgecolor": "0.5"}
        ax.text(x, -depth, label, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
    ax.set_xlim(-0.6, leaves - 0.4)
    ax.set_ylim(-max(depth for _, depth, _ in places.values()) - 0.5, 0.5)
    ax.set_axis_off()
    return ax


def _layout(trees: Trees, root: int, max_depth: int) -> tuple[dict[int, tuple[float, int, tuple[int, ...]]], int]:
    """Place, depth and shown children of each node: ends side by side, a node in the middle of its children."""
    places: dict[int, tuple[float, int, tuple[int, ...]]] = {}
    ends = 0
    pending: list[tuple[int, int, bool]] = [(root, 0, False)]
    while pending:
        node, depth, children_placed = pending.pop()
        if trees.nodes[node, FEATURE] == LEAF or depth >= max_depth:
            places[node] = (float(ends), depth, ())
            ends += 1
            continue
        left = int(trees.nodes[node, CHILD])
        if children_placed:
            places[node] = ((places[left][0] + places[left + 1][0]) / 2, depth, (left, left + 1))
        else:
            pending += [(node, depth, True), (left + 1, depth + 1, False), (left, depth + 1, False)]
    return places, ends


class PragmaTreeClassifier(PreferencesReprMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree whose splits are chosen by what the classes matter.

    Parameters
    ----------
    criterion : str or function, default="pragma"
        ``"pragma"`` (same as ``"pragma_f"``), ``"pragma_linear"``, ``"pragma_phi2"``, ``"pragma_steady"``, ``"gini"``,
        ``"entropy"``, ``"gain_ratio"``, ``"hellinger"``, ``"off_centred"``, or a function
        ``f(left, node, n_left, n, importance, recall_weight, prior)``: what one class adds to the gain of a cut.
    preferences : Preferences, optional
        Importances and recall weights of the classes, which the pragma criteria read; else 1 and 1/2.
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
        Weights of the classes' rows.
    categorical_features : sequence of names or places, or mask, optional
        Nominal columns beside a frame's text, boolean and categorical ones.
    local_model : {"frequency", "laplace"} or function, default="frequency"
        How the class weights of leaves, one row per leaf, become class shares.
    random_state : int, RandomState or None, default=None
        Where features are drawn from.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, sorted.
    tree_ : Trees
        The tree as flat arrays.
    binning_ : Binning
        Thresholds and bins of the columns.
    columns_ : tuple of Column
        Name and, for nominal columns, categories of each column.
    feature_importances_ : ndarray
        Share of each feature in the gain times weight of all splits.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        preferences: Preferences | None = None,
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
        prepared = prepare(self, X, y, sample_weight)
        plan = plan_for(self, prepared.classes.tolist(), self.n_features_in_)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.Generator(np.random.PCG64(seed))
        every_row_once = np.ones(len(prepared.training.labels), dtype=np.uint16)
        self.classes_ = prepared.classes
        self.columns_ = prepared.columns
        self.binning_ = prepared.binning
        self.tree_ = grow_tree(prepared.training, sampled(prepared.training, every_row_once), plan, rng)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row's leaf."""
        check_is_fitted(self)
        leaves = tree_leaves(self.tree_, 0, binned(self, X))
        predicted: NDArray[Any] = self.classes_[self.tree_.majorities[leaves]]
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """The class shares of each row's leaf."""
        check_is_fitted(self)
        return mean_shares(self.tree_, binned(self, X), len(self.classes_))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The number of each row's leaf, counted from 0."""
        check_is_fitted(self)
        return tree_leaves(self.tree_, 0, binned(self, X)).astype(np.int64)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain times weight of all splits."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_)

    def get_depth(self) -> int:
        """Most tests from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth()

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def export_text(self, max_depth: int | None = None) -> str:
        """The tree as indented text."""
        check_is_fitted(self)
        return tree_text(self.tree_, 0, wording_of(self), depth_shown(max_depth, UNLIMITED))

    def plot(self, ax: Any = None, max_depth: int | None = 4) -> Any:
        """Draw the tree with matplotlib; gives the axes."""
        check_is_fitted(self)

        return draw_tree(self.tree_, 0, wording_of(self), depth_shown(max_depth, UNLIMITED), ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
