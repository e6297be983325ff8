"""Splits against exhaustive search, whole trees against plain ones, and walks through them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from compromis.trees._kernels import (
    CRITERIA,
    FEATURE,
    GAIN,
    LEAF,
    Walk,
    divide_by_leaf,
    few_distinct,
    find_leaves,
    find_majorities,
)
from compromis.trees.binning import Binning, column_thresholds, fit_binning, midpoints
from compromis.trees.criteria import find_criterion
from compromis.trees.grow import (
    Plan,
    StopRule,
    TrainingSet,
    bootstrap,
    class_bootstrap,
    grow_forest,
    grow_tree,
    laplace_shares,
    sampled,
)
from compromis.trees.store import join, mean_shares, tree_leaves, vote_shares
from tests import naive_trees


def random_node(rng, *, ties):
    """A small table of numbers and categories with missing values, labels and weights."""
    rows, features, classes = int(rng.integers(4, 28)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    nominal = rng.random(features) < 0.35
    X = np.empty((rows, features))
    for j in range(features):
        X[:, j] = rng.integers(0, rng.integers(2, 7), rows) if nominal[j] or ties else rng.normal(size=rows)
        if rng.random() < 0.4:
            X[rng.random(rows) < 0.25, j] = np.nan
    labels = rng.integers(0, classes, rows)
    weights = rng.integers(1, 4, rows).astype(float) if ties else rng.random(rows) + 0.1
    return X, nominal, labels, classes, weights


def random_preferences(rng, labels, classes, weights):
    sums = np.bincount(labels, weights=weights, minlength=classes)
    prior = np.clip(sums / sums.sum(), 1e-9, 1 - 1e-9)
    return {"importance": rng.random(classes) + 0.1, "recall_weight": rng.random(classes), "prior": prior}


def grow_on(X, nominal, labels, classes, weights, criterion, preferences, stop=None):
    binning = fit_binning(X, nominal)
    training = TrainingSet.of(binning.columns(X), labels, classes, weights)
    plan = Plan(
        preferences["importance"],
        preferences["recall_weight"],
        X.shape[1],
        find_criterion(criterion),
        stop or StopRule(),
    )
    sample = sampled(training, np.ones(len(X), np.uint16))
    return grow_tree(training, sample, plan, np.random.default_rng(0)), training.columns.bins


def plain_table(X):
    return [[naive_trees.MISSING if np.isnan(v) else float(v) for v in column] for column in X.T]


def leaves_as_sets(leaves):
    return {frozenset(np.flatnonzero(leaves == leaf).tolist()) for leaf in np.unique(leaves)}


def check_root(rng, criterion, min_samples_leaf):
    X, nominal, labels, classes, weights = random_node(rng, ties=bool(rng.random() < 0.6))
    preferences = random_preferences(rng, labels, classes, weights)
    stop = StopRule(max_depth=1, min_samples_leaf=min_samples_leaf)
    tree, bins = grow_on(X, nominal, labels, classes, weights, criterion, preferences, stop)
    expected = None
    if len(np.unique(labels)) > 1:
        rows = list(range(len(X)))
        expected = naive_trees.best_tests(
            plain_table(X), nominal, rows, labels.tolist(), weights.tolist(), criterion, preferences, min_samples_leaf
        )
    if expected is None:
        assert len(tree.nodes) == 1
        return
    gain, tests = expected
    assert tree.figures[0, GAIN] == pytest.approx(gain, rel=1e-9, abs=1e-11)
    left = frozenset(np.flatnonzero(tree_leaves(tree, 0, bins) == tree.nodes[1, 2]).tolist())
    assert (int(tree.nodes[0, FEATURE]), left) in tests


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_split_equals_exhaustive_search(rng, criterion):
    for _ in range(60):
        check_root(rng, criterion, int(rng.integers(1, 4)))


@pytest.mark.parametrize("limits", [{}, {"max_depth": 2}, {"max_leaf_nodes": 4}, {"min_samples_leaf": 3}])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_whole_tree_equals_the_plain_one(rng, criterion, limits):
    for _ in range(12):
        X, nominal, labels, classes, weights = random_node(rng, ties=False)
        if criterion == "gain_ratio":  # 1 for every cut that parts no class: no ties with two classes only
            labels, classes = labels % 2, 2
        preferences = random_preferences(rng, labels, classes, weights)
        tree, bins = grow_on(X, nominal, labels, classes, weights, criterion, preferences, StopRule(**limits))
        expected = naive_trees.grow(
            plain_table(X), nominal, labels.tolist(), weights.tolist(), criterion, preferences, **limits
        )
        assert leaves_as_sets(tree_leaves(tree, 0, bins)) == expected


def test_two_class_nominal_split_is_the_best_of_all_subsets(rng):
    for _ in range(60):
        codes = rng.integers(0, 7, 40)
        labels, weights = rng.integers(0, 2, 40), rng.random(40)
        preferences = random_preferences(rng, labels, 2, weights)
        tree, _ = grow_on(
            codes[:, None] * 1.0, np.array([True]), labels, 2, weights, "gini", preferences, StopRule(max_depth=1)
        )
        best = naive_trees.all_subsets_best_gini(codes.tolist(), range(40), labels.tolist(), weights.tolist(), 2)
        assert tree.figures[0, GAIN] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_same_partitions_as_scikit_learn_with_gini(rng, classes):
    for trial in range(20):
        X = rng.normal(size=(250, 4))  # no two values alike, fewer than 255 of them
        labels = (X[:, 0] * 2 + X[:, 1] + rng.normal(size=250) > 0).astype(int) + rng.integers(0, classes - 1, 250)
        weights = rng.integers(1, 10**5, 250) * 1.0  # no two gains alike, and sums without rounding
        preferences = random_preferences(rng, labels, classes, weights)
        limits = [{}, {"max_depth": 4}, {"min_samples_leaf": 5}, {"max_leaf_nodes": 9}][trial % 4]
        tree, bins = grow_on(X, np.zeros(4, bool), labels, classes, weights, "gini", preferences, StopRule(**limits))
        other = DecisionTreeClassifier(random_state=trial, **limits).fit(X, labels, sample_weight=weights)
        assert leaves_as_sets(tree_leaves(tree, 0, bins)) == leaves_as_sets(other.apply(X))


def test_a_value_equal_to_the_threshold_goes_left():
    X = np.array([[1.0], [2.0], [4.0], [5.0]])
    preferences = {"importance": np.ones(2), "recall_weight": np.full(2, 0.5)}
    tree, _ = grow_on(X, np.array([False]), np.array([0, 0, 1, 1]), 2, None, "gini", preferences)
    binning = fit_binning(X, np.array([False]))
    assert binning.thresholds[0].tolist() == [1.5, 3.0, 4.5]
    bins = binning.columns(np.array([[3.0], [np.nextafter(3.0, 4)], [3.0 - 1e-12]])).bins
    assert mean_shares(tree, bins, 2)[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_min_gain_and_weight_share(rng):
    X, labels = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    preferences = {"importance": np.ones(2), "recall_weight": np.full(2, 0.5)}
    tree, _ = grow_on(X, np.zeros(3, bool), labels, 2, None, "gini", preferences, StopRule(min_gain=0.004))
    inner = tree.nodes[:, FEATURE] != LEAF
    assert 0 < inner.sum() < 100
    assert (tree.figures[inner, 0] * tree.figures[inner, 1] / 300 >= 0.004).all()
    tree, _ = grow_on(X, np.zeros(3, bool), labels, 2, None, "gini", preferences, StopRule(min_weight_share=0.1))
    assert 3 <= tree.n_leaves <= 10
    assert (tree.figures[:, 1] >= 30).all()


def test_distinct_values(rng):
    column = rng.integers(0, 9, 100) / 3
    column[::7] = np.nan
    assert few_distinct(column, 255).tolist() == sorted(set(column[~np.isnan(column)].tolist()))
    assert len(few_distinct(rng.normal(size=1000), 255)) == 256
    assert few_distinct(np.full(3, np.nan), 255).tolist() == []


def bins_of(column, thresholds, dtype=np.float64):
    binning = Binning((np.asarray(thresholds, float),), (np.empty(0, np.uint8),), np.zeros(1, np.uint8))
    return binning.columns(np.asarray(column, dtype)[:, None]).bins[0]


@pytest.mark.parametrize("rows", [1, 300, 3000])  # 1,024 rows and more have a table of where to search
def test_bins_count_thresholds_below(rng, rows):
    for size in (0, 1, 5, 254):
        thresholds = np.sort(rng.integers(-20, 20, size) / 2)
        column = rng.integers(-22, 22, rows) / 2
        column[rng.random(rows) < 0.1] = np.nan
        assert bins_of(column, thresholds).tolist() == [
            naive_trees.bin_of(value, thresholds) for value in column.tolist()
        ]


@pytest.mark.parametrize(
    "scatter",
    [
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: rng.standard_cauchy(n) ** 5,  # nearly all in one cell
        lambda rng, n: 10.0 ** rng.uniform(-320, 308, n) * rng.choice([-1, 1], n),  # a range above the largest float
        lambda rng, n: rng.integers(0, 300, n) * 5e-324,
        lambda rng, n: 1.0 + rng.integers(-40, 40, n) * 2.0**-52,
    ],
    ids=["normal", "heavy tails", "whole range", "smallest", "neighbours"],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_table_of_bins_is_exact(rng, scatter, dtype):
    for size in (2, 3, 30, 254):
        thresholds = np.unique(scatter(rng, size))
        near = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)])
        column = np.concatenate([near, scatter(rng, 3000)]).astype(dtype)
        expected = np.searchsorted(thresholds, column.astype(float))  # how many are below
        np.testing.assert_array_equal(bins_of(column, thresholds, dtype), expected)


def test_bins_of_views_and_other_types(rng):
    X = rng.normal(size=(2000, 3))
    binning = fit_binning(X, np.zeros(3, bool))
    expected = binning.columns(X).bins
    for view in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X[::-1][::-1],
        X.astype(">f8"),
        X.astype(np.longdouble),
    ):
        np.testing.assert_array_equal(binning.columns(view).bins, expected)
    packed = np.zeros(2000, dtype=[("odd", "u1"), ("x", "f8", 3)])
    packed["x"] = X
    np.testing.assert_array_equal(binning.columns(packed["x"]).bins, expected)


def test_too_many_thresholds_are_refused():
    with pytest.raises(ValueError, match="at most 254 thresholds, got 255"):
        bins_of([1.0], np.arange(255))


def test_codes_to_bins():
    binning = Binning((np.empty(0),), (np.array([4, 5, 6], np.uint8),), np.ones(1, np.uint8))
    assert binning.columns(np.array([[0.0, 2.0, 3.0, -1.0, np.nan]]).T).bins.tolist() == [[4, 6, 255, 255, 255]]


def test_quantile_bins_hold_like_numbers_of_rows(rng):
    column = rng.exponential(size=20_000)
    thresholds = column_thresholds(column, np.arange(len(column)))
    counts = np.bincount(np.searchsorted(thresholds, column), minlength=255)
    assert len(thresholds) == 254
    assert counts.min() >= 70
    assert counts.max() <= 90
    heavy = np.where(rng.random(5000) < 0.7, 0.0, rng.normal(size=5000))  # one value has most of the rows
    assert 60 < len(column_thresholds(heavy, np.arange(5000))) < 255


def test_midpoints_never_reach_the_upper_value():
    after_one = np.nextafter(1.0, 2)  # half-way to the next number rounds up to it
    low = np.array([1.0, after_one, -1e308, 0.0, 5e-324])
    high = np.array([after_one, np.nextafter(after_one, 2), 1e308, 5e-324, 1e-323])
    middle = midpoints(low, high)
    assert ((low <= middle) & (middle < high)).all()


def test_many_categories_share_the_last_bin():
    codes = np.concatenate([np.arange(400.0), np.arange(100.0, 400.0)])
    binning = fit_binning(codes[:, None], np.array([True]))
    assert binning.bin_counts.tolist() == [255]
    bins = binning.columns(np.arange(400.0)[:, None]).bins[0]
    assert (bins[:100] == 254).all()  # the rarer ones
    assert len(set(bins[100:354].tolist())) == 254


def forest_of(rng, nominal, trees=3):
    X = np.column_stack([rng.integers(0, 6, 200), rng.normal(size=(200, 2))])
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.integers(0, 3, 200)
    binning = fit_binning(X, np.array([nominal, False, False]))
    training = TrainingSet.of(binning.columns(X), labels, 3, None)
    plan = Plan(np.ones(3), np.full(3, 0.5), 2)
    return training, plan, grow_forest(training, plan, np.arange(trees))


@pytest.mark.parametrize("nominal", [False, True])
def test_walks_equal_the_plain_walk(rng, nominal):
    training, _, (trees, _) = forest_of(rng, nominal)
    bins = training.columns.bins
    for tree, root in enumerate(trees.roots):
        expected = [naive_trees.leaf_of(bins[:, row], trees.nodes, trees.subsets, root) for row in range(200)]
        assert tree_leaves(trees, tree, bins).tolist() == expected
        for rows in (1, 7, 8, 9, 200):  # from eight rows on they go down side by side
            leaves = np.empty(rows, np.uint32)
            part = np.ascontiguousarray(bins[:, :rows])
            find_leaves(Walk(part, trees.nodes, trees.subsets, trees.steps), int(root), leaves)
            assert leaves.tolist() == expected[:rows]


def test_a_sample_of_classes_has_so_many_rows_of_each(rng):
    labels = rng.permutation(np.repeat([0, 1, 3], [50, 7, 20])).astype(np.uint16)
    drawn = np.zeros(len(labels))
    for seed in range(300):
        in_bag = class_bootstrap(labels, np.array([10, 7, 0, 20]), np.random.default_rng(seed))
        assert np.bincount(labels, weights=in_bag, minlength=4).tolist() == [10, 7, 0, 20]
        drawn += in_bag
    for label, share in ((0, 10 / 50), (1, 1.0), (3, 1.0)):
        assert drawn[labels == label] / 300 == pytest.approx(share, abs=0.25)  # every row is drawn as often


def test_votes_and_shares_of_a_forest(rng):
    training, plan, (trees, out_of_bag) = forest_of(rng, nominal=True, trees=4)
    alone, votes, seen = [], np.zeros((200, 3)), np.zeros(200)
    for seed in range(4):
        generator = np.random.Generator(np.random.PCG64(seed))
        in_bag = bootstrap(200, generator)
        assert in_bag.sum() == 200
        tree = grow_tree(training, sampled(training, in_bag), plan, generator)
        alone.append(tree)
        leaves = tree_leaves(tree, 0, training.columns.bins)
        for row in np.flatnonzero(in_bag == 0):
            votes[row, tree.majorities[leaves[row]]] += 1
            seen[row] += 1
    expected = np.divide(votes, seen[:, None], out=np.zeros_like(votes), where=seen[:, None] > 0)
    np.testing.assert_array_equal(out_of_bag, expected)
    assert (join(list(alone)).nodes == trees.nodes).all()
    bins = training.columns.bins
    each = [mean_shares(tree, bins, 3) for tree in alone]
    np.testing.assert_allclose(mean_shares(trees, bins, 3), np.mean(each, axis=0), atol=1e-15)
    np.testing.assert_allclose(mean_shares(trees, bins, 3).sum(axis=1), 1.0)
    hard = np.mean([np.eye(3)[np.argmax(shares, axis=1)] for shares in each], axis=0)
    np.testing.assert_allclose(vote_shares(trees, bins, 3), hard)


def test_leaf_shares_and_majorities():
    starts, classes = np.array([0, 2, 5]), np.array([0, 2, 0, 1, 2], np.uint16)
    shares = np.array([1.0, 3.0, 2.0, 4.0, 4.0])
    divide_by_leaf(starts, shares)
    np.testing.assert_allclose(shares, [0.25, 0.75, 0.2, 0.4, 0.4])
    majorities = np.empty(2, np.uint16)
    find_majorities(starts, classes, shares, majorities)
    assert majorities.tolist() == [2, 1]  # of equals the first


def test_leaves_hold_the_class_weights_of_their_rows(rng):
    X, nominal, labels, classes, weights = random_node(rng, ties=False)
    preferences = random_preferences(rng, labels, classes, weights)
    tree, bins = grow_on(X, nominal, labels, classes, weights, "gini", preferences, StopRule(max_depth=2))
    leaves = tree_leaves(tree, 0, bins)
    for leaf in range(tree.n_leaves):
        sums = np.bincount(labels[leaves == leaf], weights=weights[leaves == leaf], minlength=classes)
        np.testing.assert_allclose(tree.shares_of_leaf(leaf, classes), sums / sums.sum())


def test_local_model_can_be_swapped(rng):
    X, labels = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    binning = fit_binning(X, np.zeros(2, bool))
    training = TrainingSet.of(binning.columns(X), labels, 3, None)
    plan = Plan(np.ones(3), np.full(3, 0.5), 2, stop=StopRule(max_depth=1), local_model=laplace_shares)
    tree = grow_tree(training, sampled(training, np.ones(50, np.uint16)), plan, np.random.default_rng(0))
    leaves = tree_leaves(tree, 0, training.columns.bins)
    counts = np.bincount(labels[leaves == 0], minlength=3)
    np.testing.assert_allclose(tree.shares_of_leaf(0, 3), (counts + 1) / (counts.sum() + 3))


def test_extreme_weights_do_not_divide_by_zero(rng):
    X = rng.normal(size=(60, 3))
    labels = rng.integers(0, 3, 60)
    weights = 10.0 ** rng.integers(-200, 200, 60)
    preferences = random_preferences(rng, labels, 3, weights)
    for criterion in CRITERIA:
        tree, bins = grow_on(X, np.zeros(3, bool), labels, 3, weights, criterion, preferences)
        assert np.isfinite(mean_shares(tree, bins, 3)).all()
