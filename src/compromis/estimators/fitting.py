"""From scikit-learn's parameters and data to what trees/ takes, once for trees and forests."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from compromis._text import nearest
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.estimators.columns import (
    Column,
    Matrix,
    array_columns,
    array_matrix,
    as_frame,
    feature_names,
    frame_columns,
    frame_matrix,
    nominal_mask,
)
from compromis.estimators.honest_votes import refuse_many_outputs
from compromis.evidence.inputs import read_weights
from compromis.preferences import Preferences
from compromis.trees.binning import MOST_BINS, Binning, fit_binning
from compromis.trees.criteria import find_criterion
from compromis.trees.grow import (
    MOST_CLASSES,
    UNLIMITED,
    LocalModel,
    Plan,
    StopRule,
    TrainingSet,
    class_shares,
    laplace_shares,
)

LOCAL_MODELS: dict[str, LocalModel] = {"frequency": class_shares, "laplace": laplace_shares}


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Data as trees take them, and what prediction must know about them."""

    classes: NDArray[Any]
    columns: tuple[Column, ...]
    binning: Binning
    training: TrainingSet
    kept: NDArray[np.bool_] | None
    """Rows of weight above 0, the others are left out; None if all are kept."""
    weights: Floats | None


def prepare(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Prepared:
    """Check X, y and weights, and bin X; sets the estimator's n_features_in_ and feature_names_in_."""
    refuse_many_outputs(y, type(estimator).__name__)
    frame = as_frame(X)
    if frame is None:
        X, y = validate_data(estimator, X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    else:
        validate_data(estimator, X, y, skip_check_array=True)
        check_consistent_length(X, y)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) > MOST_CLASSES:
        raise InputError(f"y has {len(classes)} classes, at most {MOST_CLASSES} are possible; is y continuous?")
    names = frame.columns if frame is not None else feature_names(estimator)
    asked = nominal_mask(estimator.categorical_features, names)
    columns = array_columns(X, names, asked) if frame is None else frame_columns(frame, asked)
    matrix = array_matrix(X, columns) if frame is None else frame_matrix(frame, columns)
    if not len(matrix):
        raise InputError("X has no rows; a tree needs at least one")
    weights = read_weights(sample_weight, len(matrix))
    kept = None if weights is None or weights.all() else weights > 0
    if weights is not None and kept is not None:
        matrix, labels, weights = matrix[kept], labels[kept], weights[kept]
    _warn_of_shared_bins(columns)
    binning = fit_binning(matrix, np.array([column.categories is not None for column in columns], dtype=bool))
    total = times_class_weight(weights, labels, classes, estimator.class_weight)
    training = TrainingSet.of(binning.columns(matrix), labels, len(classes), total)
    return Prepared(classes, columns, binning, training, kept, weights)


def _warn_of_shared_bins(columns: Sequence[Column]) -> None:
    for column in columns:
        if column.categories is not None and len(column.categories) > MOST_BINS:
            warnings.warn(
                f"column {column.name!r} has {len(column.categories)} categories; trees tell the {MOST_BINS - 1} most frequent "
                "apart and take the others as one",
                UserWarning,
                stacklevel=4,
            )


def binned(estimator: Any, X: Any) -> NDArray[np.uint8]:
    """Check X against training, and bin it."""
    frame = as_frame(X)
    columns = estimator.columns_
    if frame is None:
        X = validate_data(estimator, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        matrix: Matrix = array_matrix(X, columns)
    else:
        validate_data(estimator, X, reset=False, skip_check_array=True)
        matrix = frame_matrix(frame, columns)
    return estimator.binning_.columns(matrix).bins


def plan_for(estimator: Any, classes: Sequence[Any], n_features: int) -> Plan:
    """Criterion, stop rule, local model and features per node from the estimator's parameters."""
    importance, recall_weight = preference_arrays(estimator.preferences, classes)
    stop = StopRule(
        max_depth=whole("max_depth", estimator.max_depth, 1),
        min_samples_leaf=whole("min_samples_leaf", estimator.min_samples_leaf, 1),
        min_weight_share=at_least_zero("min_weight_fraction_leaf", estimator.min_weight_fraction_leaf, 0.5),
        min_gain=at_least_zero("min_gain", estimator.min_gain),
        max_leaf_nodes=whole("max_leaf_nodes", estimator.max_leaf_nodes, 2),
    )
    return Plan(
        importance,
        recall_weight,
        features_per_node(estimator.max_features, n_features),
        find_criterion(estimator.criterion),
        stop,
        _local_model(estimator.local_model),
    )


def preference_arrays(preferences: Preferences | None, classes: Sequence[Any]) -> tuple[Floats, Floats]:
    """Importances and recall weights of the classes; 1 and 1/2 where no preferences are given.

    A preference for a class that this training set lacks is let pass, so that folds without a rare class work, but
    not if there is none for any class of it.
    """
    if preferences is None:
        return np.ones(len(classes)), np.full(len(classes), 0.5)
    if not isinstance(preferences, Preferences):
        raise InputError(f"preferences is a compromis.Preferences or None, got {type(preferences).__name__}")
    arrays = preferences.on(classes, strict=False)
    if preferences.by_class and not set(preferences.by_class) & set(arrays.classes):
        preferences.on(classes, strict=True)  # says which label is unknown
    if not arrays.importance.any():
        raise InputError("the importances of all classes in y are 0; give at least one an importance above 0")
    return arrays.importance, arrays.recall_weight


def features_per_node(max_features: Any, n_features: int) -> int:
    """Number of features drawn at each node."""
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


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`; None means no limit."""
    if value is None and name != "min_samples_leaf":
        return UNLIMITED
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return min(int(value), UNLIMITED)
    raise InputError(f"{name} is a whole number of at least {least}, got {value!r}")


def times_class_weight(
    weights: Floats | None, labels: NDArray[np.intp], classes: NDArray[Any], class_weight: Any
) -> Floats | None:
    """Weights of the rows times the weights of their classes."""
    if class_weight is None:
        return weights
    given = class_weight
    if isinstance(given, dict):
        unknown = [label for label in given if label not in classes]
        if unknown:
            raise InputError(f"class_weight names {unknown[0]!r}, which is not a class{nearest(unknown[0], classes)}")
        present = np.array([given.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
    elif given == "balanced":
        sums = np.bincount(labels, weights=weights, minlength=len(classes)).astype(np.float64)
        present = np.divide(sums.sum(), len(classes) * sums, out=np.ones(len(classes)), where=sums > 0)
    else:
        raise InputError(f"class_weight is None, 'balanced' or a dict of weights by class, got {given!r}")
    if not np.isfinite(present).all() or (present <= 0).any():
        raise InputError(f"class weights are finite numbers above 0, got {class_weight!r}")
    scaled: Floats = present[labels] if weights is None else weights * present[labels]
    return scaled


def at_least_zero(name: str, value: Any, most: float = math.inf) -> float:
    """A finite number from 0 to `most`."""
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
