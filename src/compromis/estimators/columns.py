"""Arrays and data frames as numbers for trees: which columns are nominal, and the codes of their values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError, shown

Matrix = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Column:
    """A column as seen in training: its name and, if it is nominal, its categories in the order of their codes."""

    name: str
    categories: tuple[Hashable, ...] | None = None

    def codes(self, values: Sequence[Any]) -> NDArray[np.float64]:
        """The code of each value; missing values and categories not seen in training are NaN."""
        assert self.categories is not None
        code = {category: float(number) for number, category in enumerate(self.categories)}
        return np.array([code.get(value, np.nan) for value in values], dtype=np.float64)


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
    """Names and categories of a frame's columns: text, booleans and categoricals are nominal, and those asked for."""
    return tuple(
        Column(str(series.name), _categories(series.to_list()) if asked or _is_nominal(series) else None)
        for series, asked in zip(frame.iter_columns(), nominal, strict=True)
    )


def array_columns(X: Matrix, names: Sequence[str], nominal: NDArray[np.bool_]) -> tuple[Column, ...]:
    """Names and categories of an array's columns."""
    return tuple(
        Column(str(name), _categories(X[:, place].tolist()) if nominal[place] else None)
        for place, name in enumerate(names)
    )


def frame_matrix(frame: Any, columns: Sequence[Column]) -> Matrix:
    """The frame's numbers and codes; a text column where training had numbers is an error."""
    matrix = np.empty((len(frame), len(columns)), dtype=np.float64)
    for place, (column, series) in enumerate(zip(columns, frame.iter_columns(), strict=True)):
        matrix[:, place] = _numbers(series) if column.categories is None else column.codes(series.to_list())
    return matrix


def array_matrix(X: Matrix, columns: Sequence[Column]) -> Matrix:
    """The array with the codes of nominal columns in place of their values."""
    if all(column.categories is None for column in columns):
        return X
    coded = np.array(X, dtype=np.float64)
    for place, column in enumerate(columns):
        if column.categories is not None:
            coded[:, place] = column.codes(X[:, place].tolist())
    return coded


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


def _is_nominal(series: Any) -> bool:
    import narwhals as nw

    kinds = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Object)
    return any(series.dtype == kind for kind in kinds)


def _categories(values: Sequence[Any]) -> tuple[Hashable, ...]:
    """The distinct values, missing ones left out, sorted where they can be."""
    distinct = {value for value in values if value is not None and value == value}  # NaN is not itself
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))


def _numbers(series: Any) -> NDArray[np.float64]:
    import narwhals as nw

    if not series.dtype.is_numeric():
        raise InputError(
            f"column {series.name!r} has values of type {series.dtype}, and trees take numbers, text and categories; "
            f"convert the column first"
        )
    numbers = np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if np.isinf(numbers).any():
        raise InputError(f"column {series.name!r} has infinite values; replace them by missing or large finite values")
    return numbers
