"""Every result has the same renderings, and none lets a user's text be markup."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import compromis as cp
from compromis._results import Result

HOSTILE = "<script>|@x[a](b)**"
TRUTH = np.array([HOSTILE, "b"] * 30)
FIRST, SECOND = np.roll(TRUTH, 3), np.where(np.arange(60) < 45, TRUTH, "b")
X = np.random.default_rng(0).normal(size=(60, 2)) + (TRUTH == "b")[:, None]
PREFERENCES = {HOSTILE: cp.Preference(10, min_recall=0.9)}
EVALUATION = cp.evaluate(TRUTH, FIRST, preferences=PREFERENCES, confidence=0.9)
CURVES = cp.model_selection

RESULTS = {
    "evaluation": EVALUATION,
    "cross_evaluation": cp.cross_evaluate(GaussianNB(), X, TRUTH, cv=3, preferences=PREFERENCES),
    "comparison": cp.compare_models(TRUTH, {HOSTILE: FIRST, "second": SECOND, "third": FIRST}, preferences=PREFERENCES),
    "check": cp.check(EVALUATION),
    "learning_curve": CURVES.preference_learning_curve(LinearRegression(), X, X @ [1.0, 2.0], cv=3),
    "complexity_curve": CURVES.complexity_curve(
        KNeighborsClassifier(), X, TRUTH, parameter="n_neighbors", values=[20, 1], cv=3
    ),
    "monitor": cp.monitor({HOSTILE: EVALUATION.counts}, preferences=PREFERENCES),
    "regression": cp.regression.evaluate([1, 2, 3], [1, 2, 4], baseline={HOSTILE: 2}, confidence=0.9),
    "weight_search": cp.search_weights(TRUTH, np.eye(2)[(FIRST == "b").astype(int)] + 0.1, preferences=PREFERENCES),
    "leaks": CURVES.find_leaks(X[:30], X[20:]),
    "prevalence": cp.drift.prevalence_by_confusion(FIRST, reference=EVALUATION.counts),
}

SURE = cp.Preferences({HOSTILE: cp.Preference(10, min_recall=0.5, confidence=0.9)})
VOTES = cp.Votes.from_proba(TRUTH, np.eye(2)[(SECOND == "b").astype(int)][:, ::-1] + 0.1, labels=["b", HOSTILE])
GUARANTEED = cp.search_weights(VOTES, preferences=SURE, random_state=0)
RESULTS |= {
    "guarantee": GUARANTEED.guarantee,
    "record": GUARANTEED.decision.record(VOTES, preferences=SURE, search=GUARANTEED, title=HOSTILE, collected=HOSTILE),
    "anytime_tests": cp.drift.AnytimeTests.of([HOSTILE, "b"], SURE).after(HOSTILE, EVALUATION.counts),
    "by_group": cp.evaluate(TRUTH, FIRST, preferences=PREFERENCES, by=np.where(np.arange(60) < 30, HOSTILE, "other")),
}

SCORES = np.random.default_rng(1).random(60)
POINTS = {
    name: cp.OperatingPoints.from_predictions(TRUTH, scores, pos_label=HOSTILE)
    for name, scores in ((HOSTILE, SCORES), ("other", SCORES[::-1]))
}
TRADEOFFS = {
    "tradeoff_curve": cp.TradeoffCurve(POINTS[HOSTILE]),
    "groups": cp.TradeoffCurve(cp.OperatingPoints.from_groups(range(9), {HOSTILE: range(4)}, 60, pos_label=HOSTILE)),
    "tradeoff_comparison": cp.compare_curves(POINTS),
    "roc_hull": cp.roc_hull(POINTS),
    "roc_curve": cp.tradeoffs.roc_points(POINTS[HOSTILE]),
    "precision_recall_curve": cp.tradeoffs.precision_recall_points(POINTS[HOSTILE]),
    "cost_curve": cp.tradeoffs.CostCurve(POINTS[HOSTILE]),
    "decision_curve": cp.tradeoffs.decision_curve(POINTS[HOSTILE]),
}


@pytest.fixture(params=RESULTS | TRADEOFFS)
def result(request):
    return (RESULTS | TRADEOFFS)[request.param]


def test_every_result_has_a_summary(result):
    assert result.summary is not None
    assert not isinstance(result.summary, str)


def test_the_summary_of_a_tradeoff_is_its_area():
    assert TRADEOFFS["tradeoff_comparison"].summary == {
        name: cp.TradeoffCurve(points).area() for name, points in POINTS.items()
    }
    assert TRADEOFFS["roc_curve"].summary["area"] == pytest.approx(roc_auc_score(TRUTH == HOSTILE, SCORES))
    assert set(TRADEOFFS["precision_recall_curve"].summary) == {"average_precision", "area"}


def test_every_result_has_every_rendering(result, tmp_path):
    assert isinstance(result, Result)
    assert str(result)
    text = result.to_json(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text() == text + "\n"
    document = json.loads(text, parse_constant=lambda name: pytest.fail(f"JSON has no {name}"))
    assert document["schema"] == result.schema
    assert (document["version"], document["compromis"]) == (2, cp.__version__)
    assert result.to_markdown(tmp_path / "r.md") == (tmp_path / "r.md").read_text()
    assert "<table" in result._repr_html_() or "<p" in result._repr_html_()


def test_a_repr_is_one_short_line(result):
    shown = repr(result)
    assert len(shown) <= 180
    assert shown.isprintable()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_hold_the_columns(result, backend):
    frame = result.to_frame(backend)
    columns = result.columns()
    assert list(frame.column_names if backend == "pyarrow" else frame.columns) == list(columns)
    assert len(frame) == len(next(iter(columns.values())))


def test_no_text_of_a_user_is_markup(result):
    assert "<script" not in result._repr_html_()
    markdown = result.to_markdown()
    assert "<script" not in markdown
    assert "[a](" not in markdown
    assert "@x" not in markdown
    assert all(
        line.count(" | ") == markdown.splitlines()[at - 1].count(" | ")
        for at, line in enumerate(markdown.splitlines())
        if line.startswith("| ---")
    )


def test_results_travel(result):
    """To another process, or into a copy; an evaluation with intervals could not."""
    text = str(result)
    assert str(pickle.loads(pickle.dumps(result))) == text
    assert str(copy.deepcopy(result)) == text


def test_intervals_cannot_be_changed():
    with pytest.raises(TypeError):
        EVALUATION.intervals.summary["loss"] = EVALUATION.intervals.summary["accuracy"]


def test_a_verdict_is_data_whose_text_is_its_sentence():
    for name in (
        "evaluation",
        "cross_evaluation",
        "comparison",
        "check",
        "learning_curve",
        "complexity_curve",
        "monitor",
        "regression",
    ):
        verdict = RESULTS[name].verdict
        sentences = verdict.sentences() if isinstance(verdict, cp.Verdict) else [verdict.sentence]
        assert str(verdict).startswith(verdict.sentence)
        assert all(sentence[1:] in str(verdict) for sentence in sentences)
        assert len(str(verdict)) == sum(map(len, sentences)) + 2 * (len(sentences) - 1)
        assert str(verdict) != repr(verdict)


def test_curves_as_text():
    lines = str(RESULTS["complexity_curve"]).splitlines()
    assert lines[0].startswith("N_neighbors: ")
    assert lines[2].startswith("=== preference loss (")
    assert lines[6].startswith("n neighbors ")
    assert [line.split()[0] for line in lines[7:9]] == ["20", "1"]


def test_the_summary_of_a_curve_is_that_of_the_choice():
    curve = RESULTS["complexity_curve"]
    index = curve.values.index(curve.recommended)
    assert curve.summary["validation_loss"] == curve.losses.validation_mean[index]
    learning = RESULTS["learning_curve"]
    assert learning.summary["training_loss"] == learning.losses.train_mean[-1]


def test_undefined_numbers_are_question_marks_and_null():
    result = cp.evaluate(["a", "a"], ["a", "a"], labels=["a", "b"])
    assert "| <code>b</code> | 0 | 0 | 0 | 0 | ? | ? | ? |\n" in result.to_markdown()
    assert json.loads(result.to_json())["per_class"][1]["recall"] is None
    assert math.isnan(result.document()["per_class"][1]["recall"])


def test_a_wide_confusion_matrix_is_left_out_of_markdown():
    many = cp.evaluate(np.arange(21), np.arange(21)).to_markdown()
    assert "Confusion matrix" not in many
    assert "Confusion matrix" in EVALUATION.to_markdown()
