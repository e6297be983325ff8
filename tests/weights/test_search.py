"""search_weights: what every method keeps, what is refused, what is said, and the letters of the PRAGMA paper."""

from __future__ import annotations

import dataclasses
import gzip
import os
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.utils.class_weight import compute_sample_weight

import compromis as cp
from compromis.errors import InputError
from compromis.evidence.votes import Votes
from compromis.metrics import METRICS, Metric
from compromis.preferences import Preference, Preferences
from compromis.weights import Annealing, Exact, Sweep, search_weights
from compromis.weights.problem import Found, SearchProblem
from tests import naive_weights as naive
from tests.weight_cases import costing, small_problem

pytestmark = pytest.mark.filterwarnings("ignore:the weighted Jaccard metric")  # every metric is searched

METHODS = ("exact", "sweep", Annealing(steps=500))


def three_classes(seed: int = 0, rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=rows, p=[0.7, 0.25, 0.05])
    y[:3] = 0, 1, 2
    return rng.multinomial(20, [1 / 3] * 3, size=rows) + 6 * np.eye(3)[y], y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(15))
def test_never_worse_than_equal_weights_and_applied_as_stored(method, seed):
    votes, y, preferences = small_problem(seed, floors=seed % 3 == 0)
    classes = votes.shape[1]
    for smoothing in (0.0, 0.25):
        for given in (votes, votes / 7, scipy.sparse.csr_array(votes), votes.astype(np.float32)):
            search = search_weights(
                y,
                given,
                preferences=preferences,
                labels=range(classes),
                method=method,
                smoothing=smoothing,
                random_state=0,
            )
            patterns = Votes.from_proba(y, given, labels=range(classes), merge=False)
            arrays = preferences.on(range(classes))
            np.testing.assert_array_equal(
                patterns.counts(search.weights, smoothing=smoothing).matrix, search.counts.matrix
            )
            equal = naive.value(patterns.counts(np.ones(classes), smoothing=smoothing).matrix, arrays)
            assert naive.value(search.counts.matrix, arrays) <= (equal[0] + 1e-12, equal[1] + 1e-12)
            assert np.log(search.weights).mean() == pytest.approx(0, abs=1e-12)


def test_nextafter_neighbours_are_applied_as_stored():
    rng = np.random.default_rng(0)
    for seed in range(40):
        base = rng.integers(1, 4, size=(12, 3)) / 7.0
        votes = np.where(rng.random(base.shape) < 0.5, np.nextafter(base, 9), base)
        y = np.append([0, 1, 2], rng.integers(0, 3, size=9))
        for method in ("exact", "sweep"):
            search = search_weights(y, votes, method=method, random_state=seed)
            np.testing.assert_array_equal(
                Votes.from_proba(y, votes, merge=False).counts(search.weights).matrix, search.counts.matrix
            )


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_the_same_result(method):
    votes, y = three_classes()
    seeds = [lambda: 7, lambda: np.int64(7), lambda: np.random.default_rng(7)]
    first, *others = (search_weights(y, votes, method=method, random_state=seed()) for seed in seeds)
    for other in others:
        np.testing.assert_array_equal(first.weights, other.weights)
    old = [search_weights(y, votes, method=method, random_state=np.random.RandomState(7)) for _ in range(2)]
    np.testing.assert_array_equal(old[0].weights, old[1].weights)


def test_without_a_seed_each_search_is_fresh():
    votes, y = three_classes()
    histories = [search_weights(y, votes, method=Annealing(50)).history[:, 1].tolist() for _ in range(3)]
    assert histories[0] != histories[1] or histories[1] != histories[2]


def test_weights_are_repetition():
    votes, y = three_classes(rows=60)
    times = np.random.default_rng(0).integers(0, 4, size=60)
    times[:3] = 1
    weighted = search_weights(y, votes, sample_weight=times, random_state=0)
    repeated = search_weights(np.repeat(y, times), np.repeat(votes, times, axis=0), random_state=0)
    assert weighted.loss == pytest.approx(repeated.loss, abs=1e-12)
    np.testing.assert_allclose(weighted.counts.matrix, repeated.counts.matrix)


def test_weights_that_are_a_function_of_the_class_are_warned_about():
    votes, y = three_classes()
    with pytest.warns(UserWarning, match=r"a function of the class alone.* Leave sample_weight out"):
        cp.search_weights(y, votes, sample_weight=compute_sample_weight("balanced", y), random_state=0)
    cp.search_weights(y, votes, sample_weight=np.full(len(y), 3.0), random_state=0)  # any warning is an error here


def test_the_order_of_rows_does_not_matter_for_exact():
    votes, y = three_classes()
    turned = np.random.default_rng(1).permutation(len(y))
    assert search_weights(y, votes, random_state=0).loss == pytest.approx(
        search_weights(y[turned], votes[turned], random_state=0).loss, abs=1e-12
    )


def test_auto_is_exact_up_to_three_classes():
    votes, y = three_classes()
    assert (search_weights(y, votes, random_state=0).method, search_weights(y, votes, random_state=0).optimal) == (
        "exact",
        True,
    )
    rng = np.random.default_rng(0)
    assert search_weights(np.arange(50) % 4, rng.random((50, 4)), random_state=0).method == "sweep"
    patterns = Votes.from_proba(y, votes)
    assert search_weights(patterns, random_state=0).loss == search_weights(y, votes, random_state=0).loss


def quadratic(p, r, weight):
    return np.sqrt((1 - weight) * p**2 + weight * r**2)


@pytest.mark.parametrize("method", METHODS)
def test_a_metric_of_ones_own(method):
    votes, y = three_classes(rows=40)
    own = Metric("quadratic", quadratic)
    preferences = Preferences({2: Preference(10, 0.1, 0.9)}, metric=own)
    search = search_weights(y, votes, preferences=preferences, method=method, random_state=0)
    arrays = preferences.on(range(3))
    support, predicted, hits = (search.counts.support, search.counts.predicted, search.counts.matrix.diagonal())
    by_hand = [
        1 - quadratic(h / d, h / s, w) if d and h else 1.0
        for h, d, s, w in zip(hits, predicted, support, arrays.recall_weight, strict=True)
    ]
    assert search.loss == pytest.approx(np.average(by_hand, weights=arrays.importance))
    copy = Preferences(
        {2: Preference(10, 0.1, 0.9)}, metric=Metric("twin", lambda p, r, w: (1 - w) * p + w * r, defined_at_zero=True)
    )
    plane = Preferences({2: Preference(10, 0.1, 0.9)}, metric="kulczynski")
    twin, original = (search_weights(y, votes, preferences=one, method=method, random_state=0) for one in (copy, plane))
    assert twin.loss == pytest.approx(original.loss, abs=1e-9)


def stops_at_the_fifth_call(error):
    calls = []

    def formula(p, r, weight):
        calls.append((p, r))
        if len(calls) == 5:
            raise error
        return (1 - weight) * p + weight * r

    return Metric("odd", formula), calls


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_formula_that_fails_ends_the_search(method, classes, capfd):
    """Its first error is told with its numbers; nothing is printed, and nothing is called after it."""
    votes, y = three_classes(rows=20)
    votes, y = votes[y < classes, :classes], y[y < classes]
    own, calls = stops_at_the_fifth_call(LookupError("no such number"))
    preferences = Preferences(default=Preference(recall_weight=0.5), metric=own)
    with pytest.raises(InputError, match=r"'odd' fails at precision .*\(LookupError: no such number\)"):
        search_weights(y, votes, preferences=preferences, method=method, random_state=0)
    assert len(calls) == 5
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_ends_a_search_with_a_metric_of_ones_own(method):
    votes, y = three_classes(rows=20)
    own, calls = stops_at_the_fifth_call(KeyboardInterrupt())
    preferences = Preferences(default=Preference(recall_weight=0.5), metric=own)
    with pytest.raises(KeyboardInterrupt):
        search_weights(y, votes, preferences=preferences, method=method, random_state=0)
    assert len(calls) == 5


@pytest.mark.parametrize("given", [[0.5, 0.5], None, 1j])
def test_a_formula_that_gives_no_number(given):
    votes, y = three_classes(rows=20)
    preferences = Preferences(default=Preference(recall_weight=0.5), metric=Metric("odd", lambda p, r, weight: given))
    with pytest.raises(InputError, match="'odd' fails at precision"):
        search_weights(y, votes, preferences=preferences, random_state=0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_of_ones_own_that_is_built_in_finds_the_same(method, name):
    """Bit for bit, with limits and without."""
    built_in = METRICS[name]
    own = Metric("own", SCALAR[name], answer=built_in.answer, defined_at_zero=built_in.defined_at_zero)
    votes, y = three_classes(rows=60)
    answers = {0: Preference(3, recall_weight=0.0), 1: Preference(recall_weight=1.0), 2: Preference(10, 0.1, 0.9)}
    one, other = (
        search_weights(y, votes, preferences=Preferences(answers, metric=metric), method=method, random_state=0)
        for metric in (own, built_in)
    )
    assert one.weights.tolist() == other.weights.tolist()
    assert (one.counts.matrix == other.counts.matrix).all()
    assert one.evaluations == other.evaluations


def jaccard(p, r, weight):
    both = 1.0 - abs(1.0 - 2.0 * weight)
    return p * r / (np.minimum(2.0 * weight, 1.0) * p + np.minimum(2.0 - 2.0 * weight, 1.0) * r - both * p * r)


SCALAR = {
    "kulczynski": METRICS["kulczynski"].formula,
    "f": METRICS["f"].formula,
    "fowlkes_mallows": METRICS["fowlkes_mallows"].formula,
    "jaccard": jaccard,
}


def test_minima_that_contradict_are_named():
    votes = [[5, 5], [5, 5], [9, 1], [1, 9]]
    preferences = Preferences({"a": Preference(min_recall=1.0), "b": Preference(min_recall=1.0)})
    for method in ("exact", "sweep"):
        search = search_weights(["a", "b", "a", "b"], votes, preferences=preferences, method=method, random_state=0)
        assert not search.feasible
        assert [(missed.rate, missed.label, missed.value) for missed in search.verdict.constraints] == [
            ("recall", "b", 0.5)
        ]
        assert "recall of 'b' reaches 0.5, its minimum is 1" in search.message
        known = "proven to miss the constraints least" if search.optimal else "where the constraints are missed least"
        assert f"search: {known} (" in search.sentences()[-1]
    assert search_weights(["a", "b", "a", "b"], votes, preferences=preferences, random_state=0).message.startswith(
        "no weights meet every constraint"
    )


@pytest.mark.parametrize(
    ("method", "classes"), [("exact", 2), ("exact", 3), ("sweep", 3), ("sweep", 6), (Annealing(4000), 4)]
)
def test_a_capacity_is_kept_and_used(method, classes):
    """Without the capacity a class that matters is predicted more often."""
    rng = np.random.default_rng(classes)
    y = rng.choice(classes, 600, p=[0.1, *np.full(classes - 1, 0.9 / (classes - 1))])
    votes = rng.dirichlet(np.ones(classes), 600) + 0.5 * np.eye(classes)[y]
    by_class = {0: {"importance": 20, "precision_at_full_recall": 0.1, "recall_at_full_precision": 0.9}}
    free = search_weights(y, votes, preferences=by_class, method=method, random_state=0)
    by_class[0]["max_share"] = 0.08
    kept = search_weights(y, votes, preferences=by_class, method=method, random_state=0)
    assert free.counts.predicted[0] > 48 >= kept.counts.predicted[0] > 24
    assert kept.feasible
    assert kept.loss > free.loss
    assert kept.verdict.constraints == ()


def test_a_capacity_below_what_a_minimum_needs_is_named():
    votes, y = three_classes(rows=400)
    by_class = {2: {"min_recall": 0.9, "max_share": 0.02}}
    search = search_weights(y, votes, preferences=by_class, random_state=0)
    share = 0.9 * (y == 2).mean()
    assert not search.feasible
    assert f"max_share of 2 is 0.02, but its min_recall of 0.9 alone takes {share:.4g} of these rows" in search.message
    assert ("share predicted" in search.message) or ("recall of class 2" in search.message)


def test_a_met_minimum_comes_before_a_lower_loss():
    votes, y = three_classes(rows=400)
    free = search_weights(y, votes, preferences=Preferences.prioritise([2]), random_state=0)
    kept = search_weights(
        y,
        votes,
        preferences=Preferences({2: Preference(10, 0.1, 0.9, min_precision=0.9)}, Preference(1, 0.8, 0.8)),
        random_state=0,
    )
    precise = kept.counts.matrix[2, 2] / kept.counts.predicted[2]
    assert free.counts.matrix[2, 2] / free.counts.predicted[2] < 0.9 <= precise
    assert kept.feasible
    assert free.loss <= kept.loss


def test_cost_in_place_of_the_loss():
    votes, y = three_classes()
    cost = np.array([[0, 1, 1], [5, 0, 5], [50, 50, 0]], dtype=float)
    search = search_weights(y, votes, preferences=costing(cost), random_state=0)
    assert search.loss == pytest.approx((search.counts.matrix * cost).sum() / len(y))
    rng = np.random.default_rng(0)
    patterns = Votes.from_proba(y, votes)
    for _ in range(200):
        counts = patterns.counts(np.exp(2 * rng.normal(size=3)))
        assert search.loss <= (counts.matrix * cost).sum() / len(y) + 1e-12
    assert "cost" in search.verdict.sentence
    assert search.baselines[2].loss == pytest.approx(((y == 0) + 5 * (y == 1)).mean())


def test_smoothing_reaches_rows_without_votes_for_a_class():
    votes, y = [[4, 0], [4, 0], [3, 1], [4, 0]], [0, 1, 1, 0]
    assert search_weights(y, votes, random_state=0).counts.predicted.tolist() == [3, 1]
    preferences = Preferences({1: Preference(100, 0.0, 0.99)})
    assert search_weights(
        y, votes, preferences=preferences, smoothing=0.5, random_state=0
    ).counts.predicted.tolist() == [0, 4]


def test_sparse_smoothing_is_the_dense_one():
    rng = np.random.default_rng(0)
    votes, y = rng.multinomial(5, rng.dirichlet(np.full(8, 0.2)), size=300).astype(float), rng.integers(0, 8, size=300)
    dense = search_weights(y, votes + 0.1, method="sweep", random_state=0)
    sparse = search_weights(y, scipy.sparse.csr_array(votes), method="sweep", smoothing=0.1, random_state=0)
    np.testing.assert_array_equal(sparse.counts.matrix, Votes.from_proba(y, votes + 0.1).counts(sparse.weights).matrix)
    assert sparse.loss == pytest.approx(dense.loss, rel=0.02)


def test_verdict_and_message():
    votes, y = three_classes()
    search = search_weights(np.append(y, [0, 1]), np.vstack([votes, np.zeros((2, 3))]), random_state=0)
    assert search.left_out == 2
    assert "2 rows without any vote are left out" in search.message
    assert (search.verdict.state, search.verdict.rows) == ("better", "own")
    assert len(search.baselines) == 4
    never = search_weights(y, np.column_stack([votes[:, :2], np.zeros(len(y))]), random_state=0)
    assert "no row has a vote for 2" in never.message


def test_progress_is_reported():
    votes, y = three_classes()
    for method in METHODS:
        seen: list[tuple[float, float]] = []
        search_weights(
            y, votes, method=method, progress=lambda share, loss, seen=seen: seen.append((share, loss)), random_state=0
        )
        assert seen
        assert all(0 <= share <= 1 for share, _ in seen)


BAD = [
    ({"preferences": Preferences({"c": Preference()})}, "preference for 'c'"),
    ({"preferences": 3}, "preferences is a compromis.Preferences or a mapping by class"),
    ({"method": "exakt"}, "did you mean 'exact'"),
    ({"method": ["exact"]}, "there is no method"),
    *(
        ({"smoothing": wrong}, "smoothing is a finite number of at least 0")
        for wrong in (-1.0, "auto", None, [0.1, 0.2])
    ),
    *(({"max_ratio": wrong}, "max_ratio is at least 1") for wrong in (0.5, "3", [2.0, 3.0])),
    *(({"max_seconds": wrong}, "max_seconds is a number above 0") for wrong in (0, -1.0, np.nan, True, "1")),
    *(({"max_evaluations": wrong}, "max_evaluations is a number above 0") for wrong in (0, -1, "1")),
    ({"smoothing": np.inf}, "smoothing is a finite number of at least 0"),
    ({"max_ratio": np.nan}, "max_ratio is at least 1"),
    ({"random_state": "x"}, "random_state is a whole number"),
    ({"random_state": -1}, "random_state is a whole number of at least 0"),
    ({"preferences": Preferences({"a": Preference(0), "b": Preference(0)}, Preference(0))}, "importance"),
    (
        {
            "preferences": Preferences({"c": Preference(1)}, Preference(0)),
            "labels": ["a", "b", "c"],
            "votes": np.eye(3),
        },
        "importance above 0, 'c', have no rows in y",
    ),
    ({"sample_weight": [1, 2]}, "sample_weight has shape"),
    ({"y": ["a", "a", "a"], "labels": ["a", "b"]}, "every row with votes is of class 'a'"),
    ({"y": ["a", "a", "a"], "votes": [[1], [2], [3]]}, "one class, 'a'"),
    ({"votes": None}, "y_proba is missing"),
    ({"y": [], "votes": np.zeros((0, 2))}, "y_true is empty"),
]


@pytest.mark.parametrize(("changed", "message"), BAD)
def test_bad_input_is_refused_in_one_sentence(changed, message):
    arguments = {"votes": [[3, 1], [1, 3], [2, 2]], "y": ["a", "b", "a"]} | changed
    with pytest.raises(InputError, match=message):
        search_weights(arguments.pop("y"), arguments.pop("votes"), **arguments)


def test_patterns_come_alone():
    patterns = Votes.from_proba([0, 1], [[3, 1], [1, 3]])
    with pytest.raises(InputError, match="hold y_proba, labels and sample weights already"):
        search_weights(patterns, [[3, 1], [1, 3]], random_state=0)


def test_equal_ratio_one_gives_equal_weights():
    votes, y = three_classes()
    assert search_weights(y, votes, max_ratio=1, random_state=0).weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize("recall_weight", [0.0, 0.5, 1.0])
def test_a_formula_of_ones_own_is_called_within_its_limits(recall_weight):
    """At l = 0 and 1 the rate itself, 0 where a rate is 0, else the formula: a copy of f is f."""
    votes, y = three_classes(rows=30)
    answers = {1: Preference(5, recall_weight=recall_weight)}
    copy = Metric("copy of f", lambda p, r, w: 1 / (w / r + (1 - w) / p))
    own, built_in = (
        search_weights(y, votes, preferences=Preferences(answers, metric=metric), random_state=0)
        for metric in (copy, "f")
    )
    assert own.loss == pytest.approx(built_in.loss, abs=1e-12)


@pytest.mark.parametrize("method", ["sweep", Annealing(steps=300)])
def test_every_method_keeps_the_ratio_of_weights(method):
    votes, y = three_classes()
    search = search_weights(y, votes, preferences={2: 100}, method=method, max_ratio=1.5, random_state=0)
    assert 1.2 < search.weights.max() / search.weights.min() <= 1.5 * (1 + 1e-12)


@pytest.mark.parametrize("method", ["sweep", "annealing"])
@pytest.mark.parametrize("stop", [1, 2, 5])
def test_a_search_that_is_stopped_is_no_worse_than_equal_weights(rng, method, stop):
    truth = rng.integers(0, 5, 300)
    shares = rng.multinomial(10, np.ones(5) / 5, 300) + 3 * np.eye(5, dtype=int)[truth]
    patterns = Votes.from_proba(truth, shares, labels=range(5))
    problem = SearchProblem.read(patterns, None, smoothing=0.0, max_ratio=None)
    calls: list[float] = []

    def enough(done, loss):
        calls.append(loss)
        return len(calls) >= stop

    search = search_weights(patterns, method=method, progress=enough, random_state=0)
    assert search.loss <= problem.value(patterns.counts(np.ones(5)))[1] + 1e-12
    assert not search.optimal
    assert len(calls) <= stop + 8  # it ends soon after


def returns(monkeypatch, *found):
    """Let every method return these weights."""
    monkeypatch.setattr(Exact, "search", lambda *_: Found(*found))


def test_what_is_applied_is_what_is_returned(monkeypatch):
    """Of the candidates the best that is within the ratio; equal weights if none is."""
    votes, y = three_classes(rows=40)
    equal = search_weights(y, votes, max_ratio=1)
    returns(monkeypatch, (np.array([1.0, 10.0, 1.0]),), (0.0, 0.0), True)
    wild = search_weights(y, votes, max_ratio=3.0)
    assert wild.weights.tolist() == [1, 1, 1]
    assert not wild.optimal  # a loss of 0 was promised
    returns(monkeypatch, (np.ones(3),), (0.0, equal.loss), True)
    assert search_weights(y, votes, max_ratio=3.0).optimal
    better = Votes.from_proba(y, votes).counts([1.0, 1.0, 2.0])
    returns(monkeypatch, (np.array([1.0, 1.0, 2.0]), np.array([2.0, 2.0, 2.0])), (0.0, equal.loss))
    both = search_weights(y, votes, max_ratio=3.0)
    problem = SearchProblem.read(Votes.from_proba(y, votes), None, smoothing=0.0, max_ratio=None)
    assert both.loss == min(equal.loss, problem.value(better)[1])
    assert not both.optimal


def test_weights_on_the_border_of_the_ratio_are_within_it(monkeypatch):
    """Taking the geometric mean out rounds, now and then beyond the border."""
    votes, y, beyond = [[3.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0, 1, 1], 0
    for ratio in np.linspace(2.1, 2.9, 50):  # every such ratio decides alike, and better than equal weights
        returns(monkeypatch, (np.array([1.0, ratio]),), (0.0, 0.0))
        search = search_weights(y, votes, max_ratio=ratio)
        assert search.loss == 0
        beyond += search.weights.max() > search.weights.min() * ratio
    assert beyond


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_proof_holds_if_what_is_applied_keeps_the_promise_up_to_rounding(monkeypatch, scale):
    """Rounding is 1e-9, of the loss where it is above 1."""
    votes, y = three_classes(rows=40)
    given = {"preferences": costing(scale * (1 - np.eye(3)), Preferences({2: {"min_recall": 1.0}}))}
    problem = SearchProblem.read(Votes.from_proba(y, votes), given["preferences"], smoothing=0.0, max_ratio=None)
    shortfall, loss = problem.value(problem.counts(np.ones(3)))
    assert shortfall > 0
    room = 1e-9 * max(1.0, loss)
    for less_shortfall, less_loss, kept in (
        (0, 0, True), (0.9e-9, 0, True), (1.1e-9, 0, False), (0.5, 0, False), (-0.5, 0, True),
        (0, 0.9 * room, True), (0, 1.1 * room, False), (0, -0.5 * loss, True),
    ):  # fmt: skip
        returns(monkeypatch, (np.ones(3),), (shortfall - less_shortfall, (loss - less_loss) / scale), True)
        assert search_weights(y, votes, max_ratio=1, **given).optimal == kept, (less_shortfall, less_loss)


def test_auto_gives_up_a_long_proof(monkeypatch):
    votes, y = three_classes(rows=40)
    monkeypatch.setattr("compromis.weights.search._EXACT_THREE", 1)
    assert not search_weights(y, votes).optimal
    assert search_weights(y, votes, method="exact").optimal
    assert search_weights(y, votes, max_seconds=60).optimal
    assert not search_weights(y, votes, method="exact", max_evaluations=1).optimal
    assert search_weights(y == 2, votes[:, 1:]).optimal


def test_the_history_is_in_the_costs_of_the_user():
    votes, y = three_classes(rows=40)
    cost = 10.0 * (1 - np.eye(3))
    search = search_weights(y, votes, preferences=costing(cost), random_state=0)
    assert search.history[-1, 1] == pytest.approx(search.loss)
    annealed = search_weights(y, votes, preferences=costing(cost), method=Annealing(50), random_state=0)
    assert annealed.history[:, 0].tolist() == list(range(1, 51))
    assert annealed.history[:, 1].min() == pytest.approx(annealed.loss)


def test_methods_by_name_and_by_object():
    votes, y = three_classes(rows=20)
    for method, name in (
        ("AUTO".lower(), "exact"),  # a string of its own, as the command line has it
        ("exact", "exact"),
        (Exact(), "exact"),
        ("sweep", "sweep"),
        (Sweep(), "sweep"),
        (Annealing(9), "annealing"),
    ):
        assert search_weights(y, votes, method=method).method == name
    with pytest.raises(TypeError, match="positional"):
        search_weights(y, votes, range(3))


def test_methods_are_values():
    assert Annealing() == Annealing(steps=20_000, start_temperature=6.0, end_temperature=0.02, step=0.5)
    assert Sweep() == Sweep(rounds=200, passes=3, patience=40, start=None)
    for method in (Exact(), Sweep(), Annealing()):
        assert hash(type(method)()) == hash(method)
        for field in dataclasses.fields(method):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(method, field.name, 1)


def test_classes_that_nothing_votes_for():
    votes, y = three_classes(rows=20)
    more = np.column_stack([votes, np.zeros((20, 2))])
    one = search_weights(y, more[:, :4], labels=range(4), method="sweep", random_state=0)
    assert one.never_voted == (3,)
    assert (
        one.message
        == "no row has a vote for 3, so no weights can decide it; give probabilities in place of members' votes, or try smoothing"
    )
    two = search_weights(y, more, labels=range(5), method="sweep", random_state=0)
    assert (
        two.message
        == "no row has a vote for 3, 4, so no weights can decide them; give probabilities in place of members' votes, or try smoothing"
    )
    smoothed = search_weights(y, more, labels=range(5), method="sweep", smoothing=0.1, random_state=0)
    assert (smoothed.never_voted, smoothed.message) == ((), "")


def test_a_result_in_words():
    search = search_weights(["a", "b"], [[9, 1], [2, 8]])
    assert repr(search).startswith("WeightSearch(exact, optimal on these rows, loss 0, weights {'a': ")
    first, right, before, *_, last = (" ".join(sentence.split()) for sentence in search.sentences())
    assert (first, right) == ("tuned: finds 1 of 1 a (misses none), no false alarms", "2 of 2 rows right (all)")
    assert before == "before, with equal weights: misses none, no false alarms"
    assert last.startswith(f"search: proven to be the best on these rows ({search.evaluations:,} weightings in ")
    assert "threshold: 'a' from 0.6 on; 500 of 1,000 rows are predicted 'a'" in search.sentences()
    a, b = search.tables()[0].rows
    assert (a[0], a[6]) == ("a", f"{search.weights[0]:.4g}")
    assert b == ["b", "1", "0", "0", "1.000", "1.000", f"{search.weights[1]:.4g}", "0", "0"]
    for classes, end in ((6, "}})"), (7, ", and 1 more}})"), (8, ", and 2 more}})")):
        many = search_weights(range(classes), np.eye(classes) + 0.1, random_state=0)
        assert repr(many).startswith("WeightSearch(sweep, best found, loss 0, weights {0: ")
        assert repr(many).endswith(f"5: {many.weights[5]:.4g}" + end.replace("}}", "}"))
    assert "\nSearch: the best found by sweep (" in str(many)
    votes, y = three_classes(rows=20)
    noted = search_weights(
        [*y, 0], np.vstack([votes, np.zeros((1, 3))]), preferences=costing(1 - np.eye(3)), random_state=0
    )
    assert "\nAverage cost " in str(noted)
    assert "\n! 1 row without any vote is left out.\n" in str(noted)
    assert noted.verdict is noted.verdict  # judged once
    assert noted.baselines == noted.verdict.baselines


def letter_votes() -> tuple[np.ndarray, np.ndarray]:
    """Out-of-bag votes of the paper's forest: 20 trees, 4 variables a split."""
    from sklearn.ensemble import RandomForestClassifier

    with gzip.open(Path(os.environ["COMPROMIS_DATA"]) / "letter.csv.gz", "rt") as file:
        rows = [line.rstrip("\n").split(",") for line in file][1:]
    X, y = np.array([row[:-1] for row in rows], dtype=np.float32), np.array([row[-1] for row in rows])
    forest = RandomForestClassifier(20, max_features=4, n_jobs=1, random_state=0).fit(X, y)
    votes = np.zeros((len(y), 26))
    for tree, sample in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.setdiff1d(np.arange(len(y)), sample)
        votes[unseen, tree.predict(X[unseen]).astype(int)] += 1
    return votes, y


@pytest.mark.slow
@pytest.mark.skipif("COMPROMIS_DATA" not in os.environ, reason="set COMPROMIS_DATA to the folder of the papers' data")
def test_letters_sweep_against_annealing_and_dual_annealing():
    votes, y = letter_votes()
    preferences = Preferences.prioritise(list("AEIOUY"))
    patterns = Votes.from_proba(y, votes)
    annealed = search_weights(patterns, preferences=preferences, method=Annealing(steps=20_000), random_state=0)
    begin = time.perf_counter()
    swept = search_weights(patterns, preferences=preferences, method="sweep", max_evaluations=1_000_000, random_state=0)
    assert time.perf_counter() - begin < 60
    assert swept.loss <= annealed.loss
    arrays = preferences.on(patterns.classes)

    def loss(logs: np.ndarray) -> float:
        return naive_free_loss(patterns, np.exp(logs), arrays)

    found = scipy.optimize.dual_annealing(loss, [(-3.0, 3.0)] * 26, maxfun=20_000, seed=0, no_local_search=True)
    assert swept.loss <= found.fun


def naive_free_loss(patterns: Votes, weights: np.ndarray, preferences) -> float:
    """The plane by numpy alone, quick enough for 20,000 evaluations."""
    decision = np.argmax(patterns.votes * weights, axis=1)
    cells = np.bincount(patterns.truth * 26 + decision, weights=patterns.multiplicity, minlength=676).reshape(26, 26)
    hits, support, predicted = cells.diagonal(), cells.sum(axis=1), cells.sum(axis=0)
    value = preferences.recall_weight * hits / support + (1 - preferences.recall_weight) * hits / np.maximum(
        predicted, 1
    )
    return float(np.average(1 - value, weights=preferences.importance))


@pytest.mark.parametrize("method", ["sweep", "annealing", "auto"])
@pytest.mark.parametrize("limit", [{"max_evaluations": 1}, {"max_evaluations": 10**9}, {"max_seconds": 3600}])
def test_a_limit_ends_a_search_where_no_weight_changes_anything(method, limit):
    if (method, limit) == ("annealing", {"max_evaluations": 10**9}):
        limit = {"max_evaluations": 1000}  # its steps count, whether they change anything or not
    if (method, limit) == ("annealing", {"max_seconds": 3600}):
        limit = {"max_seconds": 0.1}
    search = search_weights(list(range(5)), np.eye(5), method=method, random_state=0, **limit)
    assert search.loss == 0


def test_a_narrow_table_keeps_missed_rows_and_false_alarms():
    found = search_weights(["ill", "well", "well"], [[2, 1], [1, 2], [0, 3]], preferences={"ill": 10}, random_state=0)
    header = " ".join(found.to_text(width=40).split("\n\n")[1].splitlines()[:2]).split()
    assert {"Missed", "alarms", "Recall"} <= set(header)
    assert "before" not in header


def test_the_threshold_is_told_of_the_class_in_the_headline():
    """Both classes weigh alike, so `threshold_` is that of the second; the sentence speaks of the one with the minimum."""
    preferences = {"faulty": Preference(min_recall=0.5)}
    found = search_weights(
        ["faulty", "sound", "sound"], [[2, 1], [1, 2], [0, 3]], preferences=preferences, random_state=0
    )
    (told,) = [one for one in found.sentences() if one.startswith("threshold")]
    assert told.startswith("threshold: 'faulty'")
    assert told.endswith("333 of 1,000 rows are predicted 'faulty'")
    assert found.decision.threshold.label == "sound"
