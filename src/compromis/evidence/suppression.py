"""Small cells kept back, so that evidence can leave a place whose rows may not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes


class Suppressed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many cells were kept back, and of how many rows each has at most.

    Attributes
    ----------
    min_cell : int
        Cells of fewer rows were kept back; 0: none were.
    cells : int
        How many there were.
    """

    min_cell: int = 0
    cells: int = 0

    @property
    def most_rows(self) -> int:
        """The largest number of rows that can be missing."""
        return self.cells * max(self.min_cell - 1, 0)

    def checked(self) -> Suppressed:
        """Return itself, or refuse numbers that cannot be."""
        if self.min_cell < 0 or self.cells < 0:
            raise InputError("the numbers of suppressed cells are at least 0")
        return self

    def __add__(self, other: Suppressed) -> Suppressed:
        return Suppressed(max(self.min_cell, other.min_cell), self.cells + other.cells)

    def __str__(self) -> str:
        if not self.cells:
            return ""
        return (
            f"{self.cells:,} {'cell' if self.cells == 1 else 'cells'} of fewer than {self.min_cell} rows kept back: "
            f"up to {self.most_rows:,} rows are missing"
        )


def suppress(evidence: Any, min_cell: int) -> tuple[Any, Suppressed]:
    """Return evidence without cells of 1 to `min_cell` - 1 rows, and how many those were; totals follow from what is left."""
    if isinstance(min_cell, bool) or not isinstance(min_cell, int) or min_cell < 0:
        raise InputError(f"min_cell is a whole number of at least 0, got {min_cell!r}")
    if min_cell <= 1:
        return evidence, Suppressed()
    if isinstance(evidence, Counts):
        return _counts(evidence, min_cell)
    if isinstance(evidence, Votes):
        return _patterns(evidence, min_cell)
    return _points(evidence, min_cell)


def _counts(counts: Counts, min_cell: int) -> tuple[Counts, Suppressed]:
    _refuse_weights(counts.matrix)
    small = (counts.matrix > 0) & (counts.matrix < min_cell)
    matrix = np.where(small, 0, counts.matrix)
    return Counts(matrix, counts.classes, int(matrix.sum())), Suppressed(min_cell, int(small.sum()))


def _patterns(patterns: Votes, min_cell: int) -> tuple[Votes, Suppressed]:
    _refuse_weights(patterns.multiplicity)
    kept = patterns.multiplicity >= min_cell
    left_out = patterns.left_out if patterns.left_out >= min_cell else 0
    if not kept.any():
        raise InputError(f"every pattern of votes has fewer than {min_cell} rows; bin the votes, or lower min_cell")
    cells = int((~kept).sum()) + int(left_out != patterns.left_out)
    sizes = patterns.multiplicity[kept]
    return replace(
        patterns, votes=patterns.votes[kept], truth=patterns.truth[kept], multiplicity=sizes, rows=int(sizes.sum()),
        left_out=left_out,
    ), Suppressed(min_cell, cells)  # fmt: skip


def _points(points: OperatingPoints, min_cell: int) -> tuple[OperatingPoints, Suppressed]:
    _refuse_weights(points.true_positives)
    if not points.binned:
        raise InputError(
            "every distinct score is a cell of its own, which reveals rows; count scores in bins to keep small cells back"
        )
    inside = np.diff(np.stack([points.true_positives, points.false_positives]), axis=1)
    small = (inside > 0) & (inside < min_cell)
    kept = np.where(small, 0, inside)
    found = OperatingPoints.from_bins(points.threshold[1:], kept[0], kept[1], pos_label=points.pos_label)
    return found, Suppressed(min_cell, int(small.sum()))


def _refuse_weights(cells: Any) -> None:
    if cells.dtype.kind == "f":
        raise InputError(
            "weighted evidence does not say how many rows a cell has; count without weights to keep small cells back"
        )
