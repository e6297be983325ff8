"""Arrays and data frames as the tables C4.5 takes: numeric and nominal columns apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError, shown
from compromis.estimators.columns import Column, numbers_of
from compromis.trees.c45 import Attribute, Table


def attributes_of(columns: Sequence[Column]) -> tuple[Attribute, ...]:
    """The columns for the tree, categories as text."""
    return tuple(
        Attribute(column.name, None if column.categories is None else tuple(str(c) for c in column.categories))
        for column in columns
    )


def frame_table(frame: Any, columns: Sequence[Column]) -> Table:
    """The frame's values; categories not seen in training are missing."""
    numeric: list[NDArray[np.float64]] = []
    nominal: list[NDArray[np.int32]] = []
    for series, column in zip(frame.iter_columns(), columns, strict=True):
        if column.categories is None:
            numeric.append(numbers_of(series))
        else:
            nominal.append(column.codes(series.to_list()))
    return _table(columns, numeric, nominal, len(frame))


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
        attributes_of(columns),
        np.array(numeric, dtype=np.float64).reshape(len(numeric), n_rows),
        np.array(nominal, dtype=np.int32).reshape(len(nominal), n_rows),
    )
