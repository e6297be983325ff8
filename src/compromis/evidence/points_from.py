"""The doors of operating points: labels, scores, estimators and columns of scores become counted cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Flags, Floats, Label
from compromis.arrays import on_host
from compromis.errors import InputError, nearest, shown
from compromis.evidence.distributions import as_matrix, in_class_order
from compromis.evidence.labels import LabelColumn, read_classes, read_labels
from compromis.evidence.room import check_room
from compromis.labels import plain_label


def count_flags(flags: Flags, score: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Sort positives and negatives apart and merge them: two plain sorts are faster than one that moves metrics."""
    from compromis.kernels.ranking import count_cuts, split_scores

    hits = int(np.count_nonzero(flags))
    positive, negative = np.empty(hits + 1), np.empty(len(flags) - hits + 1)
    split_scores(score, flags, positive, negative)
    positive, negative = positive[:-1], negative[:-1]
    positive.sort()
    negative.sort()
    threshold, above = np.empty(len(score) + 1), np.empty((2, len(score) + 1), dtype=np.int64)
    threshold[0], above[:, 0] = np.inf, 0
    cuts = count_cuts(positive, negative, threshold[1:], above[:, 1:]) + 1
    if 2 * cuts < len(threshold):  # many ties: do not keep the room for all rows
        return threshold[:cuts].copy(), above[:, :cuts].copy()
    return threshold[:cuts], above[:, :cuts]


def weigh_flags(flags: Flags, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the cuts of weighted rows; rows of weight 0 make no cut."""
    order = np.flatnonzero(weight > 0)
    order = order[np.argsort(-score[order], kind="stable")]
    ordered, positive, weight = score[order], flags[order], weight[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    above = np.zeros((2, len(last) + 1))
    above[0, 1:] = np.cumsum(np.where(positive, weight, 0.0))[last]
    above[1, 1:] = np.cumsum(np.where(positive, 0.0, weight))[last]
    return np.insert(ordered[last], 0, np.inf), above


def cumulate_bins(threshold: ArrayLike, positives: ArrayLike, negatives: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """Return the checked edges with infinity before them, and what lies at or above each."""
    edges = np.asarray(threshold, dtype=np.float64)
    inside = np.stack([np.asarray(positives), np.asarray(negatives)])
    if edges.ndim != 1 or inside.shape != (2, len(edges)) or len(edges) == 0:
        raise InputError(
            f"there must be one threshold, positives and negatives per bin, got shapes {edges.shape} and {inside.shape}"
        )
    if not (np.isfinite(edges).all() and (np.diff(edges) < 0).all()):
        raise InputError("the thresholds of bins are finite and fall; sort the bins by falling edges")
    if inside.dtype.kind not in "iuf" or not np.isfinite(inside).all() or (inside < 0).any():
        raise InputError("bins hold finite numbers of rows, at least 0; found something else")
    check_room(sum(inside.ravel().tolist()))
    above = np.cumsum(inside, axis=1, dtype=np.float64 if inside.dtype.kind == "f" else np.int64)
    return np.insert(edges, 0, np.inf), np.insert(above, 0, 0, axis=1)


def read_flags(y_true: Any, pos_label: Any) -> tuple[Flags, Label]:
    """Return which rows are positive, and the positive label as the data writes it."""
    column = read_labels(y_true, "y_true")
    if len(column) == 0:
        raise InputError("y_true is empty; there is nothing to rank")
    if pos_label is not None:
        return _flags_of(column, plain_label(pos_label)), _as_written(column, plain_label(pos_label))
    for negative in (0, -1):
        if column.kind in {"int", "bool", "float"} and column.categories is None:
            flags = column.values == 1
            if bool((flags | (column.values == negative)).all()):
                return flags, True if column.kind == "bool" else 1
    raise InputError(f"which class is positive? pass pos_label, one of {shown(_found(column))}")


def _flags_of(column: LabelColumn, positive: Label) -> Flags:
    flags = _equal(column, positive)
    if not flags.any():
        found = _found(column)
        if len(found) > 1 or column.kind != _kind(positive):
            raise InputError(
                f"pos_label is {positive!r}, which y_true does not have{nearest(positive, found)}; "
                f"it has {shown(found)}"
            )
    return flags


def _equal(column: LabelColumn, positive: Label) -> Flags:
    if _kind(positive) != column.kind and not {_kind(positive), column.kind} <= {"int", "bool", "float"}:
        return np.zeros(len(column), dtype=bool)  # numpy would compare "1" with 1 row by row, or refuse
    if column.categories is not None:
        matching = [code for code, label in enumerate(column.categories) if label == positive]
        return np.isin(column.values, matching)
    if column.values.dtype == object and not isinstance(positive, str):
        return np.fromiter((value == positive for value in column.values), dtype=bool, count=len(column))
    return np.asarray(column.values == positive, dtype=bool)


def _kind(label: Label) -> str:
    return type(label).__name__


def _as_written(column: LabelColumn, positive: Label) -> Label:
    if column.kind == "bool" and isinstance(positive, (int, float)):
        return bool(positive)
    return int(positive) if column.kind == "int" and isinstance(positive, (bool, float)) else positive


def _found(column: LabelColumn) -> list[Label]:
    found = {label for chunk in column.lists() for label in set(chunk)}
    labels = {bool(label) for label in found} if column.kind == "bool" else found
    return sorted(
        labels, key=lambda label: (str(type(label)), label if isinstance(label, (int, float)) else str(label))
    )


def read_scores(y_score: ArrayLike, rows: int) -> Floats:
    """Return the scores as float64, each distinct score still distinct."""
    given = np.asarray(on_host(y_score))
    if given.dtype.kind not in "iufb" or given.shape != (rows,):
        raise InputError(
            f"y_score must be one number per row, {rows:,} in all, got shape {given.shape} of {given.dtype}"
        )
    score = given.astype(np.float64, copy=False)
    finite = np.isfinite(score)
    if not finite.all():
        row = int((~finite).argmax())
        raise InputError(f"y_score must be finite, got {score[row]} in row {row}; drop such rows or give them a score")
    if given.dtype.itemsize >= 8 and given.dtype != np.float64 and (score.astype(given.dtype) != given).any():
        raise InputError(
            f"y_score of type {given.dtype} has values that float64 cannot tell apart; rank or rescale the scores first"
        )
    return score


def score_rows(estimator: Any, X: Any, pos_label: Any) -> tuple[Floats, Label]:
    """Return the estimator's score for the positive class, and that class."""
    if not hasattr(estimator, "classes_"):
        raise InputError(f"{type(estimator).__name__} has no classes_; pass a fitted classifier")
    classes = [plain_label(label) for label in estimator.classes_]
    positive = _positive_of(classes, pos_label)
    if hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    else:
        raise InputError(
            f"{type(estimator).__name__} has neither predict_proba nor decision_function; there is no score to cut"
        )
    place = classes.index(positive)
    if scores.ndim == 2:
        return scores[:, place], positive
    return (scores if place == 1 else -scores), positive


def _positive_of(classes: list[Label], pos_label: Any) -> Label:
    if pos_label is None:
        if len(classes) == 2 and classes[1] in (1, True) and classes[0] in (0, -1, False):
            return classes[1]
        raise InputError(f"which class is positive? pass pos_label, one of {shown(classes)}")
    positive = plain_label(pos_label)
    if positive not in classes:
        raise InputError(
            f"pos_label is {positive!r}, which the estimator does not know{nearest(positive, classes)}; "
            f"it has {shown(classes)}"
        )
    return classes[classes.index(positive)]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumns:
    """True labels and one column of scores per class, checked."""

    truth: LabelColumn
    scores: Floats
    labels: tuple[Label, ...]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.truth)

    def each(self) -> Iterator[tuple[Label, Flags, Floats]]:
        """Yield each class with its flags and scores."""
        for place, label in enumerate(self.labels):
            yield label, _equal(self.truth, label), np.ascontiguousarray(self.scores[:, place])


def read_columns(y_true: Any, y_proba: Any, labels: Sequence[Any] | None) -> ScoreColumns:
    """Return labels and columns of scores that belong together."""
    truth = read_labels(y_true, "y_true")
    if len(truth) == 0:
        raise InputError("y_true is empty; there is nothing to rank")
    found = _found(truth)
    classes = tuple(truth.categories or found) if labels is None else read_classes(labels)
    missing = [label for label in found if label not in classes]
    if missing:
        raise InputError(
            f"labels must name every class of y_true once, in the order of the columns; "
            f"got {shown(classes)} for {shown(found)}"
        )
    scores = as_matrix(in_class_order(y_proba, classes, "y_proba"), "y_proba")
    if scores.shape != (len(truth), len(classes)):
        raise InputError(
            f"y_proba has shape {scores.shape}, but there are {len(truth):,} rows and {len(classes)} classes "
            f"({shown(classes)}); give one column per class, and labels= if a class does not occur"
        )
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise InputError(f"y_proba must be finite, got {scores[row, column]} in row {row}, column {column}")
    return ScoreColumns(truth, scores, classes)
