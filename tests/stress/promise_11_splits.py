"""11. Each split against exhaustive search, for every criterion; with gini and no ties, scikit-learn's partition."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from compromis.trees._kernels import CRITERIA
from compromis.trees.grow import StopRule
from compromis.trees.store import tree_leaves
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.trees.test_grow import check_root, grow_on, leaves_as_sets, random_preferences

TITLE = "each split against exhaustive search, nine criteria"
FULL = 5_000 * len(CRITERIA)
QUICK = 0.0008


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the nodes whose split is not the best one."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> None:
    """One node; every 50th seed a whole tree beside scikit-learn's."""
    rng = np.random.default_rng(seed)
    check_root(rng, list(CRITERIA)[seed % len(CRITERIA)], int(rng.integers(1, 4)))
    if seed % 50 == 0:
        check_beside_scikit_learn(rng)


def check_beside_scikit_learn(rng: np.random.Generator) -> None:
    """Numbers of which no two are alike, weights under which no two gains are: the same leaves."""
    rows, classes = 250, int(rng.integers(2, 7))
    X = rng.normal(size=(rows, 4))
    labels = (X[:, 0] * 2 + X[:, 1] + rng.normal(size=rows) > 0).astype(int) + rng.integers(0, classes - 1, rows)
    weights = rng.integers(1, 10**5, rows) * 1.0
    limits = [{}, {"max_depth": 4}, {"min_samples_leaf": 5}, {"max_leaf_nodes": 9}][int(rng.integers(4))]
    preferences = random_preferences(rng, labels, classes, weights)
    tree, bins = grow_on(X, np.zeros(4, bool), labels, classes, weights, "gini", preferences, StopRule(**limits))
    other = DecisionTreeClassifier(random_state=0, **limits).fit(X, labels, sample_weight=weights)
    assert leaves_as_sets(tree_leaves(tree, 0, bins)) == leaves_as_sets(other.apply(X)), "not scikit-learn's partition"
