"""The votes of a search, laid out by row and by class; moves to the weights room with its kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats, Ints

Short = NDArray[np.int32]


class VoteTable(NamedTuple):
    """Votes laid out for kernels: dense, or (where `dense` has no rows) the non-zero votes by row and by class."""

    dense: NDArray[Any]
    row_start: Ints
    row_class: Short
    row_value: Floats
    class_start: Ints
    class_row: Short
    class_value: Floats
    """A search reorders the rows of a class by their last flips."""
    smoothing: float


@kernel
def count_row_votes(votes: NDArray[Any], start: Ints) -> None:
    """Write where each row's non-zero votes would start."""
    start[0] = 0
    for i in range(votes.shape[0]):
        found = 0
        for k in range(votes.shape[1]):
            if votes[i, k] > 0.0:
                found += 1
        start[i + 1] = start[i] + found


@kernel
def gather_row_votes(votes: NDArray[Any], column: Short, value: Floats) -> None:
    """Write the non-zero votes row by row."""
    e = 0
    for i in range(votes.shape[0]):
        for k in range(votes.shape[1]):
            if votes[i, k] > 0.0:
                column[e] = k
                value[e] = votes[i, k]
                e += 1


@kernel
def gather_class_votes(table: VoteTable) -> int:
    """Write the non-zero votes class by class, rows in order; return how many there are.

    Without smoothing, a row with votes for one class alone is passed over: no weights can decide it otherwise.
    """
    start, column, value = table.row_start, table.row_class, table.row_value
    class_start, class_row, class_value = table.class_start, table.class_row, table.class_value
    fewest = 1 if table.smoothing > 0.0 else 2
    classes = class_start.size - 1
    class_start[:] = 0
    # count the votes of each class, shifted by one
    for i in range(start.size - 1):
        if start[i + 1] - start[i] >= fewest:
            for e in range(start[i], start[i + 1]):
                class_start[column[e] + 1] += 1
    # sums of the counts are where each class starts
    for k in range(classes):
        class_start[k + 1] += class_start[k]
    # write each vote to the next free entry of its class
    following = class_start[:classes].copy()
    for i in range(start.size - 1):
        if start[i + 1] - start[i] >= fewest:
            for e in range(start[i], start[i + 1]):
                k = column[e]
                class_row[following[k]] = i
                class_value[following[k]] = value[e]
                following[k] += 1
    return class_start[classes]
