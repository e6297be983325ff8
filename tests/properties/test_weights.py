"""Laws of vote weights: brute force, order, scale, ties, what is stored is what is predicted, bounds of binned votes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import compromis as cp
from tests import naive_weights
from tests.properties.laws import law, refused
from tests.properties.strategies import (
    CLASSES,
    any_preferences,
    columns_of,
    labels,
    positive_weights,
    same,
    seeds,
    shuffled,
    tunable_rows,
    vote_rows,
)

small_rows = tunable_rows.filter(lambda rows: len(rows) <= 7)


def searched(rows, preferences, **options):
    votes, truth = columns_of(rows)
    return cp.search_weights(truth, votes, preferences=preferences, labels=CLASSES, random_state=0, **options)


def shortfall(search):
    return sum(one.distance for one in search.verdict.constraints)


@law(examples=10)
@given(small_rows, any_preferences())
def test_the_exact_search_finds_what_brute_force_finds(rows, preferences):
    votes, truth = columns_of(rows)
    search = searched(rows, preferences, method=cp.weights.Exact())
    missing, loss = naive_weights.brute_force(votes, [CLASSES.index(one) for one in truth], preferences.on(CLASSES))
    assert search.optimal
    assert shortfall(search) == pytest.approx(missing, abs=1e-9)
    assert search.loss == pytest.approx(loss, abs=1e-9)
    assert search.feasible == (missing == 0)


@law(examples=8)
@given(tunable_rows, any_preferences())
def test_no_search_does_worse_than_equal_weights_or_better_than_the_exact_one(rows, preferences):
    votes, truth = columns_of(rows)
    equal = cp.Votes.from_proba(truth, votes, labels=CLASSES).counts([1, 1, 1])
    before = cp.evaluate(equal, preferences=preferences)
    exact = searched(rows, preferences, method="exact")
    for method in (cp.weights.Exact(), cp.weights.Sweep(rounds=5), cp.weights.Annealing(steps=200)):
        search = searched(rows, preferences, method=method, max_evaluations=300)
        start = sum(one.distance for one in before.verdict.constraints), before.summary.loss
        assert (shortfall(search), search.loss) <= (start[0] + 1e-9, math.inf)
        if shortfall(search) > start[0] - 1e-12:
            assert search.loss <= start[1] + 1e-12
        assert shortfall(search) >= shortfall(exact) - 1e-9
        if shortfall(search) <= shortfall(exact) + 1e-9:
            assert search.loss >= exact.loss - 1e-9
        assert np.log(search.weights).sum() == pytest.approx(0, abs=1e-9)


@law(examples=12)
@given(tunable_rows, any_preferences(), st.sampled_from(["exact", "sweep"]), st.sampled_from([0.0, 0.5]))
def test_weights_applied_again_give_the_stored_counts(rows, preferences, method, smoothing):
    votes, truth = columns_of(rows)
    search = searched(rows, preferences, method=method, smoothing=smoothing)
    predicted = cp.Decision.from_json(search.to_json()).decide(votes)
    for again in (
        cp.Counts.from_predictions(truth, predicted.tolist(), labels=CLASSES),
        cp.Votes.from_proba(truth, votes, labels=CLASSES).counts(search.weights, smoothing=smoothing),
    ):
        assert again.matrix.tolist() == search.counts.matrix.tolist()
    assert cp.evaluate(search.counts, preferences=preferences).summary.loss == pytest.approx(search.loss, abs=1e-12)


@law(examples=10)
@given(tunable_rows, any_preferences(), seeds, st.permutations(range(3)), st.integers(-20, 20))
def test_order_of_rows_and_classes_and_scale_of_votes_lose_nothing(rows, preferences, seed, order, power):
    votes, truth = columns_of(rows)
    expected = searched(rows, preferences).loss
    assert searched(shuffled(rows, seed), preferences).loss == pytest.approx(expected, abs=1e-12)
    assert searched([(tuple(v * 2.0**power for v in one), t) for one, t in rows], preferences).loss == expected
    turned = cp.search_weights(
        truth,
        np.array(votes)[:, list(order)],
        preferences=preferences,
        labels=[CLASSES[k] for k in order],
        random_state=0,
    )
    assert turned.loss == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:the weights of the rows in the search are a function of the class")
@law(examples=8)
@given(small_rows, any_preferences(), st.data())
def test_whole_weights_of_rows_are_repetition(rows, preferences, data):
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(any))
    copies = [row for row, times in zip(rows, weight, strict=True) for _ in range(times)]
    assume(len({truth for _, truth in copies}) > 1)
    weighted, copied = searched(rows, preferences, sample_weight=weight), searched(copies, preferences)
    assert weighted.loss == pytest.approx(copied.loss, abs=1e-12)
    assert shortfall(weighted) == pytest.approx(shortfall(copied), abs=1e-12)


@law(examples=15)
@given(tunable_rows, any_preferences(), positive_weights, st.sampled_from(CLASSES))
def test_a_sweep_tells_what_each_ratio_decides(rows, preferences, weights, label):
    votes, truth = columns_of(rows)
    sweep = cp.weights.weight_sweep(truth, votes, label=label, preferences=preferences, weights=weights, labels=CLASSES)
    patterns, place = cp.Votes.from_proba(truth, votes, labels=CLASSES), CLASSES.index(label)
    for step, ratio in enumerate(sweep.ratio):
        now = np.array(weights)
        now[place] *= ratio
        result = cp.evaluate(patterns.counts(now), preferences=preferences)
        assert same(sweep.recall[step], [one.recall for one in result.per_class.values()])
        assert same(sweep.precision[step], [one.precision for one in result.per_class.values()])
        assert sweep.loss[step] == pytest.approx(result.summary.loss, abs=1e-12)
        assert sweep.errors[step] == result.summary.incorrect
    if label in truth:
        assert (np.diff(sweep.recall[:, place]) >= 0).all()  # a heavier class is never found less
    refused(cp.weights.weight_sweep, votes, truth, label="z", labels=CLASSES)


@law()
@given(labels, st.data())
def test_a_decision_survives_json(classes, data):
    weights = data.draw(st.lists(st.floats(1e-100, 1e100), min_size=len(classes), max_size=len(classes)))
    smoothing = data.draw(st.floats(0, 1e6))
    decision = cp.Decision(tuple(classes), weights, smoothing=smoothing)
    again = cp.Decision.from_json(decision.to_json())
    assert again.classes == decision.classes
    assert [type(one) for one in again.classes] == [type(one) for one in classes]
    assert again.weights.tolist() == decision.weights.tolist()
    assert again.smoothing == smoothing


@law()
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=20), st.integers(-30, 30))
def test_the_scale_of_weights_and_votes_decides_nothing(votes, power):
    weights = np.array([0.7, 1.0, 1.9])
    expected = cp.Decision((0, 1, 2), weights).decide(votes).tolist()
    assert cp.Decision((0, 1, 2), weights * 2.0**power).decide(votes).tolist() == expected
    assert cp.Decision((0, 1, 2), weights).decide(np.array(votes) * 2.0**power).tolist() == expected


@law()
@given(vote_rows, positive_weights, st.sampled_from([0.0, 0.25]))
def test_the_largest_weighted_vote_wins_and_the_first_one_in_a_tie(rows, weights, smoothing):
    votes, truth = columns_of(rows)
    values = [[w * (v + smoothing) for w, v in zip(weights, row, strict=True)] for row in votes]
    expected = [CLASSES[row.index(max(row))] for row in values]
    assert cp.Decision(CLASSES, weights, smoothing=smoothing).decide(votes).tolist() == expected
    counts = cp.Votes.from_proba(truth, votes, labels=CLASSES).counts(weights, smoothing=smoothing)
    assert counts.matrix.tolist() == cp.Counts.from_predictions(truth, expected, labels=CLASSES).matrix.tolist()


@law(examples=12)
@given(vote_rows, any_preferences(), positive_weights, st.integers(2, 8))
@example([((4, 4, 3), "a"), ((1, 0, 2), "b")], cp.Preferences(), [1.0, 1.0, 1.0], 2)
def test_bounds_of_binned_votes_hold_what_the_exact_votes_say(rows, preferences, weights, bins):
    votes, truth = columns_of(rows)
    shares = np.array(votes) / np.sum(votes, axis=1, keepdims=True)
    frame = pd.DataFrame(shares, columns=list(CLASSES)).assign(truth=truth)
    exact = cp.Votes.from_proba(truth, shares, labels=CLASSES).counts(weights)
    bounds = cp.Votes.from_frame(frame, truth="truth", proba=list(CLASSES), bins=bins).bounds(weights)
    assert (bounds.low <= exact.matrix).all()
    assert (exact.matrix <= bounds.high).all()
    result = cp.evaluate(exact, preferences=preferences)
    low, high = cp.frames.loss_bounds(bounds, preferences.on(CLASSES))
    assert low - 1e-12 <= result.summary.loss <= high + 1e-12
    assert bounds.accuracy[0] - 1e-12 <= result.summary.accuracy <= bounds.accuracy[1] + 1e-12
    for k, one in enumerate(result.per_class.values()):
        for value, (lowest, highest) in ((one.recall, bounds.recall), (one.precision, bounds.precision)):
            assert math.isnan(value) or lowest[k] - 1e-12 <= value <= highest[k] + 1e-12


@law(examples=12)
@given(vote_rows, any_preferences(), positive_weights)
@example([((1, 0, 0), "a")], cp.Preferences(), [1.0, 1.0, 1.0])
def test_nothing_in_doubt_leaves_no_room(rows, preferences, weights):
    votes, truth = columns_of(rows)
    patterns = cp.Votes.from_proba(truth, votes, labels=CLASSES)
    bounds, exact = patterns.bounds(weights), patterns.counts(weights)
    assert bounds.low.tolist() == bounds.high.tolist() == exact.matrix.tolist()
    loss = cp.evaluate(exact, preferences=preferences).summary.loss
    assert cp.frames.loss_bounds(bounds, preferences.on(CLASSES)) == pytest.approx((loss, loss), abs=1e-12)


@law()
@given(vote_rows, st.floats(-1, 0))
def test_what_cannot_be_searched_is_one_sentence(rows, seconds):
    votes, truth = columns_of(rows)
    refused(cp.search_weights, truth, votes, labels=CLASSES, max_seconds=seconds)
    refused(cp.search_weights, truth[1:], votes, labels=CLASSES)
    refused(cp.search_weights, ["a"], [[-1, 0, 1]], labels=CLASSES)
    refused(cp.search_weights, truth, votes, labels=CLASSES, method="guess")
    refused(cp.search_weights, truth[:1] * len(truth), votes, labels=CLASSES)
    frame = pd.DataFrame(np.array(votes, dtype=float), columns=list(CLASSES)).assign(truth=truth)
    refused(cp.Votes.from_frame, frame, truth="truth", proba=list(CLASSES), bins=1)  # all three may round to 0
