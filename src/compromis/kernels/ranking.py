"""Merging two sorted lists of scores into the cuts of a ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.kernels.jit import kernel

Floats = NDArray[np.float64]


@kernel
def count_cuts(positive: Floats, negative: Floats, threshold: Floats, above: NDArray[np.int64]) -> int:
    """Write every distinct score, falling, with the positives and negatives at or above it; return how many there are.

    `positive` and `negative` are sorted upwards. `above` has two rows: true and false positives.
    """
    i, j = positive.size - 1, negative.size - 1
    cut = 0
    while i >= 0 or j >= 0:
        score = positive[i] if j < 0 or (i >= 0 and positive[i] >= negative[j]) else negative[j]
        while i >= 0 and positive[i] == score:
            i -= 1
        while j >= 0 and negative[j] == score:
            j -= 1
        threshold[cut] = score
        above[0, cut] = positive.size - 1 - i
        above[1, cut] = negative.size - 1 - j
        cut += 1
    return cut
