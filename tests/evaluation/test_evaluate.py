"""evaluate: distributions, weights, verdicts, and every rendering of the same numbers."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_score, cross_validate

import compromis as cp
from compromis.measures.rates import NUMBERS
from tests import oracle


@pytest.fixture
def scored(rng):
    truth = rng.integers(0, 3, 200)
    shares = rng.dirichlet([1, 1, 1], 200).round(2)
    shares[:, 0] += 1 - shares.sum(axis=1)
    return truth, np.abs(shares)


def test_distribution_errors_in_exact_arithmetic(scored):
    truth, shares = scored
    result = cp.evaluate(truth, y_proba=shares, priors=[0.5, 0.25, 0.25])
    exact = oracle.weka_errors(shares.tolist(), truth.tolist(), [0.5, 0.25, 0.25])  # in per cent
    numbers = result.summary
    ours = [
        numbers.mean_absolute_error,
        numbers.root_mean_squared_error,
        100 * numbers.relative_absolute_error,
        100 * numbers.root_relative_squared_error,
    ]
    assert ours == pytest.approx([float(value) for value in exact], rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_area(scored, rng, weighted):
    truth, shares = scored
    weight = rng.integers(1, 5, len(truth)) if weighted else None
    result = cp.evaluate(truth, y_proba=shares, sample_weight=weight)
    for k in range(3):
        expected = roc_auc_score(truth == k, shares[:, k], sample_weight=weight)
        assert result.per_class[k].roc_area == pytest.approx(expected, rel=1e-12)


def test_the_decision_is_the_first_of_the_most_probable():
    result = cp.evaluate(["a", "b"], y_proba=[[0.5, 0.5], [0.5, 0.5]])
    assert result.counts.matrix.tolist() == [[1, 0], [1, 0]]


def test_probabilities_by_name_or_for_one_class():
    truth, shares = ["no", "yes", "yes"], np.array([[0.7, 0.3], [0.4, 0.6], [0.8, 0.2]])
    expected = cp.evaluate(truth, y_proba=shares).to_json()
    assert cp.evaluate(truth, y_proba=pd.DataFrame({"yes": shares[:, 1], "no": shares[:, 0]})).to_json() == expected
    assert cp.evaluate(truth, y_proba=pl.DataFrame({"yes": shares[:, 1], "no": shares[:, 0]})).to_json() == expected
    one_column = json.loads(cp.evaluate(truth, y_proba=shares[:, 1], pos_label="yes").to_json())
    assert one_column["summary"]["accuracy"] == json.loads(expected)["summary"]["accuracy"]
    assert cp.evaluate(truth, y_proba=10 * shares).summary.accuracy == 2 / 3  # votes are scaled to shares


def test_roc_areas_and_relative_errors_need_probabilities():
    """Without them they are balanced accuracies and errors of 0 and 1, which Weka's layout shows as Weka does."""
    truth, predicted = ["a"] * 30 + ["b"] * 70, ["a"] * 20 + ["b"] * 75 + ["a"] * 5
    proba = np.eye(2)[[0 if label == "a" else 1 for label in predicted]]
    alone, scored = cp.evaluate(truth, predicted, confidence=0.9), cp.evaluate(truth, y_proba=proba, confidence=0.9)
    assert scored.per_class["a"].roc_area == pytest.approx((1 + 20 / 30 - 5 / 70) / 2)
    assert math.isnan(alone.per_class["a"].roc_area)
    for name in ("relative_absolute_error", "root_relative_squared_error"):
        assert math.isnan(getattr(alone.summary, name))
        weka = (
            cp.evaluate(truth, predicted, priors=[0.3, 0.7]).summary,
            cp.evaluate(truth, y_proba=proba, priors=[0.3, 0.7]).summary,
        )
        assert getattr(weka[0], name) == getattr(weka[1], name)  # Weka's training priors ask for Weka's errors
    assert math.isnan(alone.summary.macro.roc_area)
    assert alone.weka() == scored.weka()
    assert "roc_area" not in alone.intervals.per_class["a"]
    assert "roc_area" in scored.intervals.per_class["a"]
    assert ("ROC area" in alone.to_markdown(), "ROC area" in scored.to_markdown()) == (False, True)
    assert ("ROC area" in alone._repr_html_(), "ROC area" in scored._repr_html_()) == (False, True)


def test_one_column_asks_which_class_it_is_the_probability_of():
    """'fraud' sorts before 'ok': the probability of fraud was taken for that of ok, and every row was wrong without a message."""
    truth, proba = ["fraud"] * 18 + ["ok"] * 982, np.r_[np.full(18, 0.9), np.full(982, 0.05)]
    for ask in (lambda: cp.evaluate(truth, y_proba=proba), lambda: cp.search_weights(truth, proba)):
        with pytest.raises(cp.InputError, match="which class is positive") as raised:
            ask()
        assert raised.value.parameter == "pos_label"
    assert cp.evaluate(truth, y_proba=proba, pos_label="fraud").counts.matrix.tolist() == [[18, 0], [0, 982]]
    assert cp.search_weights(truth, proba, pos_label="fraud").loss == 0
    with pytest.raises(cp.InputError, match="pos_label is 'frued', but the classes are 'fraud', 'ok'; did you mean"):
        cp.evaluate(truth, y_proba=proba, pos_label="frued")
    for told in ([0, 1], [False, True], [-1, 1], [0.0, 1.0]):
        assert cp.evaluate(told, y_proba=[0.2, 0.9]).summary.accuracy == 1
    assert cp.evaluate([0, 1], y_proba=[0.2, 0.9], labels=[1, 0]).summary.accuracy == 1


def test_weights_are_repetition(rng):
    truth, decision = rng.integers(0, 3, (2, 300))
    repeats = rng.integers(1, 4, 300)
    preferences = cp.Preferences.prioritise([1])
    weighted = cp.evaluate(truth, decision, sample_weight=repeats, preferences=preferences)
    repeated = cp.evaluate(truth.repeat(repeats), decision.repeat(repeats), preferences=preferences)
    ours, theirs = (json.loads(result.to_json()) for result in (weighted, repeated))
    assert ours["per_class"] == theirs["per_class"]
    # a row of weight 3 is one row, so that the test and the intervals of the verdict differ
    known = ("state", "loss", "difference", "baseline", "baselines", "answers", "given_up")
    assert [ours["verdict"][name] for name in known] == [theirs["verdict"][name] for name in known]
    assert ours["summary"] | {"rows": 0} == theirs["summary"] | {"rows": 0}


def test_cost():
    result = cp.evaluate(
        ["a", "a", "b"], ["a", "b", "b"], preferences=cp.Preferences(cost=[[0, 5], [1, 0]], labels="ab")
    )
    assert (result.summary.total_cost, result.summary.average_cost) == (5, 5 / 3)
    assert "Total Cost" in result.full()


def test_undefined_values_are_nan_and_shown_as_such():
    result = cp.evaluate(
        ["a", "a", "b"], ["a", "c", "c"], preferences=cp.Preferences.prioritise(["b"]), labels=["a", "b", "c", "d"]
    )
    classes = result.per_class
    assert math.isnan(classes["b"].precision)
    assert math.isnan(classes["c"].recall)
    assert classes["c"].precision == 0
    assert math.isnan(classes["d"].recall)
    assert math.isnan(classes["d"].loss)
    assert classes["b"].loss == 1
    assert "? is undefined" in result.full()
    assert json.loads(result.to_json())["per_class"][1]["precision"] is None


def test_the_verdict_names_missed_constraints():
    preferences = cp.Preferences({"b": cp.Preference(10, 0.1, 0.9, min_precision=0.5, min_recall=0.9)}, metric="f")
    result = cp.evaluate(["a"] * 8 + ["b"] * 4, ["a"] * 7 + ["b"] * 3 + ["a"] * 2, preferences=preferences)
    assert [(one.label, one.rate, one.bound, one.rows) for one in result.verdict.constraints] == [
        ("b", "recall", 0.9, 2)
    ]
    assert {one.name for one in result.verdict.baselines} >= {"always predicting 'a'", "always predicting 'b'"}


def test_a_minimum_met_up_to_rounding_is_met():
    preferences = cp.Preferences({"a": cp.Preference(1, 0.5, 0.5, min_recall=0.8)}, metric="f")
    truth, decision = ["a"] * 10 + ["b"] * 10, ["a"] * 8 + ["b"] * 12
    result = cp.evaluate(truth, decision, sample_weight=[0.1] * 20, preferences=preferences)
    assert result.verdict.constraints == ()
    assert result.verdict.state == "better"


def test_a_baseline_that_misses_a_minimum_is_no_rival():
    """The constant decision has the lower loss, but misses the minimum: the result is better than what is left."""
    truth = ["rare"] * 8 + ["common"] * 992
    decision = ["rare"] * 6 + ["common"] * 2 + ["rare"] * 10 + ["common"] * 982
    preferences = cp.Preferences({"rare": cp.Preference(10, 0.1, 0.9, min_precision=0.1)}, metric="kulczynski")
    verdict = cp.evaluate(truth, decision, preferences=preferences).verdict
    always = next(one for one in verdict.baselines if one.label == "rare")
    assert always.loss < verdict.loss
    assert (verdict.state, verdict.baseline.label) == ("better", "common")


@pytest.mark.parametrize("truth", [[0, 1, 1, 0, 1], [0.0, 1.0, 1.0, 0.0, 1.0], ["no", "yes", "yes", "no", "yes"]])
def test_probabilities_are_no_decisions(truth):
    share = [0.21, 0.83, 0.4, 0.11, 0.97]
    given = [str(one) for one in share] if isinstance(truth[0], str) else share
    with pytest.raises(
        cp.InputError, match=r"y_pred holds probabilities \(.*0\.\d+.*not classes; pass them as probabilities"
    ):
        cp.evaluate(truth, given)
    with pytest.raises(cp.InputError, match="holds probabilities"):
        cp.Counts.from_frame(pd.DataFrame({"t": truth, "d": given}), truth="t", prediction="d")


def test_classes_written_as_shares_are_classes():
    assert cp.evaluate(["0.1", "0.2", "0.5"], ["0.2", "0.1", "0.7"]).counts.classes == ("0.1", "0.2", "0.5", "0.7")


def test_an_absent_class_asks_for_nothing():
    preferences = cp.Preferences({"c": cp.Preference(1, min_precision=0.9, min_recall=0.9)}, metric="f")
    assert (
        cp.evaluate(["a", "b"], ["a", "b"], labels=["a", "b", "c"], preferences=preferences).verdict.constraints == ()
    )


def test_worse_than_chance_is_no_better():
    preferences = cp.Preferences(default=cp.Preference(recall_weight=0.5), metric="f")
    verdict = cp.evaluate(["a", "b"] * 50, ["b", "a"] * 50, preferences=preferences).verdict
    assert (verdict.state, verdict.baseline.loss) == ("no better", pytest.approx(0.5))
    assert "improve the model" in verdict.sentence


def test_verdicts_that_cannot_be_given():
    only = cp.evaluate(["a", "a"], ["a", "a"], preferences=cp.Preferences()).verdict
    assert "there is only one class in these rows" in only.sentence
    nothing = cp.Preferences({"c": cp.Preference(1)}, default=cp.Preference(0))
    assert (
        "no class that matters occurs"
        in cp.evaluate(["a"], ["a"], labels=["a", "c"], preferences=nothing).verdict.sentence
    )


def test_a_thousand_classes_are_judged_without_a_cube_of_them():
    classes = np.arange(1500)
    result = cp.evaluate(
        classes.repeat(2), np.roll(classes.repeat(2), 1), preferences=cp.Preferences.prioritise([3], metric="f")
    )
    assert result.verdict is not None
    assert "1,500 x 1,500 cells are not printed" in result.full()
    assert len(str(result).splitlines()) < 30


@pytest.mark.parametrize("constraints", [None, {"ill": {"min_recall": 0.5}}])
def test_costs_are_judged_as_the_search_judges_them(constraints):
    """The loss would call these counts better; a missed ill row costs so little that always deciding 'well' is cheaper."""
    counts = cp.Counts.from_matrix([[8, 2], [20, 70]], ["ill", "well"])
    preferences = cp.Preferences(constraints, cost={("ill", "well"): 1, ("well", "ill"): 1})
    result = cp.evaluate(counts, preferences=preferences)
    assert result.verdict.measure == "average cost"
    assert result.verdict.loss == result.summary.average_cost == result.summary.loss == 0.22
    assert result.per_class["ill"].loss == 0.2
    assert result.per_class["ill"].loss_share == 0.02
    costs = {baseline.label: baseline.loss for baseline in result.verdict.baselines if baseline.label}
    assert costs == {"ill": 0.9, "well": 0.1}
    # always predicting 'well' is cheaper, but it misses the minimum
    assert (result.verdict.state, result.verdict.baseline.label) == (
        ("no better", "well") if constraints is None else ("better", None)
    )
    assert "Average Cost" in result.full().split("By Your ")[1]
    assert "average cost 0.2200" in result.to_markdown()
    assert result.to_markdown().startswith("**Finds ")
    assert "<caption>Average cost beside" in result.to_html()


def test_the_verdict_of_a_search_is_that_of_its_counts():
    rng = np.random.default_rng(0)
    truth, cost = rng.integers(0, 3, 200), [[0, 1, 1], [5, 0, 5], [50, 50, 0]]
    votes = rng.random((200, 3)) + 0.5 * np.eye(3)[truth]
    for constraints in (None, {2: cp.Preference(min_recall=0.9)}):
        preferences = cp.Preferences(constraints, cost=cost, labels=range(3))
        search = cp.search_weights(truth, votes, preferences=preferences, random_state=0)
        verdict = cp.evaluate(search.counts, preferences=preferences).verdict
        assert dataclasses.replace(verdict, rows="own") == search.verdict


def test_a_check_of_costs_compares_the_average_cost():
    counts = cp.Counts.from_matrix([[8, 2], [20, 70]], ["ill", "well"])
    preferences = cp.Preferences({"ill": {"min_recall": 0.5}}, cost=[[0, 9], [9, 0]], labels=["ill", "well"])
    checked = cp.check(cp.evaluate(counts, preferences=preferences), max_loss=0.5)
    assert [(one.rate, one.reached, one.passed) for one in checked.conditions] == [
        ("recall", 0.8, True),
        ("loss", 1.98, False),
    ]


def test_weighted_cost_is_per_weight():
    preferences = cp.Preferences(cost={("a", "b"): 6, ("b", "a"): 1})
    assert (
        cp.evaluate(["a", "b"], ["b", "b"], preferences=preferences, sample_weight=[1, 3]).summary.average_cost == 6 / 4
    )


def test_cost_by_name():
    cost = pd.DataFrame([[0, 1], [100, 0]], index=["b", "a"], columns=["b", "a"])  # deciding b for a costs 100
    preferences = cp.Preferences(cost=cost)
    assert cp.evaluate(["a"], ["b"], labels=["a", "b"], preferences=preferences).summary.total_cost == 100


def test_averages_count_a_class_that_is_never_predicted():
    result = cp.evaluate(["a", "a", "b", "b"], ["a", "a", "a", "a"])
    assert result.summary.macro.precision == 0.25
    assert result.summary.weighted.precision == 0.25


def test_screening_needs_more_than_a_rare_condition():
    never = cp.Counts.from_matrix(
        [[2, 8], [100, 890]], ["sick", "well"]
    )  # 'well' is right in 99.1 %, but so would be anyone
    assert "poor for screening" in cp.evaluate(never).screening
    fair = cp.Counts.from_matrix([[9, 1], [3, 987]], ["sick", "well"])
    assert "good for screening" in cp.evaluate(fair).screening
    assert "75.0 % of the predictions 'sick' are right, poor for diagnosis" in cp.evaluate(fair).screening


def test_printed_distributions_keep_their_ties():
    shares = [[0.333, 0.666], [0.334, 0.666], [0.5, 0.5]]
    result = cp.evaluate(["a", "b", "a"], y_proba=shares)
    assert result.per_class["b"].roc_area == pytest.approx(0.75)  # 0.666 ties with 0.666, above 0.5
    votes = cp.evaluate(["a", "b", "a"], y_proba=[[2, 1], [1, 3], [30, 20]])
    assert votes.per_class["b"].roc_area == 1.0  # 3 of 4 is more than 20 of 50


def test_columns_by_text_are_matched_by_text():
    shares = pd.DataFrame({"2": [0.9, 0.2], "1": [0.1, 0.8]})
    assert cp.evaluate([2, 1], y_proba=shares).summary.accuracy == 1


def test_huge_scores():
    assert cp.evaluate(["a", "b"], y_proba=[[1e308, 1e308], [0.0, 1e308]]).summary.mean_absolute_error == 0.25


def test_evaluations_travel():
    result = cp.evaluate(["a", "b"], ["a", "a"], preferences=cp.Preferences.prioritise(["b"], metric="f"))
    text = str(result)
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert str(twin) == text
    assert pickle.loads(pickle.dumps(cp.metrics.METRICS["f"])) is cp.metrics.METRICS["f"]


def test_a_scorer_notices_a_slip_of_type():
    X, y = load_iris(return_X_y=True)
    scorer = cp.pragma_scorer(cp.Preferences.prioritise(["2"]))
    with pytest.raises(cp.InputError, match=r"preference for '2' \(str\), but the class is 2 \(int\)"):
        scorer(LogisticRegression(max_iter=2000).fit(X, y), X, y)


def test_weighted_reports_give_the_number_of_rows():
    assert "Number of rows" in cp.evaluate(["a", "b"], ["a", "a"], sample_weight=[2, 3]).full()
    assert "Number of rows" not in str(cp.evaluate(["a", "b"], ["a", "a"]))


def test_a_constant_model_is_no_better():
    for metric in cp.metrics.METRICS:
        preferences = cp.Preferences(
            {"b": cp.Preference(10, recall_weight=0.5)},
            default=cp.Preference(recall_weight=0.5),
            metric=metric,
        )
        verdict = cp.evaluate(["a", "b", "b", "a"], ["b"] * 4, preferences=preferences).verdict
        assert verdict.state == "no better"


def test_positive_class_of_the_sentence():
    counts = cp.Counts.from_matrix([[90, 10], [1, 9]], ["no", "yes"])
    assert "Taking 'yes' as the condition" in cp.evaluate(counts).screening
    assert (
        "Taking 'no' as the condition" in cp.evaluate(counts, preferences=cp.Preferences.prioritise(["no"])).screening
    )
    never = cp.Counts.from_matrix([[90, 0], [10, 0]], ["no", "yes"])
    assert "'yes' is never predicted" in cp.evaluate(never).screening


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_to_frame(backend):
    frame = cp.evaluate(["a", "b"], ["a", "a"]).to_frame(backend)
    columns = frame.to_pydict() if backend == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns["label"] == ["a", "b"]
    assert columns["recall"] == [1.0, 0.0]


def test_json_schema():
    document = json.loads(cp.evaluate([1, 0], [1, 1], preferences=cp.Preferences.prioritise([1])).to_json())
    assert (document["schema"], document["version"]) == ("compromis/evaluation", 2)
    assert document["classes"] == [0, 1]
    assert document["counts"]["matrix"] == [[0, 1], [0, 1]]
    assert [one["label"] for one in document["preferences"]["class"]] == [1]
    assert set(document["per_class"][0]) >= {"label", "support", "recall", "precision", "loss", "loss_share"}


def test_json_file_is_whole(tmp_path):
    result = cp.evaluate([1, 0], [1, 1])
    text = result.to_json(tmp_path / "e.json")
    assert json.loads((tmp_path / "e.json").read_text()) == json.loads(text)
    assert [path.name for path in tmp_path.iterdir()] == ["e.json"]


def test_votes_are_evidence(rng):
    """Votes are decided by equal weights, with the numbers that their rows have."""
    truth, votes = rng.integers(0, 3, 300), rng.integers(0, 4, (300, 3))
    votes[:, 0] += 1  # no row without a vote
    options = {"preferences": {0: 10}, "confidence": 0.9}
    expected = cp.evaluate(truth, y_proba=votes, **options)
    for evidence in (cp.Votes.from_proba(truth, votes, merge=merge) for merge in (True, False)):
        found = cp.evaluate(evidence, **options)
        assert found.votes is evidence
        assert found.counts.matrix.tolist() == expected.counts.matrix.tolist()
        assert found.summary.root_mean_squared_error == pytest.approx(expected.summary.root_mean_squared_error)
        assert found.roc_areas == pytest.approx(expected.roc_areas)
        for name in ("recall", "roc_area"):
            ours, theirs = (one.intervals.per_class[0][name] for one in (found, expected))
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_votes_without_distributions(rng):
    truth, votes = ["a", "b", "b", "a"], scipy.sparse.csr_array([[3, 1], [1, 3], [2, 1], [0, 0]])
    found = cp.evaluate(cp.Votes.from_proba(truth, votes))
    assert found.counts.matrix.tolist() == [[1, 0], [1, 1]]  # the row without a vote is left out
    assert found.summary.mean_absolute_error == pytest.approx((0.25 + 0.25 + 2 / 3) / 3)
    binned = cp.Votes.from_frame(
        pl.DataFrame({"t": truth[:3], "a": [0.7, 0.2, 0.6], "b": [0.3, 0.8, 0.4]}), truth="t", proba=["a", "b"], bins=2
    )
    assert cp.evaluate(binned).counts.rows == 3
    with pytest.raises(cp.InputError, match="y_true is Votes, which hold their rows already; leave out y_proba"):
        cp.evaluate(binned, y_proba=[[0.5, 0.5]] * 3)
    counts = cp.Counts.from_predictions(["a", "b"], ["a", "b"])
    with pytest.raises(cp.InputError, match="y_true is Counts, which hold their rows already; leave out labels"):
        cp.evaluate(counts, labels=["a", "b"])


def test_the_positive_class_can_be_named():
    counts = cp.Counts.from_matrix([[90, 10], [1, 9]], ["no", "yes"])
    for label in ("no", "yes"):
        assert f"Taking '{label}' as the condition" in cp.evaluate(counts, pos_label=label).screening
    with pytest.raises(
        cp.InputError, match="pos_label is 'yess', but the classes are 'no', 'yes'; did you mean 'yes'"
    ) as raised:
        cp.evaluate(counts, pos_label="yess")
    assert raised.value.parameter == "pos_label"


def test_preferences_as_a_plain_mapping():
    truth, predicted = ["a", "b", "b"], ["a", "a", "b"]
    plain = {"a": {"importance": 10, "min_recall": 0.5}, "b": 2}
    result = cp.evaluate(truth, predicted, preferences=plain)
    assert result.preferences == cp.Preferences(plain)
    assert result.summary.loss == cp.pragma_loss(truth, predicted, preferences=plain)


def test_wekas_layout_is_the_first_part_of_the_full_text():
    result = cp.evaluate(["a", "b"], ["a", "a"], preferences={"a": 2})
    assert result.full().startswith(result.weka())
    assert "Preferences" not in result.weka()


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]>",
    "{{7*7}}",
    "a\nVerdict: perfect",
    "\u202eright-to-left",
]


@settings(max_examples=25)
@given(st.sampled_from(HOSTILE), st.text(max_size=20))
def test_labels_cannot_inject(hostile, other):
    result = cp.evaluate([hostile, other + "x"], [hostile, hostile], preferences=cp.Preferences.prioritise([hostile]))
    html = result._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "{{7*7}}" in html or hostile != "{{7*7}}"
    assert "\nVerdict: perfect" not in str(result)


def test_html_shows_the_numbers():
    html = cp.evaluate(
        ["a"] * 3 + ["b"], ["a", "a", "b", "b"], preferences=cp.Preferences.prioritise(["b"])
    )._repr_html_()
    for expected in ("Not told apart from no model", "0.667", "0.500", "confusion matrix"):
        assert expected in html


def test_pragma_loss_is_the_reports(rng):
    truth, decision = rng.integers(0, 4, (2, 100))
    preferences = cp.Preferences.prioritise([2, 3], metric="f")
    loss = cp.pragma_loss(truth, decision, preferences=preferences)
    assert loss == cp.evaluate(truth, decision, preferences=preferences).summary.loss
    assert loss == pytest.approx(
        sum(one.loss_share for one in cp.evaluate(truth, decision, preferences=preferences).per_class.values())
    )


def test_scorer_in_model_selection():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        LogisticRegression(max_iter=2000), {"C": [1e-4, 1.0]}, scoring=cp.pragma_scorer(cp.Preferences.prioritise([2]))
    )
    assert search.fit(X, y).best_params_ == {"C": 1.0}


def test_a_scorer_tunes_scikit_learns_threshold():
    X, y = make_classification(200, random_state=0)
    preferences = cp.Preferences({1: cp.Preference(5, beta=2)}, default=cp.Preference(0))
    ours, theirs = cp.pragma_scorer(preferences), make_scorer(fbeta_score, beta=2)
    tuned = [
        TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring, cv=2).fit(X, y) for scoring in (ours, theirs)
    ]
    assert tuned[0].best_threshold_ == tuned[1].best_threshold_
    assert tuned[0].best_score_ == pytest.approx(tuned[1].best_score_)


def test_scorers_of_equal_preferences_are_equal():
    scorer = cp.pragma_scorer({"a": 5})
    assert scorer == cp.pragma_scorer(cp.Preferences({"a": cp.Preference(5)}))
    assert hash(scorer) == hash(cp.pragma_scorer({"a": 5}))
    assert scorer != cp.pragma_scorer({"a": 6})
    with sklearn.config_context(enable_metadata_routing=True):
        assert scorer != cp.pragma_scorer({"a": 5}).set_score_request(sample_weight=True)


def test_a_scorer_tells_misspelt_labels():
    X, y = np.arange(8.0)[:, None], np.array(["mal", "ben"] * 4)
    fitted = DummyClassifier().fit(X, y)
    with pytest.raises(cp.InputError, match=r"preference for 'malign', .*'mal'"):
        cp.pragma_scorer({"malign": 10})(fitted, X, y)
    with pytest.warns(UserWarning, match=r"preference for 'malign', .*'mal'"):
        cp.pragma_scorer({"malign": 10, "ben": 2})(fitted, X, y)


@pytest.mark.parametrize("lacking", ["train", "test"])
def test_a_scorer_knows_the_classes_of_the_estimator_and_of_the_fold(lacking):
    X, y = np.zeros((9, 1)), np.array(["a", "b"] * 4 + ["rare"])
    train, test = (slice(8), slice(9)) if lacking == "train" else (slice(9), slice(8))
    scorer = cp.pragma_scorer(cp.Preferences.prioritise(["rare"]))
    assert 0 <= scorer(DummyClassifier().fit(X[train], y[train]), X[test], y[test]) <= 1


def test_a_scorer_takes_routed_weights():
    X, y = np.zeros((9, 1)), np.array(["a", "b", "b"] * 3)
    weight, scorer = np.where(y == "b", 0.1, 1.0), cp.pragma_scorer(cp.Preferences())
    with sklearn.config_context(enable_metadata_routing=True):
        asking = cp.pragma_scorer(cp.Preferences()).set_score_request(sample_weight=True)
        params = {"scoring": asking, "params": {"sample_weight": weight}, "cv": 3}
        weighted = cross_val_score(DummyClassifier().set_fit_request(sample_weight=False), X, y, **params)
    plain = cross_val_score(DummyClassifier(), X, y, scoring=scorer, cv=3)
    assert (weighted < plain).all()  # the class that is always decided is light
    assert repr(scorer).startswith("pragma_scorer(Preferences(")


def test_scorer_on_folds_without_a_rare_class(rng):
    X, y = make_classification(60, weights=[0.9], random_state=0)
    y = np.where(np.arange(60) == 3, "rare", np.where(y == 1, "b", "a"))
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    scorer = cp.pragma_scorer(cp.Preferences.prioritise(["rare"]))
    scores = cross_validate(LogisticRegression(), X, y, cv=folds, scoring=scorer, error_score="raise")["test_score"]
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cp.evaluate([1, 2]), "there is nothing to evaluate: pass y_pred"),
        (
            lambda: cp.evaluate([1, 2], y_proba=[[0.5, 0.5], [np.nan, 1]]),
            "y_proba must be finite, got nan in row 1, column 0",
        ),
        (lambda: cp.evaluate([1, 2], y_proba=[[0.5, 0.5], [np.inf, 1]]), "y_proba must be finite, got inf"),
        (lambda: cp.evaluate([1, 2], y_proba=[[0.5, 0.5], [-1, 2]]), "y_proba must not be negative, got -1 in row 1"),
        (lambda: cp.evaluate([1, 2], y_proba=[[0.5, 0.5], [0, 0]]), "y_proba is 0 for every class in row 1"),
        (
            lambda: cp.evaluate([1, 2], y_proba=[[0.5, 0.5]]),
            "y_proba has 1 rows, y has 2",
        ),
        (lambda: cp.evaluate([1, 2], y_proba=[0.5, 1.5], pos_label=2), "the probability of 2, at most 1, got 1.5"),
        (lambda: cp.evaluate([1, 2], y_proba=[["x", "y"], ["z", "w"]]), "y_proba must hold numbers"),
        (
            lambda: cp.evaluate([1, 2], y_proba=pd.DataFrame({"a": [1, 2], "b": [1, 2]})),
            "the columns of y_proba are 'a', 'b'",
        ),
        (
            lambda: cp.evaluate([1, 2], [1, 2], preferences=[1]),
            "preferences is a compromis.Preferences or a mapping by class, got list",
        ),
        (
            lambda: cp.evaluate([1, 2], [1, 2], preferences=cp.Preferences.prioritise([3])),
            "preference for 3, which is neither",
        ),
        (lambda: cp.evaluate([1, 2], [1, 2], priors=[0.5, 0.6]), "priors are shares that sum to 1, got a sum of 1.1"),
        (lambda: cp.evaluate([1, 2], [1, 2], priors={1: 1.0}), "priors misses 2"),
        (lambda: cp.evaluate([1, 2], [1, 2], priors=[1.0]), r"priors has shape \(1,\)"),
        (
            lambda: cp.evaluate([1, 2], [1, 2], priors=["x", "y"]),
            "priors must be numbers, one training share per class",
        ),
        (
            lambda: cp.pragma_loss([1, 2], [1, 2], preferences=None),
            "preferences is a compromis.Preferences or a mapping by class, got NoneType",
        ),
        (lambda: cp.evaluate([1, 2], [1, 2]).to_frame("excel"), "there is no backend 'excel'"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(cp.InputError, match=said):
        call()


def test_counts_without_rows_have_a_report_of_undefined_numbers():
    empty = cp.evaluate(cp.Counts.from_matrix([[0, 0], [0, 0]], "ab"), preferences=cp.Preferences())
    assert empty.screening is None
    assert np.isnan(empty.summary.accuracy)
    assert str(empty).startswith("There are no rows.")
    assert "Total Number of Instances" in empty.full()
    assert "nan" not in str(empty)


def test_the_order_in_memory_does_not_matter(rng):
    shares, truth = rng.dirichlet(np.ones(5), 200), rng.integers(0, 5, 200)
    documents = {cp.evaluate(truth, y_proba=one).to_json() for one in (shares, np.asfortranarray(shares))}
    assert len(documents) == 1


NOT_ESTIMATED = {"rows", "total", "correct", "incorrect", "total_cost", "macro", "weighted"}
"""Sizes of the sample, and the averages, which have names of their own."""
OF_PROBABILITIES = {
    "mean_absolute_error",
    "root_mean_squared_error",
    "relative_absolute_error",
    "root_relative_squared_error",
}


def test_every_number_of_a_summary_has_an_interval():
    """A number that is added to the summary alone would be printed without one."""
    counts = cp.Counts.from_matrix([[8, 2], [20, 70]], ["ill", "well"])
    result = cp.evaluate(
        counts, preferences=cp.Preferences(cost=[[0, 1], [1, 0]], labels=["ill", "well"]), confidence=0.9
    )
    names = {field.name for field in dataclasses.fields(result.summary)} - NOT_ESTIMATED - OF_PROBABILITIES
    assert names <= set(NUMBERS) <= set(result.intervals.summary)
