"""Decisions inside an engine are those in memory."""

from __future__ import annotations

from collections import Counter

import narwhals as nw
import numpy as np
import pytest

import compromis as cp
from tests.frame_kinds import QUIET, make
from tests.hostile_votes import RATIO, WEIGHTS, calls_at_the_ratio, plainly_reviewed

pytestmark = QUIET


def random_labels(rng, labels, rows):
    return [labels[place] for place in rng.integers(0, len(labels), rows)]


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


def test_votes_are_finite_though_their_sum_is_not(engine):
    frame = make(engine, {"a": [1e308], "b": [1.5e308], "t": ["b"]})
    counts = cp.Counts.from_frame(cp.frames.decide(frame, proba=["a", "b"]), truth="t", prediction="decision")
    assert counts.matrix.tolist() == [[1]]
    assert counts.classes == ("b",)


def test_decide_keeps_the_other_columns_and_the_kind_of_frame(engine):
    frame = make(engine, {"a": [1, 0], "t": ["a", "b"], "b": [0, 5]})
    predicted = cp.frames.decide(frame, proba={"a": 10, "b": 20}, weights=[1, 1], name="t")
    assert nw.from_native(predicted).collect_schema().names() == ["a", "b", "t"]
    assert type(predicted) is type(frame)


def test_a_decision_brings_its_own_order_of_classes():
    rule = cp.Decision(("b", "a"), [1.0, 3.0], smoothing=0.5)
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


def test_the_rows_to_review_are_those_in_memory(kind):
    votes = calls_at_the_ratio(300)
    names = ["a", "b", "c", "d", "e"]
    rule = cp.Decision(names, WEIGHTS, review=RATIO)
    frame = make(kind, {name: votes[:, k].tolist() for k, name in enumerate(names)} | {"row": list(range(300))})
    decided = nw.from_native(cp.frames.decide(frame, proba=names, weights=rule)).lazy().collect()
    order = np.argsort(decided["row"].to_list())
    assert np.array(decided["needs_review"].to_list())[order].tolist() == plainly_reviewed(votes, WEIGHTS)
    assert np.array(decided["decision"].to_list())[order].tolist() == rule.decide(votes).tolist()


def test_a_bad_vote_is_not_reviewed_and_columns_have_names_of_their_own():
    rule = cp.Decision(("a", "b"), [1, 1], review=1.5)
    frame = make("polars", {"a": [1.0, None, 5.0, 0.0], "b": [1.1, 1.0, 1.0, 0.0]})
    decided = cp.frames.decide(frame, proba=["a", "b"], weights=rule, name="class", review="look")
    assert decided.columns == ["a", "b", "class", "look"]
    assert decided["look"].to_list() == [True, None, False, True]
    with pytest.raises(cp.InputError, match="two columns, both are called 'x'"):
        cp.frames.decide(frame, proba=["a", "b"], weights=rule, name="x", review="x")
