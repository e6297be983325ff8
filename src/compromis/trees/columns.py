"""Arrays and data frames for trees: which columns are nominal, and the codes of their values."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import shown
from compromis._typing import Flags, Floats
from compromis.errors import InputError

Matrix = NDArray[np.floating]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Column:
    """A column as seen in training: its name and, if it is nominal, its categories in the order of their codes."""

    name: str
    categories: tuple[Hashable, ...] | None = None

    @property
    def is_nominal(self) -> bool:
        """Whether the column holds one of a few categories rather than a number."""
        return self.categories is not None

    def codes(self, values: Sequence[Any]) -> Codes:
        """Return the code of each value; missing values and categories not seen in training are -1."""
        assert self.categories is not None
        code = {category: number for number, category in enumerate(self.categories)}
        try:
            return np.array([code.get(value, -1) for value in values], dtype=np.int32)
        except TypeError as error:
            raise InputError(f"column {self.name!r} was nominal in training, now it holds lists; convert it") from error


def as_frame(X: Any) -> Any:
    """Return X as a narwhals frame if it is an eager data frame, else None."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    import narwhals as nw  # only where a frame may have come in

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError("X has several columns of the same name; rename them") from error
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"X is a lazy frame ({type(X).__name__}); collect it first")
    return frame if isinstance(frame, nw.DataFrame) else None


def describe_columns(rows: Any, names: Sequence[str], nominal: Flags) -> tuple[Column, ...]:
    """Return names and categories of the columns of an array or narwhals frame.

    Nominal are text, booleans and categoricals of a frame, and the columns marked in `nominal`. Declared categories keep their
    order; text is sorted, and so is what polars and pyarrow call categorical, which has none.
    """
    if isinstance(rows, np.ndarray):
        return tuple(
            Column(str(name), _distinct(rows[:, index].tolist()) if nominal[index] else None)
            for index, name in enumerate(names)
        )
    return tuple(
        Column(str(series.name), _distinct(series.to_list()) if asked and _is_numeric(series) else _categories(series))
        for series, asked in zip(rows.iter_columns(), nominal, strict=True)
    )


def values_by_column(rows: Any, columns: Sequence[Column]) -> Iterator[Floats | Codes]:
    """Yield the numbers (NaN: missing) or the codes (-1: missing) of each column of an array or narwhals frame."""
    if isinstance(rows, np.ndarray):
        for column, values in zip(columns, rows.T, strict=True):
            yield column.codes(values.tolist()) if column.is_nominal else values
    else:
        for column, series in zip(columns, rows.iter_columns(), strict=True):
            yield column.codes(series.to_list()) if column.is_nominal else _numbers(series)


def matrix_of(rows: Any, columns: Sequence[Column]) -> Matrix:
    """Return numbers and codes in one matrix, NaN where a value is missing; an array of numbers is not copied."""
    if isinstance(rows, np.ndarray) and not any(column.is_nominal for column in columns):
        return rows
    matrix = np.empty((len(rows), len(columns)), dtype=np.float64)
    for index, (column, values) in enumerate(zip(columns, values_by_column(rows, columns), strict=True)):
        matrix[:, index] = np.where(values < 0, np.nan, values) if column.is_nominal else values
    return matrix


def nominal_mask(categorical_features: Any, names: Sequence[str]) -> Flags:
    """Return which columns are asked to be nominal, by name, by index or by a mask."""
    mask = np.zeros(len(names), dtype=bool)
    if categorical_features is None:
        return mask
    asked = np.asarray(categorical_features)
    if asked.dtype == bool:
        if asked.shape != mask.shape:
            raise InputError(
                f"categorical_features has {asked.size} entries for {len(names)} columns; give one for each"
            )
        return asked
    for item in asked.ravel().tolist():
        if isinstance(item, str) and item in names:
            mask[list(names).index(item)] = True
        elif isinstance(item, int) and -len(names) <= item < len(names):
            mask[item] = True
        else:
            raise InputError(
                f"categorical_features names {item!r}, which is not a column; the columns are {shown(names)}"
            )
    return mask


def _is_numeric(series: Any) -> bool:
    import narwhals as nw

    return series.dtype.is_numeric() or (series.dtype == nw.Unknown and series.is_null().all())


def _categories(series: Any) -> tuple[Hashable, ...] | None:
    """Return the nominal values a column may take, None for a numeric column."""
    import narwhals as nw

    if _is_numeric(series):
        return None
    if series.dtype == nw.Boolean:
        return (False, True)
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        return tuple(series.to_native().cat.categories)
    if series.dtype == nw.Enum:
        return tuple(series.dtype.categories)
    if series.dtype in (nw.String, nw.Categorical):
        return _distinct(series.to_list())
    if series.dtype == nw.Object:
        known = series.drop_nulls().to_list()
        if all(isinstance(value, bool | np.bool_) for value in known):
            return (False, True) if known else None
        if all(isinstance(value, numbers.Real) for value in known):
            return None
        if all(isinstance(value, str) for value in known):
            return _distinct(known)
    raise InputError(
        f"column {series.name!r} has type {series.dtype}, which is neither numeric, text, categorical nor boolean; "
        "convert it or leave it out"
    )


def _distinct(values: Sequence[Any]) -> tuple[Hashable, ...]:
    """Return the distinct values in order, missing ones left out."""
    return tuple(sorted({value for value in values if value is not None and value == value}))  # NaN is not itself


def _numbers(series: Any) -> Floats:
    """Return the column as float64, missing values as NaN; other types than in training are an error."""
    import narwhals as nw

    missing = series.is_null().to_numpy()
    if series.dtype == nw.Object:
        known = [np.nan if gone else value for value, gone in zip(series.to_list(), missing, strict=True)]
        try:
            values = np.array(known, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"column {series.name!r} was numeric in training, now it holds other values") from error
    elif series.dtype.is_numeric() or missing.all():
        values = np.full(len(series), np.nan)
        values[~missing] = series.drop_nulls().cast(nw.Float64).to_numpy()
    else:
        raise InputError(f"column {series.name!r} was numeric in training, now it is {series.dtype}; convert it")
    if np.isinf(values).any():
        raise InputError(f"column {series.name!r} has infinite values; replace them by missing or large finite values")
    return values
