"""What tuned weights are worth: judged on votes that did not choose them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import compromis as cp
from compromis.estimators import tuning
from compromis.estimators.expected import with_expected_truth
from compromis.estimators.tuning import GroupedVotes, TuningOptions, cross_fitted, tune
from compromis.evidence.grouped import GroupedCounts
from compromis.measures.by_group import ByGroup

EVEN = cp.Preferences({1: cp.Preference(5, 0.6, 0.6)})


def noise(rng, rows=600, share=0.05, columns=5):
    y = np.zeros(rows, int)
    y[: round(share * rows)] = 1
    return rng.normal(size=(rows, columns)), y


@pytest.mark.filterwarnings("ignore::compromis.NotBetterWarning")
def test_tuned_on_noise_is_seldom_better(rng):
    """15 of 25 such fits were called informative; the long count is promise 27."""
    states = [
        cp.TunedDecisionClassifier(GaussianNB(), preferences=EVEN, resamples=0, random_state=seed)
        .fit(*noise(rng))
        .verdict_.state
        for seed in range(25)
    ]
    assert states.count("better") <= 2


def votes_of(rng, rows=300, classes=3, weight=None):
    y = rng.integers(0, classes, rows)
    votes = rng.multinomial(20, np.full(classes, 1 / classes), rows) + 4 * np.eye(classes, dtype=int)[y]
    return y, votes, cp.Votes.from_proba(y, votes, sample_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_row_is_judged_once(rng, weighted):
    weight = rng.choice([0.5, 1.0, 2.5], 300) if weighted else None
    _, _, votes = votes_of(rng, weight=weight)
    problem = TuningOptions().problem(votes)
    counts = cross_fitted(problem, "auto", 0)
    assert counts.support == pytest.approx(votes.support)
    assert counts.rows == votes.rows
    assert counts.matrix.tolist() == cross_fitted(problem, "auto", 0).matrix.tolist()


def test_weights_are_searched_on_the_other_parts(rng, monkeypatch):
    """No part is judged by a search that saw it."""
    _, _, votes = votes_of(rng)
    seen = []
    search = tuning.search_problem
    monkeypatch.setattr(
        tuning,
        "search_problem",
        lambda problem, **given: seen.append(problem.votes.multiplicity.sum()) or search(problem, **given),
    )
    cross_fitted(TuningOptions().problem(votes), "auto", 0)
    assert len(seen) == 5
    assert all(0.75 * 300 < rows < 0.85 * 300 for rows in seen)
    assert sum(seen) == 4 * 300


def test_a_class_of_one_row_and_a_class_that_alone_matters():
    y = np.r_[0, np.ones(40, int)]
    votes = cp.Votes.from_proba(y, np.column_stack([np.linspace(1, 0.1, 41), np.linspace(0, 0.9, 41)]))
    for preferences in (cp.Preferences(), cp.Preferences({0: 1, 1: 0})):
        counts = cross_fitted(TuningOptions(preferences=preferences).problem(votes), "auto", 0)
        assert counts.total == 41


@pytest.mark.filterwarnings("ignore::compromis.GuaranteeWarning", "ignore::compromis.FewRowsWarning")
@pytest.mark.parametrize("asked", [{"min_recall": 0.9}, {"min_precision": 0.9}])
def test_a_class_of_one_row_cannot_be_guaranteed_and_the_fit_does_not_fail(rng, asked):
    """No row of it is left where its fifth of the rows is judged. 0.9^22 is the first power below 0.1."""
    y, votes, _ = votes_of(rng)
    kept = np.r_[np.flatnonzero(y == 0)[:1], np.flatnonzero(y > 0)]
    preferences = {0: cp.Preference(confidence=0.9, **asked)}
    tuned = cp.estimators.tune_votes(cp.Votes.from_proba(y[kept], votes[kept]), preferences=preferences, random_state=0)
    assert not tuned.guarantee.given
    if "min_recall" in asked:
        assert tuned.guarantee.rows_missing == 21
        assert "1 row of the class with 0 wrong gives 0.1" in str(tuned.guarantee.items[0])


def test_a_group_whose_own_weights_guarantee_less_is_told(rng):
    """0.5^4 is above a half of the tenth that may fail, the part of each of two groups: four rows do not give it."""
    y, group = np.repeat([0, 1], 24), np.tile([0, 0, 0, 0, 0, 1], 8)
    votes = cp.Votes.from_proba(y, np.eye(2)[y] + 0.1, merge=False)
    options = TuningOptions(preferences=cp.Preferences({1: cp.Preference(min_recall=0.5, confidence=0.9)}))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tuned = tune(votes, options, rng, by=ByGroup(("many", "few"), group))
    assert {name: search.guarantee.given for name, search in tuned.by_group.items()} == {"many": True, "few": False}
    texts = [(one.filename, str(one.message)[:59]) for one in told if "alone" in str(one.message)]
    assert texts == [(__file__, "with the weights of group 'few' alone, guarantee not given:")]


def test_many_rows_are_shared_out_at_random(rng):
    votes = cp.Votes.from_proba([0, 1, 0, 1], [[4, 1], [1, 4], [2, 3], [3, 2]])
    from dataclasses import replace

    many = replace(votes, multiplicity=np.array([10**9, 10**7, 10**8, 10**6]), rows=1_111_000_000)
    counts = cross_fitted(TuningOptions().problem(many), "auto", 0)
    assert counts.support.tolist() == many.support.tolist()


def test_groups_stay_whole_and_are_counted(rng):
    y, shares, votes = votes_of(rng)
    group = np.arange(300) // 10
    rows = GroupedVotes(cp.Votes.from_proba(y, shares, merge=False), group)
    tuned = tune(votes, TuningOptions(resamples=0), rng, rows)
    assert isinstance(tuned.judged, GroupedCounts)
    assert tuned.judged.groups == 30
    assert tuned.judged.counts.support.tolist() == votes.support.tolist()
    assert tuned.verdict.rows == "cross-fitted"


def test_the_promise_has_an_interval(rng):
    X, y = noise(rng, 2000, 0.2)
    X[:, 0] += 2 * y
    keys = np.arange(2000) // 4
    preferences = cp.Preferences.prioritise([1])
    for groups in (None, keys):
        tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences=preferences, random_state=0)
        tuned.fit(X, y, groups=groups)
        promised = tuned.tuning_.promised
        assert promised.value == pytest.approx(tuned.verdict_.loss)
        assert promised.low < promised.value < promised.high
        assert f"on new rows expect a loss of {promised}" in " ".join(tuned.tuning_.sentences())
        assert isinstance(tuned.tuning_.judged, GroupedCounts) == (groups is not None)
        fresh = rng.normal(size=(20_000, 5)), rng.random(20_000) < 0.2
        fresh[0][:, 0] += 2 * fresh[1]
        loss = cp.pragma_loss(fresh[1].astype(int), tuned.predict(fresh[0]), preferences=preferences)
        assert promised.low < loss < promised.high


@pytest.mark.parametrize("grouped", [False, True])
def test_weights_of_rows_in_the_search_are_no_rows(rng, grouped):
    """A thousand times the weights are the same rows; unequal ones count as fewer. Noise was called better in 11 % of 140 fits."""
    X, y = noise(rng, 400, 0.2)
    X[:, 0] += 2 * y
    weight, groups = rng.lognormal(size=400), np.arange(400) // 2 if grouped else None
    verdicts = []
    for given in (weight, 1000 * weight, np.ones(400)):
        tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences={1: 5}, resamples=0, random_state=0)
        verdicts.append(tuned.fit(X, y, search_sample_weight=given, groups=groups).verdict_)
    assert verdicts[0].interval.low == pytest.approx(verdicts[1].interval.low, abs=1e-9)
    assert verdicts[0].interval.high == pytest.approx(verdicts[1].interval.high, abs=1e-9)
    assert verdicts[0].interval.width > 1.2 * verdicts[2].interval.width


def test_one_warning_of_few_rows_for_a_fit(rng):
    X, y = noise(rng, 300, 0.04)
    X[:, 0] += 4 * y
    tuned = cp.TunedDecisionClassifier(LogisticRegression(), preferences={1: 10}, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tuned.fit(X, y)
    said = [str(one.message) for one in caught if one.category is cp.FewRowsWarning]
    assert [one.partition(":")[0] for one in said] == ["class 1 has 12 rows"]
    assert not [one for one in caught if one.category is cp.NotBetterWarning]  # they know something


def test_chance_is_warned_about(rng):
    with pytest.warns(cp.NotBetterWarning):
        cp.TunedDecisionClassifier(GaussianNB(), preferences=EVEN, random_state=0).fit(*noise(rng))


@pytest.fixture
def few():
    """Votes of 40 trees for two classes, one of them with few rows; the same on every seed, for the tests are of this case."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [180, 12])
    share = np.round(40 * rng.beta(np.where(truth == 1, 4, 1), 6)) / 40
    return cp.Votes.from_proba(truth, np.column_stack([1 - share, share]), labels=[0, 1])


PREFERENCES = cp.Preferences({1: cp.Preference(10, 0.1, 0.9)}, metric="f")


SHUNNING = cp.Votes.from_proba([0, 0, 1], [[1, 1000], [1, 2000], [1, 4000]], labels=[0, 1])
"""With this truth a search shuns the second class: its weight is a few thousandths of the first one's."""


def parts_of(tuned, expected, preferences):
    """The logarithms of the mean over resamples, and of what a search with the expected truth finds."""
    found = cp.search_weights(expected, preferences=preferences).weights
    return np.log(tuned.stability.weights).mean(axis=0), np.log(found)


@pytest.mark.filterwarnings("ignore::compromis.FewRowsWarning")
@pytest.mark.parametrize("trust", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("calibration", ["out-of-bag", "out-of-fold"])
def test_weights_go_half_way_to_the_expected_ones_out_of_fold_as_far_as_those_are_trusted(
    few, monkeypatch, trust, calibration
):
    expected, _ = with_expected_truth(few, np.random.default_rng(0))
    monkeypatch.setattr(tuning, "with_expected_truth", lambda *_: (expected, trust))
    options = TuningOptions(preferences=PREFERENCES, calibration=calibration)
    tuned = tune(few, options, np.random.default_rng(0))
    rows, other = parts_of(tuned, expected, PREFERENCES)
    share = 0.5 if calibration == "out-of-bag" else trust / 2
    assert np.log(tuned.weights) == pytest.approx((1 - share) * rows + share * other)
    assert (tuned.counts.matrix == few.counts(tuned.weights).matrix).all()


@pytest.mark.filterwarnings("ignore::compromis.FewRowsWarning")
def test_out_of_bag_the_mean_stands_where_equal_weights_lose_less(few, monkeypatch):
    monkeypatch.setattr(tuning, "with_expected_truth", lambda *_: (SHUNNING, 1.0))
    kinds = ("out-of-bag", "out-of-fold")
    bag, fold = (
        tune(few, TuningOptions(preferences=PREFERENCES, calibration=kind), np.random.default_rng(0)) for kind in kinds
    )
    rows, other = parts_of(bag, SHUNNING, PREFERENCES)
    equal = cp.evaluate(few.counts([1, 1]), preferences=PREFERENCES).summary.loss
    assert bag.loss > equal >= fold.loss
    assert np.log(bag.weights) == pytest.approx((rows + other) / 2)
    assert np.log(fold.weights) == pytest.approx(rows)


@pytest.mark.filterwarnings("ignore::compromis.FewRowsWarning")
@pytest.mark.parametrize("calibration", ["out-of-bag", "out-of-fold"])
def test_a_constraint_missed_with_the_expected_truth_is_met_by_the_rows(few, monkeypatch, calibration):
    """Out of fold by the mean over resamples, which meets it; out of bag by the first weights that do on the way to the search's own."""
    preferences = cp.Preferences({1: cp.Preference(10, 0.1, 0.9, min_recall=0.5)}, metric="f")
    monkeypatch.setattr(tuning, "with_expected_truth", lambda *_: (SHUNNING, 1.0))
    options = TuningOptions(preferences=preferences, calibration=calibration)
    tuned = tune(few, options, np.random.default_rng(0))
    assert tuned.counts.matrix[1, 1] >= 6
    rows, other = parts_of(tuned, SHUNNING, preferences)
    way = [((16 - step) * (rows + other) / 2 + step * np.log(tuned.search.weights)) / 16 for step in range(17)]
    found = [few.counts(np.exp(logs)).matrix[1, 1] for logs in way]
    first = next(step for step, number in enumerate(found) if number >= 6)
    assert 0 < first < 16
    assert np.log(tuned.weights) == pytest.approx(way[first] if calibration == "out-of-bag" else rows)


@pytest.mark.filterwarnings("error")
def test_votes_near_the_largest_float_are_tuned_alike(rng):
    truth = rng.integers(0, 2, 400)
    votes = rng.random((400, 2)) + 0.4 * np.eye(2)[truth]
    preferences = cp.Preferences.prioritise([1])
    tuned = [
        cp.estimators.tune_votes(cp.Votes.from_proba(truth, votes * unit), preferences=preferences, random_state=0)
        for unit in (1.0, 2.0**1022)
    ]
    assert (tuned[0].decision.weights == tuned[1].decision.weights).all()
