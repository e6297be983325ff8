"""Exact search for two and three classes, against brute force over all reachable decisions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import compromis as cp
from compromis.errors import InputError
from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.weights import search_weights, weight_sweep
from tests import naive_weights as naive
from tests.weight_cases import costing, small_problem

pytestmark = pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")  # every metric is searched


def check(seed: int, **options) -> None:
    votes, y, preferences = small_problem(
        seed, floors=options.pop("floors", False), capacities=options.pop("capacities", False)
    )
    classes = votes.shape[1]
    if (cost := options.pop("cost", None)) is not None:
        preferences = costing(cost, preferences)
    search = search_weights(y, votes, preferences=preferences, labels=range(classes), method="exact", **options)
    expected = naive.brute_force(votes, y, preferences.on(range(classes)))
    reached = naive.value(search.counts.matrix, preferences.on(range(classes)))
    assert reached[0] <= expected[0] + 1e-9, seed
    assert reached[1] <= expected[1] + 1e-9, seed
    assert search.optimal, seed
    assert search.loss == pytest.approx(reached[1], abs=1e-12)
    assert search.feasible == (expected[0] == 0)
    again = Votes.from_proba(y, votes, labels=range(classes), merge=False).counts(search.weights)
    np.testing.assert_array_equal(again.matrix, search.counts.matrix)


@pytest.mark.parametrize("seed", range(250))
def test_never_worse_than_brute_force(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(60))
def test_minima_come_first(seed):
    check(seed, floors=True)


@pytest.mark.parametrize("seed", range(80))
def test_capacities_come_first(seed):
    """At most a share of the rows predicted as a class, alone and beside minima, with and without costs."""
    classes = small_problem(seed)[0].shape[1]
    cost = np.random.default_rng(seed).integers(-2, 10, size=(classes, classes)).astype(float)
    check(seed, floors=seed % 3 == 1, capacities=True, **({"cost": cost} if seed % 4 == 3 else {}))


@pytest.mark.parametrize("seed", [2308, 6418, 490])
def test_shortfalls_that_differ_by_rounding_are_equal(seed):
    check(seed, floors=seed % 3 == 1)


def test_weights_on_a_tie_stay_there():
    check(7708, floors=True)


@pytest.mark.parametrize("seed", [3000, 7210, 7012])
def test_a_cell_that_only_rounding_opens_does_not_spoil_the_proof(seed):
    check(seed, floors=seed % 3 == 1)
    votes, y, preferences = small_problem(seed, floors=seed % 3 == 1)
    scale = np.random.default_rng(seed).integers(1, 30, (len(votes), 1)) * 0.7
    for shares in (votes / 7, votes / scale):
        assert search_weights(
            y, shares, preferences=preferences, labels=range(3), method="exact", random_state=0
        ).optimal


def test_a_cell_as_narrow_that_is_there_does():
    """Every row is predicted right in a cell of width 1e-13, which weights cannot be trusted to hit."""
    votes = np.array([[1.0, 3.0, 0.1], [1.0, 3.0 + 3e-13, 0.1], [0.1, 0.3, 1.0]])
    search = search_weights([0, 1, 2], votes, labels=range(3), method="exact", random_state=0)
    assert search.loss > 0
    assert not search.optimal


@pytest.mark.parametrize("seed", range(60))
def test_costs(seed):
    classes = small_problem(seed)[0].shape[1]
    cost = np.random.default_rng(seed).integers(-2, 10, size=(classes, classes)).astype(float)
    check(seed, cost=cost)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_smoothing_is_more_votes_and_weights_are_repetition(classes, sparse):
    rng = np.random.default_rng(classes)
    votes, y = rng.integers(0, 5, size=(40, classes)), np.arange(40) % classes
    votes[votes.sum(axis=1) == 0] = 1  # rows without any vote are left out before anything is added
    given = scipy.sparse.csr_array(votes) if sparse else votes
    smoothed = search_weights(y, given, smoothing=0.5, random_state=0)
    plain = search_weights(y, votes + 0.5, random_state=0)
    assert (smoothed.optimal, plain.optimal) == (True, True)
    assert smoothed.loss == pytest.approx(plain.loss, abs=1e-12)
    times = rng.integers(0, 4, size=40)
    weighted = search_weights(y, given, sample_weight=times, random_state=0)
    repeated = search_weights(np.repeat(y, times), np.repeat(votes, times, axis=0), random_state=0)
    assert (weighted.optimal, repeated.optimal) == (True, True)
    assert weighted.loss == pytest.approx(repeated.loss, abs=1e-12)


def test_cells_that_no_weights_reach_disprove_a_proof():
    """Ratios of votes beyond the widest ratio of weights; a bound of the user's own makes the proof whole again."""
    far = [[1.0, 1e-150], [1e-150, 1.0], [1.0, 1.0]]
    three = [[1.0, 1e-150, 1.0], [1e-150, 1.0, 1.0], [1.0, 1.0, 2.0], [2.0, 1.0, 1.0]]
    for y, votes in (([1, 0, 0], far), ([1, 0, 2, 0], three)):
        assert not search_weights(y, votes).optimal
        assert search_weights(y, votes, max_ratio=10).optimal
    for votes in ([[1.0, 1e150], [1.0, 1.0], [2.0, 1.0]], [[1e150, 1.0], [1.0, 1.0], [2.0, 1.0]]):  # one side is enough
        assert not search_weights([1, 0, 1], votes).optimal


@pytest.mark.parametrize("seed", range(40))
def test_relabelling_and_scaling_change_nothing(seed):
    votes, y, preferences = small_problem(seed)
    classes = votes.shape[1]
    turned = list(range(classes))[::-1]
    search = search_weights(y, votes, preferences=preferences, labels=range(classes), method="exact", random_state=0)
    other = search_weights(y, votes[:, turned], preferences=preferences, labels=turned, method="exact", random_state=0)
    assert other.loss == pytest.approx(search.loss, abs=1e-12)
    scaled = search_weights(
        y, votes * 0.3, preferences=preferences, labels=range(classes), method="exact", random_state=0
    )
    assert scaled.loss == pytest.approx(search.loss, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_larger_problems_against_every_weight_of_many_lines(classes):
    rng = np.random.default_rng(classes)
    votes, y = rng.dirichlet(np.ones(classes), size=300), rng.integers(0, classes, size=300)
    preferences = Preferences({0: Preference(10, 0.1, 0.9)}, metric="f")
    search = search_weights(y, votes, preferences=preferences, method="exact", random_state=0)
    assert search.optimal
    for _ in range(20):
        line = {"weights": np.exp(rng.normal(size=classes)), "label": int(rng.integers(classes))}
        assert search.loss <= weight_sweep(y, votes, preferences=preferences, **line).loss.min() + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_the_ratio_of_weights_stays_bounded(seed):
    votes, y, preferences = small_problem(seed)
    classes = votes.shape[1]
    bounded = search_weights(
        y, votes, preferences=preferences, labels=range(classes), method="exact", max_ratio=1.5, random_state=0
    )
    assert bounded.weights.max() / bounded.weights.min() <= 1.5 * (1 + 1e-9)
    free = search_weights(y, votes, preferences=preferences, labels=range(classes), method="exact", random_state=0)
    assert free.loss <= bounded.loss + 1e-12
    for first in np.linspace(-0.4, 0.4, 9):  # no weights within the bound do better
        for second in np.linspace(-0.4, 0.4, 9) if classes == 3 else [0.0]:
            weights = np.exp([0, first, second][:classes])
            if weights.max() / weights.min() <= 1.5:
                counts = Votes.from_proba(y, votes, labels=range(classes)).counts(weights)
                ties = any(np.isclose(*sorted(row * weights)[-2:], rtol=1e-9) for row in votes)
                assert ties or bounded.loss <= naive.value(counts.matrix, preferences.on(range(classes)))[1] + 1e-9


def test_extreme_votes_do_not_overflow():
    votes = [[1.0, 1e-300, 0.0], [1e-300, 1.0, 1e-200], [1e-5, 1e-5, 1.0], [1.0, 1e-280, 1e-290]]
    search = search_weights([0, 1, 2, 1], votes, method="exact", random_state=0)
    assert np.isfinite(search.weights).all()
    two = search_weights([0, 1, 1], [[1.0, 1e-310], [1e-310, 1.0], [0.5, 0.5]], method="exact", random_state=0)
    assert two.counts.matrix.tolist() == [[1, 0], [0, 2]]


def test_four_classes_are_refused():
    with pytest.raises(InputError, match="two or three classes, got 4"):
        search_weights(range(4), np.eye(4), method="exact", random_state=0)


@pytest.mark.parametrize(
    ("votes", "truth"),
    [([[1, 2], [2, 5]], "ab"), ([[1, 2, 0], [2, 5, 0], [0, 0, 1]], "abc")],
)
def test_a_tie_at_the_bound_of_the_ratio_is_not_forgotten(votes, truth):
    """At a ratio of exactly 2 the tie goes to the first class and every row is right: no cell within the bound has that."""
    patterns = cp.Votes.from_proba(list(truth), votes, labels=list(truth))
    at_the_bound = patterns.counts([2.0, 1.0, 1.0][: len(truth)])
    assert at_the_bound.matrix.trace() == len(truth)
    search = search_weights(patterns, max_ratio=2)
    assert search.loss > 0
    assert not search.optimal
    assert search_weights(patterns, max_ratio=3).optimal


def test_rows_of_one_ratio_are_not_told_apart_by_rounding():
    """0.2 to 0.3 and 0.6 to 0.9 flip together; only the rounding of products could tell them apart, and nobody wants such weights."""
    votes, smoothing = [[0.1, 0.2], [0.5, 0.8]], 0.1
    exact = [[Fraction(str(vote)) + Fraction("0.1") for vote in row] for row in votes]
    assert exact[0][0] / exact[0][1] == exact[1][0] / exact[1][1]
    patterns = cp.Votes.from_proba(["b", "a"], votes, labels=["a", "b"])
    assert patterns.counts([1.1, 0.7333333333333334], smoothing=smoothing).matrix.tolist() == [[1, 0], [0, 1]]
    search = search_weights(patterns, smoothing=smoothing)
    assert search.optimal
    assert search.loss == pytest.approx(2 / 3)  # both rows as one class: recall 1, precision 1/2


def test_weights_over_many_orders_of_magnitude_are_not_called_optimal():
    """The three light rows are lost in sums with 1e13: a loss of 1/8 was 'proven', though a ratio of 1.6 has 1/12."""
    votes, truth = [[9, 1], [8, 2], [6, 4], [4, 6], [5, 4]], list("aabba")
    search = search_weights(truth, votes, labels=["a", "b"], sample_weight=[1e13, 1e13, 1, 1, 1])
    better = cp.Votes.from_proba(truth, votes, labels=["a", "b"], sample_weight=[1e13, 1e13, 1, 1, 1]).counts([1, 1.6])
    assert cp.evaluate(better, preferences=cp.Preferences()).summary.loss < search.loss + 1e-9
    assert not search.optimal
    assert search_weights(truth, votes, labels=["a", "b"], sample_weight=[1e3, 1e3, 1, 1, 1]).optimal
