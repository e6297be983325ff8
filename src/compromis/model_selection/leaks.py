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
Columns = Sequence[Patterns]
_MULTIPLIER, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@dataclass(frozen=True, eq=False, kw_only=True)
class Leaks(Result):
    """The rows of one set that also occur in another."""

    rows: Ints
    """The positions, in the test set, of rows that also occur in the training set."""
    sources: Ints
    """For each of them, the position of an equal row in the training set."""
    total: int
    """The number of rows of the test set."""
    test: str = "test set"
    train: str = "training set"
    """What the two sets are called."""

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
    """Find the rows of `X_test` that also occur in `X_train`.

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
    sources = np.full(total, -1)
    if total and count_rows(X_train, "X_train"):
        sources = _first_equal(*_read_rows(X_train, X_test))
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
    columns, _ = _read_rows(X, X)
    return np.unique(_first_equal(columns, columns), return_inverse=True)[1]


def _first_equal(known: Columns, wanted: Columns) -> Ints:
    """Return for each wanted row the position of the first known row that equals it, -1 where there is none.

    Rows are looked up by a hash, and those of equal hashes compared column by column.
    """
    hashes, sought = row_hashes(known), row_hashes(wanted)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    place = np.searchsorted(hashes, sought)
    sources = np.full(len(sought), -1)
    open_rows = np.arange(len(sought))
    while open_rows.size:
        open_rows = open_rows[place[open_rows] < len(hashes)]
        open_rows = open_rows[hashes[place[open_rows]] == sought[open_rows]]
        found = order[place[open_rows]]
        same = np.ones(len(found), dtype=bool)
        for first, second in zip(known, wanted, strict=True):
            same &= first[found] == second[open_rows]
        sources[open_rows[same]] = found[same]
        open_rows = open_rows[~same]  # another row has the same hash by chance: try the next one
        place[open_rows] += 1
    return sources


def row_hashes(columns: Columns) -> Patterns:
    """Return a hash of each row; different rows may share one."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        total += column ^ (column >> _HALF)  # the low half of a float is often 0
        total *= _MULTIPLIER
        total ^= total >> _HALF
    return total


def _read_rows(X_train: Any, X_test: Any) -> tuple[Columns, Columns]:
    """Return the columns of both sets as patterns that are equal where the values are; a sparse row is one pattern."""
    if is_sparse(X_train) or is_sparse(X_test):
        if not (is_sparse(X_train) and is_sparse(X_test)):
            raise InputError("one of the two sets is sparse and the other is not; convert one of them")
        _check_width(X_train.shape[1], X_test.shape[1])
        first, second = _numbered(_sparse_keys(X_train), _sparse_keys(X_test))
        return [first], [second]
    train, test = _columns(X_train, "X_train"), _columns(X_test, "X_test")
    if set(train) != set(test):
        _check_width(len(train), len(test))
        raise InputError(f"the sets have different columns: {shown(set(train) ^ set(test))} only in one of them")
    if not train:
        raise InputError("the sets have no columns, so rows cannot be told apart")
    pairs = [_patterns(train[name], test[name]) for name in train]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _sparse_keys(X: Any) -> list[bytes]:
    matrix = X.tocsr().astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    columns, values = matrix.indices.astype(np.int64), _float_patterns(matrix.data)
    bounds = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    return [columns[start:end].tobytes() + values[start:end].tobytes() for start, end in bounds]


def _numbered(first: Sequence[Any], second: Sequence[Any]) -> tuple[Patterns, Patterns]:
    """Return a number for each value, the same for equal ones."""
    numbers: dict[Any, int] = {}
    codes = [
        np.fromiter((numbers.setdefault(value, len(numbers)) for value in part), np.uint64, len(part))
        for part in (first, second)
    ]
    return codes[0], codes[1]


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
    return _numbered([*map(_key, first.tolist())], [*map(_key, second.tolist())])


def _float_patterns(values: NDArray[Any]) -> Patterns:
    numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan  # one pattern for every kind of NaN
    patterns: Patterns = numbers.view(np.uint64)
    return patterns


def _key(value: Any) -> Any:
    """Return a key of a value, the same for missing values of any kind."""
    return None if value is None or value != value or type(value).__name__ in {"NAType", "NaTType"} else value
