"""Laws of what leaves the library: pages, notebooks, frames, records of other packages, displays; they repeat numbers and never change them."""

from __future__ import annotations

import html
import json
import math
import sys
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from matplotlib import pyplot

import compromis as cp
from tests.properties.laws import law, refused
from tests.properties.strategies import (
    CLASSES,
    any_preferences,
    columns_of,
    labels,
    metrics,
    number_pairs,
    points_of,
    positive_weights,
    predicted_rows,
    same,
    scored_rows,
    tunable_rows,
    vote_rows,
)

hostile_labels = st.lists(
    st.sampled_from(["<b>", "&amp;", '"><script>', "a'b", "a|b", "</script>", "é", "{{x}}", "a?", "a_b", "a_b_1"]),
    min_size=2,
    max_size=4,
    unique=True,
)


@law(examples=3)
@given(vote_rows, hostile_labels, any_preferences())
def test_a_page_names_every_class_runs_none_and_asks_for_nothing(tmp_path_factory, rows, names, preferences):
    votes, truth = columns_of(rows)
    names = (names * 2)[:3] if len(names) >= 3 else [*names, "last"]
    labelled = [names[CLASSES.index(one)] for one in truth]
    renamed = cp.Preferences(
        {names[CLASSES.index(label)]: one for label, one in preferences.by_class.items()},
        preferences.default,
        preferences.metric,
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    result = cp.evaluate(labelled, y_proba=votes, labels=names, preferences=renamed)
    made = cp.report(result, path)
    assert path.read_text(encoding="utf-8") == made.html
    assert made.html.count("<script") == cp.report(cp.evaluate(truth, y_proba=votes, labels=CLASSES)).html.count("<script")  # fmt: skip
    for name in names:
        assert name in html.unescape(made.html)
    for outside in ('src="http', 'href="http', "url(http", "@import"):
        assert outside not in made.html
    assert made.preferences == renamed
    refused(cp.report, result, preferences=renamed)


@law(examples=3)
@given(vote_rows, any_preferences(), positive_weights)
def test_knobs_say_what_was_given_and_decide_like_the_library(rows, preferences, weights):
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    votes, truth = columns_of(rows)
    patterns = cp.Votes.from_proba(truth, votes, labels=CLASSES)
    knobs = cp.panel(patterns, preferences=preferences, weights=weights)
    assert [knobs.preferences.of(label) for label in CLASSES] == [preferences.of(label) for label in CLASSES]
    assert knobs.preferences.metric == preferences.metric
    assert same(knobs.weights, weights)
    assert knobs.decision.decide(votes).tolist() == cp.Decision(CLASSES, weights).decide(votes).tolist()


@law(examples=15)
@given(labels | hostile_labels, st.data(), st.sampled_from(["", "test/"]))
def test_what_mlflow_gets_is_every_defined_number_under_a_name_of_its_own(classes, data, prefix):
    truth, decision = (
        data.draw(st.lists(st.sampled_from(classes), min_size=4, max_size=4)) for _ in ("truth", "decision")
    )
    _check_mlflow(classes, truth, decision, prefix)


@law(examples=1)
@given(st.just(["a|", "a__2", "a?"]))
@example(["a|", "a__2", "a?"])
def test_a_number_that_keeps_two_classes_apart_does_not_meet_a_third(classes):
    _check_mlflow(classes, classes, classes, "")


def _check_mlflow(classes, truth, decision, prefix):
    logged, texts = {}, {}
    package = SimpleNamespace(
        log_metrics=logged.update,
        set_tag=lambda name, text: None,
        log_text=lambda text, path: texts.update({path: text}),
    )
    result = cp.evaluate(truth, decision, labels=classes, preferences=cp.Preferences())
    with patch.dict(sys.modules, {"mlflow": package}):
        said = cp.integrations.log_to_mlflow(result, prefix=prefix, report=False)
    assert logged == said
    assert all(math.isfinite(value) for value in said.values())
    assert not texts
    recalls = [one.recall for one in result.per_class.values() if not math.isnan(one.recall)]
    found = [value for name, value in said.items() if name.endswith("/recall")]
    assert sorted(found) == sorted(recalls)
    assert said[f"{prefix}accuracy"] == result.summary.accuracy
    assert all(name.startswith(prefix) for name in said)


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@law(examples=3)
@given(predicted_rows)
def test_mlflow_stores_what_is_said(tmp_path_factory, rows):
    with patch.dict("os.environ", {"MLFLOW_ALLOW_FILE_STORE": "true"}):
        mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
        mlflow.set_tracking_uri((tmp_path_factory.mktemp("mlflow") / "runs").as_uri())
        result = cp.evaluate(*columns_of(rows), labels=CLASSES)
        with mlflow.start_run() as run:
            said = cp.integrations.log_to_mlflow(result)
        assert mlflow.MlflowClient().get_run(run.info.run_id).data.metrics == said


class Saying:
    """A model that says what was predicted."""

    classes_ = np.array(CLASSES)

    def __init__(self, decision):
        self.decision = decision

    def predict(self, X):
        return np.array(self.decision)


@law()
@given(predicted_rows, any_preferences())
def test_skore_gets_the_loss_the_shortfall_and_the_loss_of_each_class(rows, preferences):
    truth, decision = columns_of(rows)
    result = cp.evaluate(truth, decision, labels=CLASSES, preferences=preferences)
    functions = cp.integrations.skore_metrics(preferences)
    added = {}
    report = SimpleNamespace(
        metrics=SimpleNamespace(add=lambda metric, **options: added.setdefault(len(added), metric))
    )
    assert cp.integrations.add_to_skore(report, preferences) == list(functions)
    assert len(added) == len(functions)
    arguments = Saying(decision), [[0]] * len(rows), truth
    loss = cp.pragma_loss(truth, decision, preferences=preferences, labels=CLASSES)
    assert functions["pragma_loss"](*arguments) == pytest.approx(loss, abs=1e-12)
    missing = sum(one.distance for one in result.verdict.constraints)
    assert functions["pragma_shortfall"](*arguments) == pytest.approx(missing, abs=1e-12)
    each = functions["pragma_class_loss"](*arguments)
    assert same(list(each.values()), [one.loss for one in result.per_class.values()])


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@law(examples=2)
@given(st.integers(0, 100))
def test_skore_shows_the_loss(seed):
    skore = pytest.importorskip("skore", reason="skore is not installed")
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(seed)
    y = np.array(CLASSES)[np.arange(30) % 3]
    X = rng.normal(size=(30, 2)) + (np.arange(30) % 3)[:, None]
    model, preferences = GaussianNB().fit(X, y), cp.Preferences.prioritise(["a"], metric="f")
    report = skore.EstimatorReport(model, X_test=X, y_test=y)
    cp.integrations.add_to_skore(report, preferences)
    shown = report.metrics.summarize().frame()
    assert shown["pragma_loss"] == pytest.approx(cp.pragma_loss(y, model.predict(X), preferences=preferences))


@law(examples=10)
@given(labels, st.data(), st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_a_frame_and_json_repeat_the_numbers(classes, data, backend):
    truth, decision = (
        data.draw(st.lists(st.sampled_from(classes), min_size=4, max_size=4)) for _ in ("truth", "decision")
    )
    result = cp.evaluate(truth, decision, labels=classes)
    frame = result.to_frame(backend)
    column = frame["recall"].to_pylist() if backend == "pyarrow" else frame["recall"].to_list()
    expected = [one.recall for one in result.per_class.values()]
    assert same([math.nan if one is None else one for one in column], expected)
    document = json.loads(result.to_json(), parse_constant=lambda name: pytest.fail(f"JSON has no {name}"))
    assert same([math.nan if one["recall"] is None else one["recall"] for one in document["per_class"]], expected)


@law(examples=8)
@given(tunable_rows, any_preferences(), st.sampled_from(CLASSES))
def test_displays_of_votes_and_classes_show_the_numbers(rows, preferences, label):
    votes, truth = columns_of(rows)
    patterns = cp.Votes.from_proba(truth, votes, labels=CLASSES)
    before, after = patterns.counts([1, 1, 1]), patterns.counts([1, 2, 4])
    shown = cp.plots.ClassBalanceDisplay(before, after, preferences=preferences).to_frame("pandas").set_index("class")
    for counts, when in ((before, "before"), (after, "after")):
        each = cp.evaluate(counts).per_class
        for rate in ("recall", "precision"):
            assert same(shown.loc[list(CLASSES), f"{rate}_{when}"], [getattr(each[one], rate) for one in CLASSES])
    sweep = cp.weights.weight_sweep(truth, votes, label=label, labels=CLASSES, preferences=preferences)
    frame = cp.plots.WeightSweepDisplay(sweep).to_frame("pandas")
    assert frame["loss"].tolist() == sweep.loss.tolist()
    assert same(frame[f"recall {label}"], sweep.recall[:, CLASSES.index(label)])
    display = cp.plots.VoteDisplay.from_votes(patterns, label=label, bins=4)
    pyplot.close(display.figure_)
    assert display.to_frame("pandas")["rows"].sum() + display.distribution.unvoted.sum() == len(rows)


@law(examples=8)
@given(scored_rows, scored_rows, metrics)
def test_displays_of_curves_show_the_numbers(first, second, metric):
    models = {"first": points_of(first), "second": points_of(second)}
    frame = cp.plots.TradeoffDisplay(cp.compare_curves(models, metric)).to_frame("pandas")
    for name, points in models.items():
        part = frame[frame["curve"] == name]
        inside = part[(part["recall_weight"] > 0) & (part["recall_weight"] < 1)]
        assert same(inside["value"], cp.TradeoffCurve(points, metric).value(inside["recall_weight"]), 1e-9)
    hull = cp.plots.RocHullDisplay(cp.roc_hull(models)).to_frame("pandas")
    space = cp.plots.PrecisionRecallSpaceDisplay(models, metric=metric).to_frame("pandas")
    for name, points in models.items():
        assert same(hull[hull["curve"].eq(name) & hull["kind"].eq("model")]["tpr"], points.tpr)
        part = space[space["model"] == name]
        assert same(part["precision"], points.precision)
        better = [
            any(p >= a and r >= b and (p > a or r > b) for p, r in zip(part["precision"], part["recall"], strict=True))
            for a, b in zip(part["precision"], part["recall"], strict=True)
        ]
        assert [not one for one, p in zip(better, part["precision"], strict=True) if p == p] == [
            one for one, p in zip(part["dominating"], part["precision"], strict=True) if p == p
        ]


@law(examples=8)
@given(any_preferences())
def test_the_lines_of_a_preference_have_one_loss(preferences):
    frame = cp.plots.PreferenceDisplay(preferences, labels=CLASSES).to_frame("pandas")
    for name, part in frame.groupby("class"):
        label = name.split(", ")[0]
        weight = preferences.of(label).recall_weight_for(preferences.metric)
        value = cp.metric_value(part["precision"], part["recall"], weight, metric=preferences.metric)
        assert same(1 - value, part["loss"], 1e-6)


@law(examples=8)
@given(number_pairs)
def test_displays_of_residuals_show_what_predictions_are_off_by(rows):
    truth, prediction = columns_of(rows)
    for display in (cp.plots.ResidualDisplay, cp.plots.PredictedAgainstTrueDisplay):
        frame = display(np.array(truth), np.array(prediction)).to_frame("pandas")
        assert frame["residual"].tolist() == [p - t for t, p in rows]
        assert frame["truth"].tolist() == truth
