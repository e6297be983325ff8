"""Laws of data frames and files: an engine gives what the same rows give in memory."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import compromis as cp
from tests.frame_kinds import make
from tests.properties.laws import law, refused
from tests.properties.strategies import (
    CLASSES,
    any_preferences,
    any_scored_rows,
    columns_of,
    metrics,
    points_of,
    positive_weights,
    predicted_rows,
    seeds,
    shares,
    shuffled,
    tunable_rows,
    vote_rows,
)

kinds = st.sampled_from(["pandas", "polars_lazy", "pyarrow"])
hostile = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=5)
"""Labels of a text file: stars, quotes, commas, NA, 01; no control characters."""


def vote_frame(kind, rows):
    votes, truth = columns_of(rows)
    columns = {label: [float(one[k]) for one in votes] for k, label in enumerate(CLASSES)}
    return make(kind, {**columns, "truth": truth})


@law(examples=10)
@given(predicted_rows, kinds, any_preferences(), seeds)
def test_decisions_in_a_frame_are_evaluated_as_in_memory(rows, kind, preferences, seed):
    truth, decision = columns_of(shuffled(rows, seed))
    frame = make(kind, {"truth": truth, "decision": decision})
    options = {"labels": CLASSES, "preferences": preferences}
    expected = cp.evaluate(*columns_of(rows), **options).to_json()
    assert cp.frames.evaluate(frame, truth="truth", prediction="decision", **options).to_json() == expected
    refused(cp.frames.evaluate, frame, truth="truth", prediction="nowhere", **options)


@law(examples=10)
@given(vote_rows, kinds, positive_weights, st.sampled_from([0.0, 0.5]))
def test_votes_in_a_frame_are_predicted_as_in_memory(rows, kind, weights, smoothing):
    votes, truth = columns_of(rows)
    frame, decision = vote_frame(kind, rows), cp.Decision(CLASSES, weights, smoothing=smoothing)
    expected = decision.decide(votes).tolist()
    predicted = cp.frames.decide(frame, proba=list(CLASSES), weights=decision, name="said")
    column = predicted.collect()["said"] if kind == "polars_lazy" else predicted["said"]
    assert (column.to_pylist() if kind == "pyarrow" else column.to_list()) == expected
    counts = cp.frames.evaluate(frame, truth="truth", proba=list(CLASSES), weights=decision).counts
    assert counts.matrix.tolist() == cp.Counts.from_predictions(truth, expected, labels=CLASSES).matrix.tolist()
    refused(cp.frames.decide, frame, proba=list(CLASSES), weights=[1, 2])


@law(examples=15)
@given(
    any_scored_rows,
    kinds,
    shares,
    metrics,
    st.integers(2, 5),
    st.sampled_from([0.0, 0.5, 0.9]),
    st.sampled_from([0.0, 0.5]),
)
@example([(True, 5)] * 3 + [(False, 3)] * 6 + [(True, 0)] * 3, "pandas", 0.3, "kulczynski", 2, 0.0, 0.0)
def test_the_best_cut_of_a_frame_is_that_of_brute_force(rows, kind, weight, metric, bins, precision, recall):
    flags, scores = columns_of(rows)
    frame = make(kind, {"truth": ["yes" if flag else "no" for flag in flags], "score": [float(s) for s in scores]})
    options = {
        "recall_weight": weight,
        "metric": metric,
        "min_precision": precision,
        "min_recall": recall,
        "bins": bins,
    }
    points = points_of(rows)
    possible = [
        float(cp.metric_value(p, r, weight, metric=metric))
        for p, r in zip(points.precision[1:], points.recall[1:], strict=True)
        if p >= precision and r >= recall
    ]
    if not any(flags) or not possible:
        refused(cp.frames.best_threshold, frame, truth="truth", score="score", pos_label="yes", **options)
        return
    found = cp.frames.best_threshold(frame, truth="truth", score="score", pos_label="yes", **options)
    assert found.value == pytest.approx(max(possible), abs=1e-12)
    hits = sum(flag and score >= found.threshold for flag, score in rows)
    assert found.recall == pytest.approx(hits / sum(flags), abs=1e-12)
    assert found.precision == pytest.approx(hits / sum(score >= found.threshold for score in scores), abs=1e-12)


@law(examples=8)
@given(any_scored_rows, kinds)
def test_cuts_of_a_frame_are_those_of_its_rows(rows, kind):
    flags, scores = columns_of(rows)
    frame = make(kind, {"truth": ["yes" if flag else "no" for flag in flags], "score": [float(s) for s in scores]})
    found, expected = (
        cp.OperatingPoints.from_frame(frame, truth="truth", score="score", pos_label="yes"),
        points_of(rows),
    )
    for name in ("threshold", "true_positives", "false_positives"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@law(examples=6)
@given(tunable_rows, kinds, any_preferences())
def test_weights_for_a_frame_are_those_for_its_rows(rows, kind, preferences):
    votes, truth = columns_of(rows)
    found = cp.frames.search_weights(
        vote_frame(kind, rows), truth="truth", proba=list(CLASSES), preferences=preferences
    )
    expected = cp.search_weights(truth, votes, preferences=preferences, labels=CLASSES, random_state=0)
    assert found.search.loss == pytest.approx(expected.loss, abs=1e-12)
    predicted = cp.Decision(CLASSES, found.search.weights).decide(votes).tolist()
    assert found.search.counts.matrix.tolist() == cp.Counts.from_predictions(truth, predicted, labels=CLASSES).matrix.tolist()  # fmt: skip
    equal = cp.Decision(CLASSES, [1, 1, 1]).decide(votes).tolist()
    assert found.before.matrix.tolist() == cp.Counts.from_predictions(truth, equal, labels=CLASSES).matrix.tolist()


@law(examples=6)
@given(st.lists(st.tuples(hostile, hostile), min_size=1, max_size=8), st.sampled_from(["polars", "duckdb"]))
def test_labels_in_a_file_are_what_was_written(tmp_path_factory, rows, engine):
    path = tmp_path_factory.mktemp("scan") / "site [1]*.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("truth", "decision"), *rows])
    labels = sorted({label for row in rows for label in row})  # given, so that no label need be in common
    frame = cp.frames.scan(path, engine=engine)
    counts = cp.Counts.from_frame(frame, truth="truth", prediction="decision", labels=labels)
    expected = cp.Counts.from_predictions(*columns_of(rows), labels=labels)
    assert counts.classes == expected.classes
    assert counts.matrix.tolist() == expected.matrix.tolist()


@law(examples=4)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=8))
def test_numbers_asked_for_are_numbers_and_a_missing_file_is_one_sentence(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "n.csv").write_text("\n".join(["score,truth", *(f"{value},x" for value in values)]) + "\n")
    frame = cp.frames.scan(folder / "n.csv", engine="polars", numbers=["score"]).collect()
    assert frame["score"].sum() == np.sum(values)
    refused(cp.frames.scan, folder / "nowhere.csv")
