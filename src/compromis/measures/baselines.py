"""What naive decisions would reach on the same rows: every result is shown beside them."""

from __future__ import annotations

import numpy as np

from compromis.evidence import Counts


def constant_decision(counts: Counts, position: int) -> Counts:
    """Return the counts of always deciding the class at `position` (the trade-off paper's maximal group)."""
    matrix = np.zeros_like(counts.matrix)
    matrix[:, position] = counts.support
    return Counts(matrix, counts.classes, counts.rows)


def random_decision(counts: Counts) -> Counts:
    """Return the expected counts of deciding at random with the classes' shares (the naive baseline of 004).

    As for the trade-off paper's random group, the expected precision of class k is its share of the rows.
    """
    support = counts.support.astype(np.float64)
    return Counts(np.outer(support, support) / max(support.sum(), np.finfo(float).tiny), counts.classes, counts.rows)
