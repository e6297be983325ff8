"""Counts from a data frame of any engine: one group-by, and only its groups come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Ints
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.frames.query import ROWS, SQUARE, WEIGHT, Frame, Rows, count_groups, refuse_missing
from compromis.labels import LabelColumn, encode_classes, plain_label, read_labels

TRUTH, PREDICTION = "truth", "prediction"
MOST_PAIRS = 1 << 22
"""Distinct pairs that are fetched: more are no confusion matrix."""
Spell = Callable[[Any], str]


def count_frame(
    frame: Any, *, truth: str, prediction: str, weight: str | None = None, labels: Sequence[Any] | None = None
) -> Counts:
    """Count true against predicted classes in the frame's engine."""
    opened = open_pairs(frame, truth, prediction, weight)
    pairs = count_groups(opened, [TRUTH, PREDICTION], MOST_PAIRS, what="pairs of true and predicted classes")
    refuse_missing(opened.named, pairs, [TRUTH, PREDICTION])
    categories = opened.categories.get(TRUTH) or opened.categories.get(PREDICTION) or ()
    return counts_of_pairs(opened, pairs, np.ones(len(pairs), dtype=bool), labels, categories)


def count_text_frame(
    frame: Any, *, truth: str, prediction: str, weight: str | None, labels: Sequence[str] | None, spell: Spell
) -> tuple[Counts, int]:
    """Count classes written out as text by `spell`; return the counts, and the rows left out because a class is missing."""
    opened = open_pairs(frame, truth, prediction, weight)
    pairs = count_groups(opened, [TRUTH, PREDICTION], MOST_PAIRS, what="pairs of true and predicted classes")
    there = ~(_missing(pairs, TRUTH) | _missing(pairs, PREDICTION))
    if not there.any():
        raise InputError("every row lacks its true or predicted class; there is nothing to count")
    counts = counts_of_pairs(opened, pairs, there, labels, (), spell)
    return counts, int(pairs.counts(ROWS)[~there].sum())


def open_pairs(frame: Any, truth: str, prediction: str, weight: str | None) -> Frame:
    """Open the columns that counts are made of."""
    named = {TRUTH: truth, PREDICTION: prediction}
    return Frame.open(frame, named if weight is None else named | {WEIGHT: weight})


def counts_of_pairs(
    opened: Frame,
    pairs: Rows,
    kept: NDArray[np.bool_],
    labels: Sequence[Any] | None,
    categories: tuple[Any, ...],
    spell: Spell | None = None,
) -> Counts:
    """Return the counts of the pairs that are kept."""
    columns = [read_keys(opened, pairs, key, kept, spell) for key in (TRUTH, PREDICTION)]
    (truth, prediction), order = encode_classes(*columns, labels=labels, categories=[*map(plain_label, categories)])
    cells = truth, prediction
    rows = pairs.counts(ROWS)[kept]
    if WEIGHT not in opened.named:
        return Counts(_summed(cells, rows, len(order)), order, int(rows.sum()))
    weights, squares = (_summed(cells, pairs.floats(name)[kept], len(order)) for name in (WEIGHT, SQUARE))
    return Counts(weights, order, int(rows.sum()), squares)


def read_keys(opened: Frame, rows: Rows, key: str, kept: NDArray[np.bool_], spell: Spell | None = None) -> LabelColumn:
    """Return the labels that a column of groups holds, checked."""
    values = [value for value, wanted in zip(rows.values(key), kept, strict=True) if wanted]
    return read_labels(values if spell is None else [spell(value) for value in values], f"column {opened.named[key]!r}")


def _missing(rows: Rows, key: str) -> NDArray[np.bool_]:
    return np.array([value is None for value in rows.values(key)], dtype=bool)


def _summed(cells: tuple[Ints, Ints], values: NDArray[Any], classes: int) -> NDArray[Any]:
    matrix = np.zeros((classes, classes), dtype=values.dtype)
    np.add.at(matrix, cells, values)
    return matrix
