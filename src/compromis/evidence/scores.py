"""Class scores (votes, probabilities, shares of votes), and distributions, which are scores that sum to 1 in each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import shown
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.labels import on_host, plain_label, positions_in, positive_class, without_prefix

Matrix = Any
"""A C-contiguous (n, K) array of float32 or float64, or a scipy CSR matrix with sorted indices and float64 data."""

ROUNDING = 0.02
"""How far printed distributions may be from a sum of 1; scaling such rows would break ties between them."""


def read_scores(
    y_proba: Any,
    classes: Sequence[Label],
    rows: int | None = None,
    *,
    name: str = "y_proba",
    dtype: Any = None,
    pos_label: Any = None,
) -> Matrix:
    """Return class scores as a matrix, the array itself where it can be used as it is; `check_scores` checks dense values.

    There is one column per class, in their order; a frame's columns are named after the classes, in any order. One column alone is the
    probability of the positive one of two classes, `pos_label`. `name` is what messages call the scores. Without a `dtype`, float32
    stays as it is, and small integers become float32.
    """
    y_proba = on_host(y_proba)
    if type(y_proba).__module__.startswith("scipy.sparse"):
        matrix = _read_sparse(y_proba, name)
    else:
        matrix = _read_dense(_in_class_order(y_proba, classes, name), classes, name, dtype, pos_label)
    if matrix.shape[1] != len(classes):
        raise InputError(
            f"{name} has {matrix.shape[1]} columns, but there are {len(classes)} classes ({shown(classes)}); "
            f"give one column per class, and labels if a class does not occur in y",
            parameter=name,
        )
    if rows is not None and matrix.shape[0] != rows:
        raise InputError(f"{name} has {matrix.shape[0]:,} rows, y has {rows:,}; they must describe the same rows")
    return matrix


def check_order_is_said(y_proba: Any, classes: Sequence[Label], labels: Any, name: str = "y_proba") -> None:
    """Raise if columns have no names, and the classes come from categories or a mapping in an order that is not scikit-learn's."""
    said = labels is not None and not hasattr(labels, "by_class")  # preferences name classes, not their order
    try:
        usual = tuple(classes) if said else tuple(sorted(classes))  # type: ignore[type-var]
    except TypeError:  # scikit-learn has no order for them either
        return
    if usual == tuple(classes) or column_labels(y_proba) is not None:
        return
    if (*np.shape(on_host(y_proba)), 1)[1] > 1:
        raise InputError(
            f"{name} has columns without names: are they in the order {shown(classes)}, or sorted as scikit-learn's are, "
            f"{shown(usual)}? pass labels=, such as the classes_ of the model",
            "labels",
        )


def part_of_votes(classes: int) -> float:
    """Return a power of two by which an engine multiplies votes before it asks whether their sum is finite, as each is."""
    return float(0.5 ** (classes - 1).bit_length())


def check_scores(
    matrix: Matrix, name: str = "y_proba", *, negative: bool = False, named: Callable[[int], str] = "row {}".format
) -> None:
    """Raise at the first score that is not finite or, unless `negative` is allowed, below 0; `named` says what messages call a row."""
    values = matrix.data if is_csr(matrix) else matrix
    wrong = ~np.isfinite(values) if negative else ~((values >= 0) & (values < np.inf))
    if not wrong.any():
        return
    entry = int(wrong.argmax())
    value = float(values.flat[entry])
    if is_csr(matrix):
        row, column = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1, int(matrix.indices[entry])
    else:
        row, column = divmod(entry, matrix.shape[1])
    if value < 0 and not negative:
        raise InputError(
            f"{name} must not be negative, got {value:g} in {named(row)}, column {column}; "
            f"turn decision values into probabilities first, for example with CalibratedClassifierCV",
            parameter=name,
        )
    raise InputError(
        f"{name} must be finite, got {value} in {named(row)}, column {column}; drop such rows or give them votes",
        parameter=name,
    )


def is_csr(matrix: Matrix) -> bool:
    """Whether checked scores are kept as CSR: a `Matrix` is either that or an array."""
    return not isinstance(matrix, np.ndarray)


def as_dense(matrix: Matrix) -> Floats:
    """Return checked scores as an array of float64."""
    return np.asarray(matrix.toarray() if is_csr(matrix) else matrix, dtype=np.float64)


def column_labels(values: Any) -> tuple[Label, ...] | None:
    """Return the names of a frame's columns, None for anything else."""
    columns = getattr(values, "column_names", getattr(values, "columns", None))  # pyarrow's columns are the data
    return None if columns is None else tuple(plain_label(column) for column in columns)


def with_absent_classes(scores: NDArray[Any], found: Any, classes: Sequence[Label]) -> Floats:
    """Return scores for the classes `found` with one column for each of `classes`: 0 for those that a fold lacked."""
    if [plain_label(label) for label in found] == list(classes):
        return np.ascontiguousarray(scores, dtype=np.float64)
    wide = np.zeros((len(scores), len(classes)))
    wide[:, positions_in(found, classes, "classes_")] = scores
    return wide


def read_distributions(y_proba: Any, rows: int, classes: Sequence[Label], *, pos_label: Any = None) -> Floats:
    """Return one distribution over `classes` for each row: finite, not negative; votes are scaled to sum to 1."""
    distributions = np.array(
        as_dense(read_scores(y_proba, classes, rows, dtype=np.float64, pos_label=pos_label)), order="C"
    )
    check_scores(distributions)
    if distributions.max(initial=0.0) > 1e300:  # sums would not be finite
        largest = distributions.max(axis=1, keepdims=True)
        distributions = distributions / np.where(largest > 0, largest, 1.0)
    sums = distributions.sum(axis=1, keepdims=True)
    if not sums.all():
        raise InputError(
            f"y_proba is 0 for every class in row {int((sums[:, 0] == 0).argmax())}; drop such rows or give them a distribution",
            parameter="y_proba",
        )
    np.divide(distributions, sums, where=np.abs(sums - 1) > ROUNDING, out=distributions)
    return distributions


def read_ranking(y_score: ArrayLike, rows: int) -> Floats:
    """Return the scores as float64, each distinct score still distinct."""
    given = np.asarray(on_host(y_score))
    if given.dtype.kind not in "iufb" or given.shape != (rows,):
        raise InputError(
            f"y_score must be one number per row, {rows:,} in all, got shape {given.shape} of {given.dtype}"
        )
    score = np.require(given, np.float64, ["A"])
    finite = np.isfinite(score)
    if not finite.all():
        row = int((~finite).argmax())
        raise InputError(f"y_score must be finite, got {score[row]} in row {row}; drop such rows or give them a score")
    if given.dtype.itemsize >= 8 and given.dtype != np.float64 and (score.astype(given.dtype) != given).any():
        raise InputError(
            f"y_score of type {given.dtype} has values that float64 cannot tell apart; rank or rescale the scores first"
        )
    return score


def _in_class_order(values: Any, classes: Sequence[Label], name: str) -> Any:
    """Return a frame's columns in the order of the classes they are named after; anything else as it is."""
    columns = column_labels(values)
    if columns is None or columns == tuple(classes):
        return values
    if not set(map(str, columns)) & set(map(str, classes)):
        columns = without_prefix(columns, classes)
    by_class: dict[Any, Any] = dict(zip(columns, getattr(values, "column_names", values.columns), strict=True))
    wanted: Sequence[Label] = classes
    if set(by_class) != set(classes):
        by_class = {str(label): column for label, column in by_class.items()}
        wanted = [str(label) for label in classes]
    if set(by_class) != set(wanted):
        raise InputError(
            f"the columns of {name} are {shown(columns)}, the classes {shown(classes)}; "
            f"name the columns after the classes (a common prefix is left out), or pass an array"
        )
    return np.column_stack([np.asarray(values[by_class[label]]) for label in wanted])


def _read_sparse(values: Any, name: str) -> Any:
    import scipy.sparse

    if values.ndim != 2:
        raise InputError(f"{name} must have one row per row and one column per class, got shape {values.shape}")
    if values.dtype.kind not in "iufb":
        raise InputError(f"{name} must hold numbers, got {values.dtype}")
    matrix = scipy.sparse.csr_array(values)
    check_scores(matrix, name)
    data = matrix.data.astype(np.float64, copy=False)
    tidy = matrix.has_sorted_indices and matrix.has_canonical_format and bool(data.all())
    if not tidy or data is not matrix.data:
        matrix = scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=not tidy)
    if not tidy:  # on a copy: the caller's matrix stays as it is
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _read_dense(values: Any, classes: Sequence[Label], name: str, dtype: Any, pos_label: Any) -> NDArray[Any]:
    try:
        matrix = np.asarray(values, dtype=dtype)
        if matrix.dtype.kind in "iub":
            matrix = np.ascontiguousarray(matrix, dtype=_float_for(matrix))
        elif matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, one column per class; found something else") from None
    if matrix.ndim == 1 or (matrix.ndim == 2 and matrix.shape[1] == 1 and len(classes) == 2):
        return _from_one_column(matrix.reshape(-1), classes, name, pos_label)
    if matrix.ndim != 2:
        several = "; a model of several outputs gives a matrix for each: pass one of them at a time"
        raise InputError(
            f"{name} must have one row per row and one column per class, got shape {matrix.shape}"
            f"{several if matrix.ndim == 3 else ''}"
        )
    return np.require(matrix, requirements=["C", "A"])


def _float_for(matrix: NDArray[Any]) -> type:
    """Small integers are exact in float32, at half or less of the memory."""
    return np.float32 if matrix.dtype.itemsize <= 2 or int(matrix.max(initial=0)) < 1 << 24 else np.float64


def _from_one_column(score: NDArray[Any], classes: Sequence[Label], name: str, pos_label: Any) -> NDArray[Any]:
    if len(classes) != 2:
        raise InputError(
            f"{name} has one column, but there are {len(classes)} classes ({shown(classes)}); give one column per class"
        )
    try:
        positive = positive_class(classes, pos_label)
    except InputError as error:
        if pos_label is not None:
            raise
        raise InputError(
            f"{name} has one column, the probability of one class: {error}, or give one column per class", "pos_label"
        ) from None
    if (score > 1).any():
        raise InputError(f"{name} with one column is the probability of {positive!r}, at most 1, got {score.max():g}")
    return np.column_stack([1 - score, score] if positive == classes[1] else [score, 1 - score])
