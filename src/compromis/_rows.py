"""Rows of whatever holds them: arrays, frames, sparse matrices, lists."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Ints, Label
from compromis.errors import InputError


def count_rows(values: Any, name: str) -> int:
    """Return the number of rows; `name` is what messages call the values."""
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 0:
        return int(shape[0])
    if hasattr(values, "__len__") and not isinstance(values, (str, bytes)):
        return len(values)
    raise InputError(f"{name} must be an array, frame, sparse matrix or list of rows, got {type(values).__name__}")


def take_rows(values: Any, positions: NDArray[np.int64]) -> Any:
    """Return the rows at `positions`, in the container they came in."""
    if hasattr(values, "iloc"):
        return values.iloc[positions]
    module = type(values).__module__.partition(".")[0]
    if module == "polars":
        return values[positions.tolist()] if values.__class__.__name__ == "Series" else values[positions.tolist(), :]
    if module == "pyarrow":
        return values.take(positions)
    if is_sparse(values):
        return values.tocsr()[positions]
    if isinstance(values, Sequence):
        return [values[row] for row in positions]
    return values[positions]


def is_sparse(values: Any) -> bool:
    """Whether the values are a matrix or array of scipy.sparse."""
    return hasattr(values, "tocsr") and hasattr(values, "nnz")


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """The rows a model is trained on, and the rows it is judged on."""

    train: Ints
    test: Ints


def choose_folds(cv: Any, X: Any, truth: Ints, classes: Sequence[Label], group: Ints | None) -> list[Fold]:
    """Return the folds that `cv` asks for: a number, a splitter of scikit-learn, or pairs of row positions.

    A number means stratified folds, shuffled with a fixed seed, because files are often sorted by class or by time of
    entry; with groups, stratified folds that keep the rows of a group together.
    """
    asked_for_number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    splitter = _stratified(int(cv), truth, classes, group) if asked_for_number else cv
    try:
        with warnings.catch_warnings():  # a splitter that ignores groups warns of it; the check below refuses its folds
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            pairs = splitter.split(X, truth, group) if hasattr(splitter, "split") else splitter
            folds = [Fold(_positions(train), _positions(test)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise InputError(f"cv cannot split these rows: {error}") from error
    _check(folds, len(truth), group)
    return folds


def _stratified(folds: int, truth: Ints, classes: Sequence[Label], group: Ints | None) -> Any:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if folds < 2:
        raise InputError(f"cross-validation needs at least 2 folds, got cv={folds}")
    support = np.bincount(truth, minlength=len(classes))
    short = [(label, int(rows)) for label, rows in zip(classes, support, strict=True) if 0 < rows < folds]
    if short:
        named = ", ".join(f"{label!r} has {rows}" for label, rows in short)
        raise InputError(
            f"a class has fewer rows than there are folds: {named} of {folds} needed; "
            f"use cv={max(2, min(rows for _, rows in short))} or fewer folds, or gather more rows"
        )
    if group is None:
        return StratifiedKFold(folds, shuffle=True, random_state=0)
    groups = len(np.unique(group))
    if groups < folds:
        raise InputError(
            f"there are {groups} groups for {folds} folds, so {folds - groups} folds would be empty; use cv={max(groups, 2)} or fewer"
        )
    return StratifiedGroupKFold(folds, shuffle=True, random_state=0)


def _positions(rows: Any) -> Ints:
    array = np.asarray(rows)
    return np.flatnonzero(array) if array.dtype == bool else array.astype(np.int64)


def _check(folds: list[Fold], rows: int, group: Ints | None) -> None:
    if not folds:
        raise InputError("cv gives no folds; pass a number of folds or a splitter of scikit-learn")
    for number, fold in enumerate(folds, start=1):
        for name, part in (("test", fold.test), ("training", fold.train)):
            if part.size == 0:
                raise InputError(f"fold {number} has no {name} rows; use fewer folds, or smaller groups")
            if part.min() < 0 or part.max() >= rows:
                raise InputError(f"fold {number} names a {name} row outside of the {rows:,} rows of y")
        shared = np.intersect1d(fold.train, fold.test).size
        if shared:
            raise InputError(
                f"fold {number} has {shared:,} rows in training and test; a model must not be judged on rows it has seen"
            )
        if group is not None and np.intersect1d(group[fold.train], group[fold.test]).size:
            raise InputError(
                f"fold {number} has rows of one group in training and test; use a splitter that keeps groups together, such as GroupKFold"
            )


def take_rows_folding(table: Any, rows: Ints) -> Any:
    """Return some rows of an array, a sparse matrix, a frame, a series or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "shape"):
        return (table.tocsr() if hasattr(table, "tocsr") else table)[rows]
    return [table[row] for row in rows]
