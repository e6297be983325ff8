"""Laws that hold for any input: merging, round trips, hulls, areas, constant decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compromis as cp
from compromis.estimators.model_file import TableModel, load_model, save_model
from compromis.estimators.table_model import ColumnSpec

labels = st.one_of(
    st.lists(st.text(min_size=1, max_size=6), min_size=2, max_size=4, unique=True),
    st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=4, unique=True),
)
triples = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=25)
rows = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=20).filter(
    lambda rows: len({flag for flag, _ in rows}) == 2
)
indices = st.sampled_from(["kulczynski", "f", "fowlkes_mallows", "jaccard"])
shares = st.floats(0, 1)


def points_of(pairs):
    return cp.OperatingPoints.from_predictions([flag for flag, _ in pairs], [score for _, score in pairs])


@given(labels, st.data())
@settings(max_examples=60)
def test_a_decision_survives_json(classes, data):
    weights = data.draw(st.lists(st.floats(1e-300, 1e300), min_size=len(classes), max_size=len(classes)))
    smoothing = data.draw(st.floats(0, 1e6))
    decision = cp.Decision(tuple(classes), weights, smoothing)
    again = cp.Decision.from_json(decision.to_json())
    assert again.classes == decision.classes
    assert [type(one) for one in again.classes] == [type(one) for one in classes]
    assert again.weights.tolist() == decision.weights.tolist()
    assert again.smoothing == smoothing


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=20), st.integers(-30, 30))
@settings(max_examples=60)
def test_the_scale_of_weights_and_votes_decides_nothing(votes, power):
    weights = np.array([0.7, 1.0, 1.9])
    expected = cp.Decision((0, 1, 2), weights).decide(votes).tolist()
    assert cp.Decision((0, 1, 2), weights * 2.0**power).decide(votes).tolist() == expected
    assert cp.Decision((0, 1, 2), weights).decide(np.array(votes) * 2.0**power).tolist() == expected


@given(triples, triples, triples)
@settings(max_examples=60)
def test_paired_counts_add_up_in_any_order(first, second, third):
    parts = (first, second, third)
    a, b, c = (cp.PairedCounts.from_predictions(*zip(*part, strict=True), labels=range(3)) for part in parts)
    whole = cp.PairedCounts.from_predictions(
        *zip(*[row for part in parts for row in part], strict=True), labels=range(3)
    )
    for total in ((a + b) + c, a + (b + c), c + b + a):
        assert total.cells.tolist() == whole.cells.tolist()
        assert total.counts.tolist() == whole.counts.tolist()
        assert total.first.matrix.tolist() == whole.first.matrix.tolist()


@given(triples, triples)
@settings(max_examples=60)
def test_grouped_counts_add_up_when_groups_are_apart(first, second):
    def grouped(part, shift):
        truth, decision, group = zip(*part, strict=True)
        return cp.GroupedCounts.from_predictions(truth, decision, groups=[g + shift for g in group], labels=range(3))

    a, b = grouped(first, 0), grouped(second, 10)
    whole = grouped(first + [(t, d, g + 10) for t, d, g in second], 0)
    tables = lambda one: sorted((table.tolist(), times) for table, times in zip(one.tables, one.times, strict=True))  # noqa: E731
    assert tables(a + b) == tables(b + a) == tables(whole)
    assert (a + b).counts.matrix.tolist() == whole.counts.matrix.tolist()


@given(triples, triples, st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
@settings(max_examples=60)
def test_vote_patterns_add_up_to_the_same_decisions(first, second, weights):
    def patterns(part, merge):
        return cp.VotePatterns.from_votes(
            [[a + 1, b, 1] for a, b, _ in part], [t for _, _, t in part], labels=range(3), merge=merge
        )

    expected = patterns([*first, *second], False).counts(weights).matrix.tolist()
    for merge in (True, False):
        a, b = patterns(first, merge), patterns(second, merge)
        assert (a + b).counts(weights).matrix.tolist() == (b + a).counts(weights).matrix.tolist() == expected
        assert (a + b).rows == len(first) + len(second)


@given(rows, indices, st.lists(shares, min_size=3, max_size=3, unique=True))
@settings(max_examples=80)
def test_areas_over_neighbouring_ranges_add_up(pairs, index, bounds):
    low, middle, high = sorted(bounds)
    curve = cp.TradeoffCurve(points_of(pairs), index)
    assert curve.area(low, middle) + curve.area(middle, high) == pytest.approx(curve.area(low, high), abs=1e-13)
    assert 0 <= curve.area(low, high) <= high - low + 1e-13


@given(rows, indices, shares)
@settings(max_examples=80)
def test_the_curve_is_the_best_of_its_points(pairs, index, weight):
    points = points_of(pairs)
    decided = ~np.isnan(points.precision)
    values = cp.index_value(points.precision[decided], points.recall[decided], weight, index=index)
    assert float(cp.TradeoffCurve(points, index).value(weight)) == pytest.approx(values.max(), abs=1e-14)


@given(rows, rows, st.floats(0.01, 100), st.floats(0.01, 0.99))
@settings(max_examples=80)
def test_no_cut_of_any_model_costs_less_than_the_corner_of_the_hull(first, second, cost, prevalence):
    models = {"a": points_of(first), "b": points_of(second)}
    hull = cp.roc_hull(models)

    def expected_cost(fpr, tpr):
        return cost * fpr * (1 - prevalence) + (1 - tpr) * prevalence

    corner = hull.best(cost_false_positive=cost, prevalence=prevalence)
    least = min(expected_cost(one.fpr, one.tpr).min() for one in models.values())
    assert expected_cost(corner.fpr, corner.tpr) == pytest.approx(least, abs=1e-12)
    assert hull.area >= max(cp.roc_curve(one).area for one in models.values()) - 1e-12
    assert {*hull.models, *hull.droppable} == {"a", "b"}


@given(rows, rows)
@settings(max_examples=60)
def test_two_models_dominate_each_other_only_with_equal_curves(first, second):
    a, b = points_of(first), points_of(second)
    if cp.dominates(a, b) and cp.dominates(b, a):
        assert cp.roc_curve(a).area == pytest.approx(cp.roc_curve(b).area, abs=1e-12)
    assert cp.dominates(a, a) == cp.dominates(points_of(first), points_of(first[::-1]))


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
def test_training_priors_are_shares(y):
    priors = cp.training_priors(y, labels="abc")
    assert sum(priors.values()) == pytest.approx(1, abs=1e-15)
    assert all(priors[label] == (y.count(label) + 1) / (len(y) + 3) for label in "abc")


@given(labels, st.data())
@settings(max_examples=40)
def test_an_evaluation_in_json_holds_labels_and_counts(classes, data):
    truth = data.draw(st.lists(st.sampled_from(classes), min_size=1, max_size=20))
    decision = data.draw(st.lists(st.sampled_from(classes), min_size=len(truth), max_size=len(truth)))
    result = cp.evaluate(truth, decision, preferences=cp.Preferences(), labels=classes)
    document = json.loads(result.to_json())
    assert document["classes"] == classes
    again = cp.Counts.from_matrix(document["counts"]["matrix"], document["classes"])
    assert again.matrix.tolist() == result.counts.matrix.tolist()
    assert [one["label"] for one in document["per_class"]] == classes


@given(st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=3, unique=True), st.floats(0.01, 100))
@settings(max_examples=5)
def test_a_model_file_keeps_everything(tmp_path_factory, classes, weight):
    from sklearn.linear_model import LogisticRegression

    X = np.arange(12.0).reshape(-1, 1)
    model = LogisticRegression().fit(X, [k % len(classes) for k in range(12)])
    decision = cp.Decision(tuple(classes), [weight, *[1.0] * (len(classes) - 1)], 0.25)
    columns = (ColumnSpec("size \u00e9"), ColumnSpec("colour", ("NA", "", "x,y")))
    path = tmp_path_factory.mktemp("model") / "model"
    save_model(TableModel(model, decision, columns, "target", False), path)
    again = load_model(path)
    assert again.columns == columns
    assert again.target == "target"
    assert again.decision.classes == decision.classes
    assert again.decision.weights.tolist() == decision.weights.tolist()
    assert again.classifier.predict_proba(X).tolist() == model.predict_proba(X).tolist()


def test_groups_need_no_order():
    one, other = object(), object()
    grouped = cp.GroupedCounts.from_predictions([0, 1, 1], [0, 1, 0], groups=[one, other, one])
    assert sorted(table.sum() for table in grouped.tables) == [1, 2]
