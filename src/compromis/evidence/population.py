"""A population to draw labels from: how many of its rows are predicted as each class, how surely, and what a judge says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import ratio

STEPS = 16
"""The steps of margins: (best - second) / (best + second) of a row's weighted votes lies between 0 and 1."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Population:
    """Cells of rows that are alike to whoever plans labels."""

    classes: tuple[Label, ...]
    cells: Ints
    """Of shape (C, 3): of each cell that has rows, sorted: the position of the predicted class, that of the judge's opinion (-1 without
    a judge), and the step of the margin (-1 where only predictions are known)."""
    sizes: Ints
    """The rows of each cell."""
    shares: Floats | None = None
    """Of shape (C, K): the mean distribution over the classes in each cell, where there are votes."""

    @classmethod
    def from_codes(
        cls,
        classes: Sequence[Label],
        predicted: Ints,
        opinion: Ints | None = None,
        margin: Floats | None = None,
        shares: Floats | None = None,
    ) -> tuple[Population, Ints]:
        """Return the population of checked positions of classes, and the cell of each row."""
        size = len(classes)
        code = codes_of(size, predicted, opinion, None if margin is None else step_of(margin))
        occurs = np.bincount(code, minlength=size * (size + 1) * (STEPS + 1))
        filled = np.flatnonzero(occurs)
        place = np.zeros(len(occurs), dtype=np.int64)
        place[filled] = np.arange(len(filled))
        cell = place[code]
        means = None
        if shares is not None:
            sums = [np.bincount(cell, weights=shares[:, k], minlength=len(filled)) for k in range(size)]
            means = ratio(np.column_stack(sums), occurs[filled][:, np.newaxis])
        cells = cells_of(filled, size)
        return cls(classes=tuple(classes), cells=cells, sizes=occurs[filled], shares=means), cell

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.sizes.sum())

    def check_same(self, other: Population) -> None:
        """Raise if another population, of an earlier phase, is not this one."""
        same = self.classes == other.classes and self.cells.shape == other.cells.shape
        if not (same and (self.cells == other.cells).all() and (self.sizes == other.sizes).all()):
            raise InputError(
                f"after is a plan of other rows: it knows {other.rows:,} rows in {len(other.sizes):,} cells of prediction, margin and "
                f"judge, here are {self.rows:,} in {len(self.sizes):,}; plan the next labels among the same rows, predictions and opinions",
                "after",
            )


def step_of(margin: Floats) -> Ints:
    """Return the step of each margin between 0 and 1."""
    steps: Ints = np.minimum(margin * STEPS, STEPS - 1).astype(np.int64)
    return steps


def codes_of(classes: int, predicted: Ints, opinion: Ints | None, step: Ints | None) -> Ints:
    """Return a number for each predicted class, opinion and step of the margin."""
    code = predicted * (classes + 1) + (0 if opinion is None else opinion + 1)
    return code * (STEPS + 1) + (0 if step is None else step + 1)


def cells_of(codes: Ints, classes: int) -> Ints:
    """Return predicted class, opinion and step of such numbers."""
    rest, step = np.divmod(codes, STEPS + 1)
    predicted, opinion = np.divmod(rest, classes + 1)
    return np.column_stack([predicted, opinion - 1, step - 1])


class FrameSource(Protocol):
    """A data frame to draw rows from, in its engine."""

    @property
    def population(self) -> Population:
        """The cells."""

    @property
    def left_out(self) -> int:
        """The rows without any vote."""

    def take(self, stratum_of: Ints, before: Ints, drawn: Ints, seed: int) -> tuple[Any, Ints, Any]:
        """Return the rows drawn by their ids, their strata, and the rows themselves as a frame."""


def open_population(frame: Any, **columns: Any) -> FrameSource:
    """Count the population of a data frame of any engine; only its cells come back."""
    from compromis.frames.sampling import read_population

    return read_population(frame, **columns)
