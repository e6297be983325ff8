"""Arrays and data frames as tables for C4.5: which columns are nominal, and the codes of their values."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError, shown
from compromis.trees.c45 import Attribute, Table


@dataclass(frozen=True, slots=True)
class Column:
    """A column as seen in training: its name and, if it is nominal, its categories in order."""

    name: str
    categories: tuple[Hashable, ...] | None = None

    def attribute(self) -> Attribute:
        """The column for the tree, categories as text."""
        return Attribute(self.name, None if self.categories is None else tuple(str(c) for c in self.categories))


def is_frame(X: object) -> bool:
    """Whether X is a data frame that narwhals can read without collecting anything."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    import narwhals as nw  # only where a frame may have come in

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError("X has several columns of the same name; rename them") from error
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy frame ({type(X).__name__}); collect it first")
    return isinstance(frame, nw.DataFrame)


def learn_columns(X: Any) -> tuple[Column, ...]:
    """Kinds and categories of a frame's columns.

    Categories keep their order; text is sorted, and so is what polars and pyarrow call categorical, which has none.
    """
    return tuple(Column(str(series.name), _categories(series)) for series in _series(X))


def array_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Numeric columns of these names."""
    return tuple(Column(str(name)) for name in names)


def frame_table(X: Any, columns: Sequence[Column]) -> Table:
    """The frame's values; categories not seen in training are missing."""
    numeric: list[NDArray[np.float64]] = []
    nominal: list[NDArray[np.int32]] = []
    for series, column in zip(_series(X), columns, strict=True):
        if column.categories is None:
            numeric.append(_numbers(series))
        else:
            nominal.append(_codes(series, column.categories))
    return _table(columns, numeric, nominal, len(X))


def array_table(X: NDArray[np.float64], columns: Sequence[Column]) -> Table:
    """The values of an array whose columns are all numeric."""
    named = [column.name for column in columns if column.categories is not None]
    if named:
        raise InputError(
            f"X is an array, but the tree was grown on a data frame with the nominal columns {shown(named)}; "
            "pass a data frame with the same columns"
        )
    return _table(columns, list(X.T), [], len(X))


def _table(
    columns: Sequence[Column], numeric: list[NDArray[np.float64]], nominal: list[NDArray[np.int32]], n_rows: int
) -> Table:
    return Table(
        tuple(column.attribute() for column in columns),
        np.array(numeric, dtype=np.float64).reshape(len(numeric), n_rows),
        np.array(nominal, dtype=np.int32).reshape(len(nominal), n_rows),
    )


def _series(X: Any) -> list[Any]:
    import narwhals as nw

    return list(nw.from_native(X, eager_only=True).iter_columns())


def _categories(series: Any) -> tuple[Hashable, ...] | None:
    """The nominal values a column may take, None for a numeric column."""
    import narwhals as nw

    if series.dtype.is_numeric() or (series.dtype == nw.Unknown and series.is_null().all()):
        return None
    if series.dtype == nw.Boolean:
        return (False, True)
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        return tuple(series.to_native().cat.categories)
    if series.dtype == nw.Enum:
        return tuple(series.dtype.categories)
    if series.dtype in (nw.String, nw.Categorical):
        return tuple(sorted(set(series.drop_nulls().to_list())))
    if series.dtype == nw.Object:
        return _object_categories(series)
    raise _unusable(series)


def _object_categories(series: Any) -> tuple[Hashable, ...] | None:
    known = series.drop_nulls().to_list()
    if all(isinstance(value, bool | np.bool_) for value in known):
        return (False, True) if known else None
    if all(isinstance(value, numbers.Real) for value in known):
        return None
    if all(isinstance(value, str) for value in known):
        return tuple(sorted(set(known)))
    raise _unusable(series)


def _unusable(series: Any) -> TypeError:
    return TypeError(
        f"column {series.name!r} has type {series.dtype}, which is neither numeric, text, categorical nor boolean; "
        "convert it or leave it out"
    )


def _numbers(series: Any) -> NDArray[np.float64]:
    """The column as float64, missing values as NaN."""
    import narwhals as nw

    missing = series.is_null().to_numpy()
    if series.dtype == nw.Object:
        values = np.array([np.nan if gone else value for value, gone in zip(series.to_list(), missing, strict=True)])
        values = _as_float(values, series)
    elif series.dtype.is_numeric() or missing.all():
        values = np.full(len(series), np.nan)
        values[~missing] = series.drop_nulls().cast(nw.Float64).to_numpy()
    else:
        raise InputError(f"column {series.name!r} was numeric in training, now it is {series.dtype}; convert it")
    if np.isinf(values).any():
        raise InputError(f"column {series.name!r} of X contains infinity; values must be finite or missing")
    return values


def _as_float(values: NDArray[Any], series: Any) -> NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {series.name!r} was numeric in training, now it holds other values") from error


def _codes(series: Any, categories: Sequence[Hashable]) -> NDArray[np.int32]:
    """Index of each value among the categories, -1 where it is missing or unseen."""
    code = {category: i for i, category in enumerate(categories)}
    missing = series.is_null().to_list()
    values = zip(series.to_list(), missing, strict=True)
    try:
        return np.array([-1 if gone else code.get(value, -1) for value, gone in values], dtype=np.int32)
    except TypeError as error:
        raise InputError(f"column {series.name!r} was nominal in training, now it is {series.dtype}") from error
