"""Sorting of positive numbers that spread over their logarithms."""

from __future__ import annotations

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Floats, Ints


@kernel
def insertion_sort(values: Floats, order: Ints, begin: int, end: int) -> None:
    """Sort a short part of `order` by `values`, equal ones in their order."""
    for e in range(begin + 1, end):
        entry = order[e]
        value = values[entry]
        slot = e - 1
        while slot >= begin and values[order[slot]] > value:
            order[slot + 1] = order[slot]
            slot -= 1
        order[slot + 1] = entry


@kernel
def merge_sort(values: Floats, order: Ints, begin: int, end: int) -> None:
    """Sort a part of `order` by `values`, equal ones in their order."""
    # short runs by insertion, then merge runs of doubling width from one buffer into the other
    width, count = 8, end - begin
    for low in range(begin, end, width):
        insertion_sort(values, order, low, min(low + width, end))
    source, target = order[begin:end].copy(), np.empty(count, dtype=np.int64)
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            a, b = low, middle
            for e in range(low, high):
                if b == high or (a < middle and values[source[a]] <= values[source[b]]):
                    target[e] = source[a]
                    a += 1
                else:
                    target[e] = source[b]
                    b += 1
        source, target = target, source
        width *= 2
    order[begin:end] = source


@kernel
def sort_order(values: Floats) -> Ints:
    """Return the positions of positive `values` from the smallest to the largest, equal ones in their order.

    The bits of positive floats grow about as their logarithm: spread over as many buckets as there are values, most
    buckets hold a few.
    """
    count = values.size
    order = np.empty(count, dtype=np.int64)
    if count == 0:
        return order
    # how many values fall into each bucket, and where it starts
    bits = values.view(np.int64)
    lowest, highest = bits[0], bits[0]
    for e in range(1, count):
        lowest, highest = min(lowest, bits[e]), max(highest, bits[e])
    scale = (count - 1) / max(float(highest - lowest), 1.0)
    bucket = np.empty(count, dtype=np.int64)
    start = np.zeros(count + 1, dtype=np.int64)
    for e in range(count):
        bucket[e] = min(int((bits[e] - lowest) * scale), count - 1)
        start[bucket[e] + 1] += 1
    for b in range(count):
        start[b + 1] += start[b]
    # deal them out in their order, then sort within each bucket
    slot = start[:count].copy()
    for e in range(count):
        order[slot[bucket[e]]] = e
        slot[bucket[e]] += 1
    for b in range(count):
        begin, end = start[b], start[b + 1]
        if end - begin > 24:
            merge_sort(values, order, begin, end)
        elif end - begin > 1:
            insertion_sort(values, order, begin, end)
    return order
