"""5. Counts to 2^62 against Python's integers, and scores of 16, 32 and 64 bits counted exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

import compromis as cp
from compromis.errors import InputError
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.ranking import average_precision, roc_area
from tests import oracle
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.promise_01_oracle import RATES, WHOLE, agree

TITLE = "counts to 2^62 and scores of 16, 32 and 64 bits"
FULL = 20_000
QUICK = 0.004


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases in which a count or a rate is not that of Python's integers."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> None:
    """Large counts, their sums, and scores of every width."""
    rng = np.random.default_rng(seed)
    check_large(rng)
    check_sums(rng)
    check_scores(rng, (np.float16, np.float32, np.float64)[seed % 3])
    check_large_ranking(rng)


def large_cells(rng: Any, classes: int, room: int) -> list[list[int]]:
    """Whole numbers of very different sizes that add up to at most 2^room."""
    bits = room - int(np.ceil(np.log2(classes * classes)))
    sizes = rng.integers(0, bits + 1, (classes, classes))
    return [[int(rng.integers(0, 2 ** int(b), endpoint=True)) if b else 0 for b in row] for row in sizes]


def check_large(rng: Any) -> None:
    """Margins are equal, rates within 8 units of the exact ones."""
    classes = int(rng.integers(2, 6))
    cells = large_cells(rng, classes, 62)
    cells[0][0] += 1
    counts = cp.Counts.from_matrix(np.array(cells, dtype=np.int64), range(classes))
    assert counts.matrix.tolist() == cells
    assert counts.total == sum(map(sum, cells)), "total"
    assert counts.support.tolist() == [sum(row) for row in cells], "support"
    assert counts.predicted.tolist() == [sum(column) for column in zip(*cells, strict=True)], "predicted"
    found = rates.class_rates(counts)
    for name, theirs in RATES.items():
        for k, value in enumerate(found[name]):
            agree(value, theirs(cells, k), f"{name} of class {k}")
    for name, (measure, theirs) in WHOLE.items():
        agree(measure(counts), theirs(cells), name)
    assert rates.class_rates(counts)["share_predicted"].sum() <= 1 + 1e-12
    assert -1 <= agreement.kappa(counts) <= 1 or len(set(map(tuple, cells))) == 1


def check_sums(rng: Any) -> None:
    """Two counts add up as Python's integers do, or say that 64 bits do not hold the sum."""
    parts = [large_cells(rng, 2, int(room)) for room in rng.integers(50, 63, 4)]
    if rng.random() < 0.5:
        parts[1][1][0] += 2**62  # with the next one too much, or just not
        parts[2][1][0] += 2**62 - int(rng.integers(0, 2)) * 2**61
    total, expected = None, [[0, 0], [0, 0]]
    for cells in parts:
        one = cp.Counts.from_matrix(np.array(cells, dtype=np.int64), "ab")
        expected = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(expected, cells, strict=True)]
        try:
            total = one if total is None else total + one
        except InputError:
            assert sum(map(sum, expected)) >= 2**63, "a sum that fits was refused"
            return
        assert total.matrix.tolist() == expected, f"sum {total.matrix.tolist()}, exactly {expected}"
        assert total.total == sum(map(sum, expected)), "total of the sum"


def check_scores(rng: Any, dtype: Any) -> None:
    """Every distinct score is a cut, with exactly the rows at or above it; neighbours of any width stay apart."""
    rows = int(rng.integers(1, 25))
    middle = dtype(rng.choice([0.1, 0.5, 1.0, 1e-3, 60.0]))
    neighbours = [np.nextafter(middle, dtype(0)), middle, np.nextafter(middle, dtype(100)), dtype(0), -middle]
    score = np.array([neighbours[i] for i in rng.integers(0, 5, rows)], dtype=dtype)
    flags = rng.random(rows) < 0.5
    points = cp.OperatingPoints.from_predictions(flags, score)
    expected = oracle.cuts([float(s) for s in score], flags.tolist())
    found = zip(points.threshold.tolist(), points.true_positives.tolist(), points.false_positives.tolist(), strict=True)
    assert list(found) == [(np.inf if t is None else t, tp, fp) for t, tp, fp, _, _ in expected]


def check_large_ranking(rng: Any) -> None:
    """Areas from bins of up to 2^58 rows, where products of counts outgrow 64 bits."""
    bins = int(rng.integers(1, 6))
    hits, alarms = ([int(2.0 ** rng.uniform(0, 58)) for _ in range(bins)] for _ in range(2))
    points = cp.OperatingPoints.from_bins(np.arange(bins)[::-1], hits, alarms, pos_label=1)
    score, flags = list(range(bins)[::-1]) * 2, [True] * bins + [False] * bins
    agree(roc_area(points), oracle.auc(score, flags, hits + alarms), "area under the ROC curve", weighted=True)
    expected = oracle.average_precision(score, flags, hits + alarms)
    agree(average_precision(points), expected, "average precision", weighted=True)
