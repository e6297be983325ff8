"""Every criterion against its definition, and what is known about each of them."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest
import scipy

from compromis.errors import InputError
from compromis.estimators import PragmaForestClassifier
from compromis.trees._kernels import CRITERIA, Cuts, gains_of_cuts
from compromis.trees.criteria import CRITERION_NAMES, find_criterion
from tests import naive_trees


def gains_of(criterion, left, right, preferences):
    """The kernels' gains of one or many cuts of the same node; rows of `left` are cuts."""
    left = np.atleast_2d(np.asarray(left, dtype=float))
    node = left[0] + np.atleast_2d(np.asarray(right, dtype=float))[0]
    present = node > 0
    sizes = left.sum(axis=1)
    n = node.sum()
    table = np.vstack([node, preferences["importance"], preferences["recall_weight"], preferences["prior"]])[
        :, present
    ].copy()
    inverses = np.vstack([1 / sizes, 1 / (n - sizes)])
    lefts = left[:, present].T.copy().ravel()
    return gains_of_cuts(CRITERIA[criterion], Cuts(lefts, sizes, inverses, np.empty(len(left))), table, n)


def random_preferences(rng, classes):
    prior = rng.dirichlet(np.ones(classes))
    return {
        "importance": rng.integers(0, 11, classes).astype(float),
        "recall_weight": rng.random(classes),
        "prior": prior,
    }


@pytest.mark.parametrize("criterion", CRITERIA)
def test_gain_equals_its_definition(rng, criterion):
    for _ in range(100):
        classes = int(rng.integers(2, 6))
        node = rng.integers(1, 30, classes)
        cuts = rng.integers(0, node + 1, (int(rng.integers(1, 40)), classes))
        cuts = cuts[(cuts.sum(axis=1) > 0) & (cuts.sum(axis=1) < node.sum())]
        if not len(cuts):
            continue
        preferences = random_preferences(rng, classes)
        expected = [
            naive_trees.GAINS[criterion](list(cut), list(node - cut), preferences) for cut in cuts.astype(float)
        ]
        got = gains_of(criterion, cuts, node - cuts[0], preferences)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_classes_the_node_lacks_change_nothing(rng, criterion):
    preferences = random_preferences(rng, 3)
    two = {name: values[[0, 2]] for name, values in preferences.items()}
    with_empty = gains_of(criterion, [5, 0, 1], [2, 0, 7], preferences)
    np.testing.assert_allclose(with_empty, gains_of(criterion, [5, 1], [2, 7], two))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_cut_that_tells_nothing_gains_nothing_and_a_perfect_one_most(criterion):
    preferences = {"importance": np.ones(2), "recall_weight": np.full(2, 0.5), "prior": np.array([0.4, 0.6])}
    nothing, some, all_of_it = (
        gains_of(criterion, left, right, preferences)[0]
        for left, right in [([2, 3], [8, 12]), ([8, 4], [2, 11]), ([10, 0], [0, 15])]
    )
    assert abs(nothing) < 1e-12
    assert 0 < some < all_of_it


def best_on_noise(criterion, recall_weight, rng, rows=400, tries=120):
    """Share of best cuts in the outer 2 % when the labels are noise."""
    outer = 0
    for _ in range(tries):
        y = rng.integers(0, 2, rows)
        left = np.column_stack([np.cumsum(y == 0), np.cumsum(y == 1)])[:-1]
        preferences = {"importance": np.ones(2), "recall_weight": np.full(2, recall_weight), "prior": np.full(2, 0.5)}
        right = np.array([(y == 0).sum(), (y == 1).sum()]) - left[0]
        place = int(np.argmax(gains_of(criterion, left, right, preferences)))
        outer += place < 0.02 * rows or place >= 0.98 * rows - 1
    return outer / tries


def test_end_cuts():
    """The linear gain likes end cuts at l <= 1/2, gini a little, f hardly; 4 % would be by chance."""
    shares = {name: best_on_noise(name, 0.5, np.random.default_rng(0)) for name in CRITERIA}
    assert shares["pragma_linear"] > 0.6
    assert 0.05 < shares["gini"] < 0.4
    assert shares["pragma_f"] < 0.03
    assert shares["pragma_steady"] < 0.05
    for name in ("pragma_f", "pragma_steady"):
        assert best_on_noise(name, 0.1, np.random.default_rng(0)) < shares["gini"]


def test_phi2_orders_cuts_of_two_classes_as_gini_does(rng):
    node = np.array([40, 9])
    cuts = np.array([[a, b] for a in range(41) for b in range(10) if 0 < a + b < 49])
    preferences = {"importance": np.array([1.0, 7.0]), "recall_weight": rng.random(2), "prior": np.array([0.8, 0.2])}
    gini = gains_of("gini", cuts, node - cuts[0], preferences)
    phi2 = gains_of("pragma_phi2", cuts, node - cuts[0], preferences)
    ratio = phi2[gini > 1e-9] / gini[gini > 1e-9]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_off_centred_entropy_is_largest_at_the_prior():
    preferences = {"importance": np.ones(2), "recall_weight": np.full(2, 0.5), "prior": np.array([0.2, 0.8])}
    as_prior = gains_of("off_centred", [1, 0], [1, 8], preferences)
    balanced = gains_of("off_centred", [1, 0], [1, 2], preferences)
    assert as_prior > balanced


def test_names():
    assert find_criterion("pragma") == find_criterion("pragma_f")
    assert set(CRITERION_NAMES) == {"pragma", *naive_trees.GAINS}


@pytest.mark.parametrize("bad", ["ginny", None, 3])
def test_unknown_criterion(bad):
    with pytest.raises(InputError, match="criterion is one of"):
        find_criterion(bad)


def weighted_f(left, node, n_left, n, importance, recall_weight, prior):
    """`pragma_f` operation by operation."""
    beyond = left - node * n_left * (1.0 / n)
    side = n_left if beyond > 0.0 else n - n_left
    return importance * (abs(beyond) / (recall_weight * node + (1.0 - recall_weight) * side))


SEVEN = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 7)
in_c = SEVEN(weighted_f)


class Addressed:
    """What has nothing but an address, as an extension of the user's own may offer it."""

    address = ctypes.cast(in_c, ctypes.c_void_p).value


def by_numba():
    return pytest.importorskip("numba").cfunc("f8(f8, f8, f8, f8, f8, f8, f8)")(weighted_f)


def grown(criterion, n_jobs=1):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), rng.integers(0, 6, 300)])
    X[rng.random(X.shape) < 0.1] = np.nan
    preferences = {0: {"importance": 5, "recall_weight": 0.8}}
    forest = PragmaForestClassifier(
        4,
        criterion=criterion,
        preferences=preferences,
        categorical_features=[3],
        tune=False,
        n_jobs=n_jobs,
        random_state=0,
    )
    return forest.fit(X, rng.integers(0, 4, 300)).trees_


@pytest.mark.parametrize(
    "criterion",
    [weighted_f, in_c, scipy.LowLevelCallable(in_c), Addressed(), by_numba],
    ids=["python", "ctypes", "LowLevelCallable", "address", "numba"],
)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_own_criterion_grows_the_trees_of_the_same_built_in_one(criterion, n_jobs):
    trees, expected = grown(criterion() if criterion is by_numba else criterion, n_jobs), grown("pragma_f")
    for name in ("nodes", "figures", "subsets", "leaf_shares"):
        np.testing.assert_array_equal(getattr(trees, name), getattr(expected, name))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_first_error_of_an_own_criterion_is_raised_and_nothing_printed(n_jobs, capfd):
    calls = []

    def fails_late(left, node, n_left, n, importance, recall_weight, prior):
        calls.append(left)
        if len(calls) > 1000:
            raise LookupError(f"call {len(calls)}")
        return left

    with pytest.raises(LookupError, match=r"call 100\d"):  # each thread has a first one
        grown(fails_late, n_jobs)
    assert len(calls) <= 1000 + 4  # at most one for each tree
    assert capfd.readouterr() == ("", "")


def test_own_criterion_that_is_no_function_of_seven_numbers():
    find_criterion(lambda left, node, n_left, n, importance, recall_weight, prior: left)
    with pytest.raises(InputError, match="seven numbers"):
        find_criterion(lambda left: left)
    with pytest.raises(InputError, match="seven numbers that gives one, got 'much'"):
        find_criterion(lambda *cut: "much")


def no_type(left):
    return left


@pytest.mark.parametrize(
    "criterion",
    [
        ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(no_type),
        ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_double] * 7)(weighted_f),
        SEVEN(),
        scipy.LowLevelCallable(ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(no_type)),
        scipy.LowLevelCallable(in_c, ctypes.c_void_p(1)),
    ],
    ids=["arguments", "result", "no address", "LowLevelCallable", "user data"],
)
def test_c_function_of_another_kind_is_refused(criterion):
    with pytest.raises(InputError, match=r"criterion"):
        find_criterion(criterion)


def test_tuple_is_no_criterion():
    with pytest.raises(InputError, match="criterion is one of"):
        find_criterion((1, 2))


def test_criterion_is_found_again_from_its_name():
    found = pickle.loads(pickle.dumps(find_criterion(Addressed())))
    assert found.own == Addressed.address
    assert pickle.loads(pickle.dumps(find_criterion("gini"))) == find_criterion("gini")
