"""Paired counts: both confusion matrices, sums, many classes."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp


def models(rng, rows, rights=(0.8, 0.7), classes=3):
    truth = rng.integers(0, classes, rows)
    predicted = [np.where(rng.random(rows) < right, truth, rng.integers(0, classes, rows)) for right in rights]
    return truth, *predicted


@pytest.mark.parametrize("weighted", [False, True])
def test_paired_counts_hold_both_confusion_matrices(rng, weighted):
    truth, first, second = models(rng, 500)
    weight = rng.integers(1, 9, 500) / 4 if weighted else None
    paired = cp.PairedCounts.from_predictions(truth, first, second, sample_weight=weight)
    for one, predicted in ((paired.first, first), (paired.second, second)):
        expected = cp.Counts.from_predictions(truth, predicted, sample_weight=weight)
        assert one.matrix.tolist() == expected.matrix.tolist()
        assert (one.squares is None) == (not weighted)
        if weighted:
            assert one.squares.tolist() == expected.squares.tolist()
    weights = np.ones(500) if weight is None else weight
    assert paired.discordant[0] == weights[(first == truth) & (second != truth)].sum()
    assert paired.discordant[1] == weights[(first != truth) & (second == truth)].sum()


def test_paired_counts_add_up(rng):
    truth, first, second = models(rng, 300)
    whole = cp.PairedCounts.from_predictions(truth, first, second)
    parts = [cp.PairedCounts.from_predictions(*(part[rows] for part in (truth, first, second)), labels=[0, 1, 2])
             for rows in (slice(0, 100), slice(100, 130), slice(130, 300))]  # fmt: skip
    total = parts[2] + (parts[0] + parts[1])
    assert total.cells.tolist() == whole.cells.tolist()
    assert total.counts.tolist() == whole.counts.tolist()
    assert total.rows == 300
    weighted = cp.PairedCounts.from_predictions([0], [1], [2], labels=[0, 1, 2], sample_weight=[0.5])
    mixed = parts[0] + weighted
    assert mixed.squares.sum() == pytest.approx(100.25)
    with pytest.raises(cp.InputError, match="same classes"):
        _ = whole + cp.PairedCounts.from_predictions([7], [7], [7])


def test_many_classes_are_counted_by_sorting(rng, monkeypatch):
    truth, first, second = models(rng, 300, classes=7)
    table = cp.PairedCounts.from_predictions(truth, first, second)
    monkeypatch.setattr("compromis.evidence.paired.MOST_TABLE", 1)
    by_sorting = cp.PairedCounts.from_predictions(truth, first, second)
    assert table.cells.tolist() == by_sorting.cells.tolist()
    assert table.counts.tolist() == by_sorting.counts.tolist()
