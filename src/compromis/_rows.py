"""Rows of any container, folds of them, and tasks in worker processes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from compromis._typing import Ints, Label
from compromis.errors import InputError

Result = TypeVar("Result")


def for_workers(task: Callable[..., Result], n_jobs: int | None) -> Callable[..., Result]:
    """Return the task as `n_jobs` workers run it: `in_worker`, unless there is one only, which may use all cores."""
    from joblib import effective_n_jobs

    return task if effective_n_jobs(n_jobs) == 1 else partial(in_worker, task)


def in_worker(task: Callable[..., Result], *arguments: Any) -> Result:
    """Run a task with one thread of BLAS and OpenMP, and its own parallel parts one after the other.

    joblib limits threads in its own processes only, not on a cluster. Nested tasks would deadlock a Dask cluster: every worker
    would wait for a free worker.
    """
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), parallel_config(backend="threading", n_jobs=1):
        return task(*arguments)


def count_rows(values: Any, name: str) -> int:
    """Return the number of rows; `name` is what messages call the values."""
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 0:
        return int(shape[0])
    if hasattr(values, "__len__") and not isinstance(values, (str, bytes)):
        return len(values)
    raise InputError(f"{name} must be an array, frame, sparse matrix or list of rows, got {type(values).__name__}")


def count_both(X: Any, y: Any) -> int:
    """Return the number of rows that `X` and `y` both have."""
    rows, targets = count_rows(X, "X"), count_rows(y, "y")
    if targets != rows:
        raise InputError(f"X has {rows:,} rows, y has {targets:,}; they must describe the same rows")
    return rows


def take_rows(values: Any, positions: Ints) -> Any:
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
    return values[positions] if hasattr(values, "shape") else [values[row] for row in positions]


def is_sparse(values: Any) -> bool:
    """Whether the values are a matrix or array of scipy.sparse."""
    return hasattr(values, "tocsr") and hasattr(values, "nnz")


class Fold(NamedTuple):
    """The rows a model is trained on, and the rows it is judged on."""

    train: Ints
    test: Ints


def choose_folds(
    cv: Any,
    X: Any,
    y: Any,
    *,
    classes: Sequence[Label] | None = None,
    group: Ints | None = None,
    random_state: int | None = 0,
) -> list[Fold]:
    """Return the folds that `cv` asks for: a number, a splitter of scikit-learn, or pairs of row positions.

    A number means shuffled folds, because files are often sorted by class or by time of entry: stratified ones where `y` holds
    positions in `classes`, and such that keep the rows of a group together where there are groups.
    """
    is_number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if is_number:
        _check_number(int(cv), y, classes, group)
        cv = shuffled_folds(int(cv), random_state, stratified=classes is not None, grouped=group is not None)
    try:
        with warnings.catch_warnings():  # a splitter that ignores groups warns of it; the check below refuses its folds
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            pairs = cv.split(X, y, group) if hasattr(cv, "split") else cv
            folds = [Fold(_positions(train), _positions(test)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise InputError(f"cv cannot split these rows: {error}", "cv") from error
    _check_folds(folds, len(y), group)
    return folds


def _check_number(folds: int, y: Any, classes: Sequence[Label] | None, group: Ints | None) -> None:
    if folds < 2:
        raise InputError(f"cross-validation needs at least 2 folds, got cv={folds}", "cv")
    if classes is not None:
        support = np.bincount(y, minlength=len(classes))
        short = [(label, int(rows)) for label, rows in zip(classes, support, strict=True) if 0 < rows < folds]
        if short:
            named = ", ".join(f"{label!r} has {rows}" for label, rows in short)
            raise InputError(
                f"a class has fewer rows than there are folds: {named} of {folds} needed; "
                f"use cv={max(2, min(rows for _, rows in short))} or fewer folds, or gather more rows",
                "cv",
            )
    for what, known in (("rows", len(y)), ("groups", folds if group is None else len(np.unique(group)))):
        if known < folds:
            raise InputError(
                f"there are {known} {what} for {folds} folds, so {folds - known} folds would be empty; use cv={max(known, 2)} or fewer",
                "cv",
            )


def shuffled_folds(folds: int, random_state: int | None, *, stratified: bool, grouped: bool = False) -> Any:
    """Return a splitter of scikit-learn."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    kinds = (StratifiedKFold, StratifiedGroupKFold) if stratified else (KFold, GroupKFold)
    return kinds[grouped](folds, shuffle=True, random_state=random_state)


def _positions(rows: Any) -> Ints:
    array = np.asarray(rows)
    return np.flatnonzero(array) if array.dtype == bool else array.astype(np.int64)


def _check_folds(folds: list[Fold], rows: int, group: Ints | None) -> None:
    if not folds:
        raise InputError("cv gives no folds; pass a number of folds or a splitter of scikit-learn", "cv")
    for number, fold in enumerate(folds, start=1):
        for name, part in (("test", fold.test), ("training", fold.train)):
            if part.size == 0:
                raise InputError(f"fold {number} has no {name} rows; use fewer folds, or smaller groups", "cv")
            if part.min() < 0 or part.max() >= rows:
                raise InputError(f"fold {number} names a {name} row outside of the {rows:,} rows of y", "cv")
        shared = np.intersect1d(fold.train, fold.test).size
        if shared:
            raise InputError(
                f"fold {number} has {shared:,} rows in training and test; a model must not be judged on rows it has seen",
                "cv",
            )
        if group is not None and np.intersect1d(group[fold.train], group[fold.test]).size:
            raise InputError(
                f"fold {number} has rows of one group in training and test; use a splitter that keeps groups together, such as GroupKFold",
                "cv",
            )
