"""Laws of evidence that adds up: parts in any order are the whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import compromis as cp
from tests.properties.laws import law, refused
from tests.properties.strategies import CLASSES, columns_of, predicted_rows, seeds, shuffled, weighted_rows

triples = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=25)


@law()
@given(triples, triples, triples)
def test_paired_counts_add_up_in_any_order(first, second, third):
    parts = (first, second, third)
    a, b, c = (cp.PairedCounts.from_predictions(*zip(*part, strict=True), labels=range(3)) for part in parts)
    whole = cp.PairedCounts.from_predictions(
        *zip(*[row for part in parts for row in part], strict=True), labels=range(3)
    )
    for total in ((a + b) + c, a + (b + c), c + b + a):
        assert total.cells.tolist() == whole.cells.tolist()
        assert total.counts.tolist() == whole.counts.tolist()
        assert total.first.matrix.tolist() == whole.first.matrix.tolist()


@law()
@given(triples, triples)
def test_grouped_counts_add_up_when_groups_are_apart(first, second):
    def grouped(part, shift):
        truth, decision, group = zip(*part, strict=True)
        return cp.evidence.GroupedCounts.from_predictions(
            truth, decision, groups=[g + shift for g in group], labels=range(3)
        )

    a, b = grouped(first, 0), grouped(second, 10)
    whole = grouped(first + [(t, d, g + 10) for t, d, g in second], 0)
    tables = lambda one: sorted((table.tolist(), times) for table, times in zip(one.tables, one.times, strict=True))  # noqa: E731
    assert tables(a + b) == tables(b + a) == tables(whole)
    assert (a + b).counts.matrix.tolist() == whole.counts.matrix.tolist()


@law()
@given(triples, triples, st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
def test_votes_add_up_to_the_same_decisions(first, second, weights):
    def patterns(part, merge):
        return cp.Votes.from_proba(
            [t for _, _, t in part], [[a + 1, b, 1] for a, b, _ in part], labels=range(3), merge=merge
        )

    expected = patterns([*first, *second], False).counts(weights).matrix.tolist()
    for merge in (True, False):
        a, b = patterns(first, merge), patterns(second, merge)
        assert (a + b).counts(weights).matrix.tolist() == (b + a).counts(weights).matrix.tolist() == expected
        assert (a + b).rows == len(first) + len(second)


def test_groups_need_no_order():
    one, other = object(), object()
    grouped = cp.evidence.GroupedCounts.from_predictions([0, 1, 1], [0, 1, 0], groups=[one, other, one])
    assert sorted(table.sum() for table in grouped.tables) == [1, 2]


@law()
@given(predicted_rows, predicted_rows, predicted_rows, seeds)
def test_counts_add_up_in_any_order_and_count_what_is_there(first, second, third, seed):
    a, b, c = (cp.Counts.from_predictions(*columns_of(part), labels=CLASSES) for part in (first, second, third))
    rows = shuffled([*first, *second, *third], seed)
    expected = [[rows.count((truth, decision)) for decision in CLASSES] for truth in CLASSES]
    for total in ((a + b) + c, a + (b + c), c + b + a, cp.Counts.from_predictions(*columns_of(rows), labels=CLASSES)):
        assert total.matrix.tolist() == expected
        assert total.rows == len(rows)
        assert (total.support.tolist(), total.predicted.tolist()) == (
            np.sum(expected, axis=1).tolist(),
            np.sum(expected, axis=0).tolist(),
        )


@law()
@given(predicted_rows, predicted_rows)
def test_counts_of_different_classes_add_up_to_all_of_them(first, second):
    first, second = [(first[0][0],) * 2, *first], [(second[0][0],) * 2, *second]  # each part has a right prediction
    a, b = (cp.Counts.from_predictions(*columns_of(part)) for part in (first, second))
    whole = cp.Counts.from_predictions(*columns_of([*first, *second]))
    for total in (a + b, b + a):
        assert sorted(total.classes) == list(whole.classes)
        assert total.arranged_as(whole.classes).matrix.tolist() == whole.matrix.tolist()


@law()
@given(weighted_rows)
def test_weights_add_up_with_their_squares(rows):
    rows = [(*row, weight + 1) for *row, weight in rows]  # a half whose rows all weigh 0 is refused
    truth, decision, weight = columns_of(rows)
    counts = cp.Counts.from_predictions(truth, decision, labels=CLASSES, sample_weight=weight)
    halves = [
        cp.Counts.from_predictions(*columns_of(part)[:2], labels=CLASSES, sample_weight=columns_of(part)[2])
        for part in (rows[::2], rows[1::2])
        if part
    ]
    total = halves[0] if len(halves) == 1 else halves[0] + halves[1]
    assert total.matrix.tolist() == counts.matrix.tolist()
    assert total.squares.tolist() == counts.squares.tolist()
    assert counts.squares.sum() == sum(one * one for one in weight)
    paired = cp.PairedCounts.from_predictions(truth, decision, truth, labels=CLASSES, sample_weight=weight)
    assert paired.first.matrix.tolist() == counts.matrix.tolist()
    assert np.trace(paired.second.matrix) == sum(weight)


@law(examples=5)
@given(predicted_rows)
def test_rows_of_different_number_are_one_sentence(rows):
    truth, decision = columns_of(rows)
    refused(cp.Counts.from_predictions, truth, [*decision, "a"])
    refused(cp.evidence.GroupedCounts.from_predictions, truth, decision, groups=[1] * (len(rows) + 1))
    refused(cp.PairedCounts.from_predictions, truth, decision, [*decision, "a"])
    refused(cp.Votes.from_proba, [[1, 0, 0]] * (len(rows) + 1), truth, labels=CLASSES)
    refused(cp.Counts.from_matrix, [[1, -1], [0, 1]], ["a", "b"])
