"""The parts of the searches, one by one: budgets, what is minimised, starts, cuts, annealing step by step, and what is said."""

from __future__ import annotations

import dataclasses
import math
import re
import types

import numpy as np
import pytest
import scipy.sparse

import compromis as cp
from compromis.errors import InputError
from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.weights import (
    Annealing,
    Budget,
    Exact,
    Sweep,
    annealing,
    budget,
    exact,
    search_weights,
    sweep,
    weight_sweep,
)
from compromis.weights import (
    problem as own_metric,
)
from compromis.weights._kernels.terms import COST
from compromis.weights.budget import Meter, read_budget
from compromis.weights.descent import Descent, Found, new_state, precedes, row_weight, tie_weights
from compromis.weights.problem import WIDEST, SearchProblem
from compromis.weights.search import _finish, _read_generator, normalised
from compromis.weights.sweep import _Best, _starts, perturbed, votes_per_pass
from tests import naive_weights as naive

VOTES = np.array([[9, 1, 2], [8, 2, 0], [3, 7, 1], [4, 6, 3], [1, 2, 9], [2, 2, 2], [5, 1, 5], [0, 3, 4]], dtype=float)
TRUTH = np.array([0, 0, 1, 0, 2, 1, 2, 2])


def problem_of(votes=VOTES, y=TRUTH, preferences=None, cost=None, smoothing=0.0, max_ratio=None, **options):
    patterns = Votes.from_proba(y, votes, labels=range(np.shape(votes)[1]), merge=False, **options)
    return SearchProblem.read(patterns, preferences, cost=cost, smoothing=smoothing, max_ratio=max_ratio)


# --- budgets ---


def test_budgets_at_their_borders():
    assert (Budget(seconds=0.5).seconds, Budget(evaluations=1).evaluations) == (0.5, 1)
    for wrong in ({"seconds": 0}, {"evaluations": 0}, {"seconds": -1.0}, {"seconds": math.nan}):
        with pytest.raises(InputError, match="must be above 0"):
            Budget(**wrong)
    assert read_budget(None) == Budget()
    assert read_budget(2) == Budget(seconds=2.0)
    own = Budget(evaluations=3)
    assert read_budget(own) is own
    for wrong in (True, math.nan, "1"):
        with pytest.raises(InputError, match="budget is a number of seconds"):
            read_budget(wrong)


def test_a_meter_of_evaluations():
    said = []
    meter = Meter(Budget(evaluations=10), lambda share, loss: said.append((share, loss)))
    assert (meter.left(100), meter.left(3), meter.spent, meter.unlimited) == (10, 3, 0.0, False)
    meter.note(4, 0.5)
    assert (meter.left(100), meter.spent, meter.exhausted) == (6, 0.4, False)
    meter.note(3, 0.6, 0.9)  # no better: not in the history
    meter.note(3, 0.25)
    assert (meter.left(100), meter.spent, meter.exhausted) == (0, 1.0, True)
    meter.note(5, 0.25)
    assert meter.left(100) == 0
    assert meter.evaluations == 15
    assert meter.history == [(4, 0.5), (10, 0.25)]
    assert said == [(0.4, 0.5), (0.9, 0.6), (1.0, 0.25), (1.0, 0.25)]


def test_a_meter_of_seconds(monkeypatch):
    clock = iter([1.0, 2.0, 6.0, 6.0, 11.0])
    monkeypatch.setattr(budget, "time", types.SimpleNamespace(perf_counter=lambda: next(clock)))
    meter = Meter(Budget(seconds=10.0))
    assert meter.seconds == 1.0
    assert meter.spent == 0.5
    assert not meter.exhausted
    assert meter.exhausted
    assert not meter.unlimited
    assert meter.left(7) == 7


def test_a_meter_without_limits_stops_when_told():
    answers = iter([None, True, False])
    meter = Meter(Budget(), lambda *_: next(answers))
    assert meter.unlimited
    meter.note(1, 0.5)
    assert (meter.spent, meter.exhausted, meter.left(9)) == (0.0, False, 9)
    meter.note(1, 0.5)
    assert (meter.spent, meter.exhausted) == (1.0, True)
    meter.note(1, 0.5)  # once stopped, it stays so
    assert meter.exhausted


# --- what is minimised ---


def test_the_objective_by_hand():
    """Supports 3, 2, 3; importances 1, 2, 1 (times a class that is absent elsewhere)."""
    preferences = Preferences({1: Preference(2, min_precision=0.4, min_recall=0.3)}, metric="f")
    objective = problem_of(preferences=preferences).objective()
    assert objective.share.tolist() == [0.25, 0.5, 0.25]
    assert objective.support.tolist() == [3.0, 2.0, 3.0]
    assert (objective.min_precision.tolist(), objective.min_recall.tolist()) == ([0, 0.4, 0], [0, 0.3, 0])
    assert (objective.constrained, objective.tiny, objective.cost.tolist()) == (True, 0.0, [[0.0]])
    assert row_weight(objective) == pytest.approx((0.25 / 3 + 0.5 / 2 + 0.25 / 3) / 3)
    absent = problem_of(y=np.where(TRUTH == 1, 0, TRUTH), preferences=preferences)
    assert absent.objective().share.tolist() == [0.5, 0.0, 0.5]
    assert (absent.objective().min_precision.tolist(), absent.objective().min_recall.tolist()) == ([0] * 3, [0] * 3)
    assert row_weight(absent.objective()) == pytest.approx((0.5 / 5 + 0.5 / 3) / 2)


def test_costs_are_scaled_for_kernels():
    cost = np.array([[0, 1, -8], [4, 0, 2], [2, 2, 0]], dtype=float)
    problem = problem_of(cost=cost)
    objective = problem.objective()
    assert (problem.cost_scale, objective.code) == (8.0, COST)
    np.testing.assert_array_equal(objective.cost, cost / 8 / 8)  # eight rows
    assert problem.kernel_value((0.5, 0.25)) == (0.5, 2.0)
    assert row_weight(objective) == pytest.approx(19 / 9 / 64)
    assert problem_of().cost_scale == 1.0
    assert problem_of(cost=np.zeros((3, 3))).cost_scale > 0


def test_weights_of_rows_leave_room_for_rounding():
    weighted = problem_of(sample_weight=np.full(8, 0.5))
    assert weighted.objective().tiny == pytest.approx(1e-12 * 4)
    assert problem_of().objective().tiny == 0.0
    assert not problem_of().constrained
    assert problem_of(preferences=Preferences({0: Preference(min_recall=0.5)})).constrained


def test_the_value_is_shortfall_then_loss():
    preferences = Preferences({0: Preference(recall_weight=0.5, min_precision=0.9, min_recall=0.9)})
    problem = problem_of(preferences=preferences)
    counts = problem.counts([1.0, 1.0, 1.0])
    np.testing.assert_array_equal(counts.matrix, naive.matrix(TRUTH, naive.decide(VOTES, [1, 1, 1]), np.ones(8), 3))
    assert problem.value(counts) == pytest.approx(naive.value(counts.matrix, problem.arrays))


def test_bounds_of_the_problem():
    assert problem_of().max_ratio == WIDEST
    assert problem_of(max_ratio=1).max_ratio == 1.0
    assert problem_of(max_ratio=1e200).max_ratio == WIDEST
    assert problem_of(smoothing=0).smoothing == 0.0
    for wrong, said in (
        ({"smoothing": -0.1}, "smoothing is a finite"),
        ({"smoothing": math.inf}, "smoothing is a finite"),
        ({"max_ratio": 0.99}, "max_ratio is at least 1"),
        ({"max_ratio": math.nan}, "max_ratio is at least 1"),
        ({"preferences": Preferences({1: Preference(0), 2: Preference(0)}, Preference(0))}, "importance"),
    ):
        with pytest.raises(InputError, match=said):
            problem_of(**wrong)
    with pytest.raises(InputError, match=r"importance above 0, 1, have no rows in y"):
        problem_of(y=np.where(TRUTH == 1, 0, TRUTH), preferences=Preferences({1: Preference(1)}, Preference(0)))


def test_sparse_below_a_quarter():
    """2 votes in rows of 8 are a quarter: dense. 2 in rows of 9 are less: by row and by class."""
    votes, y = np.array([[3.0, 1.0], [1.0, 2.0], [4.0, 5.0]]), [0, 1, 1]
    table = problem_of(np.hstack([votes, np.zeros((3, 6))]), y).for_kernels()[0].table
    assert table.dense.shape == (3, 8)
    wider = problem_of(np.hstack([votes, np.zeros((3, 7))]), y)
    table = wider.for_kernels()[0].table
    assert table.dense.shape[0] == 0
    assert (table.row_class.tolist(), table.row_value.tolist()) == ([0, 1] * 3, [3, 1, 1, 2, 4, 5])
    assert table.row_start.tolist() == [0, 2, 4, 6]
    assert table.class_row.tolist() == [0, 1, 2, 0, 1, 2]
    assert table.class_value.tolist() == [3, 1, 4, 1, 2, 5]
    assert table.class_start.tolist() == [0, 3, *[6] * 8]
    assert votes_per_pass(Descent(wider)) == 6
    assert votes_per_pass(Descent(problem_of())) == 24


# --- descents ---


def test_equal_weights_break_ties_as_the_rule_does():
    np.testing.assert_allclose(tie_weights(3), [1.0, 1 - 1e-9, (1 - 1e-9) ** 2], rtol=1e-15)


def test_weights_are_pressed_into_the_ratio():
    descent = Descent(problem_of(max_ratio=4.0))
    pressed = descent.within_ratio(np.array([1.0, 100.0, 10.0]))
    room = math.exp(3e-9)  # for the weights that break ties, in three classes
    np.testing.assert_allclose(pressed, [0.5 * room, 2.0 / room, 1.0], rtol=1e-13)
    assert pressed.max() / pressed.min() <= 4.0
    near = descent.within_ratio(np.array([1.0, 2.0, 1.5]))
    np.testing.assert_allclose(near / near[0], [1.0, 2.0, 1.5], rtol=1e-12)
    np.testing.assert_array_equal(
        Descent(problem_of(max_ratio=1.0)).within_ratio(np.array([1.0, 9.0, 3.0])), np.ones(3)
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_a_kept_state_comes_back(smoothing):
    descent = Descent(problem_of(smoothing=smoothing))
    before = descent.start(np.array([1.0, 2.0, 0.5]))
    expected = naive.value(
        naive.matrix(TRUTH, naive.decide(VOTES, [1, 2, 0.5], smoothing), np.ones(8), 3), descent.problem.arrays
    )
    assert before == pytest.approx(expected)
    descent.keep()
    needed = 10 + (smoothing > 0)  # with smoothing every row has its rank too
    state = [part.copy() for part in descent.state[:needed]]
    descent.start(np.array([5.0, 1.0, 9.0]))
    descent.state.ranked[:] = -1
    descent.restore()
    for part, kept in zip(descent.state[:needed], state, strict=True):
        np.testing.assert_array_equal(part, kept)
    assert descent.value == before


def test_a_new_state_is_empty():
    state = new_state(4, 3)
    assert state.weight.tolist() == [1.0] * 3
    for name, part in state._asdict().items():
        assert name == "weight" or (part == (-1 if name == "stamp" else 0)).all(), name  # no row was looked at yet
    sizes = {name: part.shape for name, part in state._asdict().items()}
    by_class, by_cell = (
        {"weight", "hits", "predicted", "loss", "shortfall"},
        {name for name in sizes if name.startswith("cell_")},
    )
    assert {sizes[name] for name in by_class} == {(3,)}
    assert {sizes[name] for name in by_cell} == {(5,)}  # n rows flip n times at most
    assert {sizes[name] for name in set(sizes) - by_class - by_cell - {"cost", "saved"}} == {(4,)}
    assert (sizes["cost"], sizes["saved"]) == ((1,), (2, 4, 4))
    assert Descent(problem_of()).entries == 0


def test_a_descent_spends_what_it_notes():
    descent, meter = Descent(problem_of()), Meter(Budget())
    start = descent.start(np.ones(3))
    value = descent.run(np.arange(3), meter, 0.9)
    assert value <= start
    assert meter.evaluations > 0
    visited = np.count_nonzero(VOTES)
    assert descent.entries >= visited  # at least one pass over all votes
    assert meter.history[-1][1] == pytest.approx(min(0.9, value[1]))
    for k in range(3):  # no class improves any more
        best = naive.best_on_line(VOTES, TRUTH, np.ones(8), descent.state.weight, k, descent.problem.arrays)
        assert value[1] <= best[1] + 1e-12
    entries, spent = descent.entries, meter.evaluations
    descent.heat(np.random.default_rng(0), 1.0, np.inf, meter)
    assert descent.entries == entries + visited
    assert meter.evaluations > spent
    best = descent.each_against_rest(meter)
    assert best.shape == (3,)
    assert descent.entries == entries + 2 * visited
    nothing_left = Meter(Budget(evaluations=1))
    nothing_left.note(1, 1.0)
    assert descent.run(np.arange(3), nothing_left, 1.0) == descent.value


@pytest.mark.parametrize("seed", range(6))
def test_a_descent_by_costs_ends_where_no_class_gains(seed):
    """Rows of different weights, costs of either sign: on every line the plain search finds nothing cheaper."""
    generator = np.random.default_rng(seed)
    votes = generator.integers(0, 9, (30, 4)) + 1.0
    truth, sizes = np.arange(30) % 4, generator.integers(1, 6, 30)
    cost = generator.integers(-2, 10, (4, 4)).astype(float)
    descent = Descent(problem_of(votes, truth, cost=cost, sample_weight=sizes))
    descent.start(np.ones(4))
    reached = descent.problem.kernel_value(descent.run(np.arange(4), Meter(Budget()), np.inf))
    assert reached == pytest.approx(
        naive.value(
            naive.matrix(truth, naive.decide(votes, descent.state.weight), sizes, 4), descent.problem.arrays, cost
        )
    )
    for k in range(4):
        line = naive.best_on_line(votes, truth, sizes, descent.state.weight, k, descent.problem.arrays, cost=cost)
        assert reached[1] <= line[1] + 1e-9


def test_weights_end_in_the_middle_of_their_cell():
    """Two classes, cuts at 1/2 and 4: the middle is the root of 2."""
    problem = problem_of([[1.0, 2.0], [4.0, 1.0]], [1, 0])
    descent = Descent(problem)
    found = descent.found(np.array([1.0, 1.0]), (0.0, 0.0), proven=True)
    assert found.proven
    assert found.candidates[1].tolist() == [1.0, 1.0]
    weights = found.candidates[0]
    assert weights[1] / weights[0] == pytest.approx(math.sqrt(2))
    assert naive.decide(problem.patterns.votes, weights) == [1, 0]
    assert not descent.found(np.array([1.0, 1.0]), (0.0, 0.0)).proven


# --- the sweep ---


def test_the_starts_of_a_sweep():
    """Supports 3, 2, 3: inverse shares 1/3, 1/2, 1/3 differ by more than 1.2; equal weights come last."""
    descent, meter = Descent(problem_of()), Meter(Budget())
    alone, inverse, equal = _starts(descent, meter)
    assert inverse.tolist() == pytest.approx([1 / 3, 1 / 2, 1 / 3])
    assert equal.tolist() == [1, 1, 1]
    assert meter.evaluations > 0
    for k in range(3):  # each class's best weight while the others keep theirs
        now = tie_weights(3)
        now[k] = alone[k]
        reached = naive.value(naive.matrix(TRUTH, naive.decide(VOTES, now), np.ones(8), 3), descent.problem.arrays)
        line = naive.best_on_line(VOTES, TRUTH, np.ones(8), tie_weights(3), k, descent.problem.arrays)
        assert reached[1] == pytest.approx(min(line[1], descent.value[1]))
    alike = Descent(problem_of(VOTES[:6], [0, 0, 1, 1, 2, 2]))
    assert len(_starts(alike, meter)) == 2
    absent = Descent(problem_of(y=np.where(TRUTH == 1, 0, TRUTH)))
    assert _starts(absent, meter)[1].tolist() == pytest.approx([1 / 5, 1 / 3, 1 / 3])
    light = Descent(problem_of(np.eye(3) + 0.1, [0, 1, 2], sample_weight=[0.5, 0.7, 4.0]))
    assert _starts(light, meter)[1].tolist() == pytest.approx([2, 1 / 0.7, 1 / 4])


def test_with_many_votes_fewer_starts(monkeypatch):
    """As many votes as the limit are not many: three starts. One more vote than that: equal weights are left out."""
    for limit, starts in ((24, 3), (23, 2)):
        monkeypatch.setattr("compromis.weights.sweep._MANY", limit)
        assert len(_starts(Descent(problem_of()), Meter(Budget()))) == starts


def test_the_best_is_kept():
    descent, best = Descent(problem_of()), _Best()
    assert best.loss == math.inf
    descent.start(np.array([1.0, 2.0, 3.0]))
    assert best.offer((0.0, 0.5), descent)
    kept = best.weights.copy()
    descent.start(np.ones(3))
    assert not best.offer((0.0, 0.5), descent)
    np.testing.assert_array_equal(best.weights, kept)
    assert not best.offer((0.0, 0.5 - 1e-14), descent)  # better by rounding: kept, but no improvement
    assert best.loss == 0.5 - 1e-14
    assert best.offer((0.0, 0.4), descent)
    assert not best.offer((0.1, 0.1), descent)
    assert best.offer((-1.0, 0.4), descent)
    assert not best.offer((-1.0, 0.4 - 1e-12), descent)  # an improvement is more than that
    assert best.offer((-1.5, 0.4), descent)
    assert not best.offer((-1.5 - 1e-12, best.loss - 1e-14), descent)
    short = _Best()
    assert short.offer((0.5, 0.2), descent)
    assert short.offer((0.3, 0.2), descent)  # a smaller shortfall alone is one too


def test_a_jump_moves_some_classes():
    for classes, most in ((2, 2), (3, 2), (12, 3), (40, 10)):
        moved = set()
        for seed in range(200):
            weights = np.arange(1.0, classes + 1)
            there = perturbed(weights, np.random.default_rng(seed))
            assert (there > 0).all()
            assert weights.tolist() == list(range(1, classes + 1))
            moved.add(int((there != weights).sum()))
        assert moved == set(range(1, most + 1))


def test_the_sizes_of_jumps():
    """A tenth, a half or twice a normal number in the logarithm, as often as each other."""
    logs = np.array([np.log(perturbed(np.ones(2), np.random.default_rng(seed))) for seed in range(3000)]).ravel()
    logs = np.abs(logs[logs != 0])
    normal = 0.6745  # the median of abs(z)
    for scale in (0.1, 0.5, 2.0):
        expected = np.mean([math.erf(scale * normal / other / math.sqrt(2)) for other in (0.1, 0.5, 2.0)])
        assert (logs < scale * normal).mean() == pytest.approx(expected, abs=0.03)


@pytest.fixture
def rounds(monkeypatch):
    """What a sweep does: h for heating, j for jumping, + and - for a result that is better and one that is not."""
    done = []

    def noted(real, mark):
        return lambda *given: done.append(mark) or real(*given)

    def offered(*given):
        better = offer(*given)
        done.append("+" if better else "-")
        return better

    offer = sweep._Best.offer
    monkeypatch.setattr(Descent, "heat", noted(Descent.heat, "h"))
    monkeypatch.setattr(sweep, "perturbed", noted(perturbed, "j"))
    monkeypatch.setattr(sweep._Best, "offer", offered)

    def run(**limits):
        done.clear()
        Sweep(**{"rounds": 10_000, "passes": 10_000, "patience": 10_000, **limits}).search(
            problem_of(), np.random.default_rng(0), Meter(Budget())
        )
        text = "".join(done)
        return text[text.find("h") : -1] if "h" in text else ""  # between the starts and the last descent

    return run


def test_a_sweep_ends_with_its_rounds(rounds):
    assert re.sub("[+-]", "", rounds(rounds=3)) == "hjh"  # every second one jumps
    assert re.sub("[+-]", "", rounds(rounds=6)) == "hjhjhj"
    assert re.sub("[+-]", "", rounds(rounds=300)) == "hj" * 150


def test_a_sweep_tells_how_far_it_is(monkeypatch):
    """By its rounds or by the votes visited, whichever is further; telling is no evaluation."""
    told, spent = [], []

    def noted(self, evaluations, loss, share=0.0):
        spent.append(evaluations)
        if share:
            told.append(share)

    monkeypatch.setattr(Meter, "note", noted)
    unlimited = {"passes": 10_000, "patience": 10_000}
    Sweep(rounds=5, **unlimited).search(problem_of(), np.random.default_rng(0), Meter(Budget()))
    assert told == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert spent.count(0) == 5
    told.clear()
    visited = []
    run = Descent.run
    monkeypatch.setattr(Descent, "run", lambda self, *given: run(self, *given) + (visited.append(self.entries) or ()))
    monkeypatch.setattr(sweep, "_MANY", 0)
    Sweep(rounds=10_000, passes=8, patience=10_000).search(problem_of(), np.random.default_rng(0), Meter(Budget()))
    begin = visited[-len(told) - 2]  # after the starts; a descent follows the last round
    assert told == [pytest.approx((entries - begin) / (8 * VOTES.size)) for entries in visited[-len(told) - 1 : -1]]


def test_temperatures_of_perturbations(monkeypatch):
    """Between what one row weighs and three times that, as often below the geometric mean as above."""
    degrees = []
    monkeypatch.setattr(Descent, "heat", lambda self, generator, degree, window, meter: degrees.append(degree))
    Sweep(rounds=800, passes=10_000, patience=10_000).search(problem_of(), np.random.default_rng(0), Meter(Budget()))
    assert 1 <= min(degrees) < 1.02
    assert 2.94 < max(degrees) <= 3
    assert np.mean(np.array(degrees) < math.sqrt(3)) == pytest.approx(0.5, abs=0.08)


def test_how_many_votes_are_many():
    for rows, classes, many in ((10_000, 2, False), (6667, 3, True)):  # 20,000 and 20,001 votes
        descent = Descent(problem_of(np.ones((rows, classes)), np.arange(rows) % classes))
        assert votes_per_pass(descent) == rows * classes
        starts = _starts(descent, Meter(Budget()))
        assert any((start == 1).all() for start in starts[1:]) != many


def test_values_are_frozen_and_small():
    """A method or a budget can be shared and compared; what holds arrays is compared by what it is."""
    for made in (Exact(), Sweep(), Annealing(), Budget()):
        assert type(made)() == made
        assert not hasattr(made, "__dict__")
        for field in dataclasses.fields(made):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(made, field.name, 1)
    found = search_weights(TRUTH, VOTES, random_state=0)
    curve = weight_sweep(TRUTH, VOTES, labels=range(3), label=0)
    for made in (problem_of(), found, curve):
        assert made == made
        assert made != dataclasses.replace(made)
        assert hasattr(made, "__dict__") == (made is found)  # which remembers its verdict
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, dataclasses.fields(made)[0].name, 1)


def test_the_defaults_of_the_methods():
    assert Annealing() == Annealing(steps=20_000, start_temperature=6.0, end_temperature=0.02, step=0.5)
    assert Sweep() == Sweep(rounds=200, passes=3, patience=40, start=None)
    assert Budget() == Budget(seconds=None, evaluations=None)


def test_with_many_votes_a_sweep_stays_near_and_jumps_less(rounds, monkeypatch):
    heated, searched = [], []
    heat, run = Descent.heat, Descent.run
    monkeypatch.setattr(Descent, "heat", lambda *given: heated.append(given[3]) or heat(*given))
    monkeypatch.setattr(Descent, "run", lambda *given: searched.append(given[4:]) or run(*given))
    rounds(rounds=2)
    assert heated == [math.inf]
    assert set(searched) == {(math.inf,), ()}  # the last descent is along whole lines
    heated.clear()
    searched.clear()
    monkeypatch.setattr(sweep, "_MANY", 0)
    assert re.sub("[+-]", "", rounds(rounds=5)) == "hhhjh"
    assert heated == [1.5] * 4
    assert searched == [*[(4.0,)] * (len(searched) - 6), *[(1.5,)] * 5, ()]


@pytest.mark.parametrize("patience", [1, 2, 7])
def test_a_sweep_ends_after_failures_in_a_row(rounds, patience):
    results = re.sub("[hj]", "", rounds(patience=patience))
    assert results.endswith("-" * patience)
    assert "-" * patience not in results[:-1]


def test_a_sweep_ends_after_passes_over_the_votes(rounds, monkeypatch):
    monkeypatch.setattr(sweep, "_MANY", 0)
    assert rounds(passes=0) == ""
    few, many = (len(re.sub("[+-]", "", rounds(passes=passes))) for passes in (20, 80))
    assert 1 <= few < many < 10_000


# --- annealing, step by step ---


@pytest.mark.parametrize("minima", [False, True])
def test_annealing_is_its_description(minima):
    """A twin from the PRAGMA paper's section 3, all rows counted anew at every step, with the same random numbers."""
    preferences = Preferences({2: Preference(3, 0.2, 0.8, min_precision=0.9 if minima else None)}, metric="f")
    problem, steps = problem_of(preferences=preferences), 1300
    method = Annealing(steps, start_temperature=4.0, end_temperature=0.1, step=0.8)
    meter = Meter(Budget())
    found = method.search(problem, np.random.default_rng(5), meter)

    rng = np.random.default_rng(5)
    row = row_weight(problem.objective())

    def value(weights):
        return naive.value(naive.matrix(TRUTH, naive.decide(VOTES, weights), np.ones(8), 3), problem.arrays)

    weights = (1 - 1e-9) ** np.arange(3)
    now = best = value(weights)
    expected = []
    for begin in range(0, steps, 1000):
        count = min(1000, steps - begin)
        cooled = (begin + np.arange(count)) / (steps - 1)
        factors = 0.8 * 0.1**cooled * rng.standard_normal(count)
        classes, chances = rng.integers(0, 3, count), rng.random(count)
        for k, factor, chance, cold in zip(classes, factors, chances, cooled, strict=True):
            tried = weights.copy()
            tried[k] *= math.exp(factor)
            other = value(tried)
            rise = sum(other) - sum(now)
            if rise <= 1e-15 or chance < math.exp(-rise / (row * 4.0 * (0.1 / 4.0) ** cold)):
                weights, now = tried, other
                best = min(best, now)
            expected.append(now[1])
    np.testing.assert_allclose(np.concatenate(meter.trace), expected, atol=1e-12)
    assert found.value == pytest.approx(best, abs=1e-12)
    assert meter.evaluations == steps + 1
    assert [len(part) for part in meter.trace] == [1000, 300]
    assert value(found.candidates[0]) == pytest.approx(best, abs=1e-12)


def test_annealing_stops_with_its_budget_and_tells_how_far_it_is():
    said = []
    meter = Meter(Budget(evaluations=1501), lambda share, loss: said.append(share))
    Annealing(3000).search(problem_of(), np.random.default_rng(0), meter)
    assert meter.evaluations == 1502
    assert said == [pytest.approx(1 / 1501), pytest.approx(1001 / 1501), 1.0]
    stopped = Meter(Budget(), lambda share, loss: share > 0.3)
    Annealing(3000).search(problem_of(), np.random.default_rng(0), stopped)
    assert stopped.evaluations == 1001


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 2.0}, "whole number of steps above 0, got 2.0"),
        ({"steps": -1}, "whole number of steps above 0"),
        ({"start_temperature": math.inf}, "temperatures fall"),
        ({"start_temperature": 0.01}, "temperatures fall"),
        ({"end_temperature": 0.0}, "temperatures fall"),
        ({"end_temperature": -1.0}, "temperatures fall"),
        ({"step": 0.0}, "the step of annealing is above 0"),
        ({"step": math.inf}, "the step of annealing is above 0"),
    ],
)
def test_annealing_refuses(options, said):
    with pytest.raises(InputError, match=said):
        Annealing(**options)


def test_annealing_cools_from_start_to_end(monkeypatch):
    """By equal factors, in what one row weighs, over all chunks of steps."""
    seen = []
    monkeypatch.setattr(annealing, "_CHUNK", 7)
    real = annealing.anneal
    monkeypatch.setattr(annealing, "anneal", lambda *given: seen.append(given[4].copy()) or real(*given))
    problem = problem_of()
    Annealing(20, 4.0, 0.5).search(problem, np.random.default_rng(0), Meter(Budget()))
    np.testing.assert_allclose(np.concatenate(seen), row_weight(problem.objective()) * np.geomspace(4.0, 0.5, 20))


def test_annealing_takes_what_is_just_allowed():
    assert Annealing(1, 0.5, 0.5, 0.001).steps == 1
    assert len(search_weights(TRUTH, VOTES, method=Annealing(1), random_state=0).history) == 1


# --- exact ---


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weight", [None, [2.0, 1.0, 0.0, 3.0, 1.0, 1.0]])
def test_the_cuts_of_two_classes(sparse, weight):
    """Row i goes to the second class above v_1 / v_2: 0 / v always, v / 0 never."""
    votes = np.array([[4.0, 2.0], [0.0, 3.0], [3.0, 3.0], [5.0, 0.0], [1.0, 2.0], [9.0, 3.0]])
    given = scipy.sparse.csr_array(votes) if sparse else votes
    problem = problem_of(given, [0, 0, 0, 0, 1, 1], sample_weight=weight)
    cuts, sizes, always = exact._cuts(problem)
    if weight is None:
        assert [part.tolist() for part in cuts] == [[1.0, 2.0], [0.5, 3.0]]
        assert [part.tolist() for part in sizes] == [[1.0], [1.0]]
        assert always == (1.0, 0.0)
    else:
        assert [part.tolist() for part in cuts] == [[2.0], [0.5, 3.0]]  # the row of weight 0 does not count
        assert [part.tolist() for part in sizes] == [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
        assert always == (1.0, 0.0)


def test_cuts_with_smoothing():
    cuts, _, always = exact._cuts(problem_of([[4.0, 1.0], [0.0, 2.0]], [0, 1], smoothing=1.0))
    assert [part.tolist() for part in cuts] == [[2.5], [1 / 3]]
    assert always == (0.0, 0.0)


def test_logarithms_of_ratios():
    with np.errstate(all="raise"):
        ratios = exact._log_ratio(np.array([6.0, 1e-300, 1e300, 0.0, 2.0]), np.array([3.0, 1e300, 1e-300, 1.0, 0.0]))
    expected = [math.log(2), -600 * math.log(10), 600 * math.log(10), -math.inf, math.inf]
    np.testing.assert_allclose(ratios, expected, rtol=1e-14)
    above, below = np.arange(1.0, 40), np.arange(40.0, 1, -1)
    assert (np.log(above) - np.log(below) != np.log(above / below)).any()
    assert exact._log_ratio(above, below).tolist() == np.log(above / below).tolist()  # equal ratios stay equal


@pytest.mark.parametrize(
    ("x", "y", "d"),
    [
        ((-1, 2), (-3, 5), (-7, 11)),  # the ends come from y and d
        ((-90, 80), (-3, 5), (-7, 11)),  # from x
        ((-1, 2), (-70, 60), (-7, 11)),  # those of y from y alone
        ((-1, 2), (-3, 5), (-0.5, 0.25)),
    ],
)
def test_the_first_box_by_hand(x, y, d):
    """Lines x, y and y - x = d: where two cross, one step further, so that the cells beyond are reached too."""
    beyond = exact._BEYOND
    rows = exact.TernaryRows(*(np.array(line, dtype=float) for line in (x, y, d)), np.zeros(2, int), np.ones(2))
    left, right = min(x[0], y[0] - d[1]) - beyond, max(x[1], y[1] - d[0]) + beyond
    bottom, top = min(y[0], left + d[0]) - beyond, max(y[1], right + d[1]) + beyond
    boxes, limit, whole = exact._first_box(rows, WIDEST)
    assert boxes.ends[0].tolist() == pytest.approx([left, right, bottom, top])
    assert whole
    border = rows._replace(x=np.array([-1.0, limit]))
    assert not exact._first_box(border, WIDEST)[2]  # a line on the border of what weights can be


def test_the_first_box_holds_every_crossing():
    rows = exact._rows(problem_of())
    np.testing.assert_allclose(rows.x[:3], np.log([9.0, 4.0, 3 / 7]))
    np.testing.assert_allclose(rows.y[[0, 2]], np.log([4.5, 3.0]))
    np.testing.assert_allclose(rows.d[[0, 2]], np.log([0.5, 7.0]))
    boxes, limit, whole = exact._first_box(rows, WIDEST)
    left, right, bottom, top = boxes.ends[0]
    finite = [line[np.isfinite(line)] for line in (rows.x, rows.y, rows.d)]
    assert left <= min(finite[0].min(), (finite[1].min() - finite[2].max())) - math.log(4)
    assert right >= max(finite[0].max(), (finite[1].max() - finite[2].min())) + math.log(4)
    assert bottom <= min(finite[1].min(), left + finite[2].min()) - math.log(4)
    assert top >= max(finite[1].max(), right + finite[2].max()) + math.log(4)
    assert (limit, whole) == (pytest.approx(100 * math.log(10)), True)
    assert boxes.span[0].tolist() == [0, 8]
    assert boxes.depth.tolist() == [1]
    narrow, limit, whole = exact._first_box(rows, 2.0)
    assert narrow.ends[0].tolist() == pytest.approx([-math.log(2), math.log(2)] * 2)
    assert whole  # the user's own bound
    assert exact._range(np.array([np.inf, -np.inf])) == (0.0, 0.0)
    assert exact._range(np.array([np.inf, 3.0, -2.0])) == (-2.0, 3.0)


def test_rows_with_smoothing():
    rows = exact._rows(problem_of([[1.5, 0.0, 3.5], [0.5, 1.5, 0.5]], [0, 1], smoothing=0.5))
    np.testing.assert_allclose(rows.x, np.log([4.0, 0.5]))
    np.testing.assert_allclose(rows.y, np.log([0.5, 1.0]))
    np.testing.assert_allclose(rows.d, np.log([1 / 8, 2.0]))


def test_what_is_found_does_not_rest_on_the_start(monkeypatch):
    """Every cell is looked at, so a descent that ends anywhere leads to the same loss."""
    expected = search_weights(TRUTH, VOTES, random_state=0)
    best = min(
        naive.value(naive.matrix(TRUTH, naive.decide(VOTES, [1, a, b]), np.ones(8), 3), expected.arrays)
        for a in np.geomspace(0.1, 10, 60)
        for b in np.geomspace(0.1, 10, 60)
    )
    assert expected.loss <= best[1] + 1e-12

    def poor(self, descent, generator, meter, *, use_up):
        weights = np.array([1.0, 30.0, 1.0])
        return weights, descent.start(weights)

    monkeypatch.setattr(Sweep, "descend", poor)
    found = search_weights(TRUTH, VOTES, method="exact", random_state=0)
    assert (found.loss, found.optimal) == (pytest.approx(expected.loss), True)


def test_a_box_that_cuts_cells_off_proves_nothing():
    far = exact._rows(problem_of([[1e200, 1.0, 1.0], [1.0, 1.0, 1.0]], [0, 1]))
    assert not exact._first_box(far, WIDEST)[2]
    assert exact._first_box(far, 10.0)[2]
    for votes in ([[1.0, 1e150], [1.0, 1.0], [2.0, 1.0]], [[1e150, 1.0], [1.0, 1.0], [2.0, 1.0]]):  # one side is enough
        assert not search_weights([1, 0, 1], votes, random_state=0).optimal


@pytest.mark.parametrize(
    ("rows", "whole"),
    [
        ([[3, 1, 0], [2, 2, 6]], True),
        ([[0.1, 0.2, 0.7], [30, 60, 10]], True),  # shares, and other numbers of votes
        ([[24, 25, 24]], True),
        ([[25, 26, 25]], False),
        ([[1, 100, 1]], True),
        ([[1, 200, 1]], False),  # 200 to the power of 4 is above 10^9
        ([[1, 2, 3], [1, math.sqrt(2), 1]], False),
        ([[1, 2, 3], [0, 0, 0]], True),
    ],
)
def test_shares_of_few_votes_are_known_as_such(rows, whole):
    truth = np.arange(len(rows) + 2) % 3
    votes = np.array([*rows, [1, 1, 1], [1, 1, 1]], dtype=float)
    assert exact._are_counts(problem_of(votes, truth)) == whole
    assert exact._are_counts(problem_of(scipy.sparse.csr_array(votes), truth)) == whole


def test_smoothing_belongs_to_the_votes():
    votes = [[0.25, 1.25, 0.25], [2.25, 0.25, 0.25]]  # with 3/4 more: 1, 2, 1 and 3, 1, 1
    assert exact._are_counts(problem_of(votes, [0, 1], smoothing=0.75))
    assert not exact._are_counts(problem_of(votes, [0, 1], smoothing=math.pi))


def test_what_precedes():
    assert precedes((0.0, 0.4), (0.0, 0.5))
    assert not precedes((0.0, 0.5), (0.0, 0.5))
    assert precedes((0.1, 0.9), (0.2, 0.5))
    assert not precedes((0.2, 0.1), (0.1, 0.5))
    for short in (0.1, 3.0):  # alike up to rounding, so that the loss decides
        for other in (short * (1 - 2e-13), short, short * (1 + 2e-13)):
            assert precedes((other, 0.1), (short, 0.5))
            assert not precedes((other, 0.5), (short, 0.1))
        assert not precedes((short * (1 + 1e-9), 0.1), (short, 0.5))
        assert precedes((short * (1 - 1e-9), 0.5), (short, 0.1))


def test_better_by_more_than_rounding():
    assert exact._beats((0.0, 0.4), (0.0, 0.5))
    assert exact._beats((0.1, 0.9), (0.2, 0.5))
    assert not exact._beats((0.2, 0.4), (0.1, 0.5))
    assert not exact._beats((0.0, 0.5), (0.0, 0.5))
    assert not exact._beats((0.0, 0.5 - 1e-13), (0.0, 0.5))
    assert exact._beats((1e-13, 0.4), (0.0, 0.5))
    assert not exact._beats((0.1 - 1e-13, 0.5), (0.1, 0.5))


def test_what_is_proven():
    assert search_weights(TRUTH, VOTES, random_state=0).optimal
    assert search_weights(np.minimum(TRUTH, 1), VOTES[:, :2] + 1, random_state=0).optimal
    assert not search_weights(TRUTH, VOTES, method="exact", budget=Budget(evaluations=1), random_state=0).optimal
    far = [[1.0, 1e-150], [1e-150, 1.0], [1.0, 1.0]]  # cuts beyond the widest ratio
    assert not search_weights([1, 0, 0], far, random_state=0).optimal
    assert search_weights([1, 0, 0], far, max_ratio=10, random_state=0).optimal
    three = [[1.0, 1e-150, 1.0], [1e-150, 1.0, 1.0], [1.0, 1.0, 2.0], [2.0, 1.0, 1.0]]
    assert not search_weights([1, 0, 2, 0], three, random_state=0).optimal
    assert search_weights([1, 0, 2, 0], three, max_ratio=10, random_state=0).optimal


# --- the door, and what is said ---


def test_generators():
    own = np.random.default_rng(3)
    assert _read_generator(own) is own
    assert _read_generator(None).random() == np.random.default_rng(0).random()
    assert _read_generator(np.int64(7)).random() == np.random.default_rng(7).random()
    assert _read_generator(0).random() == np.random.default_rng(0).random()
    old = _read_generator(np.random.RandomState(1)).random()
    assert old == np.random.default_rng(np.random.RandomState(1).randint(2**31)).random()
    with pytest.raises(InputError, match="random_state is a whole number of at least 0"):
        _read_generator(-1)


def test_what_is_applied_is_what_is_returned():
    """Of the candidates the best that is within the ratio; equal weights if none is."""
    problem = problem_of(max_ratio=3.0)
    wild = Found((np.array([1.0, 10.0, 1.0]),), (0.0, 0.0), proven=True)
    result = _finish(problem, wild, "exact", Meter(Budget()))
    assert result.weights.tolist() == [1, 1, 1]
    assert not result.optimal  # a loss of 0 was promised
    equal = problem.value(problem.counts([1, 1, 1]))
    kept = _finish(problem, Found((np.ones(3),), equal, proven=True), "exact", Meter(Budget()))
    assert kept.optimal
    assert kept.loss == equal[1]
    two = Found((np.array([1.0, 3.0, 1.0]), np.array([2.0, 2.0, 2.0])), equal)
    best = _finish(problem, two, "sweep", Meter(Budget()))
    assert best.loss == min(equal[1], problem.value(problem.counts([1, 3, 1]))[1])
    assert not best.optimal
    np.testing.assert_allclose(np.log(normalised(np.array([1.0, 2.0, 8.0]))).sum(), 0.0, atol=1e-15)


def test_weights_on_the_border_of_the_ratio_are_within_it():
    """Taking the geometric mean out rounds, now and then beyond the border."""
    beyond = 0
    for ratio in np.linspace(1.5, 9.5, 200):
        problem = problem_of(max_ratio=ratio)
        weights = normalised(np.array([1.0, ratio, 1.0]))
        beyond += weights.max() > weights.min() * ratio
        result = _finish(problem, Found((weights,), (0.0, 0.0)), "sweep", Meter(Budget()))
        expected = min(problem.value(problem.counts(one)) for one in (weights, np.ones(3)))
        assert result.loss == expected[1]
    assert beyond


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_proof_holds_if_what_is_applied_keeps_the_promise_up_to_rounding(scale):
    """Rounding is 1e-9, of the loss where it is above 1."""
    problem = problem_of(cost=scale * (1 - np.eye(3)), preferences=Preferences({1: Preference(min_recall=1.0)}))
    shortfall, loss = problem.value(problem.counts(np.ones(3)))
    assert shortfall > 0
    room = 1e-9 * max(1.0, loss)
    for less_shortfall, less_loss, kept in (
        (0, 0, True), (0.9e-9, 0, True), (1.1e-9, 0, False), (0.5, 0, False), (-0.5, 0, True),
        (0, 0.9 * room, True), (0, 1.1 * room, False), (0, -0.5 * loss, True),
    ):  # fmt: skip
        promised = shortfall - less_shortfall, (loss - less_loss) / problem.cost_scale
        result = _finish(problem, Found((np.ones(3),), promised, proven=True), "exact", Meter(Budget()))
        assert result.optimal == kept, (less_shortfall, less_loss)


def test_auto_gives_up_a_long_proof(monkeypatch):
    monkeypatch.setattr("compromis.weights.search._EXACT_THREE", 1)
    assert not search_weights(TRUTH, VOTES, random_state=0).optimal
    assert search_weights(TRUTH, VOTES, method="exact", random_state=0).optimal
    assert search_weights(TRUTH, VOTES, budget=60, random_state=0).optimal
    assert search_weights(np.minimum(TRUTH, 1), VOTES[:, :2] + 1, random_state=0).optimal


def test_the_history_is_in_the_costs_of_the_user():
    cost = 10.0 * (1 - np.eye(3))
    result = search_weights(TRUTH, VOTES, cost=cost, random_state=0)
    assert result.history[-1, 1] == pytest.approx(result.loss)
    annealed = search_weights(TRUTH, VOTES, cost=cost, method=Annealing(50), random_state=0)
    assert annealed.history[:, 0].tolist() == list(range(1, 51))
    assert annealed.history[:, 1].min() == pytest.approx(annealed.loss)


def test_messages():
    votes = np.column_stack([VOTES, np.zeros((8, 2))])
    one = search_weights(TRUTH, votes[:, :4], labels=range(4), method="sweep", random_state=0)
    assert one.message == "no row has a vote for 3, so no weights can decide it; try smoothing"
    two = search_weights(TRUTH, votes, labels=range(5), method="sweep", random_state=0)
    assert two.message == "no row has a vote for 3, 4, so no weights can decide them; try smoothing"
    assert search_weights(TRUTH, votes, labels=range(5), method="sweep", smoothing=0.1, random_state=0).message == ""
    floor = Preferences({0: Preference(min_recall=1.0), 1: Preference(min_recall=1.0), 2: Preference(min_recall=1.0)})
    swept = search_weights(TRUTH, VOTES, preferences=floor, method="sweep", random_state=0)
    assert swept.message.startswith("no weights were found that meet every minimum; the nearest: recall of ")
    assert not swept.feasible
    proven = search_weights(TRUTH, VOTES, preferences=floor, method="exact", random_state=0)
    assert proven.optimal
    assert proven.message.startswith("no weights meet every minimum; the nearest: recall of ")


def test_a_result_in_words():
    result = search_weights(["a", "b"], [[9, 1], [2, 8]], random_state=0)
    assert repr(result).startswith("WeightSearch(exact, optimal, loss 0, weights {'a': ")
    lines = result.summary().splitlines()
    assert lines[0].startswith(f"loss 0.0000, proven to be the best ({result.evaluations:,} weightings in ")
    assert lines[1] == f"weights: a {result.weights[0]:.4g}, b {result.weights[1]:.4g}"
    assert lines[2].startswith("Verdict: informative: ")
    assert len(lines) == 3
    many = search_weights(range(8), np.eye(8) + 0.1, random_state=0)
    assert repr(many).startswith("WeightSearch(sweep, best found, loss 0, weights {0: ")
    assert repr(many).endswith(f"5: {many.weights[5]:.4g}, and 2 more}})")
    assert many.summary().startswith("loss 0.0000, the best found by sweep (")
    seven = search_weights(range(7), np.eye(7) + 0.1, random_state=0)
    assert repr(seven).endswith(f"5: {seven.weights[5]:.4g}, and 1 more}})")
    six = search_weights(range(6), np.eye(6) + 0.1, random_state=0)
    assert repr(six).endswith(f"5: {six.weights[5]:.4g}}})")
    noted = search_weights([*TRUTH, 0], np.vstack([VOTES, np.zeros((1, 3))]), cost=1 - np.eye(3), random_state=0)
    assert noted.summary().startswith("average cost ")
    assert "\nnote: 1 rows without any vote are left out\n" in noted.summary()
    assert noted.verdict is noted.verdict  # judged once
    assert noted.baselines == noted.verdict.baselines
    assert cp.Decision.from_json(noted.to_json()).weights.tolist() == noted.weights.tolist()


def test_all_but_votes_and_truth_is_named():
    with pytest.raises(TypeError, match="positional"):
        search_weights(TRUTH, VOTES, range(3), random_state=0)


def test_kernels_get_a_formula_for_an_index_of_ones_own_only():
    own = cp.Metric("own", lambda p, r, weight: p * r)
    assert {own_metric.formula_of(cp.Preferences(metric=name).metric) for name in cp.metrics.METRICS} == {
        own_metric._UNUSED
    }
    assert own_metric.formula_of(own) is not own_metric._UNUSED


def test_methods_by_name_and_by_object():
    for method, name in (
        ("AUTO".lower(), "exact"),  # a string of its own, as the command line has it
        ("exact", "exact"),
        (Exact(), "exact"),
        ("sweep", "sweep"),
        (Sweep(), "sweep"),
        (Annealing(9), "annealing"),
    ):
        assert search_weights(TRUTH, VOTES, method=method, random_state=0).method == name


# --- the sweep of one weight ---


def test_a_weight_sweep_by_hand():
    """Cuts of the second class at 9, 4, 7/3 for a and 3/2 (twice), 1/4 for b, as in the docstring, and what lies between."""
    votes, truth = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]], ["a", "a", "a", "b", "b", "b"]
    sweep = weight_sweep(truth, votes, label="b", labels=["a", "b"])
    flips = [1 / 4, 3 / 2, 7 / 3, 4, 9]
    low, high = [flips[0] / 4, *flips], [*flips, flips[-1] * 4]
    np.testing.assert_allclose(sweep.ratio, np.sqrt(np.multiply(low, high)))
    assert sweep.errors.tolist() == [3, 2, 0, 1, 2, 3]
    np.testing.assert_allclose(sweep.recall, [[1, 0], [1, 1 / 3], [1, 1], [2 / 3, 1], [1 / 3, 1], [0, 1]])
    assert sweep.best == sweep.ratio[2]
    assert (sweep.label, sweep.classes, sweep.exact) == ("b", ("a", "b"), True)
    twice = weight_sweep(truth, votes, label="b", labels=["a", "b"], weights=[1.0, 2.0])
    np.testing.assert_allclose(twice.ratio, sweep.ratio / 2)
    weighted = weight_sweep(truth, votes, label="b", labels=["a", "b"], sample_weight=[1, 1, 1, 2, 3, 1])
    assert weighted.errors.tolist() == [6, 5, 0, 1, 2, 3]


def test_a_weight_that_flips_nothing():
    alone = weight_sweep(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], label="a")
    assert (alone.ratio.tolist(), alone.errors.tolist()) == ([1.0], [0.0])
    for wrong in ([], [1.0, -1.0], [np.inf], [np.nan]):
        with pytest.raises(InputError, match="ratios are finite numbers above 0, at least one"):
            weight_sweep(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], label="a", ratios=wrong)


def test_the_limits_of_an_index_of_ones_own():
    """At l = 0 and 1 the rate itself, 0 where a rate is 0, else the formula; everywhere the formula if it says so."""
    value = own_metric._with_limits(lambda precision, recall, recall_weight: 7.0, False)
    assert [value(0.2, 0.3, weight) for weight in (0.0, 0.5, 1.0)] == [0.2, 7.0, 0.3]
    assert (value(0.0, 0.3, 0.5), value(0.2, 0.0, 0.5)) == (0.0, 0.0)
    everywhere = own_metric._with_limits(lambda precision, recall, recall_weight: 7.0, True)
    assert [everywhere(0.0, 0.0, weight) for weight in (0.0, 0.5, 1.0)] == [7.0, 7.0, 7.0]
