"""Nodes that wait to be split, the one of largest gain first: a heap in an array."""

from __future__ import annotations

from typing import Final

import numpy as np

from compromis._typing import Floats
from compromis.kernels.criteria import Flag, Whole
from compromis.kernels.histograms import Numbers
from compromis.kernels.jit import kernel

GAIN: Final = 0  # columns of the nodes' figures
WEIGHT: Final = 1
ROWS: Final = 2
FIGURES: Final = 3


@kernel
def push_best(heap: Numbers, figures: Floats, length: Whole) -> None:
    """Sift the last of `length` entries up a heap ordered by gain, then by the older node."""
    i = length - 1
    while i > 0:
        parent = (i - 1) // 2
        if not comes_first(np.int64(heap[i, 0]), np.int64(heap[parent, 0]), figures):
            return
        swap_rows(heap, i, parent)
        i = parent


@kernel
def pop_best(heap: Numbers, figures: Floats, length: Whole) -> None:
    """Bring the best of `length` entries to the last place and mend the heap of the others."""
    swap_rows(heap, 0, length - 1)
    i = 0
    while True:
        child = 2 * i + 1
        if child >= length - 1:
            return
        if child + 1 < length - 1 and comes_first(np.int64(heap[child + 1, 0]), np.int64(heap[child, 0]), figures):
            child += 1
        if not comes_first(np.int64(heap[child, 0]), np.int64(heap[i, 0]), figures):
            return
        swap_rows(heap, i, child)
        i = child


@kernel
def comes_first(a: Whole, b: Whole, figures: Floats) -> Flag:
    """Whether node `a` is to be split before node `b`: larger gain times weight, else the older one."""
    gain_a = figures[a, GAIN] * figures[a, WEIGHT]
    gain_b = figures[b, GAIN] * figures[b, WEIGHT]
    return gain_a > gain_b or (gain_a == gain_b and a < b)


@kernel
def swap_rows(array: Numbers, i: Whole, j: Whole) -> None:
    """Exchange two rows."""
    for field in range(array.shape[1]):
        value = array[i, field]
        array[i, field] = array[j, field]
        array[j, field] = value
