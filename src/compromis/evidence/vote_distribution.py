"""How the votes for one class are distributed over the rows of each true class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError, nearest, shown
from compromis.evidence.votes import Votes
from compromis.labels import plain_label

_ROUNDING = 1e-9
"""Shares such as 0.35 must not fall below the middle between two bins by rounding alone."""


@dataclass(frozen=True, slots=True, eq=False)
class VoteDistribution:
    """The rows of each true class by the share of votes that one class got.

    Attributes
    ----------
    label : label
        The class whose votes are counted.
    classes : tuple
        The true classes, in the order of the columns.
    share : ndarray of shape (bins + 1,)
        0, 1 / bins, ..., 1: each row is counted at the nearest.
    rows : ndarray of shape (bins + 1, K)
        The rows (or weights) there, by true class; those without any vote for the class apart.
    unvoted : ndarray of shape (K,)
        The rows (or weights) of each true class without any vote for the class: no weight can decide them for it.
    """

    label: Label
    classes: tuple[Label, ...]
    share: NDArray[np.float64]
    rows: NDArray[Any]
    unvoted: NDArray[Any]

    @property
    def place(self) -> int:
        """The column of the class itself."""
        return self.classes.index(self.label)


def vote_distribution(patterns: Votes, label: Any, *, bins: int = 20) -> VoteDistribution:
    """Return the distribution of the votes for `label`, by true class.

    Parameters
    ----------
    patterns : Votes
        The votes with their true classes.
    label : label
        The class whose votes are counted.
    bins : int
        Into how many steps the shares from 0 to 1 are divided; the number of trees gives every share its own place.

    Notes
    -----
    Figure 2 of the PRAGMA paper.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.evidence.vote_distribution import vote_distribution
    >>> patterns = cp.Votes.from_proba(["a", "a", "b", "b"], [[3, 1], [2, 2], [0, 4], [4, 0]])
    >>> found = vote_distribution(patterns, "a", bins=4)
    >>> found.rows.tolist(), found.unvoted.tolist()
    ([[0, 0], [0, 0], [1, 0], [1, 0], [0, 1]], [0, 1])
    """
    if not isinstance(patterns, Votes):
        raise InputError(f"patterns are compromis.Votes, got {type(patterns).__name__}; use from_proba")
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise InputError(f"bins is a whole number of at least 1, got {bins!r}")
    chosen = plain_label(label)
    if chosen not in patterns.classes:
        known = patterns.classes
        raise InputError(f"there is no class {chosen!r}{nearest(chosen, known)}; the classes are {shown(known)}")
    share = _shares(patterns, patterns.classes.index(chosen))
    voted = share > 0
    rows = np.zeros((bins + 1, len(patterns.classes)), dtype=patterns.multiplicity.dtype)
    unvoted = np.zeros(len(patterns.classes), dtype=patterns.multiplicity.dtype)
    steps = np.floor(share * bins + 0.5 + _ROUNDING).astype(np.int64)
    np.add.at(rows, (steps[voted], patterns.truth[voted]), patterns.multiplicity[voted])
    np.add.at(unvoted, patterns.truth[~voted], patterns.multiplicity[~voted])
    return VoteDistribution(chosen, patterns.classes, np.arange(bins + 1) / bins, rows, unvoted)


def _shares(patterns: Votes, place: int) -> NDArray[np.float64]:
    """The share of each pattern's votes that the class got; 0 for rows without any vote, which have no multiplicity."""
    total = np.asarray(patterns.votes.sum(axis=1), dtype=np.float64).reshape(-1)
    column = patterns.votes[:, [place]]
    got = np.asarray(column.todense() if hasattr(column, "todense") else column, dtype=np.float64).reshape(-1)
    share: NDArray[np.float64] = np.divide(got, total, out=np.zeros(len(total)), where=total > 0)
    return share
