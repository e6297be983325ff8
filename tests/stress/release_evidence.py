"""Evidence files of a release against the rows they were counted in, counted again in plain Python."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import compromis as cp

CLASSES = ("ill", "unsure", "well")
MIN_CELL = 4


def read_rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows that the evidence was counted in."""
    with (folder / "counted.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_twice(folder: Path, name: str) -> tuple[cp.evidence.EvidenceFile, cp.evidence.EvidenceFile]:
    """Return the evidence in a file, and that of the file merged with itself."""
    one = cp.evidence.read(folder / name)
    return one, cp.evidence.merge([one, cp.evidence.read(folder / name)])


def same_counts(folder: Path, name: str, *, least: int = 0) -> int:
    """Cells are the pairs of labels; those of fewer than `least` rows are empty, and their number is noted."""
    file, twice = read_twice(folder, name)
    pairs = Counter((row["truth"], row["predicted"]) for row in read_rows(folder))
    expected = [[count if (count := pairs[t, d]) >= least else 0 for d in CLASSES] for t in CLASSES]
    assert file.evidence.classes == CLASSES
    assert file.evidence.matrix.tolist() == expected
    assert file.evidence.rows == sum(map(sum, expected))
    assert twice.evidence.matrix.tolist() == [[2 * cell for cell in line] for line in expected]
    _kept_back(file, least, sum(0 < count < least for count in pairs.values()))
    return 2 * len(CLASSES) ** 2 + 3


def _kept_back(file: cp.evidence.EvidenceFile, least: int = 0, cells: int = 0) -> None:
    assert (file.suppressed.min_cell, file.suppressed.cells) == (least, cells)


def same_weighted(folder: Path, name: str) -> int:
    """Cells are sums of weights, with the sums of their squares beside them."""
    file, twice = read_twice(folder, name)
    rows = read_rows(folder)
    assert file.evidence.classes == CLASSES
    assert file.evidence.rows == len(rows)
    _kept_back(file)
    for i, truth in enumerate(CLASSES):
        for j, predicted in enumerate(CLASSES):
            cell = [float(row["weight"]) for row in rows if (row["truth"], row["predicted"]) == (truth, predicted)]
            _close(file.evidence.matrix[i, j], math.fsum(cell))
            _close(file.evidence.squares[i, j], math.fsum(weight**2 for weight in cell))
            _close(twice.evidence.matrix[i, j], 2 * math.fsum(cell))
    return 3 * len(CLASSES) ** 2 + 2


def _close(found: float, expected: float) -> None:
    assert math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-15), f"{found!r}, was {expected!r}"


def same_patterns(folder: Path, name: str) -> int:
    """Patterns are the distinct rows of votes with their true class; rows without votes are left out."""
    file, twice = read_twice(folder, name)
    votes = [(row["truth"], tuple(float(row[label]) for label in CLASSES)) for row in read_rows(folder)]
    expected = Counter(one for one in votes if any(one[1]))
    for evidence, times in ((file.evidence, 1), (twice.evidence, 2)):
        found = {
            (CLASSES[truth], tuple(map(float, line))): count
            for line, truth, count in zip(evidence.votes, evidence.truth, evidence.multiplicity.tolist(), strict=True)
        }
        assert found == {pattern: times * count for pattern, count in expected.items()}
        assert evidence.rows == times * expected.total()
        assert evidence.left_out == times * (len(votes) - expected.total())
        assert evidence.width == 0
    assert file.evidence.classes == CLASSES
    _kept_back(file)
    return 2 * len(expected) + 7


def same_points(folder: Path, name: str, *, cuts: tuple[float, ...] | None = None) -> int:
    """Each cut has the rows of either kind that score at least as much; the cuts are the scores, or those given."""
    file, twice = read_twice(folder, name)
    scored = [(row["truth"] == "ill", float(row["score"])) for row in read_rows(folder)]
    levels = sorted({score for _, score in scored} if cuts is None else set(cuts), reverse=True)
    for evidence, times in ((file.evidence, 1), (twice.evidence, 2)):
        assert evidence.pos_label == "ill"
        assert evidence.binned is (cuts is not None)
        assert evidence.threshold[1:].tolist() == levels
        for kind, counts in ((True, evidence.true_positives), (False, evidence.false_positives)):
            reached = [0, *(sum(score >= cut for ill, score in scored if ill is kind) for cut in levels)]
            assert np.asarray(counts).tolist() == [times * count for count in reached]
    _kept_back(file)
    return 4 * len(levels)


EVIDENCE: dict[str, Callable[[Path, str], int]] = {
    "evidence_counts.json": same_counts,
    "evidence_kept_back.json": partial(same_counts, least=MIN_CELL),
    "evidence_weighted.json": same_weighted,
    "evidence_patterns.json": same_patterns,
    "evidence_points.json": same_points,
    "evidence_binned.json": partial(same_points, cuts=(0.75, 0.5, 0.25, 0.0)),
}
