"""Adding operating points of disjoint rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.evidence.room import check_room


def merge(first: OperatingPoints, second: OperatingPoints) -> OperatingPoints:
    """Return the points of both sets of rows together, as if they had been counted at once.

    Cuts of the same score are merged at every threshold of either; bins must have the same edges, groups the same
    names.
    """
    if first.pos_label != second.pos_label:
        raise InputError(
            f"points for {first.pos_label!r} and for {second.pos_label!r} do not add up; count both for one class"
        )
    if first.names != second.names:
        raise InputError("groups add up with groups of the same names, in the same order; these differ")
    same = np.array_equal(first.threshold, second.threshold, equal_nan=True)
    if not same and (first.binned or second.binned):
        raise InputError("binned points add up only with points of the same thresholds; count both with the same edges")
    check_room(first.positives + second.positives + first.negatives + second.negatives)
    threshold, hits, alarms = _aligned(first, second) if same else _interleaved(first, second)
    totals = first.positives + second.positives, first.negatives + second.negatives
    return OperatingPoints(threshold, hits, alarms, *totals, first.pos_label, first.names, first.binned)


def _aligned(first: OperatingPoints, second: OperatingPoints) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    hits, alarms = (a + b for a, b in _counts(first, second))
    return first.threshold, hits, alarms


def _interleaved(first: OperatingPoints, second: OperatingPoints) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from compromis.kernels.ranking import merge_cuts

    room = len(first) + len(second)
    threshold, taken = np.empty(room), np.empty((2, room), dtype=np.int64)
    cuts = merge_cuts(first.threshold, second.threshold, threshold, taken)
    last = taken[:, :cuts] - 1  # both start at infinity, so at least one is taken
    hits, alarms = (a[last[0]] + b[last[1]] for a, b in _counts(first, second))
    return threshold[:cuts].copy(), hits, alarms


def _counts(first: OperatingPoints, second: OperatingPoints) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    return [(first.true_positives, second.true_positives), (first.false_positives, second.false_positives)]
