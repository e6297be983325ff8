"""compare_models and compare_folds: verdicts, McNemar's test, bad input."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import compromis as cp
from compromis.evaluation.model_comparison import adjusted

PREFERENCES = cp.Preferences.prioritise([1])
X, Y = load_iris(return_X_y=True)


def test_verdicts():
    truth = np.repeat([0, 1], 200)
    good, poor = truth.copy(), truth.copy()
    good[:10] = 1
    poor[:80] = 1
    near = good.copy()
    near[[0, 300]] = [0, 0]
    better = cp.compare_models(truth, {"good": good, "poor": poor}, preferences=PREFERENCES)
    assert str(better.verdict).startswith(
        "'good' (loss 0.0029) is better than 'poor' (0.0271), by 0.0243 (95 % interval 0.01"
    )
    assert (better.verdict.state, better.verdict.best, better.ranking) == ("better", "good", ("good", "poor"))
    other_way = cp.compare_models(truth, {"poor": poor, "good": good}, measure="accuracy")
    assert str(other_way.verdict).startswith(
        "'good' (accuracy 0.9750) is better than 'poor' (0.8000), by 0.1750 (95 % interval 0.1"
    )
    same = cp.compare_models(truth, {"good": good, "twin": good})
    assert str(same.verdict).startswith("'good' and 'twin' decide every row alike")
    unsure = cp.compare_models(truth, {"good": good, "near": near}).verdict
    assert (unsure.state, unsure.not_told_apart) == ("not told apart", ("near",))
    three = cp.compare_models(truth, {"good": good, "near": near, "poor": poor}, measure="accuracy")
    assert (three.verdict.best, three.verdict.better_than, three.verdict.not_told_apart) == (
        "good",
        ("poor",),
        ("near",),
    )
    assert str(three.verdict).startswith("'good' has the best accuracy; it is better than 'poor'")
    assert "not tell it apart from 'near'" in str(three.verdict)
    assert len(three.pairs) == 3
    assert "adjusted for 3 pairs" in str(three)


def test_the_best_of_many_equal_models_is_not_called_better():
    """Five coins: some pair differs by an interval of its own, which among ten pairs says nothing (Holm)."""
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 50)
    models = {f"coin {k}": rng.integers(0, 2, 100) for k in range(5)}
    found = cp.compare_models(truth, models, measure="accuracy")
    assert any(pair.difference.clear for pair in found.pairs if found.verdict.best in (pair.first, pair.second))
    assert found.verdict.better_than == ()
    assert "each taken alone" in str(found)
    beside = cp.compare_models(truth, {**models, "right": truth}, measure="accuracy").verdict
    assert (beside.best, beside.state, len(beside.better_than)) == ("right", "better", 5)


def test_probabilities_are_predicted_for_the_most_probable_class(rng):
    truth = np.array(list("abc") * 20)
    proba = rng.dirichlet(np.ones(3), 60)
    labels = np.array(list("abc"))[proba.argmax(axis=1)]
    first, second = (cp.compare_models(truth, {"other": truth, "model": one}) for one in (labels, proba))
    assert first.pairs[0].differences == second.pairs[0].differences
    assert first.evaluations["other"].to_json() == second.evaluations["other"].to_json()
    alone = cp.evaluate(truth, y_proba=proba, confidence=0.95)
    assert second.evaluations["model"].to_json() == alone.to_json()


def test_intervals_count_groups(rng):
    """Ten rows of each of 40 customers say as much as 40 rows; without groups the interval is too narrow by a factor of about 3."""
    truth = rng.integers(0, 2, 40)
    one, two = (np.where(rng.random(40) < share, 1 - truth, truth) for share in (0.3, 0.4))
    options = {"preferences": PREFERENCES, "measure": "accuracy"}
    customers = np.repeat(np.arange(40), 10)
    models = {"one": one.repeat(10), "two": two.repeat(10)}
    rows, groups, alone = (
        cp.compare_models(*data, **options, groups=keys)
        for data, keys in (
            ((truth.repeat(10), models), None),
            ((truth.repeat(10), models), customers),
            ((truth, {"one": one, "two": two}), None),
        )
    )
    width = {
        name: result.pairs[0].difference.difference.width
        for name, result in (("rows", rows), ("groups", groups), ("alone", alone))
    }
    assert width["groups"] == pytest.approx(width["alone"], rel=0.1)
    assert width["rows"] < 0.4 * width["alone"]
    assert (
        groups.evaluations["one"].intervals.summary["accuracy"].width
        > 2 * rows.evaluations["one"].intervals.summary["accuracy"].width
    )
    assert math.isnan(groups.pairs[0].mcnemar.mid_p)
    split = [
        cp.PairedCounts.from_predictions(
            truth.repeat(10)[part], models["one"][part], models["two"][part], groups=customers[part]
        )
        for part in (slice(0, 200), slice(200, 400))
    ]
    whole = cp.PairedCounts.from_predictions(truth.repeat(10), *models.values(), groups=customers)
    added = split[0] + split[1]
    assert added.times.sum() == whole.times.sum() == 40
    assert (added.times @ added.tables == whole.times @ whole.tables).all()
    with pytest.raises(cp.InputError, match="with groups and without"):
        whole + cp.PairedCounts.from_predictions(truth, one, two)


def test_costs_decide():
    truth = ["fraud"] * 40 + ["ok"] * 960
    miss, alarm = ["ok"] * 20 + truth[20:], truth[:100] + ["fraud"] * 100 + truth[200:]
    preferences = cp.Preferences(cost={("fraud", "ok"): 100, ("ok", "fraud"): 5})
    result = cp.compare_models(truth, {"miss": miss, "alarm": alarm}, preferences=preferences)
    assert (result.measure, dict(result.values)) == ("average_cost", {"miss": 2.0, "alarm": 0.5})
    assert str(result.verdict).startswith("'alarm' (average cost 0.5000) is better than 'miss' (2.0000), by 1.5000 (")


def test_each_model_stands_beside_no_model():
    """The better of two may be no good: a constant prediction is no better than no model, whatever it is compared with."""
    truth = ["ill"] * 60 + ["well"] * 240
    models = {"blind": ["well"] * 300, "good": ["ill"] * 55 + ["well"] * 245}
    compared = cp.compare_models(truth, models, preferences={"ill": 5.0})
    tones = {str(one): one.tone for one in compared.sentences() if "no model" in one}
    assert tones == {"Better than no model: 'good'": "better", "No better than no model: 'blind'": "no better"}
    assert not [one for one in cp.compare_models(truth, models).sentences() if "no model" in one]


def test_weights_leave_mcnemar_undefined():
    result = cp.compare_models([0, 1, 1], {"a": [0, 1, 1], "b": [0, 0, 1]}, sample_weight=[1, 2, 3])
    assert math.isnan(result.pairs[0].mcnemar.exact)
    assert str(result).splitlines()[-1].endswith("  ?         ?")
    assert json.loads(result.to_json())["pairs"][0]["mcnemar"]["exact"] is None


def test_holm():
    assert adjusted([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert adjusted([0.9, 0.8]) == (1.0, 1.0)
    assert all(math.isnan(value) for value in adjusted([0.1, math.nan]))


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        ({"a": [0, 1], "b": [0, 1, 1]}, {}, "the predictions of 'b' are for 3 rows, y_true has 2; compare models on the same rows"),
        ({"a": [0, 1]}, {}, "at least two models, got 1"),
        ([[0, 1], [0, 1]], {}, "mapping of names to predicted classes, got list"),
        ({"a": [0, 1], "b": [1, 1]}, {"measure": "acuracy"}, "no measure 'acuracy' .did you mean 'accuracy'"),
        ({"a": [0, 1], "b": [1, 1]}, {"measure": "loss"}, "needs preferences"),
        ({"a": [0, 1], "b": [1, 1]}, {"confidence": 95}, "both excluded, got 95"),
        ({"a": [0, 1], "b": ["0", "1"]}, {}, "convert one so that both are of one type"),
    ],
)  # fmt: skip
def test_bad_input(predictions, options, message):
    with pytest.raises(cp.InputError, match=message) as raised:
        cp.compare_models([0, 1], predictions, **options)
    assert "\n" not in str(raised.value)


def test_comparing_folds():
    first = cp.cross_evaluate(GaussianNB(), X, Y, preferences=PREFERENCES)
    second = cp.cross_evaluate(LogisticRegression(C=1e-3), X, Y, preferences=PREFERENCES)
    found = cp.evaluation.compare_folds(first, second)
    differences = [one.summary.loss - other.summary.loss for one, other in zip(first.folds, second.folds, strict=True)]
    assert found.mean.value == pytest.approx(np.mean(differences))
    with pytest.raises(cp.InputError, match="different folds"):
        cp.evaluation.compare_folds(first, cp.cross_evaluate(GaussianNB(), X, Y, cv=5, preferences=PREFERENCES))
    with pytest.raises(cp.InputError, match="there is no measure 'f1'"):
        cp.evaluation.compare_folds(first, second, measure="f1")
