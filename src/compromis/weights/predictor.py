"""The predictor for services: needs numpy and the JSON of a decision, nothing of compromis; copy this file where you need it.

decision = load("decision.json")
labels = decide(decision, votes)
labels, review = decide(decision, votes, return_review=True)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

CHUNK = 4096
"""Rows weighted at once: they stay in the cache, so that weighting costs little beside finding the largest."""

FEW = 48
"""Up to so many classes the best and the second are found class by class; with more, row by row is quicker."""


def load(path: str | Path) -> dict[str, Any]:
    """Return the decision that `Decision.to_json` wrote."""
    decision: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    if decision["schema"] != "compromis/decision" or decision["version"] != 2:
        raise ValueError(
            f"this is {decision['schema']} {decision['version']}, not compromis/decision 2; write the decision again, or update this file"
        )
    return decision


def decide(decision: dict[str, Any], votes: Any, *, return_review: bool = False) -> Any:
    """Return the label of each row: the class of the largest weight x (votes + smoothing), the first class in a tie.

    With `return_review` also whether a person should look at the row: its best weighted vote is below ``decision["review"]`` times the
    second, or there is none at all. The label is then what is predicted where nobody looks.
    """
    labels, weights = np.array(decision["classes"]), np.array(decision["weights"])
    votes, smoothing = np.asarray(votes), decision["smoothing"]
    if not return_review:
        return decide_labels(votes, weights, smoothing, labels)
    return decide_or_review(votes, weights, smoothing, labels, decision.get("review"))


def decide_labels(votes: Any, weights: Any, smoothing: float, labels: Any) -> Any:
    """Return the label of the largest weight x (votes + smoothing) of each row; argmax gives a tie to the first class."""
    predicted = np.empty(len(votes), dtype=labels.dtype)
    for rows, score in weighted(votes, weights, smoothing):
        predicted[rows] = labels[score.argmax(axis=1)]
    return predicted


def decide_or_review(votes: Any, weights: Any, smoothing: float, labels: Any, ratio: float | None) -> Any:
    """Return the labels, and whether a person should look at each row; without a ratio nobody looks at any."""
    if ratio is None:
        return decide_labels(votes, weights, smoothing, labels), np.zeros(len(votes), dtype=bool)
    predicted, review = np.empty(len(votes), dtype=labels.dtype), np.empty(len(votes), dtype=bool)
    for rows, score in weighted(votes, weights, smoothing):
        position, best, second = best_and_second(score)
        predicted[rows] = labels[position]
        review[rows] = needs_review(best, second, ratio)
    return predicted, review


def needs_review(best: Any, second: Any, ratio: float) -> Any:
    """Return which rows a person looks at, by their best and second weighted vote: near calls, and rows without votes."""
    near = best < second * ratio
    return near if best.all() else near | (best == 0)


def best_and_second(score: Any) -> Any:
    """Return the position of the best of each row, the first in a tie, its score, and that of the second; `score` is used up."""
    classes = score.shape[1]
    if classes == 2:
        first, last = score[:, 0], score[:, 1]
        return (last > first).view(np.int8), np.maximum(first, last), np.minimum(first, last)
    if classes <= FEW:
        return _best_turned(np.ascontiguousarray(score.T))
    flat, start = score.reshape(-1), np.arange(0, score.size, classes)
    position = score.argmax(axis=1)
    best = flat[start + position]
    flat[start + position] = -1.0
    return position, best, flat[start + score.argmax(axis=1)]


def _best_turned(score: Any) -> Any:
    """Return the same from one line for each class, where numpy compares many rows at once."""
    best = score.max(axis=0)
    number = np.arange(len(score), 0, -1, dtype=np.uint8)  # falling, so that the first of equal classes has the largest
    position = len(score) - ((score == best) * number[:, np.newaxis]).max(axis=0)
    score[position, np.arange(len(position))] = -1.0
    return position, best, score.max(axis=0)


def weighted(votes: Any, weights: Any, smoothing: float) -> Iterator[tuple[slice, Any]]:
    """Yield weight x (votes + smoothing) of some rows at a time, in an array that is used again."""
    if votes.ndim != 2 or votes.shape[1] != len(weights):
        raise ValueError(f"votes must have {len(weights)} columns, one per class, got shape {votes.shape}")
    kept = np.empty((min(CHUNK, len(votes)), len(weights)))
    every_row = np.tile(weights, (len(kept), 1))  # quicker than broadcasting one row
    for start in range(0, len(votes), CHUNK):
        part = votes[start : start + CHUNK]
        if not (part.min() >= 0 and part.max() < np.inf):  # a NaN fails both
            raise ValueError(
                f"votes must be finite and at least 0; rows {start} to {start + len(part) - 1} hold something else"
            )
        score = kept[: len(part)]
        if smoothing:
            part = np.add(part, smoothing, out=score, dtype=np.float64)
        np.multiply(part, every_row[: len(part)], out=score)
        yield slice(start, start + len(part)), score
