"""Moving draws to where the pseudo-rows would move a measure if it had them for itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compromis._typing import Floats
from compromis.evidence.grouped import GroupedCounts
from compromis.uncertainty.drawing import CELLS_AT_ONCE, PRIOR, Evidence, counts_of, prior_for, row_scale, typical_group

MOST_CLASSES = 64
"""Above, the K x K slopes of every measure cost more than they mend, and draws stay where they are."""
STEP = 1e-6
BOUNDS = {"kappa": (-1.0, 1.0), "matthews": (-1.0, 1.0), "average_cost": (-np.inf, np.inf)}
"""Every other measure lies in [0, 1]."""

Measures = Callable[[Floats], dict[str, Floats]]


def centre(evidence: Evidence, measures: Measures, drawn: dict[str, Floats]) -> dict[str, Floats]:
    """Return the draws of each measure, moved by what its own pseudo-rows would do instead of everybody's.

    Notes
    -----
    Each class has its pseudo-rows, so that its recall and precision are covered. In an average over K classes the shifts of all K
    add up, while the spread of an average falls: kappa of six classes was covered in 88 %. By the expansion of Cornish and Fisher the
    shift that makes an interval equal-tailed is proportional to the third cumulant over the second; with slopes g and rows m
    of the cells, PRIOR sum g^3 m / sum g^2 m. For a recall or a precision this is the very shift of its own pseudo-rows.
    """
    counts = counts_of(evidence)
    if len(counts.classes) > MOST_CLASSES:
        return drawn
    scale = row_scale(counts)
    if isinstance(evidence, GroupedCounts):
        scale = np.full(counts.matrix.shape, typical_group(evidence))
    prior = prior_for(counts)
    smooth = counts.matrix + prior * scale
    observed, start = measures(counts.matrix[np.newaxis]), measures(smooth[np.newaxis])
    rows = (smooth / scale).ravel()
    slopes = _slopes(measures, smooth, scale, start)
    moved = {}
    for name, draws in drawn.items():
        slope = slopes[name]
        spread = np.einsum("ck,c->k", slope**2, rows)
        own = PRIOR * np.divide(
            np.einsum("ck,c->k", slope**3, rows), spread, out=np.zeros_like(spread), where=spread > 0
        )
        shift = own - (start[name] - observed[name]).ravel()
        low, high = BOUNDS.get(name, (0.0, 1.0))
        moved[name] = np.clip(draws + np.nan_to_num(shift).reshape(draws.shape[1:]), low, high)
    return moved


def _slopes(measures: Measures, smooth: Floats, scale: Floats, start: dict[str, Floats]) -> dict[str, Floats]:
    """Return the slope of each measure in the effective rows of each cell, of shape (K * K, numbers)."""
    cells, step = smooth.size, STEP * float((smooth / scale).sum())
    at_once = max(1, CELLS_AT_ONCE // cells)
    parts: list[dict[str, Floats]] = []
    for first in range(0, cells, at_once):
        size = min(at_once, cells - first)
        stack = np.repeat(smooth.reshape(1, cells), size, axis=0)
        stack[np.arange(size), first + np.arange(size)] += step * scale.ravel()[first : first + size]
        parts.append(measures(stack.reshape(size, *smooth.shape)))
    return {
        name: (np.concatenate([part[name].reshape(len(part[name]), -1) for part in parts]) - start[name].reshape(1, -1))
        / step
        for name in start
    }
