"""Laws of evaluations of decisions: order and names of rows and classes, weights, undefined numbers, intervals, gates, pairs of models."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin

import compromis as cp
from tests import oracle
from tests.properties.laws import law, refused
from tests.properties.strategies import (
    CLASSES,
    any_preferences,
    class_names,
    columns_of,
    confidences,
    labels,
    predicted_rows,
    repeated,
    same,
    seeds,
    shuffled,
    vote_rows,
    weighted_rows,
)


def evaluated(rows, **options):
    truth, decision = columns_of(rows)
    return cp.evaluate(truth, decision, **{"labels": CLASSES, **options})


@law()
@given(predicted_rows, any_preferences(), seeds)
def test_the_order_of_rows_changes_nothing(rows, preferences, seed):
    assert (
        evaluated(shuffled(rows, seed), preferences=preferences).to_json()
        == evaluated(rows, preferences=preferences).to_json()
    )


@law()
@given(predicted_rows, labels, any_preferences(of=(0, 1, 2)), st.permutations(range(3)))
def test_names_and_order_of_classes_change_nothing(rows, names, preferences, order):
    assume(len(names) >= 3)
    plain = [(CLASSES.index(truth), CLASSES.index(decision)) for truth, decision in rows]
    renamed = cp.Preferences(
        {names[k]: one for k, one in preferences.by_class.items()}, preferences.default, preferences.metric
    )
    first = evaluated(plain, labels=range(3), preferences=preferences)
    second = evaluated([(names[t], names[d]) for t, d in plain], labels=[names[k] for k in order], preferences=renamed)
    assert same([*_values(first.summary)], [*_values(second.summary)], 1e-14)
    for k in range(3):
        assert same([*_values(first.per_class[k])][1:], [*_values(second.per_class[names[k]])][1:], 1e-14)


def _values(summary):
    for value in asdict(summary).values():
        if isinstance(value, dict):
            yield from value.values()
        else:
            yield value if isinstance(value, int | float) else math.nan


@law()
@given(weighted_rows, any_preferences())
def test_whole_weights_are_repetition(rows, preferences):
    truth, decision, weight = columns_of(rows)
    weighted = cp.evaluate(truth, decision, sample_weight=weight, labels=CLASSES, preferences=preferences)
    copied = evaluated(repeated(rows), preferences=preferences)
    assert weighted.counts.matrix.tolist() == copied.counts.matrix.tolist()
    skip_rows = slice(1, None)
    assert same([*_values(weighted.summary)][skip_rows], [*_values(copied.summary)][skip_rows])
    for label in CLASSES:
        assert same([*_values(weighted.per_class[label])][1:], [*_values(copied.per_class[label])][1:])


@law()
@given(predicted_rows)
def test_numbers_are_those_of_scikit_learn(rows):
    truth, decision = columns_of(rows)
    result = evaluated(rows)
    options = {"labels": list(CLASSES), "average": None, "zero_division": math.nan}
    ours = [[one.precision, one.recall] for one in result.per_class.values()]
    precision, recall = (score(truth, decision, **options) for score in (metrics.precision_score, metrics.recall_score))
    assert same(ours, np.column_stack([precision, recall]), 1e-15)
    assert result.summary.accuracy == pytest.approx(metrics.accuracy_score(truth, decision), abs=1e-15)
    found = recall[~np.isnan(recall)]
    assert result.summary.balanced_accuracy == pytest.approx(found.mean(), abs=1e-15)


@law()
@given(predicted_rows)
def test_undefined_numbers_are_nan_here_and_null_in_json(rows):
    truth, decision = columns_of(rows)
    result = evaluated(rows)
    written = {one["label"]: one for one in json.loads(result.to_json())["per_class"]}
    for label, one in result.per_class.items():
        assert math.isnan(one.recall) == (label not in truth)
        assert math.isnan(one.precision) == (label not in decision)
        assert math.isnan(one.specificity) == (set(truth) == {label})
        assert math.isnan(one.roc_area)  # there are no distributions
        for name in ("recall", "precision", "specificity", "roc_area"):
            assert (written[label][name] is None) == math.isnan(getattr(one, name))
    assert "nan" not in result.to_json().lower().replace("nans", "")
    assert str(result)
    assert result.to_markdown()


@law()
@given(predicted_rows, any_preferences(), st.sampled_from([None, 0.9]))
def test_counts_say_what_their_rows_say(rows, preferences, confidence):
    truth, decision = columns_of(rows)
    counts = cp.Counts.from_predictions(truth, decision, labels=CLASSES)
    known = cp.Counts.from_matrix(counts.matrix.tolist(), CLASSES)
    expected = evaluated(rows, preferences=preferences, confidence=confidence).to_json()
    for one in (counts, known):
        assert cp.evaluate(one, preferences=preferences, confidence=confidence).to_json() == expected


@law(examples=8)
@given(predicted_rows, st.data(), confidences)
def test_groups_change_intervals_and_nothing_else(rows, data, confidence):
    truth, decision = columns_of(rows)
    groups = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    grouped = cp.evidence.GroupedCounts.from_predictions(truth, decision, groups=groups, labels=CLASSES)
    assert grouped.groups == len(set(groups))
    assert grouped.times.sum() == len(set(groups))
    first, second = (json.loads(cp.evaluate(one, confidence=confidence).to_json()) for one in (grouped, grouped.counts))
    for document in (first, second):
        document.pop("intervals")
    assert first == second


@law(examples=12)
@given(predicted_rows, any_preferences(), confidences, confidences)
def test_intervals_hold_the_estimate_stay_in_range_and_widen(rows, preferences, one, other):
    low, high = sorted((one, other))
    truth, decision = columns_of(rows)
    narrow = evaluated(rows, preferences=preferences, confidence=low).intervals
    wide = cp.evaluate(
        cp.Counts.from_predictions(truth, decision, labels=CLASSES), preferences=preferences, confidence=high
    ).intervals
    pairs = [(narrow.summary[name], wide.summary[name], name) for name in narrow.summary]
    for label in CLASSES:
        pairs += [
            (narrow.per_class[label][name], wide.per_class[label][name], name) for name in narrow.per_class[label]
        ]
    for inner, outer, name in pairs:
        if math.isnan(inner.value):
            continue
        assert inner.low - 1e-12 <= inner.value <= inner.high + 1e-12, name
        assert outer.low - 1e-12 <= inner.low, name
        assert inner.high <= outer.high + 1e-12, name
        assert outer.low >= -1 - 1e-12, name
        assert outer.high <= 1 + 1e-12, name
        if name not in ("kappa", "matthews"):
            assert outer.low >= -1e-12, name


@law()
@given(predicted_rows, any_preferences())
def test_the_loss_is_that_of_the_paper(rows, preferences):
    truth, decision = columns_of(rows)
    laid = preferences.on(CLASSES)
    expected, _ = oracle.pragma(
        oracle.count(truth, decision, CLASSES),
        laid.importance.tolist(),
        laid.recall_weight.tolist(),
        preferences.metric.name,
    )
    loss = cp.pragma_loss(truth, decision, preferences=preferences, labels=CLASSES)
    assert loss == pytest.approx(float(expected), abs=1e-14)
    assert (loss < 1e-14) == (truth == decision)


@law()
@given(weighted_rows, any_preferences(), st.integers(-20, 20))
def test_the_scale_of_importances_and_of_weights_loses_nothing(rows, preferences, power):
    truth, decision, weight = columns_of(rows)
    scaled = cp.Preferences(
        {label: _scaled(one, 2.0**power) for label, one in preferences.by_class.items()},
        _scaled(preferences.default, 2.0**power),
        preferences.metric,
    )
    expected = cp.pragma_loss(truth, decision, preferences=preferences, labels=CLASSES, sample_weight=weight)
    heavier = np.array(weight) * 2.0**power
    assert expected == cp.pragma_loss(truth, decision, preferences=scaled, labels=CLASSES, sample_weight=weight)
    assert expected == cp.pragma_loss(truth, decision, preferences=preferences, labels=CLASSES, sample_weight=heavier)
    plain = columns_of(repeated(rows))
    assert expected == pytest.approx(cp.pragma_loss(*plain, preferences=preferences, labels=CLASSES), abs=1e-14)


def _scaled(one, factor):
    return cp.Preference(one.importance * factor, one.precision_at_full_recall, one.recall_at_full_precision)


@law()
@given(predicted_rows, st.text(min_size=1, max_size=5))
def test_a_preference_for_a_class_that_is_not_there_is_one_sentence(rows, label):
    assume(label not in CLASSES)
    preferences = cp.Preferences({label: cp.Preference()})
    message = refused(cp.pragma_loss, *columns_of(rows), preferences=preferences, labels=CLASSES)
    assert repr(label) in message


@law(examples=10)
@given(predicted_rows, any_preferences())
def test_the_scorer_puts_constraints_before_the_loss(rows, preferences):
    truth, decision = columns_of(rows)

    class Saying(ClassifierMixin, BaseEstimator):
        """A model that says what was predicted, and knows every class, absent ones too."""

        classes_ = np.array(CLASSES)

        def predict(self, X):
            return np.array(decision)[np.asarray(X).ravel()]

    X = np.arange(len(rows)).reshape(-1, 1)
    score = cp.pragma_scorer(preferences)(Saying(), X, truth)
    missed = cp.evaluate(truth, decision, preferences=preferences, labels=CLASSES).verdict.constraints
    if missed:
        assert score == pytest.approx(-sum(one.distance for one in missed))
    else:
        assert score == 1 - cp.pragma_loss(truth, decision, preferences=preferences, labels=CLASSES)


@law()
@given(predicted_rows, any_preferences(), st.floats(0, 1))
def test_a_check_is_passed_if_nothing_that_occurs_falls_short(rows, preferences, most):
    truth, decision = columns_of(rows)
    result = evaluated(rows, preferences=preferences)
    met = {}
    for label in {*truth}:
        hits = sum(t == d == label for t, d in rows)
        for rate, whole, floor in (
            ("precision", decision.count(label), preferences.of(label).min_precision),
            ("recall", truth.count(label), preferences.of(label).min_recall),
        ):
            if floor is not None:
                met[f"{rate} of {label!r}"] = hits >= floor * whole and whole > 0
    checked = cp.check(result, max_loss=most)
    assert {one.name: one.passed for one in checked.conditions if one.name != "loss"} == met
    assert checked.passed == (all(met.values()) and result.summary.loss <= most)
    assert json.loads(checked.to_json())["passed"] == checked.passed
    assert len(result.verdict.constraints) == sum(not one for one in met.values())
    if met:
        assert cp.check(result).passed == all(met.values())
    else:
        refused(cp.check, result)


@law()
@given(predicted_rows, st.floats(0, 1), st.floats(0, 1))
def test_a_check_that_asks_less_is_passed_by_more(rows, one, other):
    result = evaluated(rows, preferences=cp.Preferences())
    strict, lenient = (cp.check(result, max_loss=most).passed for most in sorted((one, other)))
    assert lenient or not strict


@law(examples=8)
@given(
    st.lists(st.tuples(class_names, class_names, class_names), min_size=1, max_size=20), any_preferences(), confidences
)
def test_swapping_the_models_mirrors_the_comparison(rows, preferences, confidence):
    truth, first, second = columns_of(rows)
    options = {"preferences": preferences, "labels": CLASSES, "confidence": confidence}
    forward = cp.compare_models(truth, {"first": first, "second": second}, **options)
    backward = cp.compare_models(truth, {"second": second, "first": first}, **options)
    assert forward.values == backward.values
    assert forward.p_values == pytest.approx(backward.p_values, abs=1e-12)
    for name, one in forward.pairs[0].differences.items():
        mirrored = backward.pairs[0].differences[name]
        assert same([one.first, one.second], [mirrored.second, mirrored.first])
        assert same(one.difference.value, -mirrored.difference.value)
        assert math.isnan(one.difference.value) or one.difference.value in one.difference
    assert forward.values[forward.ranking[0]] == min(forward.values.values())
    hits = [sum(predicted == t for t, predicted in zip(truth, one, strict=True)) for one in (first, second)]
    assert forward.pairs[0].mcnemar.only_first - forward.pairs[0].mcnemar.only_second == hits[0] - hits[1]


@law(examples=8)
@given(predicted_rows)
def test_a_model_does_not_differ_from_itself(rows):
    truth, decision = columns_of(rows)
    result = cp.compare_models(truth, {"one": decision, "same": list(decision)}, labels=CLASSES)
    for one in result.pairs[0].differences.values():
        assert math.isnan(one.first) or one.difference.value == 0 in one.difference
        assert not one.clear
    assert result.pairs[0].mcnemar.mid_p == 1
    assert result.verdict.state == "not told apart"


@law()
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
def test_training_priors_are_shares(y):
    priors = cp.model_selection.training_priors(y, labels="abc")
    assert sum(priors.values()) == pytest.approx(1, abs=1e-15)
    assert all(priors[label] == (y.count(label) + 1) / (len(y) + 3) for label in "abc")


@law()
@given(labels, st.data())
def test_an_evaluation_in_json_holds_labels_and_counts(classes, data):
    truth = data.draw(st.lists(st.sampled_from(classes), min_size=1, max_size=20))
    decision = data.draw(st.lists(st.sampled_from(classes), min_size=len(truth), max_size=len(truth)))
    result = cp.evaluate(truth, decision, preferences=cp.Preferences(), labels=classes)
    document = json.loads(result.to_json())
    assert document["classes"] == classes
    again = cp.Counts.from_matrix(document["counts"]["matrix"], document["classes"])
    assert again.matrix.tolist() == result.counts.matrix.tolist()
    assert [one["label"] for one in document["per_class"]] == classes


@law()
@given(vote_rows, any_preferences(), st.integers(-20, 20), seeds)
def test_votes_count_by_their_shares_and_ties_go_to_the_first_class(rows, preferences, power, seed):
    votes, truth = columns_of(rows)
    result = cp.evaluate(truth, y_proba=votes, labels=CLASSES, preferences=preferences)
    decision = [CLASSES[one.index(max(one))] for one in votes]
    assert result.counts.matrix.tolist() == cp.Counts.from_predictions(truth, decision, labels=CLASSES).matrix.tolist()
    larger = cp.evaluate(truth, y_proba=np.array(votes) * 2.0**power, labels=CLASSES, preferences=preferences)
    assert larger.to_json() == result.to_json()
    votes, truth = columns_of(shuffled(rows, seed))
    moved = cp.evaluate(truth, y_proba=votes, labels=CLASSES, preferences=preferences)
    assert same([*_values(moved.summary)], [*_values(result.summary)])
    for label, one in result.per_class.items():
        flags = [t == label for t in truth]
        if len({*flags}) == 2:
            score = [row[CLASSES.index(label)] / sum(row) for row in votes]
            assert one.roc_area == pytest.approx(metrics.roc_auc_score(flags, score), abs=1e-12)


@law()
@given(predicted_rows, st.integers(1, 3))
def test_rows_of_different_number_are_one_sentence(rows, more):
    truth, decision = columns_of(rows)
    refused(cp.evaluate, truth, decision + ["a"] * more)
    refused(cp.evaluate, truth, decision, sample_weight=[1.0] * (len(rows) + more))
    refused(cp.evaluate, truth, decision, sample_weight=[-1.0] * len(rows))
    refused(cp.evaluate, truth)


@law()
@given(labels, st.data())
def test_preferences_survive_toml(tmp_path_factory, classes, data):
    preferences = data.draw(any_preferences(of=classes))
    path = tmp_path_factory.mktemp("preferences") / "preferences.toml"
    preferences.to_toml(path)
    again = cp.Preferences.from_toml(path)
    assert again == preferences
    assert [type(label) for label in again.by_class] == [type(label) for label in preferences.by_class]
    assert hash(again) == hash(preferences)
