"""Laws of class shares that move: shares recovered exactly, order and names, bounds, the monitor over periods."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import compromis as cp
from tests.properties.laws import answer, law, refused
from tests.properties.strategies import (
    CLASSES,
    any_preferences,
    class_names,
    columns_of,
    confidences,
    predicted_rows,
    same,
    seeds,
    shuffled,
    vote_rows,
)

matrices = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3).map(np.array)
telling = matrices.map(lambda matrix: matrix + 20 * np.eye(3, dtype=int))
"""Counts of three classes that are mostly right, so that decisions tell the classes apart."""
even = matrices.map(lambda matrix: matrix + np.diag(40 - matrix.sum(axis=1)))
"""Counts of three classes of 40 rows each."""
priors = st.tuples(*[st.integers(1, 9)] * 3).map(lambda parts: {c: n / sum(parts) for c, n in zip(CLASSES, parts, strict=True)})  # fmt: skip


def likelihood(votes, old, shares):
    with np.errstate(divide="ignore"):
        return float(np.log((np.array(votes) / np.sum(votes, axis=1, keepdims=True) / old * shares).sum(axis=1)).sum())


@law(examples=15)
@given(vote_rows, priors, confidences, confidences, seeds)
def test_shares_by_em_are_the_most_likely_ones(rows, old, one, other, seed):
    votes, _ = columns_of(rows)
    low, high = sorted((one, other))
    narrow, wide = (cp.drift.prevalence_by_em(votes, priors=old, confidence=level) for level in (low, high))
    assert narrow.shares.sum() == pytest.approx(1, abs=1e-9)
    best = likelihood(votes, np.array([*old.values()]), narrow.shares)
    for rival in np.random.default_rng(seed).dirichlet([0.5] * 3, size=20):
        assert likelihood(votes, np.array([*old.values()]), rival) <= best + 1e-6
    for inner, outer in zip(narrow.intervals, wide.intervals, strict=True):
        assert 0 <= outer.low <= inner.low + 1e-9
        assert inner.low - 1e-9 <= inner.value <= inner.high + 1e-9
        assert inner.high - 1e-9 <= outer.high <= 1


@law(examples=10)
@given(vote_rows, priors, seeds, st.permutations(range(3)))
def test_order_of_rows_and_classes_and_scale_change_no_share(rows, old, seed, order):
    votes, _ = columns_of(rows)
    expected = likelihood(votes, np.array([*old.values()]), cp.drift.prevalence_by_em(votes, priors=old).shares)
    for other, names in (
        (columns_of(shuffled(rows, seed))[0], CLASSES),
        (np.array(votes) * 8.0, CLASSES),
        (np.array(votes)[:, list(order)], [CLASSES[k] for k in order]),
    ):
        found = cp.drift.prevalence_by_em(other, priors={name: old[name] for name in names}, labels=names)
        shares = np.array([found.by_class[name].value for name in CLASSES])
        assert likelihood(votes, np.array([*old.values()]), shares) == pytest.approx(expected, abs=1e-6)


@law()
@given(even, st.tuples(*[st.integers(0, 5)] * 3).filter(any), st.permutations(range(3)))
def test_decisions_that_follow_the_reference_give_the_shares_back(matrix, wanted, order):
    assume(np.linalg.matrix_rank(matrix, tol=1) == 3)
    reference = cp.Counts.from_matrix(matrix, CLASSES)
    new = np.repeat(CLASSES, np.array(wanted) @ matrix)
    found = cp.drift.prevalence_by_confusion(new, reference=reference)
    assert same(found.shares, np.array(wanted) / sum(wanted), 1e-6)
    turned = reference.arranged_as(tuple(CLASSES[k] for k in order))
    again = cp.drift.prevalence_by_confusion(new, reference=turned)
    assert same([again.by_class[label].value for label in CLASSES], found.shares, 1e-9)


@law()
@example(np.zeros((3, 3), dtype=int), ["a"], 0.5, 0.5)
@example(np.diag([3, 0, 0]), ["b"], 0.5, 0.5)
@given(matrices, st.lists(class_names, min_size=1, max_size=20), confidences, confidences)
def test_shares_by_confusion_are_shares_or_one_sentence(matrix, new, one, other):
    reference, (low, high) = cp.Counts.from_matrix(matrix, CLASSES), sorted((one, other))
    narrow = answer(cp.drift.prevalence_by_confusion, new, reference=reference, confidence=low)
    if narrow is None:
        return
    wide = cp.drift.prevalence_by_confusion(new, reference=reference, confidence=high)
    assert narrow.shares.sum() == pytest.approx(1, abs=1e-9)
    for inner, outer in zip(narrow.intervals, wide.intervals, strict=True):
        assert 0 <= outer.low <= inner.low <= inner.value <= inner.high <= outer.high <= 1


@law(examples=3)
@given(telling)
def test_nothing_new_is_one_sentence(matrix):
    reference = cp.Counts.from_matrix(matrix, CLASSES)
    refused(cp.drift.prevalence_by_confusion, [], reference=reference)
    refused(cp.drift.prevalence_by_confusion, ["z"], reference=reference)


@law()
@given(telling, any_preferences(), st.integers(2, 50), st.floats(0, 1))
def test_the_same_decisions_again_are_judged_alike(matrix, preferences, times, most):
    first, later = (cp.Counts.from_matrix(matrix * k, CLASSES) for k in (1, times))
    found = cp.monitor({"first": first, "later": later}, preferences=preferences, max_loss=most)
    one, two = found.periods
    assert (one.met, one.loss, one.recall, one.precision) == (two.met, two.loss, two.recall, two.precision)
    evaluated = cp.evaluate(first, preferences=preferences)
    assert one.loss == pytest.approx(evaluated.summary.loss, abs=1e-12)
    assert two.loss_expected == pytest.approx(one.loss, abs=1e-12)
    assert found.met == two.met
    if one.met:
        assert evaluated.verdict.difference > 0
        assert not evaluated.verdict.constraints
        assert one.loss <= most
    written = json.loads(found.to_json())
    assert [period["rows"] for period in written["periods"]] == [first.rows, later.rows]


@law(examples=12)
@given(telling, any_preferences())
def test_a_period_without_labels_that_is_predicted_like_the_reference_has_its_numbers(matrix, preferences):
    reference = cp.Counts.from_matrix(matrix, CLASSES)
    predicted = cp.drift.Unlabelled(dict(zip(reference.classes, reference.predicted.tolist(), strict=True)))
    found = cp.monitor({"new": predicted}, preferences=preferences, reference=reference)
    period = found.periods[0]
    assert same(period.shares, reference.support / reference.total, 1e-9)
    assert period.loss == pytest.approx(cp.evaluate(reference, preferences=preferences).summary.loss, abs=1e-9)
    assert not period.labelled
    refused(cp.monitor, {"new": predicted}, preferences=preferences)


@law()
@given(predicted_rows, predicted_rows, any_preferences())
def test_any_two_periods_are_judged_and_printed(first, second, preferences):
    periods = {
        name: cp.Counts.from_predictions(*columns_of(rows), labels=CLASSES)
        for name, rows in (("first", first), ("second", second))
    }
    found = answer(cp.monitor, periods, preferences=preferences)
    if found is None:  # a class that the reference, the first period, has no row of
        assert {truth for truth, _ in second} - {truth for truth, _ in first}
        return
    for period, counts in zip(found.periods, periods.values(), strict=True):
        assert period.loss == pytest.approx(cp.evaluate(counts, preferences=preferences).summary.loss, abs=1e-12)
        assert same(period.shares, counts.support / counts.total)
    assert str(found)
    assert len(found.to_frame()) == 6


@law()
@given(telling, st.tuples(*[st.integers(1, 9)] * 3))
def test_new_class_shares_change_no_recall_and_come_back(matrix, parts):
    counts, shares = cp.Counts.from_matrix(matrix, CLASSES), np.array(parts) / sum(parts)
    moved = counts.with_prevalence(shares.tolist())
    assert same(moved.support / moved.total, shares)
    assert same(np.diag(moved.matrix) / moved.support, np.diag(matrix) / matrix.sum(axis=1))
    back = moved.with_prevalence((counts.support / counts.total).tolist())
    assert same(back.matrix / back.total, matrix / matrix.sum())
