"""Many trees on bootstrap samples, side by side in threads, with the votes of the trees that did not see a row."""

from __future__ import annotations

import threading

import joblib
import numpy as np
from numpy.typing import NDArray

from compromis.kernels.voting import add_votes_out_of_bag
from compromis.trees.forest import Trees, join
from compromis.trees.grow import Plan, TrainingSet, bootstrap, grow_tree, sampled
from compromis.trees.predict import tree_leaves

Floats = NDArray[np.float64]


def grow_forest(
    training: TrainingSet, plan: Plan, seeds: NDArray[np.integer], *, resample: bool = True, n_jobs: int | None = None
) -> tuple[Trees, Floats]:
    """Grow one tree per seed, and count the out-of-bag votes.

    Parameters
    ----------
    training : TrainingSet
        Binned rows.
    plan : Plan
        Criterion, stop rule, local model, features per node.
    seeds : array of int
        One per tree; the same seeds give the same trees, whatever `n_jobs`.
    resample : bool
        Grow each tree on a bootstrap sample (else on all rows, and no row is ever out of bag).
    n_jobs : int, optional
        Threads, as joblib counts them.

    Returns
    -------
    trees : Trees
        In the order of the seeds.
    votes : array of shape (rows, classes)
        Shares of the hard votes of the trees that did not see the row; zeros where all trees saw it.
    """
    votes = np.zeros((len(training.labels), len(plan.importance)))
    lock = threading.Lock()

    def in_bag(rows: int, rng: np.random.Generator) -> NDArray[np.uint16]:
        return bootstrap(rows, rng) if resample else np.ones(rows, dtype=np.uint16)

    def grow_one(seed: int) -> Trees:
        rng = np.random.Generator(np.random.PCG64(seed))
        rows = len(training.labels)
        # nothing is kept by name, and the bootstrap is drawn again below: memory while a tree grows is what counts
        tree = grow_tree(training, sampled(training, in_bag(rows, rng)), plan, rng)
        if resample:
            drawn = bootstrap(rows, np.random.Generator(np.random.PCG64(seed)))
            leaves = tree_leaves(tree, 0, training.columns.bins)
            with lock:  # whole numbers add up to the same in any order
                add_votes_out_of_bag(leaves, drawn, tree.majorities, votes)
        return tree

    workers = joblib.Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")
    trees = join(list(workers(joblib.delayed(grow_one)(int(seed)) for seed in seeds)))
    totals = votes.sum(axis=1, keepdims=True)
    np.divide(votes, totals, out=votes, where=totals > 0)
    return trees, votes
