"""What changed between two sets of labelled rows: the class shares, or what the rows of a class are predicted as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.evidence import Counts

SURE = 0.01
"""The chance of a false alarm, over all classes together."""


@dataclass(frozen=True, slots=True)
class Change:
    """What differs from the reference beyond chance.

    Attributes
    ----------
    shares : bool
        Whether the classes have other shares.
    rows_of : tuple of labels
        The classes whose rows are predicted differently: no new class shares can do that.
    """

    shares: bool
    rows_of: tuple[Label, ...]


def change_between(reference: Counts, counts: Counts) -> Change:
    """Compare counts of the same classes by chi-squared tests: of the class totals, and of each class's decisions."""
    before, after = _effective(reference), _effective(counts)
    classes = counts.classes
    differing = tuple(
        label for k, label in enumerate(classes) if _chance(before[k], after[k]) < SURE / max(len(classes), 1)
    )
    return Change(_chance(before.sum(axis=1), after.sum(axis=1)) < SURE, differing)


def _effective(counts: Counts) -> NDArray[np.float64]:
    """Counts as of rows of equal weight: weighted rows tell as much as fewer unweighted ones."""
    cells = counts.matrix.astype(np.float64)
    if counts.squares is None or not counts.squares.sum() > 0:
        return cells
    scaled: NDArray[np.float64] = cells * (cells.sum() / counts.squares.sum())
    return scaled


def _chance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The chance of so large a difference if there were none; 1 where there is nothing to compare."""
    from scipy.stats import chi2_contingency

    table = np.array([first, second])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 1.0
    return float(chi2_contingency(table).pvalue)
