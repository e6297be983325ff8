"""The predictor for services: needs numpy and the JSON of a decision, nothing of compromis; copy this file where you need it.

decision = load("decision.json")
labels = decide(decision, votes)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

CHUNK = 4096
"""Rows weighted at once: they stay in the cache, so that weighting costs little beside finding the largest."""


def load(path: str | Path) -> dict[str, Any]:
    """Return the decision that `Decision.to_json` wrote."""
    decision: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    if decision["schema"] != "compromis/decision" or decision["version"] != 2:
        raise ValueError(
            f"this is {decision['schema']} {decision['version']}, not compromis/decision 2; write the decision again, or update this file"
        )
    return decision


def decide(decision: dict[str, Any], votes: Any) -> Any:
    """Return the label of each row: the class of the largest weight x (votes + smoothing), the first class in a tie."""
    labels = np.array(decision["classes"])
    return decide_labels(np.asarray(votes), np.array(decision["weights"]), decision["smoothing"], labels)


def decide_labels(votes: Any, weights: Any, smoothing: float, labels: Any) -> Any:
    """Return the label of the largest weight x (votes + smoothing) of each row; argmax gives a tie to the first class."""
    if votes.ndim != 2 or votes.shape[1] != len(weights):
        raise ValueError(f"votes must have {len(weights)} columns, one per class, got shape {votes.shape}")
    predicted = np.empty(len(votes), dtype=labels.dtype)
    weighted = np.empty((min(CHUNK, len(votes)), len(weights)))
    every_row = np.tile(weights, (len(weighted), 1))  # quicker than broadcasting one row
    for start in range(0, len(votes), CHUNK):
        part = votes[start : start + CHUNK]
        if not (part.min() >= 0 and part.max() < np.inf):  # a NaN fails both
            raise ValueError(
                f"votes must be finite and at least 0; rows {start} to {start + len(part) - 1} hold something else"
            )
        score = weighted[: len(part)]
        if smoothing:
            part = np.add(part, smoothing, out=score, dtype=np.float64)
        np.multiply(part, every_row[: len(part)], out=score)
        predicted[start : start + CHUNK] = labels[score.argmax(axis=1)]
    return predicted
