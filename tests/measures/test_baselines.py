"""Decisions without a model: baselines by hand, the best coin against fine grids, a general optimiser and random predictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import compromis as cp
from compromis.measures.baselines import Limits, best_coin, best_constant, coin_limits, naive_baselines
from compromis.metrics import METRICS, Metric
from compromis.preferences import PreferenceArrays

EXTREMES = [0.0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9, 1.0]


def laid_out(importance, recall_weight, metric):
    size = len(importance)
    return PreferenceArrays(
        classes=tuple(range(size)),
        importance=np.asarray(importance, dtype=float),
        recall_weight=np.asarray(recall_weight, dtype=float),
        min_precision=np.zeros(size),
        min_recall=np.zeros(size),
        max_share=np.ones(size),
        confidence=np.zeros(size),
        level=np.full(size, np.nan),
        metric=METRICS[metric] if isinstance(metric, str) else metric,
    )


def random_setting(rng, size, metric, extreme=True):
    shares = rng.dirichlet(np.full(size, rng.choice([0.1, 1, 10])))
    importance = rng.choice([0, 1, 2.5, 10, 1e-3, 1000] if extreme else [1, 2.5, 10], size)
    if extreme and rng.random() < 0.1:
        shares[rng.integers(size)] = 0
        shares /= shares.sum()
    importance[shares.argmax()] += 1
    weight = rng.uniform(0.02, 0.98, size)
    if extreme:
        weight = np.where(rng.random(size) < 0.5, weight, rng.choice(EXTREMES, size))
    return shares, laid_out(importance, weight, metric)


def random_limits(rng, size):
    low = np.round(rng.random(size) * 0.8 / size, 2) * (rng.random(size) < 0.5)
    high = np.where(rng.random(size) < 0.5, 1.0, np.round(low + rng.uniform(0.2, 0.6, size), 2))
    return Limits(low, high)


def grid_of(size, steps):
    first = np.linspace(0, 1, steps + 1)
    if size == 2:
        return np.column_stack([first, 1 - first])
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    inside = i + j <= steps
    return np.column_stack([i[inside], j[inside], steps - i[inside] - j[inside]]) / steps


def paper_value(metric, p, r, weight):
    """The paper's formulas; at a recall of 0 the limit, so that the supremum counts."""
    if metric == "kulczynski":
        return (1 - weight) * p + weight * r
    if weight == 0:
        return np.full(len(r), p)
    positive = np.where(r > 0, r, 1.0)
    if metric == "f":
        value = 1 / (weight / positive + (1 - weight) / p)
    elif metric == "fowlkes_mallows":
        value = p ** (1 - weight) * positive**weight
    else:
        near, far, both = min(2 * weight, 1), min(2 - 2 * weight, 1), 1 - abs(1 - 2 * weight)
        value = p * positive / (near * p + far * positive - both * p * positive)
    return np.where(r > 0, value, 0.0)


def paper_loss(shares, arrays, coins):
    """The expected loss of each coin; classes that do not occur are left out."""
    used = shares > 0
    value = sum(
        arrays.importance[k] * paper_value(arrays.metric.name, shares[k], coins[:, k], arrays.recall_weight[k])
        for k in np.flatnonzero(used)
    )
    return 1 - value / arrays.importance[used].sum()


@pytest.mark.parametrize("metric", list(METRICS))
@pytest.mark.parametrize(("size", "steps", "cases"), [(2, 20_000, 150), (3, 200, 100)])
def test_no_coin_of_a_fine_grid_is_better(rng, metric, size, steps, cases):
    grid = grid_of(size, steps)
    for case in range(cases):
        shares, arrays = random_setting(rng, size, metric)
        limits = random_limits(rng, size) if case % 3 == 0 else None
        coin = best_coin(shares, arrays, limits)
        met = np.ones(len(grid), bool)
        if limits is not None:
            met = ((grid >= limits.low - 1e-9) & (grid <= limits.high + 1e-9)).all(axis=1)
            if not met.any():
                continue  # between two points of the grid, or infeasible: a test of its own
        best = paper_loss(shares, arrays, grid[met]).min()
        assert best - 0.01 < coin.loss <= best + 1e-9
        assert paper_loss(shares, arrays, coin.probability[np.newaxis])[0] == pytest.approx(float(coin.loss), abs=1e-9)
        assert coin.probability.sum() == pytest.approx(1)
        assert (coin.probability >= 0).all()


@pytest.mark.parametrize("metric", ["f", "fowlkes_mallows", "jaccard"])
@pytest.mark.parametrize("size", [5, 10])
def test_a_general_optimiser_finds_nothing_better(rng, metric, size):
    for case in range(12):
        shares, arrays = random_setting(rng, size, metric, extreme=False)
        limits = random_limits(rng, size) if case % 2 else coin_limits(shares)
        coin = best_coin(shares, arrays, limits)
        if not limits.feasible:
            continue
        theirs = [
            minimize(
                lambda q, shares=shares, arrays=arrays: paper_loss(shares, arrays, np.clip(q, 1e-14, 1)[np.newaxis])[0],
                rng.dirichlet(np.ones(size)),
                method="SLSQP",
                bounds=list(zip(np.maximum(limits.low, 1e-14), limits.high, strict=True)),
                constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
                options={"maxiter": 500, "ftol": 1e-14},
            )
            for _ in range(2)
        ]
        best = min(done.fun for done in theirs if abs(done.x.sum() - 1) < 1e-9)
        assert coin.loss <= best + 1e-9
        assert coin.loss >= best - 1e-6


def test_a_stack_is_solved_as_each_alone(rng):
    shares = rng.dirichlet(np.ones(4), size=(3, 5))
    for metric in METRICS:
        arrays = laid_out([1, 2, 0, 5], [0.3, 1.0, 0.5, 0.9], metric)
        together = best_coin(shares, arrays, coin_limits(shares, min_recall=0.1))
        assert together.probability.shape == (3, 5, 4)
        for index in np.ndindex(3, 5):
            alone = best_coin(shares[index], arrays, coin_limits(shares[index], min_recall=0.1))
            np.testing.assert_allclose(together.probability[index], alone.probability, atol=1e-12)
            assert together.loss[index] == pytest.approx(float(alone.loss), abs=1e-14)


def test_permuting_classes_permutes_the_coin(rng):
    for metric in METRICS:
        shares, arrays = random_setting(rng, 6, metric, extreme=False)
        order = rng.permutation(6)
        moved = laid_out(arrays.importance[order], arrays.recall_weight[order], metric)
        first, second = best_coin(shares, arrays), best_coin(shares[order], moved)
        np.testing.assert_allclose(first.probability[order], second.probability, atol=1e-8)
        assert first.loss == pytest.approx(float(second.loss), abs=1e-12)


def test_tighter_limits_never_lower_the_loss(rng):
    for case in range(300):
        metric = list(METRICS)[case % 4]
        shares, arrays = random_setting(rng, int(rng.integers(2, 6)), metric)
        limits = random_limits(rng, len(shares))
        tighter = Limits(limits.low * 1.2, np.maximum(limits.high * 0.9, limits.low))
        losses = [float(best_coin(shares, arrays, one).loss) for one in (None, limits, tighter)]
        assert losses == pytest.approx(sorted(losses), abs=1e-9)


@pytest.mark.parametrize("metric", list(METRICS))
def test_constants_and_random_predictions_at_the_shares_are_no_better(rng, metric):
    for _ in range(100):
        shares, arrays = random_setting(rng, int(rng.integers(2, 8)), metric)
        coins = np.vstack([np.eye(len(shares)), shares])
        assert best_coin(shares, arrays).loss <= paper_loss(shares, arrays, coins).min() + 1e-12


def test_the_loss_is_what_a_real_coin_reaches(rng):
    """A million rows, decided by the coin."""
    preferences = cp.Preferences({1: cp.Preference(5, 0.6, 0.6)})
    coin = best_coin(np.array([0.95, 0.05]), preferences.on([0, 1]))
    assert coin.probability[1] == pytest.approx(0.1606, abs=1e-4)
    truth = (np.arange(1_000_000) < 50_000).astype(int)
    predicted = (rng.random(len(truth)) < coin.probability[1]).astype(int)
    assert cp.pragma_loss(truth, predicted, preferences=preferences) == pytest.approx(float(coin.loss), abs=2e-3)


def test_the_supremum_of_the_plane_is_reached_by_no_coin():
    """Giving a class up costs l, never giving it its precision: predicting it next to never keeps (1 - l) pi."""
    coin = best_coin(np.array([0.9, 0.1]), laid_out([1, 1], [0.2, 0.7], "kulczynski"))
    assert coin.probability.tolist() == [0, 1]
    assert coin.loss == pytest.approx(1 - (0.8 * 0.9 + 0.3 * 0.1 + 0.7) / 2)
    assert not coin.reached
    arrays = laid_out([1, 1], [0.2, 0.7], "kulczynski")
    assert paper_loss(np.array([0.9, 0.1]), arrays, np.array([[1e-6, 1 - 1e-6]]))[0] > coin.loss
    assert best_coin(np.array([0.9, 0.1]), laid_out([1, 1], [0.2, 0.7], "f")).reached


def test_classes_that_do_not_count_are_left_out():
    for metric in METRICS:
        alone = best_coin(np.array([0.7, 0.3]), laid_out([1, 3], [0.4, 0.8], metric))
        absent = best_coin(np.array([0.7, 0.0, 0.3]), laid_out([1, 9, 3], [0.4, 0.5, 0.8], metric))
        assert absent.loss == pytest.approx(float(alone.loss), abs=1e-12)
        assert absent.probability[1] == 0
        nothing = best_coin(np.array([1.0, 0.0]), laid_out([0, 1], [0.5, 0.5], metric))
        assert np.isnan(nothing.loss)
        single = best_coin(np.array([1.0]), laid_out([1], [0.5], metric))
        assert (float(single.loss), single.probability.tolist()) == (pytest.approx(0), [1])


def test_two_hundred_classes(rng):
    for metric in METRICS:
        shares, arrays = random_setting(rng, 200, metric, extreme=False)
        coin = best_coin(shares, arrays)
        assert coin.probability.sum() == pytest.approx(1)
        for _ in range(50):  # moving a little from one class to another helps nobody
            one, other = rng.choice(np.flatnonzero(coin.probability > 1e-6), 2)
            moved = coin.probability.copy()
            moved[one] -= 1e-7
            moved[other] += 1e-7
            assert paper_loss(shares, arrays, moved[np.newaxis])[0] >= coin.loss - 1e-11


@pytest.mark.parametrize("metric", list(METRICS))
def test_ones_own_metric_comes_near_the_closed_form(rng, metric):
    member = METRICS[metric]
    own = Metric("own", member.formula, defined_at_zero=member.defined_at_zero)
    for case in range(25):
        shares, arrays = random_setting(rng, int(rng.integers(2, 8)), metric, extreme=False)
        limits = random_limits(rng, len(shares)) if case % 2 else None
        numeric = best_coin(shares, laid_out(arrays.importance, arrays.recall_weight, own), limits)
        closed = best_coin(shares, arrays, limits)
        assert closed.loss - 1e-12 <= numeric.loss <= closed.loss + 2e-5
        assert numeric.reached == closed.reached


def test_a_metric_that_is_convex_in_recall_is_best_at_a_constant():
    own = Metric("quadratic", lambda p, r, weight: np.sqrt((1 - weight) * p**2 + weight * r**2))
    shares, arrays = np.array([0.6, 0.3, 0.1]), laid_out([1, 1, 4], [0.5, 0.5, 0.5], own)
    coin = best_coin(shares, arrays)
    grid = grid_of(3, 100)
    value = own.value(shares, grid, 0.5)
    assert coin.loss <= 1 - (value * arrays.importance).sum(axis=1).max() / 6 + 1e-12


def test_limits_of_constraints():
    shares = np.array([0.05, 0.95, 0.0])
    limits = coin_limits(shares, np.array([0.2, 0.9, 0.5]), np.array([0.0, 0.3, 0.6]), np.array([1.0, 0.8, 0.7]))
    assert limits.low.tolist() == [0, 0.3, 0]
    assert limits.high.tolist() == [0, 0.8, 0.7]  # precision 0.05 is below 0.2; the absent class asks for nothing
    assert limits.feasible
    arrays = laid_out([5, 1, 1], [0.5, 0.5, 0.5], "f")
    assert best_coin(shares, arrays, limits).probability.round(6).tolist() == [0, 0.8, 0.2]


def test_a_class_that_must_not_be_predicted_gains_nothing():
    """Not even what it would gain by being predicted next to never."""
    arrays = laid_out([1, 1], [0.2, 0.7], "kulczynski")
    coin = best_coin(np.array([0.9, 0.1]), arrays, Limits(np.zeros(2), np.array([1.0, 0.0])))
    assert coin.loss == pytest.approx(1 - (0.8 * 0.9 + 0.2) / 2)
    assert coin.reached


def test_where_no_coin_meets_the_limits_the_loss_is_the_worst():
    shares, arrays = np.array([0.3, 0.7]), laid_out([1, 1], [0.5, 0.5], "f")
    for limits in (
        coin_limits(shares, min_recall=0.8),
        coin_limits(shares, max_share=0.3),
        coin_limits(shares, min_precision=np.array([0.5, 0.0]), min_recall=np.array([0.1, 0.0])),
    ):
        coin = best_coin(shares, arrays, limits)
        assert (float(coin.loss), bool(coin.feasible), bool(coin.reached)) == (1.0, False, False)
        assert np.isnan(coin.probability).all()
        assert best_constant(shares, np.array([[0.0, 1.0], [5.0, 0.0]]), limits).loss == 3.5


def test_the_cheapest_constant_and_limits_by_linear_programming(rng):
    assert best_constant(np.array([0.9, 0.1]), np.array([[0.0, 1.0], [20.0, 0.0]])).probability.tolist() == [0, 1]
    for _ in range(50):
        size = int(rng.integers(2, 6))
        shares, cost, limits = rng.dirichlet(np.ones(size)), rng.normal(size=(size, size)), random_limits(rng, size)
        coin = best_constant(shares, cost, limits)
        done = linprog(
            shares @ cost, A_eq=np.ones((1, size)), b_eq=[1], bounds=list(zip(limits.low, limits.high, strict=True))
        )
        assert bool(coin.feasible) == (done.status == 0)
        if coin.feasible:
            assert coin.loss == pytest.approx(done.fun)
        assert best_constant(shares, cost).loss == pytest.approx((shares @ cost).min())


def test_a_baseline_that_breaks_what_the_result_keeps_is_no_rival():
    """Always 'ill' is right in 20 of 100; 'well' finds no ill; at random 20 of 100 are flagged, 20 of 100 of them rightly."""

    def rivals(matrix, **constraints):
        arrays = cp.Preferences({"ill": cp.Preference(5, **constraints)}).on(["ill", "well"])
        return [one.allowed for one in naive_baselines(cp.Counts.from_matrix(matrix, ["ill", "well"]), arrays)]

    assert rivals([[10, 10], [5, 75]]) == [True, True, True]
    assert rivals([[10, 10], [5, 75]], min_precision=0.3) == [False, True, False]
    assert rivals([[10, 10], [40, 40]], min_precision=0.3) == [True, True, True]  # the result breaks it too
    assert rivals([[10, 10], [5, 75]], min_recall=0.4) == [True, False, False]
    assert rivals([[3, 17], [5, 75]], min_recall=0.4) == [True, False, True]  # as far as the result does: 0.15
    assert rivals([[3, 17], [5, 75]], max_share=0.1) == [False, True, False]


def test_baselines_of_absent_classes_and_without_importance():
    preferences = cp.Preferences(default=cp.Preference(recall_weight=0.5), metric="kulczynski").on(("a", "b", "c"))
    always = naive_baselines(cp.Counts.from_matrix([[3, 0, 0], [0, 1, 0], [0, 0, 0]], list("abc")), preferences)
    # c does not occur: deciding it is worth nothing; a: (1/8 + 1) / 2, b: (1 + 3/8) / 2, at random (1/4 + 3/4) / 2
    assert [one.loss for one in always] == [0.5625, 0.6875, 1.0, 0.5]
