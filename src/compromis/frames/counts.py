"""Counts from a data frame of any engine: one group-by, and only its groups come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compromis._typing import Flags
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.frames.adding import FileScan, laid_out
from compromis.frames.query import ROWS, SQUARE, TRUTH, WEIGHT, Frame, Rows, count_groups, refuse_missing
from compromis.frames.reading import FileFrame
from compromis.labels import LabelColumn, encode_classes, plain_label, read_labels

PREDICTION = "prediction"
MOST_PAIRS = 1 << 22
"""Distinct pairs that are fetched: more are no confusion matrix."""
Spell = Callable[[Any], str]
"""Writes out a label as text."""


def count_frame(
    frame: Any, *, truth: str, prediction: str, weight: str | None = None, labels: Sequence[Any] | None = None
) -> Counts:
    """Count true against predicted classes in the frame's engine."""
    if isinstance(frame, FileFrame) and frame.format != "Parquet":  # whose labels are text
        return _count_file(frame, truth=truth, prediction=prediction, weight=weight, labels=labels)
    opened, pairs = _count_pairs(frame, truth, prediction, weight)
    refuse_missing(opened, pairs, [TRUTH, PREDICTION])
    categories = opened.categories.get(TRUTH) or opened.categories.get(PREDICTION) or ()
    return _counts_of_pairs(opened, pairs, np.ones(len(pairs), dtype=bool), labels, categories)


def _count_file(frame: FileFrame, **columns: Any) -> Counts:
    with FileScan(frame.path) as scan:
        counts, dropped = scan.counts(**columns, drop_missing=True)
    if dropped:
        raise InputError(
            f"{dropped:,} {'row' if dropped == 1 else 'rows'} of {frame.path} without a label; filter them out first, or give them "
            f"a label of their own"
        )
    return counts


def count_text_frame(
    frame: Any, *, truth: str, prediction: str, weight: str | None, labels: Sequence[str] | None, spell: Spell
) -> tuple[Counts, int]:
    """Count classes written out as text by `spell`; return the counts, and the rows left out because a class is missing."""
    opened, pairs = _count_pairs(frame, truth, prediction, weight)
    missing = [value is None for value in pairs.values(TRUTH)], [value is None for value in pairs.values(PREDICTION)]
    there: Flags = np.logical_not(np.any(missing, axis=0))
    if not there.any():
        raise InputError("every row lacks its true or predicted class; there is nothing to count")
    counts = _counts_of_pairs(opened, pairs, there, labels, (), spell)
    return counts, int(pairs.counts(ROWS)[~there].sum())


def read_keys(
    opened: Frame, rows: Rows, key: str, spell: Spell | None = None, kept: Flags | None = None
) -> LabelColumn:
    """Return the labels that a column of groups holds, checked."""
    values = rows.values(key)
    if kept is not None:
        values = [value for value, wanted in zip(values, kept, strict=True) if wanted]
    return read_labels(values if spell is None else [spell(value) for value in values], f"column {opened.named[key]!r}")


def _count_pairs(frame: Any, truth: str, prediction: str, weight: str | None) -> tuple[Frame, Rows]:
    opened = Frame.open(frame, {TRUTH: truth, PREDICTION: prediction, WEIGHT: weight})
    what = "pairs of true and predicted classes"
    return opened, count_groups(opened, [TRUTH, PREDICTION], MOST_PAIRS, what=what)


def _counts_of_pairs(
    opened: Frame,
    pairs: Rows,
    kept: Flags,
    labels: Sequence[Any] | None,
    categories: tuple[Any, ...],
    spell: Spell | None = None,
) -> Counts:
    """Return the counts of the pairs that are kept."""
    columns = [read_keys(opened, pairs, key, spell, kept) for key in (TRUTH, PREDICTION)]
    cells, order = encode_classes(*columns, labels=labels, categories=[*map(plain_label, categories)])
    rows = pairs.counts(ROWS)[kept]
    if not opened.weighted:
        return Counts(matrix=laid_out(cells, rows, len(order)), classes=order, rows=int(rows.sum()))
    weights, squares = (laid_out(cells, pairs.floats(name)[kept], len(order)) for name in (WEIGHT, SQUARE))
    return Counts(matrix=weights, classes=order, rows=int(rows.sum()), squares=squares)
