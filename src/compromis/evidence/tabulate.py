"""Rows of two label columns become a table of pairs, in one pass and without a copy of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.labels import CHUNK, LabelColumn
from compromis.labels import plain_label
from compromis.limits import CLASSES

_LARGEST = 2**63 - 1
_WIDEST = 1024
"""The widest range of integers that is counted directly."""

Weights = NDArray[np.float64] | None
Tabulated = tuple[Sequence[Label], NDArray[Any], NDArray[np.float64] | None]


def refuse_many_classes(classes: int) -> None:
    """Refuse more classes than a table of pairs should have: it has the square of them as cells."""
    most = CLASSES.most
    if classes > most:
        raise InputError(
            f"there are more than {most:,} classes; is one of the columns an identifier or a number? "
            f"{CLASSES.setting} raises the limit"
        )


class PairTable:
    """A growing square table of pairs of codes: counts, or weights and squared weights."""

    def __init__(self, *, weighted: bool, low: int = 0) -> None:
        self.cells: NDArray[Any] = np.zeros((2, 16, 16), dtype=np.float64 if weighted else np.int64)
        self.low = low

    @property
    def _high(self) -> int:
        return min(self.low + self.cells.shape[1] - 1, _LARGEST)

    def room_for(self, classes: int) -> None:
        """Make the table at least `classes` wide."""
        width = self.cells.shape[1]
        refuse_many_classes(classes)
        if classes > width:
            wider = max(2 * width, classes)
            cells = np.zeros((2, wider, wider), dtype=self.cells.dtype)
            cells[:, :width, :width] = self.cells
            self.cells = cells

    def add(self, truth: NDArray[np.int64], prediction: NDArray[np.int64], weight: Weights) -> bool:
        """Add one chunk of codes; False if one lies outside the table."""
        from compromis.kernels.counting import count_pairs, weigh_pairs

        if weight is None:
            return count_pairs(truth, prediction, self.low, self._high, self.cells) == len(truth)
        return weigh_pairs(truth, prediction, weight, self.low, self._high, self.cells) == len(truth)

    def add_columns(self, truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> bool:
        """Add whole columns of codes, chunk by chunk; False if one lies outside the table."""
        for start in range(0, len(truth), CHUNK):
            rows = slice(start, start + CHUNK)
            # the kernels are compiled for contiguous, writable int64; anything else is copied, a chunk at a time
            first, second = (
                np.require(column.values[rows], dtype=np.int64, requirements=["C", "A", "W"])
                for column in (truth, prediction)
            )
            if not self.add(first, second, None if weight is None else weight[rows]):
                return False
        return True

    def matrices(self, size: int) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return the counts (or weights), and the squared weights if there are weights."""
        cells = self.cells[:, :size, :size]
        if cells.dtype == np.int64:
            return cells.sum(axis=0), None
        return cells[0].copy(), cells[1].copy()


def tabulate(truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> Tabulated:
    """Return labels, and the table of their pairs (rows truth, columns prediction) with squared weights."""
    if truth.categories is not None and truth.categories == prediction.categories:
        table = PairTable(weighted=weight is not None)
        table.room_for(len(truth.categories))
        table.add_columns(truth, prediction, weight)
        return truth.categories, *table.matrices(len(truth.categories))
    if truth.is_integer and prediction.is_integer and truth.categories is prediction.categories is None:
        by_range = _tabulate_integers(truth, prediction, weight)
        if by_range is not None:
            return by_range
    return _tabulate_by_lookup(truth, prediction, weight)


def _tabulate_integers(truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> Tabulated | None:
    """Count integers by their offset in a range guessed from the first rows; None if the range is too wide."""
    for rows in (CHUNK, len(truth)):
        low, high = _range(truth, prediction, rows)
        if high - low >= _WIDEST or high > _LARGEST:
            return None
        table = PairTable(weighted=weight is not None, low=low)
        table.room_for(high - low + 1)
        if table.add_columns(truth, prediction, weight):
            break
    matrix, squares = table.matrices(table.cells.shape[1])  # all of it: a later label may lie beyond the first guess
    used = np.flatnonzero(matrix.any(axis=0) | matrix.any(axis=1))
    if weight is not None and not weight.all():  # a class whose rows all weigh 0 occurs all the same
        used = np.unique(np.concatenate([column.values for column in (truth, prediction)])).astype(np.int64) - low
    kind = bool if truth.kind == "bool" else int
    labels = [kind(low + offset) for offset in used]
    return labels, matrix[np.ix_(used, used)], None if squares is None else squares[np.ix_(used, used)]


def _range(truth: LabelColumn, prediction: LabelColumn, rows: int) -> tuple[int, int]:
    parts = truth.values[:rows], prediction.values[:rows]
    return min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)


class _Vocabulary(dict[Any, int]):
    """Numbers labels in the order in which they appear."""

    def __missing__(self, label: Any) -> int:
        self[label] = code = len(self)
        return code

    def codes(self, labels: list[Any], name: str) -> NDArray[np.int64]:
        """Return the numbers of the labels."""
        try:
            return np.fromiter(map(self.__getitem__, labels), dtype=np.int64, count=len(labels))
        except TypeError:
            raise InputError(
                f"{name} holds something that cannot be a label, such as a list; labels are text or numbers"
            ) from None


def _tabulate_by_lookup(truth: LabelColumn, prediction: LabelColumn, weight: Weights) -> Tabulated:
    vocabulary, table = _Vocabulary(), PairTable(weighted=weight is not None)
    for number, pair in enumerate(zip(truth.lists(), prediction.lists(), strict=True)):
        first, second = (
            vocabulary.codes(labels, name) for labels, name in zip(pair, (truth.name, prediction.name), strict=True)
        )
        table.room_for(len(vocabulary))
        table.add(first, second, None if weight is None else weight[number * CHUNK : (number + 1) * CHUNK])
    return [plain_label(label) for label in vocabulary], *table.matrices(len(vocabulary))
