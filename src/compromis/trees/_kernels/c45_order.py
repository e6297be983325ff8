"""Weka's order of instances by one attribute: its quicksort, ties included.

Weights of instances are summed in this order. With fractional weights another order of equal values gives other
last bits, and those can decide a tie, so a library sort would not do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats

Places = NDArray[np.int32]
"""Positions in an array of keys."""


@kernel
def order_if_needed(keys: Floats, places: Places, i: int, j: int) -> None:
    """Exchange two positions if their keys descend."""
    if keys[places[i]] > keys[places[j]]:
        places[i], places[j] = places[j], places[i]


@kernel
def part(keys: Floats, places: Places, low: int, high: int) -> int:
    """Put the median of three where it belongs within low..high and return its index."""
    centre = (low + high) // 2
    order_if_needed(keys, places, low, centre)
    order_if_needed(keys, places, low, high)
    order_if_needed(keys, places, centre, high)
    # The median of three is in the centre; it waits before the last while the others are parted by it.
    places[centre], places[high - 1] = places[high - 1], places[centre]
    pivot = keys[places[high - 1]]
    i = low
    j = high - 1
    while True:
        # No key up to i is above the pivot, none from j on below it. Keys equal to it stop both scans, as in Weka.
        i += 1
        while keys[places[i]] < pivot:
            i += 1
        j -= 1
        while keys[places[j]] > pivot:
            j -= 1
        if i >= j:
            break
        places[i], places[j] = places[j], places[i]
    places[i], places[high - 1] = places[high - 1], places[i]
    return i


@kernel
def quicksort_places(keys: Floats, places: Places, pending: NDArray[np.int64]) -> None:
    """Order `places` so that keys[places] ascends; `pending` is scratch of twice the length.

    The parts of a range are disjoint, so the order of work does not change the result.
    """
    if len(places) < 2:
        return
    pending[0] = 0
    pending[1] = len(places) - 1
    n_pending = 2
    while n_pending > 0:
        # `pending` holds pairs (low, high) of ranges that are still to be ordered; ranges of up to three are ordered by hand.
        n_pending -= 2
        low = pending[n_pending]
        high = pending[n_pending + 1]
        if high - low > 2:
            at = part(keys, places, low, high)
            pending[n_pending] = low
            pending[n_pending + 1] = at - 1
            pending[n_pending + 2] = at + 1
            pending[n_pending + 3] = high
            n_pending += 4
        elif high - low == 2:
            order_if_needed(keys, places, low, low + 1)
            order_if_needed(keys, places, low, high)
            order_if_needed(keys, places, low + 1, high)
        elif high - low == 1:
            order_if_needed(keys, places, low, high)
