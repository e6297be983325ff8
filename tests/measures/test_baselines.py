"""Decisions without a model: numbers worked out by hand; the properties stand in test_pragma."""

from __future__ import annotations

import compromis as cp
from compromis.measures.baselines import naive_baselines


def test_baselines_of_absent_classes_and_without_importance():
    preferences = cp.Preferences(default=cp.Preference(recall_weight=0.5), metric="kulczynski").on(("a", "b", "c"))
    always = naive_baselines(cp.Counts.from_matrix([[3, 0, 0], [0, 1, 0], [0, 0, 0]], list("abc")), preferences)
    # c does not occur: deciding it is worth nothing; a: (1/8 + 1) / 2, b: (1 + 3/8) / 2, at random (1/4 + 3/4) / 2
    assert [one.loss for one in always] == [0.5625, 0.6875, 1.0, 0.5]
