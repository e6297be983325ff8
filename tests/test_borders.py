"""Losses between bounds, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp
from compromis.frames.bounds import loss_bounds


def even(metric="kulczynski", **options):
    """Preferences of recall weight 1/2 for two classes that count alike."""
    return cp.Preferences(default=cp.Preference(recall_weight=0.5, **options), metric=metric).on(("a", "b"))


def counts_of(matrix, classes=("a", "b")):
    return cp.Counts.from_matrix(matrix, list(classes))


def test_loss_bounds_by_hand():
    """By Kulczynski at 1/2. a: 2 of 3 predicted to 3 of 3, and 2 to 3 of 4 rows; b: 1 of 3 predicted to 2 of 2, and 1 to 2 of 2 rows."""
    sure, possible = np.array([[2, 0], [0, 1]]), np.array([[3, 2], [1, 2]])
    bounds = cp.evidence.CountBounds(low=sure, high=possible, support=np.array([4, 2]), classes=("a", "b"))
    low, high = loss_bounds(bounds, even())
    assert low == pytest.approx(((1 - (1 + 3 / 4) / 2) + 0) / 2)
    assert high == pytest.approx(((1 - (2 / 3 + 2 / 4) / 2) + (1 - (1 / 3 + 1 / 2) / 2)) / 2)
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [0, 0]]), high=np.array([[2, 2], [0, 2]]), support=np.array([4, 2]), classes=("a", "b")
    )
    assert loss_bounds(never, even())[1] == pytest.approx((1 / 4 + 1) / 2)  # b may never be predicted, which counts 1


def test_undefined_precision_between_bounds():
    """b is never predicted, surely: its loss is 1 at best and at worst."""
    never = cp.evidence.CountBounds(
        low=np.array([[2, 0], [2, 0]]), high=np.array([[2, 0], [2, 0]]), support=np.array([2, 2]), classes=("a", "b")
    )
    expected = ((1 - (0.5 + 1) / 2) + 1) / 2
    assert loss_bounds(never, even()) == pytest.approx((expected, expected))


def test_absent_classes_do_not_count_between_bounds():
    sure = np.array([[2, 0], [0, 0]])
    absent = cp.evidence.CountBounds(low=sure, high=sure, support=np.array([2, 0]), classes=("a", "b"))
    assert loss_bounds(absent, even()) == (0.0, 0.0)
