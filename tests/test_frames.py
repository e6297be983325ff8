"""Evidence from data frames: the same numbers, or the same error, from every engine."""

from __future__ import annotations

import math
from collections import Counter

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

import compromis as cp
from tests.frame_kinds import ENGINES, EVERY, make, running

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:.*pandas >= 3:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*inplace keyword"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

HOSTILE = [
    "NA",
    "null",
    "N/A",
    "nan",
    "None",
    "01",
    "1",
    " a",
    "a",
    "a ",
    "",
    "😀",
    "a\nb",
    'a"b',
    "a,b",
    "\t",
    "é",
    "é",
    "A",
]


@pytest.fixture(params=EVERY)
def kind(request):
    with running(request.param):
        yield request.param


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def pairs(counts):
    """The counts as a dictionary, which is how the oracle counts."""
    return {
        (truth, decision): counts.matrix[i, j].item()
        for i, truth in enumerate(counts.classes)
        for j, decision in enumerate(counts.classes)
        if counts.matrix[i, j]
    }


def random_labels(rng, labels, rows):
    return [labels[place] for place in rng.integers(0, len(labels), rows)]


def test_hostile_labels_are_counted_exactly(kind, rng):
    truth, decision = random_labels(rng, HOSTILE, 400), random_labels(rng, HOSTILE, 400)
    counts = cp.Counts.from_frame(make(kind, {"t": truth, "d": decision}), truth="t", prediction="d")
    assert pairs(counts) == Counter(zip(truth, decision, strict=True))
    assert counts.classes == tuple(sorted(set(truth + decision)))
    assert counts.matrix.dtype == np.int64
    assert counts.rows == 400


@pytest.mark.parametrize("labels", [[0, 1, 7], [True, False], [-(2**62), 2**62]])
def test_labels_of_other_types(engine, rng, labels):
    truth, decision = random_labels(rng, labels, 100), random_labels(rng, labels, 100)
    counts = cp.Counts.from_frame(make(engine, {"t": truth, "d": decision}), truth="t", prediction="d")
    assert pairs(counts) == Counter(zip(truth, decision, strict=True))
    assert {type(label) for label in counts.classes} == {type(labels[0])}


def test_weighted_counts(kind, rng):
    truth, decision = random_labels(rng, ["a", "b"], 300), random_labels(rng, ["a", "b"], 300)
    weight = np.round(rng.exponential(size=300), 3)
    weight[rng.random(300) < 0.1] = 0
    frame = make(kind, {"t": truth, "d": decision, "w": weight.tolist()})
    counts = cp.Counts.from_frame(frame, truth="t", prediction="d", weight="w")
    expected = {key: [] for key in zip(truth, decision, strict=True)}
    for key, value in zip(zip(truth, decision, strict=True), weight.tolist(), strict=True):
        expected[key].append(value)
    for i, first in enumerate("ab"):
        for j, second in enumerate("ab"):
            assert counts.matrix[i, j] == pytest.approx(math.fsum(expected[first, second]), rel=1e-12)
            assert counts.squares[i, j] == pytest.approx(math.fsum(w * w for w in expected[first, second]), rel=1e-12)
    assert counts.rows == 300


def test_ten_thousand_groups(kind):
    """100 x 100 classes, each pair twice and the first once more."""
    first = [place // 100 for place in range(10_000)] * 2 + [0]
    second = [place % 100 for place in range(10_000)] * 2 + [0]
    counts = cp.Counts.from_frame(make(kind, {"t": first, "d": second}), truth="t", prediction="d")
    expected = np.full((100, 100), 2)
    expected[0, 0] = 3
    assert np.array_equal(counts.matrix, expected)


def test_labels_give_the_order_and_absent_classes(engine):
    frame = make(engine, {"t": ["b", "a"], "d": ["b", "b"]})
    counts = cp.Counts.from_frame(frame, truth="t", prediction="d", labels=["c", "b", "a"])
    assert counts.classes == ("c", "b", "a")
    assert counts.matrix.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    with pytest.raises(cp.InputError, match="labels misses 'a'"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", labels=["c", "b"])


BAD_COUNTS = {
    "nulls in truth": (
        {"t": ["a", None, "b", None], "d": ["a", "a", "b", "b"]},
        {},
        "column 't' has 2 rows without a label; filter them out first, or give them a label of their own",
    ),
    "null decision": ({"t": [1, 2, 3], "d": [1, None, 3]}, {}, "column 'd' has 1 row without a label"),
    "NaN labels": ({"t": [1.0, float("nan")], "d": [1.0, 1.0]}, {}, "column 't' has 1 row without a label"),
    "unknown column": ({"truth": ["a"], "d": ["a"]}, {}, "there is no column 't'"),
    "two types": ({"t": [1, 2], "d": ["1", "2"]}, {}, "labels of type int, column 'd' of type str"),
    "no rows": ({"t": [], "d": []}, {"t": pa.string(), "d": pa.string()}, "the frame has no rows"),
}


@pytest.mark.parametrize("case", BAD_COUNTS)
def test_bad_labels_are_the_same_error_everywhere(engine, case):
    columns, types, message = BAD_COUNTS[case]
    with pytest.raises(cp.InputError) as caught:
        cp.Counts.from_frame(make(engine, columns, types), truth="t", prediction="d")
    assert message in str(caught.value)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), None])
def test_bad_weights(engine, weight):
    frame = make(engine, {"t": ["a", "b", "b"], "d": ["a", "b", "b"], "w": [1.0, weight, 2.0]})
    with pytest.raises(cp.InputError, match="column 'w' has 1 row whose weight is missing, negative or infinite"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", weight="w")


def test_weight_of_the_wrong_type(engine):
    frame = make(engine, {"t": ["a"], "d": ["a"], "w": ["1"]})
    with pytest.raises(cp.InputError, match="column 'w' must hold numbers, its type is String"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", weight="w")


def forest_votes(rng, rows, classes=3, trees=4):
    return rng.multinomial(trees, rng.dirichlet(np.ones(classes)), rows)


def test_votes(kind, rng):
    votes = forest_votes(rng, 500)
    votes[:7] = 0
    truth = random_labels(rng, ["x", "y", "z"], 500)
    frame = make(kind, {"t": truth, "x": votes[:, 0].tolist(), "y": votes[:, 1].tolist(), "z": votes[:, 2].tolist()})
    found = cp.Votes.from_frame(frame, truth="t", proba=["x", "y", "z"])
    expected = Counter(
        (tuple(map(float, row)), label) for row, label in zip(votes.tolist(), truth, strict=True) if any(row)
    )
    got = {
        (tuple(row), found.classes[place]): int(count)
        for row, place, count in zip(found.votes.tolist(), found.truth, found.multiplicity, strict=True)
    }
    assert got == expected
    assert found.left_out == 7
    assert found.rows == 493


def test_votes_come_in_one_order(engine, rng):
    """Searches over equal evidence must give equal weights, whatever order an engine hands groups over in."""
    votes = forest_votes(rng, 300)
    columns = {"t": random_labels(rng, [0, 1, 2], 300)} | {f"v{k}": votes[:, k].tolist() for k in range(3)}
    found = cp.Votes.from_frame(make(engine, columns), truth="t", proba=["v0", "v1", "v2"])
    same = cp.Votes.from_frame(make("pandas", columns), truth="t", proba=["v0", "v1", "v2"])
    assert np.array_equal(found.votes, same.votes)
    assert np.array_equal(found.truth, same.truth)


@pytest.mark.parametrize("vote", [-0.25, float("nan"), float("inf"), None])
@pytest.mark.parametrize("bins", [None, 10])
def test_bad_votes(engine, vote, bins):
    frame = make(engine, {"t": ["a", "b", "b"], "a": [0.5, vote, 0.1], "b": [0.5, 1.0, 0.9]})
    with pytest.raises(
        cp.InputError, match="1 rows have a vote that is missing, negative or not finite, the first in column 'a'"
    ):
        cp.Votes.from_frame(frame, truth="t", proba=["a", "b"], bins=bins)


def test_binned_votes(kind, rng):
    votes = rng.dirichlet([1, 1, 1], 400) * rng.uniform(0.5, 3, 400)[:, None]
    votes[:5] = 0
    truth = random_labels(rng, ["x", "y", "z"], 400)
    columns = {"t": truth} | {name: votes[:, k].tolist() for k, name in enumerate("xyz")}
    found = cp.Votes.from_frame(make(kind, columns), truth="t", proba=["x", "y", "z"], bins=20)
    shares = votes[5:] / (votes[5:, 0] + votes[5:, 1] + votes[5:, 2])[:, None]
    steps = np.floor(shares * 20 + 0.5) / 20
    expected = Counter((tuple(row), label) for row, label in zip(steps.tolist(), truth[5:], strict=True))
    got = {
        (tuple(row), found.classes[place]): int(count)
        for row, place, count in zip(found.votes.tolist(), found.truth, found.multiplicity, strict=True)
    }
    assert got == expected
    assert found.width == 0.025
    assert found.left_out == 5


def test_operating_points(kind, rng):
    score = np.round(rng.normal(size=300), 1)
    score[::10], score[5::10] = 0.0, -0.0  # one cut, in every part of the rows
    truth = random_labels(rng, ["p", "n", "other"], 300)
    frame = make(kind, {"t": truth, "s": score.tolist()})
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p")
    cuts = sorted(set((score + 0.0).tolist()), reverse=True)
    assert points.threshold[1:].tolist() == cuts
    flags = np.array([label == "p" for label in truth])
    assert points.true_positives[1:].tolist() == [int((flags & (score >= cut)).sum()) for cut in cuts]
    assert points.false_positives[1:].tolist() == [int((~flags & (score >= cut)).sum()) for cut in cuts]
    assert (points.positives, points.negatives) == (flags.sum(), (~flags).sum())


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1e-3, 7.1), (1e10, 1e10 + 3)])
def test_binned_points_are_exact_at_their_edges(engine, rng, low, high):
    score = rng.uniform(low, high, 400)
    score[:50] = low + (high - low) * np.arange(50) / 50  # on the edges, as far as rounding allows
    flags = rng.random(400) < 0.3
    frame = make(engine, {"t": flags.tolist(), "s": score.tolist()})
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=True, bins=50)
    assert points.binned
    assert len(points) == 51
    for cut, hits, alarms in zip(points.threshold, points.true_positives, points.false_positives, strict=True):
        assert hits == (flags & (score >= cut)).sum()
        assert alarms == (~flags & (score >= cut)).sum()


@pytest.mark.parametrize("bins", [None, 8])
@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None])
def test_bad_scores(engine, score, bins):
    frame = make(engine, {"t": ["p", "n", "n"], "s": [0.5, score, 0.25]})
    with pytest.raises(cp.InputError, match="column 's' has 1 row whose score is missing or not finite"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p", bins=bins)


def test_other_bad_input_of_points(engine):
    frame = make(engine, {"t": ["p", None, "n"], "s": [0.5, 0.2, 0.25], "text": ["a", "b", "c"]})
    with pytest.raises(cp.InputError, match="column 't' has 1 row without a label"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p")
    with pytest.raises(cp.InputError, match="column 'text' must hold numbers"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="text", pos_label="p")
    with pytest.raises(cp.InputError, match="pos_label is 1, but column 't' holds labels of type String"):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label=1)
    whole = make(engine, {"t": ["good", "bad"], "s": [0.5, 0.2]})
    with pytest.raises(cp.InputError, match="pos_label is 'god', which column 't' does not have; did you mean 'good'"):
        cp.OperatingPoints.from_frame(whole, truth="t", score="s", pos_label="god")
    with pytest.raises(cp.InputError, match=r"has 1 scores outside 0 to 0\.3; widen within="):
        cp.OperatingPoints.from_frame(whole, truth="t", score="s", pos_label="good", bins=4, within=(0, 0.3))


def test_decide_agrees_with_the_decision_in_memory(kind, rng):
    """Many ties: votes and weights are small whole numbers; the first class wins."""
    votes = rng.integers(0, 4, (400, 4)).astype(float)
    weights = [2.0, 1.0, 1.0, 3.0]
    names = ["a", "b", "c", "d"]
    frame = make(kind, {name: votes[:, k].tolist() for k, name in enumerate(names)} | {"t": ["a"] * 400})
    counts = cp.Counts.from_frame(
        cp.frames.decide(frame, proba=names, weights=weights, smoothing=0.5), truth="t", prediction="decision"
    )
    expected = Counter(names[max(range(4), key=lambda k: weights[k] * (row[k] + 0.5))] for row in votes.tolist())
    assert {label: counts.predicted[k] for k, label in enumerate(counts.classes) if counts.predicted[k]} == expected


def test_a_bad_vote_has_no_decision(engine):
    columns = {
        "a": [1.0, float("nan"), None, -1.0, float("inf"), 0.0],
        "b": [0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
        "t": ["a"] * 6,
    }
    predicted = cp.frames.decide(make(engine, columns), proba=["a", "b"])
    with pytest.raises(cp.InputError, match="column 'decision' has 4 rows without a label"):
        cp.Counts.from_frame(predicted, truth="t", prediction="decision")


def test_decide_keeps_the_other_columns_and_the_kind_of_frame(engine):
    frame = make(engine, {"a": [1, 0], "t": ["a", "b"], "b": [0, 5]})
    predicted = cp.frames.decide(frame, proba={"a": 10, "b": 20}, weights=[1, 1], name="t")
    assert nw.from_native(predicted).collect_schema().names() == ["a", "b", "t"]
    assert type(predicted) is type(frame)


def test_a_decision_brings_its_own_order_of_classes():
    rule = cp.Decision(("b", "a"), [1.0, 3.0], 0.5)
    frame = make("polars", {"x": [1, 0], "y": [5, 4], "t": ["a", "b"]})
    by_name = cp.frames.decide(frame, proba={"x": "a", "y": "b"}, weights=rule)
    assert by_name["decision"].to_list() == rule.decide([[5, 1], [4, 0]]).tolist() == ["b", "b"]
    assert cp.frames.decide(frame, proba=["y", "x"], weights=rule)["decision"].to_list() == ["b", "b"]
    with pytest.raises(cp.InputError, match="proba gives columns for 'a', 'c', the decision is about 'b', 'a'"):
        cp.frames.decide(frame, proba={"x": "a", "y": "c"}, weights=rule)
    evaluation = cp.frames.evaluate(frame, truth="t", proba={"x": "a", "y": "b"}, weights=rule)
    assert evaluation.counts.classes == ("b", "a")
    assert evaluation.counts.matrix.tolist() == [[1, 0], [1, 0]]


def test_evaluate_frame_is_evaluate(kind, rng):
    truth, decision = random_labels(rng, ["a", "b", "c"], 200), random_labels(rng, ["a", "b", "c"], 200)
    preferences = cp.Preferences.prioritise(["b"])
    found = cp.frames.evaluate(
        make(kind, {"t": truth, "d": decision}), truth="t", prediction="d", preferences=preferences
    )
    assert str(found) == str(cp.evaluate(truth, decision, preferences=preferences))
