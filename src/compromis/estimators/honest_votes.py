"""The door for targets of several outputs, which are refused."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import _safe_indexing

from compromis._workers import for_workers
from compromis.errors import InputError
from compromis.evidence.scores import with_absent_classes


def refuse_many_outputs(y: Any, name: str) -> None:
    """Refuse a target of several columns, and say what to do with it; `name` is the estimator's."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple)):
        shape = (len(y), len(y[0]))
    if shape is not None and len(shape) == 2 and shape[1] > 1:
        raise InputError(
            f"y should be a 1d array, got an array of shape {tuple(shape)}: {shape[1]} outputs; "
            f"fit one {name} per column, for example with sklearn.multioutput.MultiOutputClassifier"
        )


Votes = NDArray[np.float64]


def has_members(estimator: Any) -> bool:
    """Whether the classifier is an ensemble whose members can each cast a vote."""
    return isinstance(estimator, (RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier))


def leaves_rows_out(estimator: Any) -> bool:
    """Whether each member is trained on a sample of the rows, so that the others can be voted on without another fit."""
    samples_by_itself = (
        type(estimator).__name__ == "BalancedRandomForestClassifier"
    )  # imbalanced-learn's, by its samplers
    return samples_by_itself or (has_members(estimator) and bool(estimator.bootstrap))


def votes_of(estimator: Any, X: Any, classes: NDArray[Any], *, hard: bool) -> Votes:
    """Return the shares of the votes for each class: of the members' decisions if `hard`, else predicted probabilities."""
    if not hard:
        return with_absent_classes(estimator.predict_proba(X), estimator.classes_, classes.tolist())
    counts = np.zeros((_rows(X), len(classes)))
    rows = np.arange(len(counts))
    for member, features in _members(estimator):
        counts[rows, _decisions(member, X, features)] += 1
    return counts / len(estimator.estimators_)


def with_hard_leaves(forest: Any) -> Any:
    """Return a copy of a forest whose probabilities are the shares of its trees' decisions."""
    if not isinstance(forest, (RandomForestClassifier, ExtraTreesClassifier)):
        raise InputError(
            f"the decisions of the members of {type(forest).__name__} cannot be converted; fit with votes='proba'"
        )
    twin = copy.deepcopy(forest)
    for tree in twin.estimators_:
        leaves = tree.tree_.value  # a view of the tree's own numbers, shape (nodes, 1, classes)
        leaves[:, 0, :] = np.eye(leaves.shape[2])[leaves[:, 0, :].argmax(axis=1)]
    return twin


def out_of_bag_votes(estimator: Any, X: Any, classes: NDArray[Any], *, hard: bool) -> Votes:
    """Return for each training row the votes of the members that did not see it; rows that all of them saw have none."""
    counts = np.zeros((_rows(X), len(classes)))
    decide = _decisions
    if isinstance(estimator, (RandomForestClassifier, ExtraTreesClassifier)) and _is_numeric(X):
        # the forest has checked these rows when it was fitted; trees need not check them again, each for itself
        X, decide = np.ascontiguousarray(_columns(X, None), dtype=np.float32), _tree_decisions
    for (member, features), seen in zip(_members(estimator), _samples(estimator), strict=True):
        left = np.ones(len(counts), dtype=bool)
        left[seen] = False
        out = np.flatnonzero(left)
        if out.size == 0:
            continue
        part = _safe_indexing(X, out)
        if hard:
            counts[out, decide(member, part, features)] += 1
        else:
            shares = member.predict_proba(_columns(part, features))
            counts[out] += with_absent_classes(shares, member.classes_.astype(int), range(len(classes)))
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=counts, where=total > 0)


def out_of_fold_votes(
    estimator: Any,
    X: Any,
    y: Any,
    splits: Iterable[tuple[NDArray[Any], NDArray[Any]]],
    classes: NDArray[Any],
    *,
    hard: bool,
    fit_params: dict[str, Any],
    n_jobs: int | None,
) -> Votes:
    """Return the mean votes of the models that were fitted without the row; rows that are in no test fold have none."""
    folds = list(splits)
    one = for_workers(_fold_votes, n_jobs)
    parts = Parallel(n_jobs=n_jobs)(
        delayed(one)(clone(estimator), X, y, train, test, classes, hard, fit_params) for train, test in folds
    )
    votes, models = np.zeros((_rows(X), len(classes))), np.zeros((_rows(X), 1))
    for (_, test), part in zip(folds, parts, strict=True):
        votes[test] += part
        models[test] += 1
    return np.divide(votes, models, out=votes, where=models > 0)


def _fold_votes(
    model: Any,
    X: Any,
    y: Any,
    train: NDArray[Any],
    test: NDArray[Any],
    classes: NDArray[Any],
    hard: bool,
    fit_params: dict[str, Any],
) -> Votes:
    rows = _rows(X)
    own = {
        name: _safe_indexing(value, train) if _has_rows(value, rows) else value for name, value in fit_params.items()
    }
    model.fit(_safe_indexing(X, train), _safe_indexing(y, train), **own)
    return votes_of(model, _safe_indexing(X, test), classes, hard=hard)


def _members(estimator: Any) -> Iterable[tuple[Any, NDArray[Any] | None]]:
    """Return the ensemble's members, each with the columns it looks at."""
    features = getattr(estimator, "estimators_features_", None)
    return zip(
        estimator.estimators_, features if features is not None else [None] * len(estimator.estimators_), strict=True
    )


def _samples(estimator: Any) -> Sequence[NDArray[Any]]:
    """Return the rows that each member saw."""
    if hasattr(estimator, "samplers_"):
        return [sampler.sample_indices_ for sampler in estimator.samplers_]
    samples: Sequence[NDArray[Any]] = estimator.estimators_samples_
    return samples


def _decisions(member: Any, X: Any, features: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return the positions of the classes a member decides; members are trained on positions, not on labels."""
    return np.asarray(member.predict(_columns(X, features))).astype(np.int64)


def _tree_decisions(member: Any, X: NDArray[np.float32], features: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return what `_decisions` does, for a tree of a forest and rows that were checked."""
    assert features is None
    leaf_class: NDArray[np.int64] = member.classes_.astype(np.int64)[member.tree_.value[:, 0, :].argmax(axis=1)]
    return leaf_class[member.tree_.apply(X)]


def _is_numeric(X: Any) -> bool:
    array = X.to_numpy() if hasattr(X, "to_numpy") else X
    return isinstance(array, np.ndarray) and array.dtype.kind in "fiub"


def _columns(X: Any, features: NDArray[Any] | None) -> Any:
    """Return the columns as the member knows them: without names."""
    array = X.to_numpy() if hasattr(X, "to_numpy") else X
    return array if features is None else array[:, features]


def check_votes_are_possible(estimator: Any, *, hard: bool) -> None:
    """Refuse an estimator that cannot vote, and name the way out."""
    if hard and not has_members(estimator):
        raise InputError(
            f"votes='hard' needs an ensemble whose members vote (a forest or BaggingClassifier), "
            f"got {type(estimator).__name__}; use votes='proba'"
        )
    if not hard and not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"{type(estimator).__name__} has no predict_proba; wrap it in sklearn.calibration.CalibratedClassifierCV to get probabilities"
        )


def _rows(X: Any) -> int:
    return int(X.shape[0])


def _has_rows(value: Any, rows: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict)) and len(value) == rows
