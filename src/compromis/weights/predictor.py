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
"""Rows weighed at once: they stay in the cache, so that weighing costs little beside finding the largest."""


def load(path: str | Path) -> dict[str, Any]:
    """Return the decision that `Decision.to_json` wrote."""
    decision: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    if decision["schema"] != "compromis/decision" or decision["version"] > 1:
        raise ValueError(
            f"this is {decision['schema']} {decision['version']}, not compromis/decision 1; update this file"
        )
    return decision


def decide(decision: dict[str, Any], votes: Any) -> Any:
    """Return the label of each row: the class of the largest weight x (votes + smoothing), the first one in a tie."""
    labels = np.array(decision["classes"])
    return largest(np.asarray(votes), np.array(decision["weights"]), decision["smoothing"], labels)


def largest(votes: Any, weights: Any, smoothing: float = 0.0, labels: Any = None) -> Any:
    """Return the label (without `labels` the position) of the largest weight x (votes + smoothing); argmax gives ties to the first."""
    if votes.ndim != 2 or votes.shape[1] != len(weights):
        raise ValueError(f"votes must have {len(weights)} columns, one per class, got shape {votes.shape}")
    names = np.arange(len(weights)) if labels is None else labels
    predicted = np.empty(len(votes), dtype=names.dtype)
    weighed = np.empty((min(CHUNK, len(votes)), len(weights)))
    every_row = np.tile(weights, (len(weighed), 1))  # quicker than one row spread over all of them
    for start in range(0, len(votes), CHUNK):
        part = votes[start : start + CHUNK]
        if not (part.min() >= 0 and part.max() < np.inf):  # a NaN fails both
            raise ValueError(
                f"votes must be finite and at least 0; rows {start} to {start + len(part) - 1} hold something else"
            )
        score = weighed[: len(part)]
        if smoothing:
            part = np.add(part, smoothing, out=score, dtype=np.float64)
        np.multiply(part, every_row[: len(part)], out=score)
        predicted[start : start + CHUNK] = names[score.argmax(axis=1)]
    return predicted
