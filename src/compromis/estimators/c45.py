"""Quinlan's C4.5 as a scikit-learn estimator."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from compromis._text import shown
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.estimators.fitting import TableClassifier
from compromis.evidence.readers import read_weights, read_whole
from compromis.trees.c45 import Column, Examples, Rules, Table, Tree, fit_tree, shares, tree_text
from compromis.trees.columns import describe_columns

LARGEST_WHOLE = 2**53  # whole numbers up to here are exact in float64


class C45Classifier(TableClassifier):
    """Quinlan's decision tree C4.5, release 8, as Weka's J48 has it.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of error-based pruning, between 0 and 1; smaller prunes more, above 0.5 the observed errors are
        taken as they are.
    min_leaf : int, default=2
        Weight that at least two branches of a test must have.
    pruned : bool, default=True
        Whether the tree is pruned. Subtrees that make no fewer training errors go in any case.
    subtree_raising : bool, default=True
        Whether pruning may put a node's largest branch in its place.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    declared_classes_ : tuple
        The classes in the order that settles ties: that of the categories of y, those that do not occur included, else ``classes_``.
    tree_ : Tree
        The tree as flat arrays.
    columns_ : tuple of Column
        Name and, for nominal columns, categories of each column.
    n_leaves_, size_ : int
        Number of leaves, and of all nodes.

    Notes
    -----
    X is a numeric array, or a data frame (pandas, polars, pyarrow) whose categorical, text and boolean columns are
    nominal. Missing values are sent down all branches in proportion, in training and in prediction; so are
    categories not seen in training. Source: J. R. Quinlan, C4.5: Programs for Machine Learning, 1993, and
    Improved Use of Continuous Attributes in C4.5, 1996.

    Examples
    --------
    >>> import compromis as cp
    >>> X = [[30, 1], [35, 0], [60, 1], [65, 0], [70, 1], [75, 0]]
    >>> tree = cp.C45Classifier().fit(X, ["young", "young", "old", "old", "old", "old"])
    >>> print(tree.export_text())
    x0 <= 35: young (2.0)
    x0 > 35: old (4.0)
    <BLANKLINE>
    Number of Leaves  : 	2
    <BLANKLINE>
    Size of the tree : 	3
    <BLANKLINE>
    >>> tree.predict([[33, 1], [float("nan"), 1]])
    array(['young', 'old'], dtype='<U5')
    """

    def __init__(
        self, *, confidence: float = 0.25, min_leaf: int = 2, pruned: bool = True, subtree_raising: bool = True
    ) -> None:
        self.confidence = confidence
        self.min_leaf = min_leaf
        self.pruned = pruned
        self.subtree_raising = subtree_raising

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array or data frame of shape (n, m)
            Missing values are allowed, infinite ones are not.
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), optional
            Weights of the rows; rows of weight 0 are left out.
        """
        rules = self._rules()
        rows, labels = self._training_rows(X, y)
        nominal = np.zeros(rows.shape[1], dtype=bool)  # none beside those of a frame
        self.columns_: tuple[Column, ...] = describe_columns(rows, self._column_names(rows), nominal)
        table = Table.of(rows, self.columns_)
        weights = read_weights(sample_weight, table.n_rows)
        weights = np.ones(table.n_rows) if weights is None else weights
        self.classes_, codes = np.unique(labels, return_inverse=True)
        categories = getattr(getattr(y, "dtype", None), "categories", None)  # of pandas and of polars' Enum
        self.declared_classes_: tuple[Label, ...] = tuple(self.classes_.tolist() if categories is None else categories)
        places = self._declared_places()[codes].astype(np.int32)
        examples = Examples(table, places, len(self.declared_classes_), weights)
        self.tree_: Tree = fit_tree(examples.of_positive_weight(), rules)
        self.n_leaves_, self.size_ = self.tree_.n_leaves, self.tree_.size
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of largest share for each row; among equals the first declared."""
        reached, declared = self._shares(X), np.argsort(self._declared_places())
        labels: NDArray[Any] = np.take(self.classes_, declared[reached[:, declared].argmax(axis=1)])
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return the class shares of the leaves that each row reaches, columns as in `classes_`."""
        reached = self._shares(X)
        total = reached.sum(axis=1, keepdims=True)
        # Branches that held no instance in training get no share; the others then fall short of 1.
        short = np.abs(total - 1.0) > 1e-9
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = np.where(short, reached / total, reached)
        reached[~(total[:, 0] > 0)] = 1.0 / len(self.classes_)
        return reached

    def export_text(self) -> str:
        """Return the tree in J48's layout, with its lines 'Number of Leaves' and 'Size of the tree'."""
        check_is_fitted(self)
        return tree_text(self.tree_, self.columns_, [str(label) for label in self.declared_classes_])

    def get_depth(self) -> int:
        """Return the number of tests on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def _rules(self) -> Rules:
        if not isinstance(self.confidence, numbers.Real) or not 0 < self.confidence < 1:
            raise InputError(f"confidence lies between 0 and 1, got {self.confidence!r}; C4.5's own value is 0.25")
        min_leaf = min(read_whole(self.min_leaf, "min_leaf", 1, cure="; C4.5's own value is 2"), LARGEST_WHOLE)
        for name in ("pruned", "subtree_raising"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"{name} is True or False, got {getattr(self, name)!r}")
        return Rules(float(self.confidence), min_leaf, bool(self.pruned), bool(self.subtree_raising))

    def _shares(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        nominal = [column.name for column in self.columns_ if column.is_nominal]
        if nominal and isinstance(rows, np.ndarray):
            raise InputError(
                f"X is an array, but the tree was grown on a data frame with the nominal columns {shown(nominal)}; "
                "pass a data frame with the same columns"
            )
        return shares(self.tree_, Table.of(rows, self.columns_))[:, self._declared_places()]

    def _declared_places(self) -> Ints:
        """Return the place of each of ``classes_`` among the declared classes."""
        place = {label: k for k, label in enumerate(self.declared_classes_)}
        return np.array([place[label] for label in self.classes_.tolist()])
