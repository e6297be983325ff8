"""The verdict: four facts that stand apart, their sentences, and the reproductions of the review of 0.1.0."""

from __future__ import annotations

import json

import numpy as np
import pytest

import compromis as cp
from compromis.uncertainty.verdict import verdict_on


def verdict_of(matrix, preferences, labels=("fraud", "ok"), **options):
    labels = list(labels)
    return verdict_on(cp.Counts.from_matrix(matrix, labels), preferences.on(labels), **options)


def rare(metric="f", **constraints):
    return cp.Preferences({"fraud": cp.Preference(10, 0.1, 0.9, **constraints)}, metric=metric)


@pytest.mark.parametrize("rate", [0.05, 0.10, 0.15, 0.20, 0.25, 0.30])
def test_coins_are_not_better_with_any_number_of_rows(rate):
    """Finding 1: random predictions at the shares are not the best that needs no model; every such coin was called informative."""
    preferences = cp.Preferences({1: cp.Preference(5, 0.6, 0.6)})
    truth = np.r_[np.ones(10_000, int), np.zeros(190_000, int)]
    predicted = (np.random.default_rng(0).random(200_000) < rate).astype(int)
    verdict = cp.evaluate(truth, predicted, preferences=preferences).verdict
    assert verdict.state != "better"
    assert verdict.baseline.name == "a coin that predicts class 1 in 16 % of rows"
    assert verdict.baseline.loss == pytest.approx(0.788, abs=1e-3)
    assert min(one.loss for one in verdict.baselines) > verdict.baseline.loss


@pytest.mark.parametrize("rows", [200, 1000])
def test_noise_of_few_rows_is_seldom_better(rows):
    """Finding 2: 54 and 65 % of 300 samples were called informative."""
    preferences = cp.Preferences({1: cp.Preference(5, 0.6, 0.6)}).on([0, 1])
    rng, truth = np.random.default_rng(0), np.arange(rows) < rows // 20
    tosses = [cp.Counts.from_predictions(truth, rng.random(rows) < 0.3, labels=[False, True]) for _ in range(100)]
    states = [verdict_on(cp.Counts.from_matrix(one.matrix, [0, 1]), preferences).state for one in tosses]
    assert states.count("better") <= 5


def test_few_rows_promise_no_gain_that_cannot_be():
    sentence = verdict_of([[1, 0], [0, 1]], rare()).sentence
    assert "so few rows would seldom tell even a perfect model from none: judge more rows" in sentence


def test_a_confidence_that_no_draws_reach_is_said_as_what_it_is():
    verdict = verdict_of([[800, 20], [20, 8800]], rare(), confidence=0.9999999)
    assert (verdict.state, verdict.confidence) == ("better", 0.9995)
    assert "99.95 % interval" in verdict.sentence


def test_own_answers_that_are_not_reached():
    """Finding 3: a third of all rows is flagged, and the result got a green box."""
    verdict = verdict_of([[48, 4], [1095, 2053]], rare())
    assert verdict.state == "better"
    (answer,) = verdict.answers
    assert (answer.label, answer.reached, verdict.met) == ("fraud", False, False)
    assert answer.level == pytest.approx(0.901, abs=1e-3)
    assert answer.distance > 0.1
    assert (
        verdict_of([[48, 4], [1095, 2053]], cp.Preferences({"fraud": 10})).answers == ()
    )  # defaults are nobody's answers
    perfect = verdict_of([[50, 0], [0, 950]], rare())
    assert perfect.answers[0].reached
    assert perfect.met
    assert "your own answers" not in str(perfect)


def test_a_missed_minimum_is_another_fact():
    """Finding 6: one row of 18 below the minimum made the model worth nothing."""
    verdict = verdict_of([[14, 4], [10, 972]], rare(min_recall=0.8))
    assert verdict.state == "not told apart"  # 18 rows
    assert verdict.difference > 0.2
    (missed,) = verdict.constraints
    assert (missed.label, missed.rate, missed.rows) == ("fraud", "recall", 1)
    many = verdict_of([[140, 40], [100, 9720]], rare(min_recall=0.8))
    assert (many.state, len(many.constraints), many.met) == ("better", 1, False)


def test_the_cure_is_true():
    """Finding 7: 'above 0.200, what always deciding it reaches' was the user's own minimum; 0.018 is reached."""
    free = verdict_of([[8, 10], [210, 772]], rare())
    assert (free.cause.favoured, free.cause.favoured_share) == ("fraud", 0.018)
    assert "set min_precision for 'fraud' above 0.018, its share of the rows" in free.sentence
    told = verdict_of([[8, 10], [210, 772]], rare(min_precision=0.2))
    assert told.cause.favoured is None  # it is set already
    assert "min_precision" not in told.sentence
    assert [(one.rate, one.bound) for one in told.constraints] == [("precision", 0.2)]
    plane = verdict_of([[14, 4], [10, 972]], rare("kulczynski"))
    assert plane.cause.other_metric
    assert "use metric f" in plane.sentence


def test_sentences():
    assert str(verdict_of([[140, 40], [100, 9720]], rare(min_recall=0.8))) == (
        "better than no model: loss 0.2055, 55 % below 0.4541 for always predicting 'fraud', the best without a model "
        "(difference 0.2486, 95 % interval 0.1772 to 0.3136). The recall of 'fraud' is 0.778, below your minimum of 0.8 "
        "(4 predictions must change). The metric of 'fraud' is 0.775; the two answers in your preferences ask for 0.901: improve the "
        "model, or accept less"
    )
    unsure = verdict_of([[14, 4], [10, 972]], cp.Preferences({"fraud": cp.Preference(10, beta=9)}), rows="own")
    assert str(unsure) == (
        "not told apart from no model: loss 0.2055 against 0.4541 for always predicting 'fraud', the best without a model "
        "(difference 0.2486, 95 % interval -0.0030 to 0.4230); predictions shuffled at random do as well in 0.1 % of cases; "
        "a gain of 0.36 would be detected in four of five samples of this size: judge more rows, above all of class 'fraud' (18). "
        "These rows chose the weights, so the result looks better here than it is: judge it on other rows"
    )
    lost = verdict_of([[0, 18], [0, 982]], cp.Preferences())
    assert str(lost) == (
        "no better than no model: loss 0.5045 against 0.5000 for a coin that predicts 'fraud' in 1.8 % of rows, the best "
        "without a model (difference -0.0045, 95 % interval -0.0070 to -0.0027); improve the model, or review the preferences. "
        "Class 'fraud' is given up: 0.0 % of its 18 rows are found, 'ok' is predicted most often in its place; set min_recall, or a higher "
        "importance"
    )


def test_costs_have_their_own_baseline():
    costs = cp.Preferences(cost={("fraud", "ok"): 100, ("ok", "fraud"): 1})
    verdict = verdict_of([[140, 40], [100, 9720]], costs)
    assert (verdict.measure, verdict.state, verdict.loss) == ("average cost", "better", 0.41)
    assert (verdict.baseline.label, verdict.baseline.loss) == ("fraud", pytest.approx(0.982))
    poor = verdict_of([[0, 180], [0, 9820]], costs)
    assert poor.sentence.endswith("; improve the model, or review the costs")


def test_constraints_that_no_coin_meets():
    """Both classes must be found in nine of ten rows."""
    preferences = cp.Preferences(default=cp.Preference(min_recall=0.9))
    verdict = verdict_of([[95, 5], [40, 860]], preferences)
    assert verdict.state == "better"
    assert (
        "against 1.0000, the worst, as no decision without a model meets your constraints as far as this result"
        in verdict.sentence
        or "below 1.0000, the worst, as no decision without a model meets your constraints as far as this result"
        in verdict.sentence
    )
    assert verdict.baseline not in verdict.shown_baselines()


def test_the_plane_is_met_by_giving_up():
    verdict = verdict_of([[0, 18], [0, 982]], cp.Preferences({"ok": 10}, metric="kulczynski"))
    assert verdict.baseline.name == "almost always predicting 'ok'"
    assert verdict.baseline.label is None


def test_rows_that_tell_nothing():
    only = verdict_of([[3, 0], [0, 0]], cp.Preferences())
    assert only.sentence.endswith("; there is only one class in these rows")
    nothing = cp.Preferences({"fraud": cp.Preference(1)}, default=cp.Preference(0))
    assert "no class that matters occurs" in str(verdict_of([[0, 0], [1, 2]], nothing))


def test_the_mark_of_few_predictions_and_several_classes_given_up():
    matrix = [[0, 0, 30, 0], [0, 0, 40, 0], [0, 0, 400, 7], [0, 0, 90, 9]]
    result = cp.evaluate(cp.Counts.from_matrix(matrix, list("abcd")), preferences=cp.Preferences())
    assert result.verdict.few_predictions == (("d", 16.0),)
    assert [one.label for one in result.verdict.given_up] == ["a", "b"]
    assert "Classes 'a', 'b' are given up, next to none of their rows are found: set min_recall" in str(result.verdict)
    assert "0.562*" in str(result)
    assert "<small>of only 16</small>" in result.to_html()


def test_what_is_said_of_a_class_given_up_is_true():
    """A class may be predicted as often as it occurs and never be right, no other class need have most of its rows, and costs take no importance."""
    swapped = verdict_of([[0, 20], [20, 0]], cp.Preferences())
    assert [one.predicted for one in swapped.given_up] == [20, 20]
    assert "predicted next to never" not in str(swapped)
    spread = verdict_of([[0, 4, 3, 3], *np.diag([9, 9, 9, 9])[1:].tolist()], cp.Preferences(), labels="abcd")
    assert "0.0 % of its 10 rows are found, 'b' is predicted most often in its place" in str(spread)
    costs = cp.Preferences(cost={("fraud", "ok"): 5, ("ok", "fraud"): 1})
    assert "importance" not in str(verdict_of([[0, 20], [0, 80]], costs))
    assert str(verdict_of([[0, 20], [0, 80]], costs)).endswith("set min_recall, or a higher cost of missing it")


def test_the_interval_has_the_confidence_asked_for():
    counts = cp.Counts.from_matrix([[140, 40], [100, 9720]], ["fraud", "ok"])
    wide = cp.evaluate(counts, preferences=rare(), confidence=0.99).verdict
    narrow = cp.evaluate(counts, preferences=rare()).verdict
    assert (wide.confidence, narrow.confidence) == (0.99, 0.95)
    assert wide.interval.width > narrow.interval.width
    assert "99 % interval" in wide.sentence


def test_groups_count_groups():
    """Ten copies of each row in one group know no more than the row."""
    truth = np.r_[np.ones(18, int), np.zeros(482, int)]
    predicted = np.r_[np.ones(9, int), np.zeros(9, int), np.ones(12, int), np.zeros(470, int)]
    many = [one.repeat(10) for one in (truth, predicted)]
    preferences = cp.Preferences({1: cp.Preference(5, 0.6, 0.6)})
    groups = np.arange(500).repeat(10)
    single = cp.evaluate(truth, predicted, preferences=preferences).verdict
    grouped = cp.evaluate(*many, preferences=preferences, groups=groups).verdict
    alone = cp.evaluate(*many, preferences=preferences).verdict
    assert grouped.interval.width > 0.8 * single.interval.width > 2 * alone.interval.width


def test_rows_to_judge_are_rows_where_they_have_weights():
    truth, predicted = np.repeat([1, 1, 0, 0], [14, 4, 10, 972]), np.repeat([1, 0, 1, 0], [14, 4, 10, 972])
    for unit in (1e-9, 1.0, 1e9):
        weight = np.full(1000, unit)
        verdict = cp.evaluate(
            truth, predicted, preferences=cp.Preferences.prioritise([1]), sample_weight=weight
        ).verdict
        assert verdict.cause.rarest_rows == pytest.approx(18)
        assert verdict.sentence.endswith("judge more rows, above all of class 1 (18)")


def test_repr_is_short():
    verdict = verdict_of([[140, 40], [100, 9720]], rare())
    assert repr(verdict) == "<Verdict: better than no model, loss 0.2055, difference 0.2486>"


def test_json_has_the_facts():
    verdict = verdict_of([[14, 4], [10, 972]], rare(min_recall=0.8))
    document = json.loads(verdict.to_json())
    assert document["schema"] == "compromis/verdict"
    assert document["state"] == verdict.state
    assert document["interval"] == [verdict.interval.low, verdict.interval.high]
    assert document["constraints"][0]["rows"] == 1
    assert document["answers"][0]["reached"] is False
    assert document["baseline"] == {
        "name": "always predicting 'fraud'",
        "label": "fraud",
        "loss": verdict.baseline.loss,
        "allowed": True,
    }
    assert verdict.to_frame()["loss"].tolist() == [one.loss for one in verdict.shown_baselines()]
    assert verdict.to_markdown().startswith("**not told apart from no model")


def test_a_verdict_cannot_be_changed():
    verdict = verdict_of([[14, 4], [10, 972]], rare())
    regression = cp.regression.evaluate([0, 4], [1, 3], y_train=[0, 4]).verdict
    for value, name in (
        (verdict, "state"),
        (verdict.answers[0], "value"),
        (verdict.baselines[0], "loss"),
        (regression, "state"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, name, 0)


def test_it_is_the_same_each_time():
    assert verdict_of([[14, 4], [10, 972]], rare()) == verdict_of([[14, 4], [10, 972]], rare())
