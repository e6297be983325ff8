"""Counts from a data frame of any engine: one group-by, and only its groups come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Flags, Label
from compromis.errors import InputError
from compromis.frames.adding import FileScan, laid_out
from compromis.frames.query import (
    PREDICTION,
    ROWS,
    SQUARE,
    TRUTH,
    WEIGHT,
    Frame,
    Rows,
    TextLabels,
    count_groups,
    refuse_missing,
)
from compromis.frames.reading import FileFrame
from compromis.labels import encode_classes, plain_label

MOST_PAIRS = 1 << 22
"""Distinct pairs that are fetched: more are no confusion matrix."""
Fields = tuple[NDArray[Any], tuple[Label, ...], int, NDArray[np.float64] | None]
"""What `Counts` are made of."""


def count_frame(
    frame: Any, *, truth: str, prediction: str, weight: str | None = None, labels: Sequence[Any] | None = None
) -> Fields:
    """Count true against predicted classes in the frame's engine."""
    if isinstance(frame, FileFrame) and frame.format != "Parquet":  # whose labels are text
        return _count_file(frame, truth=truth, prediction=prediction, weight=weight, labels=labels)
    opened, pairs = _count_pairs(frame, truth, prediction, weight)
    refuse_missing(opened, pairs, [TRUTH, PREDICTION])
    categories = opened.categories.get(TRUTH) or opened.categories.get(PREDICTION) or ()
    return _laid_out(opened, pairs, labels, categories)


def _count_file(frame: FileFrame, **columns: Any) -> Fields:
    with FileScan(frame.path) as scan:
        counts, dropped = scan.counts(**columns, drop_missing=True)
    if dropped:
        raise InputError(
            f"{dropped:,} {'row' if dropped == 1 else 'rows'} of {frame.path} without a label; filter them out first, or give them "
            f"a label of their own"
        )
    return counts.matrix, counts.classes, counts.rows, counts.squares


def count_text_frame(
    frame: Any, *, truth: str, prediction: str, weight: str | None, labels: Sequence[str] | None
) -> tuple[Fields, int]:
    """Count classes written out as text; return the counts, and the rows left out because a class is missing."""
    opened, pairs = _count_pairs(TextLabels(frame), truth, prediction, weight)
    missing = [[value is None for value in pairs.values(key)] for key in (TRUTH, PREDICTION)]
    there: Flags = np.logical_not(np.any(missing, axis=0))
    if not there.any():
        raise InputError("every row lacks its true or predicted class; there is nothing to count")
    return _laid_out(opened, pairs.where(there), labels), int(pairs.counts(ROWS)[~there].sum())


def _count_pairs(frame: Any, truth: str, prediction: str, weight: str | None) -> tuple[Frame, Rows]:
    opened = Frame.open(frame, {TRUTH: truth, PREDICTION: prediction, WEIGHT: weight})
    what = "pairs of true and predicted classes"
    return opened, count_groups(opened, [TRUTH, PREDICTION], MOST_PAIRS, what=what)


def _laid_out(opened: Frame, pairs: Rows, labels: Sequence[Any] | None, categories: Sequence[Any] = ()) -> Fields:
    columns = [opened.labels(pairs, key) for key in (TRUTH, PREDICTION)]
    cells, order = encode_classes(*columns, labels=labels, categories=[*map(plain_label, categories)])
    rows = pairs.counts(ROWS)
    if not opened.weighted:
        return laid_out(cells, rows, len(order)), order, int(rows.sum()), None
    weights, squares = (laid_out(cells, pairs.floats(name), len(order)) for name in (WEIGHT, SQUARE))
    return weights, order, int(rows.sum()), squares
