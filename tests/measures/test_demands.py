"""Constraints missed, levels of own answers, and classes given up: by hand and by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compromis as cp
from compromis.measures.demands import few_predictions, given_up, missed_constraints, own_answers, rows_to_change


def counts_of(matrix, labels=("fraud", "ok")):
    return cp.Counts.from_matrix(matrix, list(labels))


def test_what_is_missed_and_by_how_many_rows():
    preferences = cp.Preferences({"fraud": cp.Preference(10, min_precision=0.7, min_recall=0.8, max_share=0.02)}).on(
        ["fraud", "ok"]
    )
    counts = counts_of([[14, 4], [10, 972]])
    precision, recall, share = missed_constraints(counts, preferences)
    assert (precision.label, precision.rate, precision.bound) == ("fraud", "precision", 0.7)
    assert precision.value == pytest.approx(14 / 24)
    assert precision.distance == pytest.approx(0.7 - 14 / 24)
    assert precision.rows == 4  # 14 of 20
    assert (recall.rate, recall.rows) == ("recall", 1)
    assert (share.rate, share.rows) == ("share_predicted", 4)  # 24 of 1,000 are predicted, 20 may be
    assert missed_constraints(counts, cp.Preferences().on(counts.classes)) == ()


def test_a_bound_met_exactly_is_met():
    preferences = cp.Preferences({"fraud": cp.Preference(min_precision=0.3, min_recall=0.1, max_share=0.01)}).on(
        ["fraud", "ok"]
    )
    assert missed_constraints(counts_of([[3, 27], [7, 963]]), preferences) == ()
    assert rows_to_change(counts_of([[3, 27], [7, 963]]), 0, "recall", 0.1) == 0


def test_a_class_never_predicted_misses_its_precision_whole():
    preferences = cp.Preferences({"fraud": cp.Preference(min_precision=0.2)}).on(["fraud", "ok"])
    (missed,) = missed_constraints(counts_of([[0, 5], [0, 95]]), preferences)
    assert (missed.value, missed.rows) == (0.0, 1)
    assert missed_constraints(counts_of([[0, 0], [0, 95]]), preferences) == ()  # it does not occur


def test_weighted_rows_are_not_counted():
    counts = cp.Counts.from_predictions([1, 1, 0], [0, 1, 0], sample_weight=[2.5, 1, 1])
    preferences = cp.Preferences({1: cp.Preference(min_recall=0.5)}).on([0, 1])
    (missed,) = missed_constraints(counts, preferences)
    assert missed.rows is None


def reachable(hits, misses, alarms, rate, bound, rows):
    """Whether changing the predictions of so many rows can meet the bound; every way is tried."""
    for found, dropped in itertools.product(range(misses + 1), range(alarms + 1)):
        if found + dropped > rows:
            continue
        right, predicted = hits + found, hits + found + alarms - dropped
        rates = {"precision": (right, predicted), "recall": (right, hits + misses)}
        above, below = rates[rate]
        if below and above >= bound * below - 1e-9:
            return True
    return False


@given(
    hits=st.integers(0, 6),
    misses=st.integers(0, 6),
    alarms=st.integers(0, 8),
    bound=st.sampled_from([0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0]),
    rate=st.sampled_from(["precision", "recall"]),
)
def test_the_least_number_of_rows_by_brute_force(hits, misses, alarms, bound, rate):
    if hits + misses == 0:
        return
    rows = rows_to_change(counts_of([[hits, misses], [alarms, 30]]), 0, rate, bound)
    assert reachable(hits, misses, alarms, rate, bound, rows)
    assert rows == 0 or not reachable(hits, misses, alarms, rate, bound, rows - 1)


def test_only_answers_that_were_given_are_judged():
    preferences = cp.Preferences(
        {
            "a": cp.Preference(5, 0.1, 0.9),
            "b": cp.Preference(2, 0.5),
            "c": cp.Preference(beta=2),
            "absent": cp.Preference(1, 0.5, 0.5),
        }
    )
    counts = cp.Counts.from_matrix(np.diag([5, 5, 5, 0]), ["a", "b", "c", "absent"])
    (answer,) = own_answers(counts, preferences.on(counts.classes))
    assert (answer.label, answer.value, answer.reached, answer.distance) == ("a", 1.0, True, 0.0)


@pytest.mark.parametrize("metric", list(cp.metrics.METRICS))
@pytest.mark.parametrize(("x", "y"), [(0.1, 0.9), (0.5, 0.5), (0.8, 0.3), (0.0, 0.9), (0.4, 0.0), (0.0, 0.0)])
def test_the_answers_themselves_reach_their_level(metric, x, y):
    """Recall 1 with precision x, and precision 1 with recall y, are what would do; a little less is not."""
    preferences = cp.Preferences({1: cp.Preference(3, x, y)}, metric=metric)
    on, rows = preferences.on([0, 1], strict=False), 1000
    full_recall = [[rows * 9 - round(rows * (1 / x - 1)), round(rows * (1 / x - 1))], [0, rows]] if x else None
    full_precision = [[rows, 0], [rows - round(rows * y), round(rows * y)]]
    for matrix in filter(None, (full_recall, full_precision if y else None)):
        (answer,) = own_answers(cp.Counts.from_matrix(matrix, [0, 1]), on)
        assert answer.value >= answer.level - 2e-3
    if x and y:
        (worse,) = own_answers(cp.Counts.from_matrix([[rows, rows], [rows // 2, rows // 2]], [0, 1]), on)
        precision_and_recall = cp.metric_value(1 / 3, 0.5, preferences.of(1).recall_weight_for(metric), metric)
        assert worse.value == pytest.approx(float(precision_and_recall))
        assert worse.reached == (worse.value >= worse.level)
        assert worse.distance == pytest.approx(max(0.0, worse.level - worse.value))


def test_the_level_of_the_design():
    """(0.1, 0.9) under f asks 0.90; recall 0.92 with precision 0.042 is 0.73."""
    counts = counts_of([[92, 8], [2098, 3000]])
    preferences = cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9)}).on(counts.classes)
    (answer,) = own_answers(counts, preferences)
    assert answer.level == pytest.approx(0.901, abs=1e-3)
    assert answer.value == pytest.approx(0.733, abs=1e-3)
    assert answer.distance == pytest.approx(answer.level - answer.value)
    (never,) = own_answers(counts_of([[0, 100], [0, 900]]), preferences)
    assert never.value == 0


def test_given_up():
    matrix = [[0, 40, 10], [2, 200, 0], [5, 15, 480]]
    counts = cp.Counts.from_matrix(matrix, ["a", "b", "c"])
    (one,) = given_up(counts, cp.Preferences().on(counts.classes))
    assert (one.label, one.recall, one.support, one.predicted, one.instead) == ("a", 0, 50, 7, "b")
    assert given_up(counts, cp.Preferences({"a": 0.0}).on(counts.classes)) == ()  # nobody wants it
    # recognised in 8 %, but predicted less than a tenth as often as it occurs
    seldom = cp.Counts.from_matrix([[8, 92], [0, 900]], ["a", "b"])
    assert [one.label for one in given_up(seldom, cp.Preferences().on(seldom.classes))] == ["a"]
    often = cp.Counts.from_matrix([[8, 92], [2, 898]], ["a", "b"])
    assert given_up(often, cp.Preferences().on(often.classes)) == ()
    absent = cp.Counts.from_matrix([[0, 0], [0, 9]], ["a", "b"])
    assert given_up(absent, cp.Preferences().on(absent.classes)) == ()


def test_few_predictions():
    counts = cp.Counts.from_matrix([[15, 5, 0], [4, 76, 0], [0, 3, 0]], ["a", "b", "c"])
    assert few_predictions(counts) == (("a", 19.0),)
    weighted = cp.Counts.from_predictions([0] * 40, [0] * 40, sample_weight=[10.0] * 2 + [0.1] * 38)
    ((label, rows),) = few_predictions(weighted)
    assert label == 0
    assert math.isclose(rows, (20 + 3.8) ** 2 / (200 + 0.38))
