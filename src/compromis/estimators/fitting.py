"""From scikit-learn's parameters and data to what trees/ takes, and what the tree and the forest share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from compromis._text import nearest
from compromis._typing import Bytes, Flags, Floats
from compromis.errors import InputError
from compromis.evidence.readers import read_weights, read_whole
from compromis.labels import check_row_order, refuse_many_outputs
from compromis.preferences import Preferences, read_preferences
from compromis.trees._kernels import UNLIMITED
from compromis.trees.binning import MOST_BINS, Binning, fit_binning
from compromis.trees.columns import Column, as_frame, describe_columns, matrix_of, nominal_mask
from compromis.trees.criteria import find_criterion
from compromis.trees.display import Wording, draw_tree, tree_text
from compromis.trees.grow import (
    MOST_CLASSES,
    LocalModel,
    Plan,
    StopRule,
    TrainingSet,
    class_shares,
    laplace_shares,
)
from compromis.trees.store import Trees, mean_shares

LOCAL_MODELS: dict[str, LocalModel] = {"frequency": class_shares, "laplace": laplace_shares}


class TableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of arrays of numbers and of data frames, with missing values and nominal columns."""

    n_features_in_: int

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return X as `_read_rows` does, and the labels of its rows, both checked."""
        refuse_many_outputs(y, type(self).__name__)
        check_row_order(y, X=X)
        labels = column_or_1d(validate_data(self, X="no_validation", y=y), warn=True)
        if labels.dtype == object and any(label is None or label != label for label in labels):
            raise InputError("y has missing labels; leave those rows out")
        check_classification_targets(labels)
        rows = self._read_rows(X, reset=True)  # after y, whose check forgets the names of columns
        if 0 in rows.shape:
            raise InputError(f"X has {rows.shape[0]} rows and {rows.shape[1]} columns; at least one of each is needed")
        if len(labels) != len(rows):
            raise InputError(f"X has {len(rows)} rows and y has {len(labels)}; they must be as many")
        return rows, labels

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """Return X as a narwhals frame or as an array of numbers, checked against training unless `reset`.

        With `reset` it sets n_features_in_ and feature_names_in_.
        """
        frame = as_frame(X)
        if frame is None:
            dtypes = [np.float64, np.float32]
            return validate_data(self, X, reset=reset, dtype=dtypes, ensure_all_finite="allow-nan")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return frame

    def _column_names(self, rows: Any) -> list[str]:
        """Return the names of the columns of `_read_rows`: a frame's own, else those seen in training, else x0, x1, ..."""
        names = getattr(self, "feature_names_in_", None) if isinstance(rows, np.ndarray) else rows.columns
        return [f"x{index}" for index in range(rows.shape[1])] if names is None else [str(name) for name in names]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Prepared:
    """Training rows as trees take them."""

    training: TrainingSet
    plan: Plan
    kept: Flags | None
    """Rows of weight above 0, the others are left out; None if all are kept."""
    weights: Floats | None
    """Weights of the rows kept."""
    preferences: Preferences
    """Those for the classes of the rows."""


class BinnedTrees(TableClassifier):
    """What the tree and the forest share: training rows, probabilities, importances, text and diagram."""

    classes_: NDArray[Any]
    columns_: tuple[Column, ...]
    binning_: Binning
    _trees: Trees

    def predict_proba(self, X: Any) -> Floats:
        """Return the class shares of each row's leaf, averaged over trees."""
        check_is_fitted(self)
        return mean_shares(self._trees, self._binned(X), len(self.classes_))

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain times weight of all splits, averaged over trees."""
        check_is_fitted(self)
        return self._trees.importances(self.n_features_in_)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Check X, y and weights, and bin X; sets what prediction must know about them."""
        check_row_order(y, sample_weight=sample_weight)
        rows, y = self._training_rows(X, y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) > MOST_CLASSES:
            raise InputError(
                f"y has {len(self.classes_)} classes, at most {MOST_CLASSES} are possible; is y continuous?"
            )
        names = self._column_names(rows)
        self.columns_ = describe_columns(rows, names, nominal_mask(self.categorical_features, names))
        matrix = matrix_of(rows, self.columns_)
        weights = read_weights(sample_weight, len(matrix))
        kept = None if weights is None or weights.all() else weights > 0
        if weights is not None and kept is not None:
            matrix, labels, weights = matrix[kept], labels[kept], weights[kept]
        _warn_of_shared_bins(self.columns_)
        self.binning_ = fit_binning(matrix, np.array([column.is_nominal for column in self.columns_], dtype=bool))
        total = times_class_weight(weights, labels, self.classes_, self.class_weight)
        training = TrainingSet.of(self.binning_.columns(matrix), labels, len(self.classes_), total)
        preferences = (read_preferences(self.preferences) or Preferences()).among(self.classes_)
        return Prepared(
            training=training, plan=self._plan(preferences), kept=kept, weights=weights, preferences=preferences
        )

    def _binned(self, X: Any) -> Bytes:
        """Check X against training, and bin it."""
        return self.binning_.columns(matrix_of(self._read_rows(X, reset=False), self.columns_)).bins

    def _plan(self, preferences: Preferences) -> Plan:
        """Return criterion, stop rule, local model and features per node from the parameters."""
        arrays = preferences.on(self.classes_.tolist())
        stop = StopRule(
            max_depth=whole("max_depth", self.max_depth, 1, unlimited=True),
            min_samples_leaf=whole("min_samples_leaf", self.min_samples_leaf, 1),
            min_weight_share=at_least_zero("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.5),
            min_gain=at_least_zero("min_gain", self.min_gain),
            max_leaf_nodes=whole("max_leaf_nodes", self.max_leaf_nodes, 2, unlimited=True),
        )
        return Plan(
            arrays.importance,
            arrays.recall_weight,
            features_per_node(self.max_features, self.n_features_in_),
            criterion=find_criterion(self.criterion),
            stop=stop,
            local_model=_local_model(self.local_model),
        )

    def _tree_text(self, tree: int, max_depth: int | None) -> str:
        return tree_text(self._trees, tree, self._wording(), _depth_shown(max_depth))

    def _draw(self, tree: int, max_depth: int | None, ax: Any) -> Any:
        return draw_tree(self._trees, tree, self._wording(), _depth_shown(max_depth), ax)

    def _wording(self) -> Wording:
        return Wording(self.columns_, self.binning_, self.classes_.tolist())


def _depth_shown(max_depth: int | None) -> int:
    return whole("max_depth", max_depth, 0, unlimited=True)


def _warn_of_shared_bins(columns: Sequence[Column]) -> None:
    for column in columns:
        if column.categories is not None and len(column.categories) > MOST_BINS:
            warnings.warn(
                f"column {column.name!r} has {len(column.categories)} categories; trees tell the {MOST_BINS - 1} most frequent "
                "apart and take the others as one",
                UserWarning,
                stacklevel=4,
            )


def features_per_node(max_features: Any, n_features: int) -> int:
    """Return the number of features drawn at each node."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, int | np.integer) and max_features >= 1:
        return min(int(max_features), n_features)
    if isinstance(max_features, float | np.floating) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise InputError(
        f"max_features is None, 'sqrt', 'log2', a number of columns or a share of them, got {max_features!r}"
    )


def whole(name: str, value: Any, least: int, *, unlimited: bool = False) -> int:
    """Return a whole number of at least `least`; with `unlimited` None means no limit."""
    if value is None and unlimited:
        return UNLIMITED
    return min(read_whole(value, name, least, also="None or " if unlimited else ""), UNLIMITED)


def times_class_weight(
    weights: Floats | None, labels: NDArray[np.intp], classes: NDArray[Any], class_weight: Any
) -> Floats | None:
    """Return weights of the rows times the weights of their classes."""
    if class_weight is None:
        return weights
    if isinstance(class_weight, dict):
        known = classes.tolist()
        _tell_unknown([label for label in class_weight if label not in known], known, among=len(class_weight))
        present = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    elif class_weight == "balanced":
        sums = np.bincount(labels, weights=weights, minlength=len(classes)).astype(np.float64)
        present = np.divide(sums.sum(), len(classes) * sums, out=np.ones(len(classes)), where=sums > 0)
    else:
        raise InputError(f"class_weight is None, 'balanced' or a dict of weights by class, got {class_weight!r}")
    if not np.isfinite(present).all() or (present <= 0).any():
        raise InputError(f"class weights are finite numbers above 0, got {class_weight!r}")
    scaled: Floats = present[labels] if weights is None else weights * present[labels]
    return scaled


def _tell_unknown(unknown: list[Any], classes: list[Any], *, among: int) -> None:
    """Warn of a class weight for a class that these rows lack, as a fold may; raise if all are such, as `Preferences.among` does."""
    if not unknown:
        return
    message = f"class_weight names {unknown[0]!r}, a class that does not occur here{nearest(unknown[0], classes)}"
    if len(unknown) == among:
        raise InputError(message, parameter="class_weight")
    warnings.warn(f"{message}; its weight is ignored", UserWarning, stacklevel=2)


def at_least_zero(name: str, value: Any, most: float = math.inf) -> float:
    """Return a finite number from 0 to `most`."""
    if (
        isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= most
    ):
        return float(value)
    limit = "at least 0" if math.isinf(most) else f"0 to {most}"
    raise InputError(f"{name} is a finite number of {limit}, got {value!r}")


def _local_model(local_model: Any) -> LocalModel:
    if callable(local_model):
        return local_model
    if isinstance(local_model, str) and local_model in LOCAL_MODELS:
        return LOCAL_MODELS[local_model]
    raise InputError(f"local_model is 'frequency', 'laplace' or a function, got {local_model!r}")
