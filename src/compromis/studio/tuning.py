"""Tuning: a first answer at once from the weights before, then the full search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.votes import VotePatterns
from compromis.measures.baselines import shortfall
from compromis.preferences import Preferences
from compromis.studio.comparing import class_rates
from compromis.studio.jobs import Job
from compromis.weights import Sweep, WeightSearch, search_weights


def tune(
    patterns: VotePatterns,
    preferences: Preferences,
    smoothing: float,
    before: NDArray[np.float64],
    job: Job,
) -> WeightSearch:
    """Return the best weights found; the descent from the weights `before` is offered to those who wait.

    The descent takes a tenth of the full search, and a wish that changed a little has its best weights near.
    """

    def progress(share: float, loss: float) -> None:
        job.report(0.95 * share, f"loss {loss:.4f}")

    near = search_weights(
        patterns,
        preferences=preferences,
        smoothing=smoothing,
        method=Sweep(rounds=0, start=tuple(before.tolist())),
        progress=lambda _, loss: job.report(0.0, f"loss {loss:.4f}"),
    )
    job.offer(search_shown(near))
    full = search_weights(patterns, preferences=preferences, smoothing=smoothing, progress=progress)
    return min(full, near, key=lambda one: (shortfall(one.counts, one.wish), one.loss))


def search_shown(found: WeightSearch) -> dict[str, Any]:
    """Return a search for the page."""
    return {
        "weights": found.weights.tolist(),
        "counts": found.counts.matrix.tolist(),
        "loss": found.loss,
        "optimal": found.optimal,
        "feasible": found.feasible,
        "method": found.method,
        "message": found.message,
        "seconds": found.seconds,
        "verdict": str(found.verdict),
        **class_rates(found.counts),
    }
