"""Find duplicate rows across sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._rows import count_rows, is_sparse
from compromis._text import shown
from compromis._typing import Flags, Ints
from compromis.errors import InputError
from compromis.evaluation.render.result import Result

Hashes = NDArray[np.uint64]


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

    Notes
    -----
    Rows are hashed to 64 bits, hashes are looked up, and rows with equal hashes are compared value by value.

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
    if total == 0 or count_rows(X_train, "X_train") == 0:
        return Leaks(rows=np.empty(0, np.int64), sources=np.empty(0, np.int64), total=total)
    train, test = _comparable(X_train, X_test)
    hashes, wanted = _hash(train), _hash(test)
    order = np.argsort(hashes, kind="stable")
    at = np.searchsorted(hashes[order], wanted)
    rows = np.flatnonzero(at < len(order))
    rows = rows[hashes[order[at[rows]]] == wanted[rows]]
    sources = order[at[rows]].astype(np.int64)
    same = _equal_rows(train, sources, test, rows)
    return Leaks(rows=rows[same].astype(np.int64), sources=sources[same], total=total)


def row_groups(X: Any) -> Ints:
    """Return a number for each row, the same for equal rows: as `groups`, it keeps repeated rows in one part of a split.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.model_selection.row_groups([[1, 2], [3, 4], [1, 2]]).tolist()
    [0, 1, 0]
    """
    train, _ = _comparable(X, X)
    _, first, group = np.unique(_hash(train), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: Ints = rank[group]
    return numbers


Comparable = Any
"""A list of columns of 64-bit patterns, or a canonical CSR matrix."""


def _comparable(X_train: Any, X_test: Any) -> tuple[Comparable, Comparable]:
    if is_sparse(X_train) or is_sparse(X_test):
        if not (is_sparse(X_train) and is_sparse(X_test)):
            raise InputError("one of the two sets is sparse and the other is not; convert one of them")
        _check_width(X_train.shape[1], X_test.shape[1])
        return _canonical(X_train), _canonical(X_test)
    train, test = _columns(X_train, "X_train"), _columns(X_test, "X_test")
    if set(train) != set(test):
        _check_width(len(train), len(test))
        raise InputError(f"the sets have different columns: {shown(set(train) ^ set(test))} only in one of them")
    pairs = [_patterns(train[name], test[name]) for name in train]
    return [first for first, _ in pairs], [second for _, second in pairs]


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


def _patterns(first: NDArray[Any], second: NDArray[Any]) -> tuple[Hashes, Hashes]:
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


def _float_patterns(values: NDArray[Any]) -> Hashes:
    numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan  # one pattern for every kind of NaN
    patterns: Hashes = numbers.view(np.uint64)
    return patterns


def _key(value: Any) -> Any:
    """A missing value of any kind is one key."""
    return None if value is None or value != value or type(value).__name__ in {"NAType", "NaTType"} else value


def _canonical(X: Any) -> Any:
    matrix = X.tocsr().astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _hash(rows: Comparable) -> Hashes:
    """Sum a mixture of column and value over each row; of a sparse row, over what it stores."""
    if isinstance(rows, list):
        total = np.zeros(len(rows[0]) if rows else 0, dtype=np.uint64)
        for column, values in enumerate(rows):
            total += _mixed(values, np.uint64(column))
        return total
    entries = _mixed(_float_patterns(rows.data), rows.indices.astype(np.uint64))
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    hashes: Hashes = running[rows.indptr[1:]] - running[rows.indptr[:-1]]
    return hashes


def _mixed(values: Hashes, column: Any) -> Hashes:
    """Scramble as splitmix64 does (Steele, Lea and Flood 2014), once for the column and once for the value."""
    with np.errstate(over="ignore"):
        seed = (column + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        return np.asarray(_scrambled(values ^ _scrambled(np.atleast_1d(seed))))


def _scrambled(z: Hashes) -> Hashes:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _equal_rows(train: Comparable, sources: Ints, test: Comparable, rows: NDArray[Any]) -> Flags:
    if isinstance(train, list):
        same = np.ones(len(rows), dtype=bool)
        for first, second in zip(train, test, strict=True):
            same &= first[sources] == second[rows]
        return same
    equal: Flags = np.asarray((train[sources] != test[rows]).sum(axis=1)).ravel() == 0
    return equal
