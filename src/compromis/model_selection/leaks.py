"""Find duplicate rows across sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._results import Result
from compromis._rows import count_rows, is_sparse
from compromis._text import shown
from compromis._typing import Ints
from compromis.errors import InputError

Patterns = NDArray[np.uint64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Leaks(Result):
    """The rows of one set that also stand in another.

    Attributes
    ----------
    rows : ndarray
        The positions, in the test set, of rows that also stand in the training set.
    sources : ndarray
        For each of them, the position of an equal row in the training set.
    total : int
        The number of rows of the test set.
    test, train : str
        What the two sets are called.

    Examples
    --------
    >>> import compromis as cp
    >>> leaks = cp.model_selection.find_leaks([[1, 2], [3, 4]], [[3, 4], [5, 6]])
    >>> leaks.rows.tolist(), leaks.sources.tolist(), leaks.total
    ([0], [1], 2)
    """

    rows: Ints
    sources: Ints
    total: int
    test: str = "test set"
    train: str = "training set"

    schema = "compromis/leaks"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def share(self) -> float:
        """The share of the test rows that leak."""
        return len(self.rows) / self.total if self.total else 0.0

    @property
    def summary(self) -> dict[str, float]:
        """How many rows leak, of how many, and their share."""
        return {"leaks": len(self), "total": self.total, "share": self.share}

    def columns(self) -> dict[str, list[int]]:
        """Return the rows that leak and their sources."""
        return {"row": self.rows.tolist(), "source": self.sources.tolist()}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        return {**self.heading(), "test": self.test, "train": self.train, **self.summary, **self.columns()}

    def sentences(self) -> list[str]:
        """Return the finding in words."""
        if len(self) == 0:
            return [f"no row of the {self.test} stands in the {self.train}"]
        stand = "stands" if len(self) == 1 else "stand"
        share = f"{len(self):,} of {self.total:,} rows of the {self.test} ({100 * self.share:.1f} %)"
        return [f"{share} also {stand} in the {self.train}"]

    def __str__(self) -> str:
        return self.sentences()[0]


def find_leaks(X_train: Any, X_test: Any) -> Leaks:
    """Find the rows of `X_test` that also stand in `X_train`.

    Parameters
    ----------
    X_train, X_test : array, frame or sparse matrix
        Rows with the same columns; missing values are equal to each other.

    Examples
    --------
    >>> import compromis as cp
    >>> leaks = cp.model_selection.find_leaks([[1, 2], [3, 4], [5, 6]], [[3, 4], [7, 8]])
    >>> print(leaks)
    1 of 2 rows of the test set (50.0 %) also stands in the training set
    >>> leaks.rows.tolist(), leaks.sources.tolist()
    ([0], [1])
    """
    total = count_rows(X_test, "X_test")
    first: dict[bytes, int] = {}
    wanted: list[bytes] = []
    if total and count_rows(X_train, "X_train"):
        known, wanted = _row_keys(X_train, X_test)
        for position, key in enumerate(known):
            first.setdefault(key, position)
    sources = np.array([first.get(key, -1) for key in wanted], dtype=np.int64)
    rows = np.flatnonzero(sources >= 0)
    return Leaks(rows=rows, sources=sources[rows], total=total)


def row_groups(X: Any) -> Ints:
    """Return a number for each row, the same for equal rows: as `groups`, it keeps repeated rows in one part of a split.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.model_selection.row_groups([[1, 2], [3, 4], [1, 2]]).tolist()
    [0, 1, 0]
    """
    keys, _ = _row_keys(X, X)
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _row_keys(X_train: Any, X_test: Any) -> tuple[list[bytes], list[bytes]]:
    """Return a key of each row, the same for equal rows of the two sets."""
    if is_sparse(X_train) or is_sparse(X_test):
        if not (is_sparse(X_train) and is_sparse(X_test)):
            raise InputError("one of the two sets is sparse and the other is not; convert one of them")
        _check_width(X_train.shape[1], X_test.shape[1])
        return _sparse_keys(X_train), _sparse_keys(X_test)
    train, test = _columns(X_train, "X_train"), _columns(X_test, "X_test")
    if set(train) != set(test):
        _check_width(len(train), len(test))
        raise InputError(f"the sets have different columns: {shown(set(train) ^ set(test))} only in one of them")
    if not train:
        raise InputError("the sets have no columns, so rows cannot be told apart")
    first, second = zip(*(_patterns(train[name], test[name]) for name in train), strict=True)
    return _dense_keys(first), _dense_keys(second)


def _dense_keys(columns: Sequence[Patterns]) -> list[bytes]:
    keys: list[bytes] = np.column_stack(columns).view(f"V{8 * len(columns)}").ravel().tolist()
    return keys


def _sparse_keys(X: Any) -> list[bytes]:
    matrix = X.tocsr().astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    columns, values = matrix.indices.astype(np.int64), _float_patterns(matrix.data)
    bounds = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [columns[start:end].tobytes() + values[start:end].tobytes() for start, end in bounds]


def _check_width(first: int, second: int) -> None:
    if first != second:
        raise InputError(
            f"X_train has {first} columns, X_test has {second}; rows can be equal only with the same columns"
        )


def _columns(X: Any, name: str) -> dict[Any, NDArray[Any]]:
    if hasattr(X, "columns") or type(X).__module__.startswith("pyarrow"):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        return {series.name: _plain(series) for series in frame.iter_columns()}
    count_rows(X, name)
    array = np.asarray(X)
    flat = array.reshape(len(array), math.prod(array.shape[1:]))
    return {column: flat[:, column] for column in range(flat.shape[1])}


def _plain(series: Any) -> NDArray[Any]:
    if series.dtype.is_numeric() and not series.is_null().any():
        return np.asarray(series.to_numpy())
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def _patterns(first: NDArray[Any], second: NDArray[Any]) -> tuple[Patterns, Patterns]:
    """Return two columns as 64-bit patterns that are equal where the values are."""
    kinds = first.dtype.kind + second.dtype.kind
    if set(kinds) <= set("iub"):
        if "u" not in kinds or max(int(part.max(initial=0)) for part in (first, second)) < 2**63:
            return first.astype(np.int64).view(np.uint64), second.astype(np.int64).view(np.uint64)
    elif set(kinds) <= set("iubf"):
        return _float_patterns(first), _float_patterns(second)
    codes: dict[Any, int] = {}
    return tuple(
        np.fromiter((codes.setdefault(_key(value), len(codes)) for value in part.tolist()), np.uint64, len(part))
        for part in (first, second)
    )  # type: ignore[return-value]


def _float_patterns(values: NDArray[Any]) -> Patterns:
    numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan  # one pattern for every kind of NaN
    patterns: Patterns = numbers.view(np.uint64)
    return patterns


def _key(value: Any) -> Any:
    """A missing value of any kind is one key."""
    return None if value is None or value != value or type(value).__name__ in {"NAType", "NaTType"} else value
