"""The kernels of C4.5 against their plain twins, and against Quinlan's book."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from compromis.trees.c45 import Column, Examples, Rules, Table, Tree, fit_tree, shares, tree_text
from compromis.trees.c45._kernels import (
    Pile,
    added_errors,
    branch_errors,
    choose_in_order,
    choose_presorted,
    data_threshold,
    deal,
    quicksort_places,
    smallest_branch,
)
from compromis.trees.c45.growth import OrderedSamples, grow, new_judgement, sort_columns
from compromis.trees.c45.prune import collapse, prune
from tests import naive_c45_tree as naive
from tests.naive_c45 import data_threshold as naive_threshold
from tests.naive_c45 import quicksort
from tests.random_tables import random_case

SEEDS = range(250)
DEVIATE = float(ndtri(0.75))


def small_case(seed: int) -> Examples:
    examples, _, _ = random_case(seed, largest=150)
    return examples


def same_tree(tree: Tree, node: int, twin: naive.Node) -> bool:
    children = tree.children(node)
    if len(children) != len(twin.children) or tree.is_empty[node] != twin.empty:
        return False
    if tree.total[node] != twin.counts.total or tree.class_total[node].tolist() != twin.counts.per_class:
        return False
    if not children:
        return True
    same_test = tree.attribute[node] == twin.attribute and tree.threshold[node] == twin.threshold
    own = slice(children.start, children.stop)
    same_branches = tree.branch_total[own].tolist() == twin.counts.per_branch
    same_cells = tree.branch_class[own].tolist() == twin.counts.cells
    pairs = zip(children, twin.children, strict=True)
    return same_test and same_branches and same_cells and all(same_tree(tree, *pair) for pair in pairs)


@pytest.mark.parametrize("raising", [True, False])
def test_whole_trees_equal_the_twins_to_the_last_bit(raising: bool) -> None:
    sizes = []
    for seed in SEEDS:
        examples = small_case(seed)
        rules = Rules(subtree_raising=raising, pruned=seed % 5 != 0)
        tree, twin = fit_tree(examples, rules), naive.fit(examples, rules, DEVIATE)
        assert same_tree(tree, 0, twin), seed
        sizes.append(tree.size)
    assert np.mean(np.array(sizes) > 5) > 0.2


def test_class_shares_equal_the_recursive_twin() -> None:
    n_spread = 0
    for seed in SEEDS:
        examples, test, _ = random_case(seed, largest=150)
        tree, twin = fit_tree(examples, Rules()), naive.fit(examples, Rules(), DEVIATE)
        expected = [naive.shares(twin, test, row) for row in range(test.n_rows)]
        assert shares(tree, test).tolist() == expected, seed
        n_spread += test.has_missing and tree.size > 3
    assert n_spread > 3


def test_presorted_choice_equals_the_choice_in_order() -> None:
    n_tests = 0
    for seed in SEEDS:
        examples = small_case(seed)
        if not examples.sums_are_exact:
            continue
        columns, order = examples.table.arrays(), sort_columns(examples.table)[0]
        rows = np.arange(examples.table.n_rows, dtype=np.int32)
        fast, slow = new_judgement(examples, np.empty(0)), new_judgement(examples, np.empty(0))
        stretch = (0, len(rows))
        found = choose_presorted(columns, examples.classes, order, rows, examples.weights, stretch, 2, fast)
        same = choose_in_order(columns, examples.classes, rows.copy(), examples.weights.copy(), 2, slow)
        assert found == same
        gain, same_gain = (np.asarray(one.gain)[np.asarray(one.is_test) > 0] for one in (fast, slow))
        assert np.array_equal(gain, same_gain)
        n_tests += found[0] >= 0
    assert n_tests > 3


def test_order_equals_the_recursive_quicksort() -> None:
    rng = np.random.default_rng(0)
    for n in [*range(40), 500]:
        keys = rng.integers(0, max(1, n // 3) + 1, n).astype(float)
        places = np.arange(n, dtype=np.int32)
        quicksort_places(keys, places, np.empty(2 * n + 4, dtype=np.int64))
        expected = list(range(n))
        quicksort(keys.tolist(), expected, 0, n - 1)
        assert places.tolist() == expected
        assert (np.diff(keys[places]) >= 0).all()


def test_threshold_equals_the_scan_through_the_data() -> None:
    rng = np.random.default_rng(1)
    differ_from_largest = 0
    for _ in range(300):
        values = rng.integers(0, 6, 40) * rng.choice([1.0, 4e-7, 9e-7]) + rng.choice([0, 4e-7, 9e-7, 2e-6], 40)
        values[rng.random(40) < 0.1] = np.nan
        order = np.argsort(values, kind="stable").astype(np.int32)
        n_known = int((~np.isnan(values)).sum())
        cut = float(rng.choice(values[order[:n_known]])) + 3e-7
        found = data_threshold(values, order, n_known, cut)
        assert found == naive_threshold(values.tolist(), cut)
        differ_from_largest += found != np.nanmax(values[values - cut < 1e-6])
    assert differ_from_largest > 10


def test_instances_are_dealt_as_by_the_twin() -> None:
    n_fractions = 0
    for seed in SEEDS:
        examples = small_case(seed)
        twin = naive.fit(examples, Rules(pruned=False), DEVIATE)
        if not twin.children:
            continue
        expected = twin.deal(examples.table, twin.sample, twin.counts)
        rows = np.array([row for row, _ in twin.sample], dtype=np.int32)
        weights = np.array([weight for _, weight in twin.sample])
        per_branch, columns = np.array(twin.counts.per_branch), examples.table.arrays()
        begin, dealt, parts = deal(
            columns, twin.attribute, twin.threshold, rows, weights, per_branch, twin.counts.total
        )
        found = list(zip(dealt.tolist(), parts.tolist(), strict=True))
        assert [found[begin[b] : begin[b + 1]] for b in range(len(expected))] == expected
        n_fractions += len(found) > len(rows)
    assert n_fractions > 3


def test_errors_of_a_branch_equal_the_recursive_twin() -> None:
    n_compared = 0
    for seed in SEEDS:
        examples = small_case(seed)
        tree, samples = grow(examples, 2)
        collapse(tree)
        pile = Pile(tree.size, int(tree.n_children.max()), examples.n_classes)
        twin = naive.fit(examples, Rules(pruned=False), DEVIATE)
        for child, twin_child in zip(tree.children(0), twin.children, strict=True):
            rows, weights = samples.at(0)
            sample = list(zip(rows.tolist(), weights.tolist(), strict=True))
            expected = naive.Pruner(examples, 0.25, DEVIATE, True).branch_errors(twin_child, sample)
            at_leaf = (0.25, DEVIATE)
            found = branch_errors(
                examples.table.arrays(), examples.classes, tree.nodes(), child, rows, weights, at_leaf, pile
            )
            assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)
            n_compared += 1
    assert n_compared > 20


@pytest.mark.parametrize(("total", "errors", "share"), [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)])
def test_upper_limits_of_quinlans_book(total: float, errors: float, share: float) -> None:
    # C4.5: Programs for Machine Learning, 4.2: U25%(0,6), U25%(0,9), U25%(0,1), U25%(1,16).
    limit = (errors + added_errors(float(total), float(errors), 0.25, DEVIATE)) / total
    assert limit == pytest.approx(share, abs=0.0055)


def test_added_errors_equal_the_twin() -> None:
    rng = np.random.default_rng(2)
    for _ in range(500):
        total = float(rng.exponential(20) + 0.01)
        errors = float(rng.choice([0.0, rng.random() * total, min(1.0, total), total]))
        confidence = float(rng.choice([0.25, 0.01, 0.5, 0.6]))
        deviate = float(ndtri(1 - confidence))
        expected = naive.added_errors(total, errors, confidence, deviate)
        assert added_errors(total, errors, confidence, deviate) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def chain(depth: int) -> tuple[Examples, Tree]:
    """Rows 0, 1, ... of alternating classes and the tree that peels them off from the right, one at a time."""
    n, inner = depth + 1, np.arange(depth)
    table = Table((Column("x"),), np.arange(n, dtype=float)[None], np.empty((0, n), dtype=np.int32))
    examples = Examples(table, (np.arange(n) % 2).astype(np.int32), 2, np.ones(n))
    on_path = np.concatenate([[0], 2 * inner[:-1] + 1])
    leaves = 2 * inner + 2
    size = 2 * depth + 1
    attribute, n_children = np.full(size, -1), np.zeros(size, dtype=np.int64)
    attribute[on_path], n_children[on_path] = 0, 2
    threshold, first_child = np.zeros(size), np.zeros(size, dtype=np.int64)
    threshold[on_path], first_child[on_path] = depth - 1.0 - inner, 2 * inner + 1
    counts = np.zeros((size, 2))
    for node, members in [*zip(on_path, depth + 1 - inner, strict=True), (size - 2, 1)]:
        counts[node] = [(members + 1) // 2, members // 2]
    counts[leaves, (depth - inner) % 2] = 1.0
    total = counts.sum(axis=1)
    empty = np.zeros(size, dtype=bool)
    return examples, Tree(
        attribute, threshold, first_child, n_children, empty, total, counts, total.copy(), counts.copy()
    )


def test_depth_is_not_bounded_by_recursion() -> None:
    examples, tree = chain(3000)
    assert tree.depth == 3000
    assert shares(tree, examples.table).argmax(axis=1).tolist() == examples.classes.tolist()
    assert tree_text(tree, examples.table.columns, ["a", "b"]).count("\n") > 6000
    collapse(tree)
    assert tree.compact().size == 6001
    prune(tree, examples, OrderedSamples(examples), 0.25, False)
    assert tree.compact().size == 1


@pytest.mark.parametrize(("known", "least"), [(10.0, 2.0), (100.0, 5.0), (500.0, 25.0), (10000.0, 25.0)])
def test_both_sides_of_a_cut_need_a_tenth_of_a_classs_share(known: float, least: float) -> None:
    assert smallest_branch(known, 2, 2) == pytest.approx(least)


@pytest.mark.parametrize(("recorded", "expected"), [([2.0, 0.0], [1.0, 0.0]), ([0.0, 0.0], [0.25, 0.75])])
def test_an_empty_branch_answers_from_its_parents_test(recorded: list[float], expected: list[float]) -> None:
    counts = np.array([[1.0, 3.0], [0.0, 0.0], [1.0, 3.0]])
    branch = np.array([[0.0, 0.0], recorded, [1.0, 3.0]])
    tree = Tree(
        np.array([0, -1, -1]),
        np.zeros(3),
        np.array([1, 0, 0]),
        np.array([2, 0, 0]),
        np.array([False, True, False]),
        counts.sum(axis=1),
        counts,
        branch.sum(axis=1),
        branch,
    )
    table = Table((Column("x"),), np.array([[-1.0]]), np.empty((0, 1), dtype=np.int32))
    assert shares(tree, table).tolist() == [expected]


@pytest.mark.parametrize("first", [0.0, np.nan])
def test_a_test_that_parts_nothing_is_not_repeated_for_ever(first: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compromis.trees.c45.growth.data_threshold", lambda *_: 1e9)
    values = np.array([[first, *range(1, 20)]])
    table = Table((Column("x"),), values, np.empty((0, 20), dtype=np.int32))
    examples = Examples(table, (np.arange(20) > 9).astype(np.int32), 2, np.ones(20))
    tree = fit_tree(examples, Rules())
    assert tree.size == 1
    assert tree.class_total.tolist() == [[10.0, 10.0]]
