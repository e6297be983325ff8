"""Sample weights and numbers per class: one reader each, the same sentences for every function."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import compromis as cp
from compromis.estimators.tuning import TuningOptions
from compromis.evidence.files import suppress
from compromis.evidence.readers import read_class_numbers, read_weights
from compromis.evidence.vote_distribution import vote_distribution

ROWS = np.arange(6.0)[:, np.newaxis]
TRUTH = np.array([0, 1, 0, 1, 0, 1])
WEIGHTED = {
    "counts": lambda weight: cp.Counts.from_predictions(TRUTH, TRUTH, sample_weight=weight),
    "votes": lambda weight: cp.Votes.from_proba(TRUTH, np.ones((6, 2)), sample_weight=weight),
    "points": lambda weight: cp.OperatingPoints.from_predictions(TRUTH, ROWS[:, 0], sample_weight=weight),
    "tree": lambda weight: cp.PragmaTreeClassifier().fit(ROWS, TRUTH, sample_weight=weight),
    "C4.5": lambda weight: cp.C45Classifier().fit(ROWS, TRUTH, sample_weight=weight),
}


@pytest.mark.parametrize("door", WEIGHTED)
@pytest.mark.parametrize(
    ("weight", "said"),
    [
        ([1.0], r"sample_weight has shape \(1,\), but there are 6 rows; give one weight per row"),
        ([1, 1, -1, 1, 1, 1], "sample_weight must be finite and at least 0, got -1 in row 2"),
        ([0] * 6, "sample_weight is zero for every row"),
        (["x"] * 6, "sample_weight must hold numbers"),
        ([1e308] * 6, "sample_weight is too large to add up"),
        ([1e-300] * 6, "sample_weight is too small to add up"),
    ],
)
def test_bad_sample_weights(door, weight, said):
    with pytest.raises(cp.InputError, match=said):
        WEIGHTED[door](weight)


def test_one_weight_stands_for_every_row():
    assert read_weights(2, 3).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"a": 1}, "priors misses 'b'; give one share for every class"),
        ({"a": 1, "b": 2, "c": 3}, "there is a share for 'c', but the classes are 'a', 'b'"),
        ([1, 2, 3], r"priors has shape \(3,\), but there are 2 classes; give one share per class"),
        ("ab", "priors must be numbers, one share per class, got 'ab'"),
    ],
)
def test_bad_numbers_per_class(numbers, said):
    with pytest.raises(cp.InputError, match=said):
        read_class_numbers(numbers, ("a", "b"), name="priors", noun="share")


def test_numbers_by_class_or_in_their_order():
    for numbers in (
        [1, 2],
        {"b": 2, "a": 1},
        {np.str_("a"): 1, "b": 2},
        pd.Series([1, 2]),
        pd.Series({"b": 2, "a": 1}),
    ):
        assert read_class_numbers(numbers, ("a", "b"), name="priors", noun="share").tolist() == [1.0, 2.0]
    fixed = cp.TunedDecisionClassifier(LogisticRegression(), weights={1: 4.0}).fit(ROWS, TRUTH)
    assert fixed.weights_.tolist() == [0.5, 2.0]


VOTES = cp.Votes.from_proba([0, 0, 1, 1], [[3, 1], [2, 2], [0, 4], [4, 0]])
WHOLE = {
    "bins": lambda value: vote_distribution(VOTES, 0, bins=value).share.tolist(),
    "min_cell": lambda value: suppress(cp.Counts.from_matrix([[9, 4], [2, 9]], [0, 1]), value)[1],
    "questions": lambda value: cp.tradeoffs.Interview(VOTES, questions=value).questions,
    "resamples": lambda value: TuningOptions(resamples=value).resamples_for(2),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_numpy_are_whole_numbers_and_true_is_none(name):
    assert WHOLE[name](np.int64(4)) == WHOLE[name](4)
    for value in (True, 4.0, -1):
        with pytest.raises(cp.InputError, match=f"{name} is .*a whole number of at least") as caught:
            WHOLE[name](value)
        assert caught.value.parameter == name


def test_value_counts_are_shares_by_class_not_by_position():
    y = pd.Series(["ok"] * 8 + ["bad"] * 2)
    shares = y.value_counts(normalize=True)
    assert [*shares.index] == ["ok", "bad"]  # by frequency, where the classes are sorted
    proba = np.tile([[0.4, 0.6]], (10, 1))
    told = [cp.evaluate(y, y_proba=proba, priors=given).summary for given in (shares, dict(shares))]
    assert told[0].relative_absolute_error == told[1].relative_absolute_error
    estimates = [
        cp.drift.prevalence_by_em(proba, priors=given, labels=["bad", "ok"]) for given in (shares, dict(shares))
    ]
    assert estimates[0].intervals == estimates[1].intervals
    with pytest.raises(cp.InputError, match="pass labels="):  # whose order is it, that of the shares or of the classes?
        cp.drift.prevalence_by_em(proba, priors=shares)
    named = pd.DataFrame(proba, columns=["bad", "ok"])
    by_class = cp.drift.prevalence_by_em(named, priors=shares).by_class
    assert by_class["bad"].value == pytest.approx(estimates[0].by_class["bad"].value)
    votes = cp.Votes.from_proba(y, proba)
    assert votes.with_prevalence(shares[::-1]).multiplicity.sum() == pytest.approx(10)
    assert votes.with_prevalence(pd.Series({"ok": 0.5, "bad": 0.5})).support.tolist() == [5, 5]
