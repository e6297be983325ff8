"""Arrays and data frames for trees: which columns are nominal, and the codes of their values."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import shown
from compromis.errors import InputError

Matrix = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Column:
    """A column as seen in training: its name and, if it is nominal, its categories in the order of their codes."""

    name: str
    categories: tuple[Hashable, ...] | None = None

    def codes(self, values: Sequence[Any]) -> NDArray[np.int32]:
        """The code of each value; missing values and categories not seen in training are -1."""
        assert self.categories is not None
        code = {category: number for number, category in enumerate(self.categories)}
        try:
            return np.array([code.get(value, -1) for value in values], dtype=np.int32)
        except TypeError as error:
            raise InputError(f"column {self.name!r} was nominal in training, now it holds lists; convert it") from error


def as_frame(X: Any) -> Any:
    """X as a narwhals frame if it is an eager data frame, else None."""
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


def frame_columns(frame: Any, nominal: NDArray[np.bool_]) -> tuple[Column, ...]:
    """Names and categories of a frame's columns: text, booleans and categoricals are nominal, and those asked for.

    Declared categories keep their order; text is sorted, and so is what polars and pyarrow call categorical, which has none.
    """
    return tuple(
        Column(str(series.name), _distinct(series.to_list()) if asked and _is_numeric(series) else _categories(series))
        for series, asked in zip(frame.iter_columns(), nominal, strict=True)
    )


def array_columns(X: Matrix, names: Sequence[str], nominal: NDArray[np.bool_]) -> tuple[Column, ...]:
    """Names and categories of an array's columns."""
    return tuple(
        Column(str(name), _distinct(X[:, place].tolist()) if nominal[place] else None)
        for place, name in enumerate(names)
    )


def feature_names(estimator: Any) -> list[str]:
    """The names seen in training, or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]


def frame_matrix(frame: Any, columns: Sequence[Column]) -> Matrix:
    """The frame's numbers and codes; a text column where training had numbers is an error."""
    matrix = np.empty((len(frame), len(columns)), dtype=np.float64)
    for place, (column, series) in enumerate(zip(columns, frame.iter_columns(), strict=True)):
        matrix[:, place] = numbers_of(series) if column.categories is None else _floats(column.codes(series.to_list()))
    return matrix


def array_matrix(X: Matrix, columns: Sequence[Column]) -> Matrix:
    """The array with the codes of nominal columns in place of their values."""
    if all(column.categories is None for column in columns):
        return X
    coded = np.array(X, dtype=np.float64)
    for place, column in enumerate(columns):
        if column.categories is not None:
            coded[:, place] = _floats(column.codes(X[:, place].tolist()))
    return coded


def _floats(codes: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.where(codes < 0, np.nan, codes)


def nominal_mask(categorical_features: Any, names: Sequence[str]) -> NDArray[np.bool_]:
    """Which columns are asked to be nominal, by name, by place or by a mask."""
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
    """The nominal values a column may take, None for a numeric column."""
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
        return _object_categories(series)
    raise _unusable(series)


def _object_categories(series: Any) -> tuple[Hashable, ...] | None:
    known = series.drop_nulls().to_list()
    if all(isinstance(value, bool | np.bool_) for value in known):
        return (False, True) if known else None
    if all(isinstance(value, numbers.Real) for value in known):
        return None
    if all(isinstance(value, str) for value in known):
        return _distinct(known)
    raise _unusable(series)


def _distinct(values: Sequence[Any]) -> tuple[Hashable, ...]:
    """The distinct values in order, missing ones left out."""
    return tuple(sorted({value for value in values if value is not None and value == value}))  # NaN is not itself


def _unusable(series: Any) -> InputError:
    return InputError(
        f"column {series.name!r} has type {series.dtype}, which is neither numeric, text, categorical nor boolean; "
        "convert it or leave it out"
    )


def numbers_of(series: Any) -> NDArray[np.float64]:
    """The column as float64, missing values as NaN."""
    import narwhals as nw

    missing = series.is_null().to_numpy()
    if series.dtype == nw.Object:
        values = _as_float(
            [np.nan if gone else value for value, gone in zip(series.to_list(), missing, strict=True)], series
        )
    elif series.dtype.is_numeric() or missing.all():
        values = np.full(len(series), np.nan)
        values[~missing] = series.drop_nulls().cast(nw.Float64).to_numpy()
    else:
        raise InputError(f"column {series.name!r} was numeric in training, now it is {series.dtype}; convert it")
    if np.isinf(values).any():
        raise InputError(f"column {series.name!r} has infinite values; replace them by missing or large finite values")
    return values


def _as_float(values: list[Any], series: Any) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"column {series.name!r} was numeric in training, now it holds other values") from error
