"""The PRAGMA loss, baselines and costs against exact arithmetic; what is missed of what was asked, by hand and by brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import compromis as cp
from compromis.measures.baselines import naive_baselines
from compromis.measures.pragma import (
    given_up,
    missed_constraints,
    own_answers,
    pragma,
    preference_score,
    rows_to_change,
    score_predictions,
)
from tests import oracle
from tests.measures.test_rates import close, counts_of, matrices

shares = st.floats(0, 1).map(lambda share: round(share, 6))


@pytest.mark.filterwarnings("ignore:the weighted Jaccard")
@pytest.mark.parametrize("metric", list(cp.metrics.METRICS))
@given(data=st.data(), matrix=matrices)
def test_pragma(metric, data, matrix):
    size = len(matrix)
    importance = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, 10.0]), min_size=size, max_size=size).filter(any))
    weight = data.draw(st.lists(shares, min_size=size, max_size=size))
    preferences = cp.Preferences(
        {k: cp.Preference(importance[k], recall_weight=weight[k]) for k in range(size)}, metric=metric
    ).on(range(size))
    exact = ([Fraction(one) for one in importance], [Fraction(one) for one in weight], metric)
    loss = pragma(counts_of(matrix), preferences)
    total, by_class = oracle.pragma(matrix.tolist(), *exact)
    assert close(loss.total, total)
    assert all(close(ours, theirs) for ours, theirs in zip(loss.by_class, by_class, strict=True))
    *constant, random = naive_baselines(counts_of(matrix), preferences)
    for baseline, theirs in zip(constant, oracle.constant_losses(matrix.tolist(), *exact), strict=True):
        assert close(baseline.loss, theirs)
    assert close(random.loss, oracle.random_loss(matrix.tolist(), *exact))


@given(matrix=matrices, data=st.data())
def test_baselines_are_what_the_decisions_would_reach(matrix, data):
    """Each constant decision, written out as counts and judged as any other result."""
    size = len(matrix)
    floors = st.lists(st.sampled_from([None, 0.0, 0.3, 1.0]), min_size=size, max_size=size)
    precision, recall = data.draw(floors), data.draw(floors)
    preferences = cp.Preferences(
        {k: cp.Preference(1 + k, 0.2, 0.7, min_precision=precision[k], min_recall=recall[k]) for k in range(size)},
        metric="f",
    ).on(range(size))
    cost = data.draw(arrays(np.int64, matrix.shape, elements=st.integers(0, 9))).astype(float)
    counts = counts_of(matrix)
    priced = replace(preferences, cost=cost)
    by_loss, by_cost = naive_baselines(counts, preferences)[:-1], naive_baselines(counts, priced)[:-1]
    for k in range(size):
        written_out = np.zeros_like(matrix)
        written_out[:, k] = matrix.sum(axis=1)
        result = counts_of(written_out)
        assert by_loss[k].loss == pytest.approx(pragma(result, preferences).total, nan_ok=True)
        if matrix.any():
            assert by_cost[k].loss == pytest.approx(pragma(result, priced).total)


@given(matrix=matrices, data=st.data())
def test_cost(matrix, data):
    if not matrix.any():
        return
    cost = data.draw(arrays(np.int64, matrix.shape, elements=st.integers(-5, 100)))
    loss = pragma(counts_of(matrix), replace(cp.Preferences().on(range(len(matrix))), cost=cost))
    assert close(loss.total, oracle.cost(matrix.tolist(), cost.tolist()))
    assert loss.share.sum() == pytest.approx(loss.total)
    support = matrix.sum(axis=1)
    np.testing.assert_allclose((loss.by_class * support)[support > 0].sum(), loss.total * matrix.sum(), atol=1e-9)


def test_a_result_that_misses_a_constraint_scores_below_any_that_meets_it():
    """With costs too, whatever their unit: the dearest decisions that meet it are better."""
    worst, best = counts_of(np.array([[0, 10], [90, 0]])), counts_of(np.array([[5, 5], [0, 90]]))
    for unit in (1e-6, 1.0, 1e6):
        cost = np.array([[0.0, unit], [9 * unit, 0.0]])
        met = replace(cp.Preferences().on([0, 1]), cost=cost)
        missed = replace(cp.Preferences({0: cp.Preference(min_recall=0.8)}).on([0, 1]), cost=cost)
        assert preference_score(worst, met) == pytest.approx(1 - pragma(worst, met).total)
        assert preference_score(worst, met) == pytest.approx(1 - (10 * unit + 810 * unit) / 100)
        assert preference_score(best, missed) < preference_score(worst, met)
    plain = cp.Preferences({0: cp.Preference(min_recall=0.8)}).on([0, 1])
    assert preference_score(best, plain) == pytest.approx(0.5 - 0.8)


def test_costs_of_classes_that_a_fold_lacks_keep_constraints_first():
    """All rows are 'a': always 'a' exceeds its capacity; half 'b' does not, and costs more than any decision for 'a' does."""
    preferences = cp.Preferences({"a": cp.Preference(max_share=0.5)}, cost={("a", "b"): 7, ("b", "a"): 1})
    met, missed = (
        score_predictions(["a"] * 4, predicted, preferences) for predicted in (["a", "a", "b", "b"], ["a"] * 4)
    )
    assert met == 1 - 3.5
    assert missed == 1 - 7 - 0.5


def table(matrix, labels=("fraud", "ok")):
    return cp.Counts.from_matrix(matrix, list(labels))


def test_what_is_missed_and_by_how_many_rows():
    preferences = cp.Preferences({"fraud": cp.Preference(10, min_precision=0.7, min_recall=0.8, max_share=0.02)}).on(
        ["fraud", "ok"]
    )
    counts = table([[14, 4], [10, 972]])
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
    assert missed_constraints(table([[3, 27], [7, 963]]), preferences) == ()
    assert rows_to_change(table([[3, 27], [7, 963]]), 0, "recall", 0.1) == 0


def test_a_class_never_predicted_misses_its_precision_whole():
    preferences = cp.Preferences({"fraud": cp.Preference(min_precision=0.2)}).on(["fraud", "ok"])
    (missed,) = missed_constraints(table([[0, 5], [0, 95]]), preferences)
    assert (missed.value, missed.rows) == (0.0, 1)
    assert missed_constraints(table([[0, 0], [0, 95]]), preferences) == ()  # it does not occur


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
    rows = rows_to_change(table([[hits, misses], [alarms, 30]]), 0, rate, bound)
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
    counts = table([[92, 8], [2098, 3000]])
    preferences = cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9)}).on(counts.classes)
    (answer,) = own_answers(counts, preferences)
    assert answer.level == pytest.approx(0.901, abs=1e-3)
    assert answer.value == pytest.approx(0.733, abs=1e-3)
    assert answer.distance == pytest.approx(answer.level - answer.value)
    (never,) = own_answers(table([[0, 100], [0, 900]]), preferences)
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


def test_a_class_of_one_row_is_given_up_in_the_singular():
    lost = given_up(cp.Counts.from_matrix([[0, 1], [0, 9]], ["rare", "well"]), cp.Preferences().on(["rare", "well"]))
    assert [str(one) for one in lost] == ["class 'rare' is given up: its only row is predicted as 'well'"]
