"""The kernels of the search against plain twins, dense and sparse, with and without a background."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from compromis.evidence.votes import Votes
from compromis.metrics import METRICS, Metric
from compromis.preferences import Preference, Preferences
from compromis.weights._kernels import (
    COST,
    OWN_METRIC,
    Objective,
    Patterns,
    VoteTable,
    cell_of,
    is_better,
    line_search,
    metric_value,
    prepare,
    recount,
    set_weight,
    sort_order,
    total_value,
    weight_bounds,
)
from compromis.weights.descent import Descent
from compromis.weights.problem import SearchProblem, precedes
from tests import naive_weights as naive
from tests.weight_cases import costing

pytestmark = pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")  # every metric is searched


def random_problem(
    seed: int, *, dense: bool, smoothing: float, classes: int = 5, floors: bool = False, metric: str = "f"
):
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(6, rng.dirichlet(np.full(classes, 0.4)), size=60).astype(float)
    votes[:classes] = 1 + np.eye(classes)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, size=60 - classes)])
    given = votes if dense else scipy.sparse.csr_array(votes)
    floor = {"min_precision": 0.5, "min_recall": 0.4} if floors else {}
    preferences = Preferences({0: Preference(10, 0.1, 0.9, **floor)}, metric=metric)
    patterns = Votes.from_proba(y, given, labels=range(classes), merge=True)
    problem = SearchProblem.read(patterns, preferences, smoothing=smoothing, max_ratio=None)
    if dense:  # most votes of these rows are non-zero only with the dense layout forced
        descent = Descent(problem)
        table = VoteTable(smoothing, dense=np.ascontiguousarray(patterns.votes))
        descent.patterns = Patterns(table, patterns.truth, patterns.multiplicity.astype(float))
        return descent, patterns
    return Descent(problem), patterns


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("floors", [True, False])
def test_line_search_finds_the_best_of_the_line(dense, smoothing, floors):
    for seed in range(8):
        metric = ("kulczynski", "f", "fowlkes_mallows", "jaccard")[seed % 4]
        descent, patterns = random_problem(seed, dense=dense, smoothing=smoothing, floors=floors, metric=metric)
        votes = patterns.votes if dense else patterns.votes.toarray()
        preferences = descent.problem.arrays
        rng = np.random.default_rng(seed)
        descent.start(np.exp(rng.normal(size=5)))
        for k in rng.permutation(5):
            weights = descent.weight.copy()
            before = descent.value
            best = naive.best_on_line(votes, patterns.truth, patterns.multiplicity, weights, k, preferences, smoothing)
            bounds = weight_bounds(descent.state, k, 1e100)
            line_search(descent.patterns, descent.objective, descent.state, k, bounds, (0.0, 0.0))
            assert descent.value == pytest.approx(min(before, best), abs=1e-10)
            # the running counts are those of applying the weights afresh
            fresh = naive.matrix(
                patterns.truth, naive.decide(votes, descent.weight, smoothing), patterns.multiplicity, 5
            )
            np.testing.assert_allclose(descent.state.predicted, fresh.sum(axis=0))
            np.testing.assert_allclose(descent.state.hits, fresh.diagonal())


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_two_best_stay_in_line(dense, smoothing):
    descent, patterns = random_problem(1, dense=dense, smoothing=smoothing)
    votes = (patterns.votes if dense else patterns.votes.toarray()) + smoothing
    rng = np.random.default_rng(1)
    descent.start(np.ones(5))
    for _ in range(30):
        k = int(rng.integers(5))
        line_search(descent.patterns, descent.objective, descent.state, k, (0.0, np.inf), (0.1, float(rng.random())))
        decisions = naive.decide(votes, descent.weight)
        fresh = naive.matrix(patterns.truth, decisions, patterns.multiplicity, 5)
        np.testing.assert_allclose(descent.state.predicted, fresh.sum(axis=0))
        if smoothing == 0:
            listed = [i for i, row in enumerate(votes) if dense or np.count_nonzero(row) > 1]
            scores = np.sort(votes * descent.weight, axis=1)
            np.testing.assert_allclose(np.asarray(descent.state.first_score)[listed], scores[listed, -1])
            np.testing.assert_allclose(np.asarray(descent.state.second_score)[listed], scores[listed, -2])


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_cell_ends_where_decisions_change(smoothing):
    descent, patterns = random_problem(2, dense=False, smoothing=smoothing)
    votes = patterns.votes.toarray()
    descent.start(np.exp(np.random.default_rng(2).normal(size=5)))
    weights = descent.weight.copy()
    now = naive.decide(votes, weights, smoothing)
    sides = set()
    for k in range(5):
        for end, side in zip(cell_of(descent.patterns, descent.state, k), (-1, 1), strict=True):
            if 0 < end < np.inf:
                sides.add(side)
                moved = weights.copy()
                moved[k] = end * (1 - side * 1e-9)
                assert naive.decide(votes, moved, smoothing) == now
                moved[k] = end * (1 + side * 1e-9)
                assert naive.decide(votes, moved, smoothing) != now
    assert sides == {-1, 1}


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_ties_go_to_the_first_class_in_the_state_too(dense, smoothing):
    descent, patterns = random_problem(3, dense=dense, smoothing=smoothing)
    votes = patterns.votes if dense else patterns.votes.toarray()
    for k in range(5):
        descent.weight[:] = 1.0
        prepare(descent.patterns, descent.objective, descent.state)
        for new in (2.0, 0.5, 1.0):  # many ties: votes are small whole numbers
            recount(descent.patterns, descent.objective, descent.state, k, new)
            set_weight(descent.patterns, descent.state, k, new)
            fresh = naive.matrix(
                patterns.truth, naive.decide(votes, descent.weight, smoothing), patterns.multiplicity, 5
            )
            np.testing.assert_allclose(descent.state.predicted, fresh.sum(axis=0))
            np.testing.assert_allclose(descent.state.hits, fresh.diagonal())


def test_sorting():
    rng = np.random.default_rng(0)
    for values in (
        rng.random(1000),
        np.repeat(3.0, 50),
        rng.integers(1, 5, 300).astype(float),
        10.0 ** rng.integers(-200, 200, 500),
        np.zeros(0),
    ):
        order = sort_order(np.ascontiguousarray(values))
        np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    clump = np.append(1 + 1e-15 * rng.integers(0, 100, 400), 1e-300)
    np.testing.assert_array_equal(clump[sort_order(clump)], np.sort(clump))


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("sparse", [True, False])
def test_recounting_the_changed_rows_is_counting_all(smoothing, sparse):
    rng = np.random.default_rng(0)
    votes = rng.multinomial(7, rng.dirichlet(np.full(5, 0.5)), size=150).astype(float)
    y = np.concatenate([np.arange(5), rng.integers(0, 5, size=145)])
    votes[:5] = np.eye(5)
    given = scipy.sparse.csr_array(votes) if sparse else votes
    patterns = Votes.from_proba(y, given, merge=False)
    cost = np.random.default_rng(0).random((5, 5))
    descent = Descent(SearchProblem.read(patterns, costing(cost), smoothing=smoothing, max_ratio=None))
    rng = np.random.default_rng(1)
    for _ in range(30):
        weights, k, new = np.exp(rng.normal(size=5)), int(rng.integers(5)), float(np.exp(rng.normal()))
        descent.start(weights)
        recount(descent.patterns, descent.objective, descent.state, k, new)
        moved = descent.within_ratio(weights) * (1 - 1e-9) ** np.arange(5)
        moved[k] = new
        expected = naive.matrix(y, naive.decide(votes, moved, smoothing), np.ones(150), 5)
        np.testing.assert_allclose(descent.state.predicted, expected.sum(axis=0))
        np.testing.assert_allclose(descent.state.hits, expected.diagonal())
        np.testing.assert_allclose(descent.state.cost[0], (expected * cost).sum() / 150 / cost.max())


@pytest.mark.parametrize("metric", ["kulczynski", "f"])
def test_total_value_is_the_loss(metric):
    descent, patterns = random_problem(4, dense=False, smoothing=0.0, metric=metric)
    descent.start(np.ones(5))
    counts = naive.matrix(patterns.truth, naive.decide(patterns.votes.toarray(), np.ones(5)), patterns.multiplicity, 5)
    assert total_value(descent.objective, descent.state) == pytest.approx(
        naive.value(counts, descent.problem.arrays), abs=1e-12
    )


def objective_of(metric):
    preferences = Preferences(default=Preference(recall_weight=0.5), metric=metric)
    patterns = Votes.from_proba([0, 1, 1], [[3, 1], [1, 3], [2, 2]], labels=[0, 1])
    return SearchProblem.read(patterns, preferences, smoothing=0.0, max_ratio=None).objective()


def values_on_a_grid(metric):
    objective, rates = objective_of(metric), (0.0, 1e-9, 0.1, 0.5, 0.73, 1.0)
    for case in itertools.product(rates, rates, (0.0, 1e-6, 0.3, 0.5, 0.7, 1.0)):
        yield metric_value(objective, *case), float(metric.value(*case))


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_worth_what_its_formula_says(name):
    for compiled, formula in values_on_a_grid(METRICS[name]):
        assert compiled == pytest.approx(formula, rel=1e-14, abs=0)
    assert objective_of(METRICS[name]).code != OWN_METRIC


def test_a_metric_without_a_kernel_is_called(monkeypatch):
    """One's own, under any name, and a member of the family that was not compiled."""

    def quadratic(p, r, weight):
        return np.sqrt((1 - weight) * p**2 + weight * r**2)

    monkeypatch.setitem(METRICS, "fifth", Metric("fifth", quadratic))
    for metric in (METRICS["fifth"], Metric("jaccard", quadratic), replace(METRICS["f"], formula=quadratic)):
        assert objective_of(metric).code == OWN_METRIC
        for called, formula in values_on_a_grid(metric):
            assert called == pytest.approx(formula, rel=1e-15, abs=0)


@pytest.mark.parametrize("code", [OWN_METRIC - 1, COST + 1, 99])
def test_an_objective_that_no_kernel_knows(code):
    nothing = np.zeros(2)
    fields = dict.fromkeys(("share", "recall_weight", "support", "min_precision", "min_recall", "max_share"), nothing)
    with pytest.raises(ValueError, match=f"no objective of code {code}"):
        Objective(
            code=code, formula=None, explained=None, everywhere=False, constrained=False, cost=np.zeros((1, 1)), tiny=0.0,
            **fields,
        )  # fmt: skip


def test_better_is_a_smaller_shortfall_then_a_smaller_loss_by_more_than_rounding():
    for value, other, better in (
        ((0.0, 0.4), (0.0, 0.5), True), ((0.0, 0.5), (0.0, 0.5), False), ((0.1, 0.9), (0.2, 0.5), True),
        ((0.2, 0.4), (0.1, 0.5), False), ((0.0, 0.5 - 1e-13), (0.0, 0.5), False), ((1e-13, 0.4), (0.0, 0.5), True),
        ((0.1 - 1e-13, 0.5), (0.1, 0.5), False), ((0.0, 0.5), (np.inf, np.inf), True),
    ):  # fmt: skip
        assert is_better(*value, *other) == better
        assert precedes(value, other) == (better or (value[1] < other[1] and abs(value[0] - other[0]) < 1e-12))


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_a_kept_state_comes_back(smoothing):
    descent, patterns = random_problem(5, dense=False, smoothing=smoothing)
    before = descent.start(np.array([1.0, 2.0, 0.5, 1.5, 1.0]))
    descent.keep()
    descent.start(np.array([5.0, 1.0, 9.0, 1.0, 0.2]))
    descent.restore()
    assert descent.value == before
    for k in range(5):  # the two best of each row and their ranks are back too: line searches count as if afresh
        line_search(descent.patterns, descent.objective, descent.state, k, (0.0, np.inf), (0.0, 0.0))
        fresh = naive.matrix(
            patterns.truth,
            naive.decide(patterns.votes.toarray(), descent.weight, smoothing),
            patterns.multiplicity,
            5,
        )
        np.testing.assert_allclose(descent.state.predicted, fresh.sum(axis=0))
        np.testing.assert_allclose(descent.state.hits, fresh.diagonal())
