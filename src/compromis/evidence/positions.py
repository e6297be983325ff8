"""Labels as positions in an order of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError, shown
from compromis.evidence.labels import LabelColumn, read_classes, read_labels
from compromis.labels import plain_label
from compromis.limits import check_labels

_WIDEST = 1 << 16
"""The widest range of integers that is looked up in a table."""


def read_positions(column: LabelColumn, labels: Sequence[Any] | None) -> tuple[NDArray[np.int64], tuple[Label, ...]]:
    """Return the position of each label, and the classes: `labels` if given, else categories, else those that occur, sorted.

    Raises
    ------
    InputError
        If `labels` repeats a class or misses one that occurs.
    """
    codes, found = _codes(column)
    check_labels(found)
    order = _order(column, found, labels)
    place = {label: position for position, label in enumerate(order)}
    missing = [label for label in found if label not in place]
    if missing:
        raise InputError(
            f"labels misses {shown(missing)}, which {column.name} has; add {'it' if len(missing) == 1 else 'them'} to labels"
        )
    places = np.array([place[label] for label in found], dtype=np.int64)
    if np.array_equal(places, np.arange(len(found))):
        return codes, order
    return places[codes], order


def positions_in(values: Any, classes: Sequence[Label], name: str) -> NDArray[np.int64]:
    """Return the position of each row's class in `classes`, which must hold them all; `name` is what messages call the rows."""
    return read_positions(read_labels(values, name), classes)[0]


def _order(column: LabelColumn, found: Sequence[Label], labels: Sequence[Any] | None) -> tuple[Label, ...]:
    if labels is None:
        return column.categories if column.categories is not None else tuple(found)
    return read_classes(labels)


def _codes(column: LabelColumn) -> tuple[NDArray[np.int64], list[Label]]:
    """Number the labels by their order among those that occur."""
    values = column.values
    if column.categories is not None:
        present, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), [column.categories[code] for code in present]
    if column.is_integer and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < _WIDEST and high < 2**63:
            return _integer_codes(values, low, high, bool if column.kind == "bool" else int)
    if values.dtype.kind == "O":
        return _object_codes(column)
    present, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), [plain_label(label) for label in present]


def _integer_codes(values: NDArray[Any], low: int, high: int, kind: type) -> tuple[NDArray[np.int64], list[Label]]:
    offset = values.astype(np.int64) - low if low else np.require(values, dtype=np.int64, requirements=["C", "A", "W"])
    present = np.flatnonzero(np.bincount(offset, minlength=high - low + 1))
    found: list[Label] = [kind(low + place) for place in present]
    if len(present) == high - low + 1:
        return offset, found
    lookup = np.zeros(high - low + 1, dtype=np.int64)
    lookup[present] = np.arange(len(present))
    return lookup[offset], found


def _object_codes(column: LabelColumn) -> tuple[NDArray[np.int64], list[Label]]:
    found = set().union(*(set(chunk) for chunk in column.lists()))
    try:
        ordered = sorted(found)
    except TypeError:
        raise InputError(
            f"the labels of {column.name} have no order ({shown(list(found))}); pass labels= in the order wanted"
        ) from None
    place = {label: position for position, label in enumerate(ordered)}
    parts = [np.fromiter(map(place.__getitem__, chunk), dtype=np.int64, count=len(chunk)) for chunk in column.lists()]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64), [plain_label(label) for label in ordered]
