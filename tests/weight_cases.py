"""Random small problems with many ties, for tests of the search."""

from __future__ import annotations

import numpy as np

from compromis.preferences import Preference, Preferences

METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")


def small_problem(
    seed: int, *, floors: bool = False, capacities: bool = False
) -> tuple[np.ndarray, np.ndarray, Preferences]:
    """Return votes, true classes (at least two of them with votes) and preferences; K is 2 or 3, n at most 10."""
    rng = np.random.default_rng(seed)
    while True:
        classes, rows = int(rng.integers(2, 4)), int(rng.integers(2, 11))
        trees = int(rng.integers(1, 8))
        votes = (
            rng.multinomial(trees, rng.dirichlet(np.ones(classes)), size=rows)
            if seed % 2
            else rng.integers(0, 4, size=(rows, classes))
        )
        y = rng.integers(0, classes, size=rows)
        if len(set(y[votes.sum(axis=1) > 0].tolist())) > 1:
            break
    answers = rng.choice([0.1, 0.5, 0.8, 0.9], size=(classes, 2))
    floor = rng.choice([0.0, 0.3, 0.6, 0.9], size=(classes, 2)) if floors else np.zeros((classes, 2))
    most = np.ones(classes)
    if capacities:  # any class but one
        most[rng.permutation(classes)[1:]] = rng.choice([0.1, 0.2, 0.34, 0.5, 1.0], classes - 1)
    by_class = {
        k: Preference(
            float(rng.choice([1, 1, 2, 10])),
            float(answers[k, 0]),
            float(answers[k, 1]),
            min_precision=float(floor[k, 0]) or None,
            min_recall=float(floor[k, 1]) or None,
            max_share=None if most[k] == 1 else float(most[k]),
        )
        for k in range(classes)
    }
    return votes, y, Preferences(by_class, metric=METRICS[seed % 4])


def costing(cost: np.ndarray, preferences: Preferences | None = None) -> Preferences:
    """Return costs of classes 0, 1, ... with the constraints of preferences."""
    bounds = ("min_precision", "min_recall", "max_share")
    given = {} if preferences is None else preferences.by_class
    by_class = {label: {name: getattr(one, name) for name in bounds} for label, one in given.items()}
    return Preferences(by_class, cost=cost, labels=range(len(cost)))
