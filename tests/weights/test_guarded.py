"""Minima in each group: order statistics of each group by brute force, searches against all thresholds, and what is refused."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import compromis as cp


def sites(rows=900, seed=0, shift=(1.6, 0.7, 1.2)):
    rng = np.random.default_rng(seed)
    site = rng.integers(len(shift), size=rows)
    y = np.where(rng.random(rows) < 0.25, "ill", "well")
    score = rng.normal(np.where(y == "ill", np.take(shift, site), -1.0))
    return y, np.round(1 / (1 + np.exp(-score)), 3), np.take(["north", "south", "east"], site)


def search(y, share, site, **preference):
    preferences = {"ill": cp.Preference(2, **preference)}
    return cp.search_weights(y, share, preferences=preferences, pos_label="ill", by=site, random_state=0)


def allowed(rows, level, risk):
    """The most misses whose probability is small enough, from sums of exact terms."""
    chance, total = 1 - level, Fraction(0)
    for misses in range(rows + 1):
        total += comb(rows, misses) * chance**misses * (1 - chance) ** (rows - misses)
        if total > risk:
            return misses - 1
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_a_guarantee_in_each_group_is_the_lowest_of_their_order_statistics(seed):
    y, share, site = sites(seed=seed)
    preferences = {"ill": cp.Preference(1e-9, min_recall=0.8, confidence=0.9)}  # the loss asks for no recall at all
    found = cp.search_weights(y, share, preferences=preferences, pos_label="ill", by=site, random_state=0)
    thresholds = []
    for name in ("north", "south", "east"):
        own = np.sort(share[(site == name) & (y == "ill")])
        thresholds.append(own[allowed(len(own), Fraction(4, 5), Fraction(1, 30))])
    wanted = min(thresholds)
    threshold = found.decision.weights[1] / found.decision.weights.sum()
    assert share[share < wanted].max() < threshold < wanted
    assert {item.group for item in found.guarantee.items} == {"north", "south", "east"}
    assert found.guarantee.given


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "preference", [{"min_recall": 0.85}, {"min_precision": 0.7}, {"min_recall": 0.6, "min_precision": 0.6}]
)
def test_two_classes_against_all_thresholds(seed, preference):
    y, share, site = sites(300, seed)
    found = search(y, share, site, **preference)
    arrays = cp.Preferences({"ill": cp.Preference(2, **preference)})
    best = np.inf
    for threshold in np.append(np.unique(share), 2.0):
        predicted = np.where(share >= threshold, "ill", "well")
        rates = [
            (((predicted == "ill") & (y == "ill") & own).sum(), ((y == "ill") & own).sum(), ((predicted == "ill") & own).sum())
            for own in (site == name for name in np.unique(site))
        ]  # fmt: skip
        recall_met = all(hits >= preference.get("min_recall", 0) * rows for hits, rows, _ in rates)
        if recall_met and all(hits >= preference.get("min_precision", 0) * max(chosen, 1) for hits, _, chosen in rates):
            best = min(best, cp.pragma_loss(y, predicted, preferences=arrays))
    assert found.feasible == np.isfinite(best)
    if found.feasible:
        assert best - 1e-12 <= found.loss <= 1.1 * best  # searches of tightened constraints need not meet the very best


def test_several_classes_and_ties():
    rng = np.random.default_rng(2)
    y, site = rng.integers(3, size=1500), rng.integers(2, size=1500)
    votes = rng.multinomial(7, [1 / 3] * 3, size=1500) + 4 * np.eye(3)[y] * (
        rng.random((1500, 1)) < 0.5 + 0.2 * site[:, None]
    )
    preferences = {0: cp.Preference(min_recall=0.7), 1: cp.Preference(min_recall=0.5)}
    found = cp.search_weights(y, votes, preferences=preferences, by=site, random_state=0)
    predicted = found.decision.decide(votes)
    for name in (0, 1):
        own = site == name
        np.testing.assert_array_equal(found.by[name].matrix, cp.Counts.from_predictions(y[own], predicted[own]).matrix)
        assert (predicted[own & (y == 0)] == 0).mean() >= 0.7
        assert (predicted[own & (y == 1)] == 1).mean() >= 0.5
    assert found.feasible


def test_minima_that_hold_in_each_group_anyway_leave_the_search_alone():
    y, share, site = sites(seed=3)
    plain = cp.search_weights(y, share, preferences={"ill": cp.Preference(2, min_recall=0.01)}, pos_label="ill")
    found = search(y, share, site, min_recall=0.01)
    assert found.optimal
    assert found.loss == plain.loss


def test_a_path_holds_in_each_group():
    y, share, site = sites(4000, seed=4)
    found = search(y, share, site, min_recall=0.5, min_precision=0.4, confidence=0.95)
    assert found.guarantee.method == "path"
    assert len(found.guarantee.items) == 6
    assert found.guarantee.given
    assert all(item.wrong <= item.allowed for item in found.guarantee.items)


def test_what_is_refused_says_what_is_possible():
    y, share, site = sites()
    with pytest.raises(cp.InputError, match=r"group without a row of class 'ill', 'lost'.*join groups"):
        search(y, share, np.where(np.arange(len(y)) == np.flatnonzero(y == "well")[0], "lost", site), min_recall=0.8)
    with pytest.raises(cp.InputError, match="one group per row"):
        search(y, share, site[1:], min_recall=0.8)
    with pytest.raises(cp.InputError, match="rows that only belong together are groups="):
        search(*sites(1500)[:2], np.arange(1500), min_recall=0.8)
    merged = cp.Votes.from_proba([0, 0, 1], [[2, 1], [2, 1], [1, 2]], merge=True)
    with pytest.raises(cp.InputError, match="have merged equal rows"):
        cp.search_weights(merged, by=[0, 1, 0])


def test_an_estimator_holds_minima_in_each_group_of_its_rows():
    y, share, site = sites(2000, seed=5)
    X = share[:, np.newaxis]
    model = FrozenEstimator(LogisticRegression().fit(X[::2], y[::2]))
    preferences = {"ill": cp.Preference(2, min_recall=0.7, confidence=0.9)}
    tuned = cp.TunedDecisionClassifier(model, preferences=preferences, cv="prefit", random_state=0)
    tuned.fit(X[1::2], y[1::2], by=site[1::2])
    assert tuned.guarantee_.given
    assert tuned.guarantee_.exact
    assert tuned.guarantee_.calibration == "held-out"
    assert len(tuned.guarantee_.items) == 3
    own = tuned.predict(X, by=site)
    for name in np.unique(site):
        search = tuned.tuning_.by_group[name]
        rows = (site == name)[1::2]
        alone = cp.search_weights(
            y[1::2][rows], model.predict_proba(X[1::2][rows]), random_state=0, labels=["ill", "well"],
            preferences={"ill": cp.Preference(2, min_recall=0.7, confidence=1 - 0.1 / 3)},
        )  # fmt: skip
        np.testing.assert_allclose(search.weights, alone.weights)
        assert search.guarantee.items == alone.guarantee.items
        decided = search.decision.decide(model.predict_proba(X[site == name]))
        np.testing.assert_array_equal(own[site == name], decided)
    with pytest.raises(cp.InputError, match="fit has not seen, 'west'; leave by out"):
        tuned.predict(X[:1], by=["west"])
    with pytest.raises(cp.InputError, match="leave by out, or return_review"):
        tuned.predict(X, by=site, return_review=True)
    with pytest.raises(cp.InputError, match="fit with by="):
        cp.TunedDecisionClassifier(model, cv="prefit").fit(X, y).predict(X, by=site)
    by_hand = cp.TunedDecisionClassifier(model, weights=[1, 2], cv="prefit")
    with pytest.raises(cp.InputError, match="leave by out, or weights"):
        by_hand.fit(X, y, by=site)
    forest = cp.PragmaForestClassifier(20, preferences={"ill": cp.Preference(2, min_recall=0.6)}, random_state=0)
    forest.fit(X, y, np.where(np.arange(len(y)) < 20, 0, 1), by=site)
    assert set(forest.tuning_.chosen.by) == {"north", "south", "east"}
    assert sum(counts.rows for counts in forest.tuning_.chosen.by.values()) == len(y) - 20


def test_evaluate_shows_each_group():
    y, share, site = sites(seed=6)
    predicted = np.where(share > 0.5, "ill", "well")
    result = cp.evaluate(y, predicted, preferences={"ill": cp.Preference(min_recall=0.8)}, by=site)
    for name in np.unique(site):
        own = site == name
        expected = cp.Counts.from_predictions(y[own], predicted[own])
        np.testing.assert_array_equal(result.by[name].matrix, expected.matrix)
    missed = {one.group for one in result.missed_by_group}
    assert missed == {
        name for name in np.unique(site) if (predicted[(site == name) & (y == "ill")] == "ill").mean() < 0.8
    }
    assert "=== By group ===" in str(result)
    assert "group 'south': the recall of 'ill'" in " ".join(str(result).lower().split())
    assert len(result.document()["by"]) == 3
    conditions = {condition.group: condition for condition in cp.check(result).conditions}
    assert set(conditions) == {None, *np.unique(site)}
    assert {name for name, condition in conditions.items() if name and not condition.passed} == missed
    assert "south: recall of 'ill'" in " ".join(str(cp.check(result)).split())
    weighted = cp.evaluate(y, y_proba=np.column_stack([share, 1 - share]), by=site, sample_weight=np.full(len(y), 0.5))
    assert weighted.by["north"].total == 0.5 * (site == "north").sum()
    with pytest.raises(cp.InputError, match="leave out by"):
        cp.evaluate(result.counts, by=site)


def test_groups_without_minima_are_not_said_to_meet_them():
    rows = (["ill", "well", "ill", "well"], ["ill", "well", "well", "well"])
    for preferences, told in ((None, False), ({"ill": 10}, False), ({"ill": cp.Preference(min_recall=0.4)}, True)):
        text = str(cp.evaluate(*rows, by=["a", "a", "b", "b"], preferences=preferences))
        assert ("Minima" in text, "MISSED: recall" in text) == (told, told)
