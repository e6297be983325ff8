"""11. Each split against exhaustive search, for every criterion; with gini and no ties, scikit-learn's partition."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from compromis.kernels.criteria import CRITERIA
from compromis.trees.grow import StopRule
from compromis.trees.predict import tree_leaves
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.test_growing import check_root, grow_on, leaves_as_sets

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
    """Two classes, numbers without ties, gini: the same leaves, to a depth at which no two cuts gain the same."""
    rows, features = int(rng.integers(20, 120)), int(rng.integers(1, 5))
    X, labels, weights = rng.normal(size=(rows, features)), rng.integers(0, 2, rows), rng.random(rows) + 0.1
    labels[:2] = 0, 1
    wish = {"importance": np.ones(2), "recall_weight": np.full(2, 0.5)}
    tree, bins = grow_on(X, np.zeros(features, bool), labels, 2, weights, "gini", wish, StopRule(max_depth=2, min_samples_leaf=4))
    other = DecisionTreeClassifier(max_depth=2, min_samples_leaf=4, random_state=0).fit(X, labels, sample_weight=weights)
    assert leaves_as_sets(tree_leaves(tree, 0, bins)) == leaves_as_sets(other.apply(X)), "another partition than scikit-learn's"
