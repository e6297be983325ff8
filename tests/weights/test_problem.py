"""What is minimised: the objective as kernels get it, by hand; and what a search spends of its limits."""

from __future__ import annotations

import time

import numpy as np
import pytest

from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.weights.problem import WIDEST, Meter, SearchProblem
from tests import naive_weights as naive
from tests.weight_cases import costing

VOTES = np.array([[9, 1, 2], [8, 2, 0], [3, 7, 1], [4, 6, 3], [1, 2, 9], [2, 2, 2], [5, 1, 5], [0, 3, 4]], dtype=float)
TRUTH = np.array([0, 0, 1, 0, 2, 1, 2, 2])


def problem_of(y=TRUTH, preferences=None, max_ratio=None, **options):
    patterns = Votes.from_proba(y, VOTES, labels=range(3), merge=False, **options)
    return SearchProblem.read(patterns, preferences, smoothing=0.0, max_ratio=max_ratio)


def test_the_objective_by_hand():
    """Supports 3, 2, 3 and importances 1, 2, 1; a class without rows counts for nothing."""
    preferences = Preferences({1: Preference(2, min_precision=0.4, min_recall=0.3)}, metric="f")
    objective = problem_of(preferences=preferences).objective()
    assert list(objective.share) == [0.25, 0.5, 0.25]
    assert list(objective.support) == [3.0, 2.0, 3.0]
    assert (list(objective.min_precision), list(objective.min_recall)) == ([0, 0.4, 0], [0, 0.3, 0])
    assert (objective.constrained, objective.tiny, np.asarray(objective.cost).tolist()) == (True, 0.0, [[0.0]])
    absent = problem_of(y=np.where(TRUTH == 1, 0, TRUTH), preferences=preferences).objective()
    assert list(absent.share) == [0.5, 0.0, 0.5]
    assert (list(absent.min_precision), list(absent.min_recall)) == ([0] * 3, [0] * 3)


def test_costs_are_scaled_for_kernels():
    cost = np.array([[0, 1, -8], [4, 0, 2], [2, 2, 0]], dtype=float)
    problem = problem_of(preferences=costing(cost))
    np.testing.assert_array_equal(problem.objective().cost, cost / 8 / 8)  # eight rows, and 8 the largest cost
    assert problem.kernel_value((0.5, 0.25)) == (0.5, 2.0)
    assert problem_of().cost_scale == 1.0
    assert problem_of(preferences=costing(np.zeros((3, 3)))).cost_scale > 0


def test_weights_of_rows_leave_room_for_rounding():
    assert problem_of(sample_weight=np.full(8, 0.5)).objective().tiny == pytest.approx(1e-12 * 4)


def test_the_value_is_shortfall_then_loss():
    preferences = Preferences({0: Preference(recall_weight=0.5, min_precision=0.9, min_recall=0.9)})
    problem = problem_of(preferences=preferences)
    counts = problem.counts([1.0, 1.0, 1.0])
    np.testing.assert_array_equal(counts.matrix, naive.matrix(TRUTH, naive.decide(VOTES, [1, 1, 1]), np.ones(8), 3))
    assert problem.value(counts) == pytest.approx(naive.value(counts.matrix, problem.arrays))


def test_the_widest_ratio_of_weights():
    assert [problem_of(max_ratio=ratio).max_ratio for ratio in (None, 1, 1e200)] == [WIDEST, 1.0, WIDEST]


def test_the_meter_counts_evaluations():
    told = []
    meter = Meter(max_evaluations=10, progress=lambda done, loss: told.append((done, loss)))
    assert (meter.left(100), meter.left(3), meter.spent, meter.unlimited) == (10, 3, 0.0, False)
    meter.note(4, 0.5)
    assert (meter.left(100), meter.spent, meter.exhausted) == (6, 0.4, False)
    meter.note(3, 0.6, 0.9)  # no better: not in the history
    meter.note(3, 0.25)
    assert (meter.left(100), meter.spent, meter.exhausted) == (0, 1.0, True)
    meter.note(5, 0.25)
    assert (meter.left(100), meter.evaluations) == (0, 15)
    assert meter.history == [(4, 0.5), (10, 0.25)]
    assert told == [(0.4, 0.5), (0.9, 0.6), (1.0, 0.25), (1.0, 0.25)]


def test_the_meter_reads_the_clock(monkeypatch):
    clock = iter([1.0, 2.0, 6.0, 6.0, 11.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    meter = Meter(max_seconds=10.0)
    measured = meter.seconds, meter.spent, meter.exhausted, meter.exhausted
    monkeypatch.undo()
    assert measured == (1.0, 0.5, False, True)
    assert (meter.unlimited, meter.left(7)) == (False, 7)


def test_without_limits_it_stops_when_told_and_stays_so():
    answers = iter([None, True, False])
    meter = Meter(progress=lambda *_: next(answers))
    assert meter.unlimited
    for spent in (0.0, 1.0, 1.0):
        meter.note(1, 0.5)
        assert (meter.spent, meter.exhausted, meter.left(9)) == (spent, spent == 1.0, 9)


def test_limits_of_numpy_are_numbers():
    assert Meter(max_seconds=np.float64(2), max_evaluations=np.int64(3)).left(9) == 3
