"""Tuning: a first answer at once from the weights before, then the full search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.votes import Votes
from compromis.measures.baselines import shortfall
from compromis.measures.verdict import judge
from compromis.preferences import Preferences
from compromis.studio.comparing import class_rates
from compromis.studio.jobs import Job
from compromis.weights import Sweep, WeightSearch, search_weights

SAMPLE = 40_000
"""Patterns that the first descent sees at most."""


def tune(
    patterns: Votes,
    preferences: Preferences,
    smoothing: float,
    before: NDArray[np.float64],
    job: Job,
) -> WeightSearch:
    """Return the best weights found; what a quick descent from the weights `before` finds is offered to those who wait.

    Preferences that changed a little has its best weights near. Of many patterns the first descent sees a sample; what it offers
    is counted on all of them.
    """

    def descend(some: Votes, start: NDArray[np.float64]) -> WeightSearch:
        method = Sweep(rounds=0, start=tuple(start.tolist()))
        return search_weights(
            some,
            preferences=preferences,
            smoothing=smoothing,
            method=method,
            progress=lambda _, loss: job.report(0.0, f"loss {loss:.4f}"),
        )

    start = before
    if len(patterns) > SAMPLE:
        start = descend(sampled(patterns, SAMPLE), before).weights
        job.offer(_offered(patterns, preferences, start, smoothing))
    near = descend(patterns, start)
    if job.result is None:
        job.offer(search_shown(near))
    full = search_weights(
        patterns,
        preferences=preferences,
        smoothing=smoothing,
        progress=lambda share, loss: job.report(0.95 * share, f"loss {loss:.4f}"),
    )
    return min(full, near, key=lambda one: (shortfall(one.counts, one.arrays), one.loss))


def sampled(patterns: Votes, most: int) -> Votes:
    """Return about `most` patterns, as many of each class as there are up to its share; they weigh what their class weighs."""
    generator = np.random.default_rng(0)
    each = max(1, most // len(patterns.classes))
    chosen, scale = [], []
    for place in range(len(patterns.classes)):
        own = np.flatnonzero((patterns.truth == place) & (patterns.multiplicity > 0))
        kept = own if len(own) <= each else np.sort(generator.choice(own, each, replace=False))
        chosen.append(kept)
        if len(kept):
            scale.append(np.full(len(kept), patterns.multiplicity[own].sum() / patterns.multiplicity[kept].sum()))
    rows = np.concatenate(chosen)
    weight = patterns.multiplicity[rows] * np.concatenate(scale)
    return Votes(patterns.votes[rows], patterns.truth[rows], weight, patterns.classes, len(rows), 0, False)


def _offered(
    patterns: Votes, preferences: Preferences, weights: NDArray[np.float64], smoothing: float
) -> dict[str, Any]:
    counts = patterns.counts(weights, smoothing=smoothing)
    verdict = judge(counts, preferences.on(patterns.classes))
    return {
        "weights": weights.tolist(),
        "counts": counts.matrix.tolist(),
        "loss": verdict.loss,
        "feasible": not verdict.shortfalls,
        "verdict": str(verdict),
    }


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
