"""The door for votes: hard votes, probabilities or any non-negative scores become one checked matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._arrays import on_host
from compromis._text import shown
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.labels import plain_label

Matrix = Any
"""A C-contiguous (n, K) array of float32 or float64, or a scipy CSR matrix with sorted metrics and float64 data."""


def column_labels(votes: Any) -> tuple[Label, ...] | None:
    """Return the names of a frame's columns, None for anything else."""
    return tuple(plain_label(column) for column in votes.columns) if hasattr(votes, "columns") else None


def read_votes(votes: Any, classes: Sequence[Label], rows: int | None = None) -> Matrix:
    """Return votes for `classes` as a matrix, the array itself where it can be used as it is.

    Values are checked by `check_values` or, dense, by the scan that the caller needs anyway.
    """
    votes = on_host(votes)
    matrix = _read_sparse(votes) if _is_sparse(votes) else _read_dense(_in_class_order(votes, classes), classes)
    if matrix.shape[1] != len(classes):
        raise InputError(
            f"votes has {matrix.shape[1]} columns, but there are {len(classes)} classes ({shown(classes)}); "
            f"give one column per class, and labels= if a class does not occur in y"
        )
    if rows is not None and matrix.shape[0] != rows:
        raise InputError(f"votes has {matrix.shape[0]:,} rows, y has {rows:,}; they must describe the same rows")
    return matrix


def many_outputs(matrix: NDArray[Any]) -> str:
    """Return what to do with the list of matrices that a model of several outputs predicts; else an empty string."""
    return (
        "; a model of several outputs gives a matrix for each: pass one of them at a time" if matrix.ndim == 3 else ""
    )


def is_sparse(matrix: Matrix) -> bool:
    """Return whether checked votes are kept as CSR."""
    return not isinstance(matrix, np.ndarray)


def complain(value: float, row: int, column: int) -> InputError:
    """Return the error for a value that is no vote."""
    if value < 0:
        return InputError(
            f"votes must not be negative, got {value:g} in row {row}, column {column}; "
            f"turn decision values into probabilities first, for example with CalibratedClassifierCV"
        )
    return InputError(
        f"votes must be finite, got {value} in row {row}, column {column}; drop such rows or give them votes"
    )


def _is_sparse(votes: Any) -> bool:
    return type(votes).__module__.startswith("scipy.sparse")


def _read_sparse(votes: Any) -> Any:
    import scipy.sparse

    if votes.ndim != 2:
        raise InputError(f"votes must have one row per row and one column per class, got shape {votes.shape}")
    if votes.dtype.kind not in "iufb":
        raise InputError(f"votes must hold numbers, got {votes.dtype}")
    matrix = scipy.sparse.csr_array(votes)
    data = matrix.data.astype(np.float64, copy=False)
    wrong = ~((data >= 0) & (data < np.inf))
    if wrong.any():
        entry = int(wrong.argmax())
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise complain(float(data[entry]), row, int(matrix.indices[entry]))
    tidy = matrix.has_sorted_indices and matrix.has_canonical_format and bool(data.all())
    if not tidy or data is not matrix.data:
        matrix = scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=not tidy)
    if not tidy:  # on a copy: the caller's matrix stays as it is
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _read_dense(votes: Any, classes: Sequence[Label]) -> NDArray[Any]:
    try:
        matrix = np.asarray(votes)
        if matrix.dtype.kind in "iub":
            matrix = np.ascontiguousarray(matrix, dtype=_float_for(matrix))
        elif matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("votes must hold numbers, one column per class; found something else") from None
    if matrix.ndim == 1 or (matrix.ndim == 2 and matrix.shape[1] == 1 and len(classes) == 2):
        return _from_one_column(matrix.reshape(-1), classes)
    if matrix.ndim != 2:
        raise InputError(
            f"votes must have one row per row and one column per class, got shape {matrix.shape}{many_outputs(matrix)}"
        )
    return np.require(matrix, requirements=["C", "A"])


def _float_for(matrix: NDArray[Any]) -> type:
    """Small integers are exact in float32, at half or less of the memory."""
    return np.float32 if matrix.dtype.itemsize <= 2 or int(matrix.max(initial=0)) < 1 << 24 else np.float64


def _from_one_column(share: NDArray[Any], classes: Sequence[Label]) -> NDArray[Any]:
    if len(classes) != 2:
        raise InputError(
            f"votes has one column, but there are {len(classes)} classes ({shown(classes)}); give one column per class"
        )
    if share.size and not share.max() <= 1:
        raise InputError(f"votes with one column are the shares of {classes[1]!r}, at most 1, got {share.max():g}")
    return np.column_stack([1 - share, share])


def _in_class_order(votes: Any, classes: Sequence[Label]) -> Any:
    columns = column_labels(votes)
    if columns is None or columns == tuple(classes):
        return votes
    by_name = dict(zip(columns, votes.columns, strict=True))
    if set(columns) != set(classes):
        by_name = {str(column): native for column, native in by_name.items()}
        if set(by_name) != {str(label) for label in classes}:
            raise InputError(
                f"the columns of votes are {shown(columns)}, the classes {shown(classes)}; "
                f"name the columns after the classes, or pass an array"
            )
        return np.column_stack([np.asarray(votes[by_name[str(label)]]) for label in classes])
    return np.column_stack([np.asarray(votes[by_name[label]]) for label in classes])


ROUNDING = 0.02
"""How far printed distributions may be from a sum of 1; scaling such rows would break ties between them."""


@dataclass(frozen=True, slots=True, eq=False)
class DistributionErrors:
    """Sums over rows and classes of the errors of predicted distributions against the 0/1 truth; they add up with ``+``."""

    absolute: float
    squared: float
    support: Floats
    """The rows (or weights) of each true class."""

    @classmethod
    def from_distributions(cls, truth: NDArray[np.int64], shares: Floats, weight: Floats | None) -> DistributionErrors:
        """Sum the errors of each row's distribution; `truth` holds positions of classes."""
        own = shares[np.arange(len(truth)), truth]
        absolute = shares.sum(axis=1) - own + np.abs(1 - own)
        squared = np.einsum("ij,ij->i", shares, shares) - own * own + (1 - own) ** 2
        weights = np.ones(len(truth)) if weight is None else weight
        support: Floats = np.bincount(truth, weights=weights, minlength=shares.shape[1]).astype(np.float64)
        # not a product of vectors: its rounding depends on the threads it gets
        return cls(float((absolute * weights).sum()), float((squared * weights).sum()), support)

    @classmethod
    def from_counts(cls, counts: Counts) -> DistributionErrors:
        """Take each decision for a distribution of 0 and 1: an error then counts twice, once for each class concerned."""
        errors = 2.0 * float(counts.total - counts.matrix.trace())
        return cls(errors, errors, counts.support.astype(np.float64))

    def __add__(self, other: DistributionErrors) -> DistributionErrors:
        return DistributionErrors(
            self.absolute + other.absolute, self.squared + other.squared, self.support + other.support
        )


def read_distributions(y_proba: Any, rows: int, classes: Sequence[Label], name: str = "y_proba") -> Floats:
    """Return one distribution over `classes` for each row: finite, not negative; votes are scaled to sum to 1.

    A frame whose columns are named after the classes is put into their order; one column stands for the second of two classes.
    """
    shares = as_matrix(in_class_order(y_proba, classes, name), name)
    if shares.shape[1] == 1 and len(classes) == 2:
        _check_scores(shares, name)
        if shares.max(initial=0.0) > 1:
            raise InputError(
                f"{name} with one column is the probability of {classes[1]!r}, at most 1, got {shares.max():g}"
            )
        shares = np.column_stack([1 - shares[:, 0], shares[:, 0]])
    if shares.shape != (rows, len(classes)):
        raise InputError(
            f"{name} has shape {shares.shape}, but there are {rows:,} rows and {len(classes)} classes ({shown(classes)}); "
            f"give one column per class, and labels= if a class does not occur"
        )
    _check_scores(shares, name)
    largest = shares.max(axis=1, keepdims=True, initial=0.0)
    if largest.max(initial=0.0) > 1e300:  # their sum would not be finite
        shares = shares / np.where(largest > 0, largest, 1.0)
    sums = shares.sum(axis=1, keepdims=True)
    if not sums.all():
        raise InputError(
            f"row {int((sums[:, 0] == 0).argmax())} of {name} is 0 for every class; drop such rows or give them a distribution"
        )
    off = np.abs(sums - 1) > ROUNDING
    np.divide(shares, sums, where=off, out=shares)
    return shares


def in_class_order(y_proba: Any, classes: Sequence[Label], name: str) -> Any:
    """Return a frame's columns in the order of the classes they are named after; anything else as it is."""
    if not hasattr(y_proba, "columns"):
        return y_proba
    columns = [plain_label(column) for column in y_proba.columns]
    if set(columns) == set(classes):
        return np.column_stack([np.asarray(y_proba[column]) for column in classes])
    if {str(column) for column in columns} == {str(label) for label in classes}:
        by_text = {str(column): column for column in columns}
        return np.column_stack([np.asarray(y_proba[by_text[str(label)]]) for label in classes])
    raise InputError(
        f"the columns of {name} are {shown(columns)}, the classes {shown(classes)}; name the columns after the classes, or pass an array"
    )


def as_matrix(values: Any, name: str) -> Floats:
    """Return scores as a matrix of numbers, one column per class."""
    try:
        # sums over classes round by the order in memory
        matrix = np.array(on_host(values), dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, one column per class") from None
    if matrix.ndim == 1:
        matrix = matrix[:, np.newaxis]
    if matrix.ndim != 2:
        raise InputError(
            f"{name} must have one row per row and one column per class, got shape {matrix.shape}{many_outputs(matrix)}"
        )
    return matrix


def _check_scores(scores: Floats, name: str) -> None:
    wrong = ~np.isfinite(scores)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"{name} must be finite, got {scores[row, column]} in row {row}, column {column} ({int(wrong.sum()):,} such values)"
        )
    if (scores < 0).any():
        row, column = np.argwhere(scores < 0)[0]
        raise InputError(
            f"{name} must not be negative, got {scores[row, column]:g} in row {row}, column {column}; "
            f"turn decision values into probabilities first, for example with CalibratedClassifierCV"
        )
