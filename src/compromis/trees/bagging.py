"""Many trees on bootstrap samples, side by side in threads, with the votes of the trees that did not see a row."""

from __future__ import annotations

import threading

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.kernels.voting import add_votes_out_of_bag
from compromis.trees.forest import Trees, join
from compromis.trees.grow import Plan, TrainingSet, bootstrap, grow_tree, sampled
from compromis.trees.predict import tree_leaves
from compromis.workers import in_worker


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
        Threads, as joblib counts them; inside ``joblib.parallel_config(backend="dask")`` tasks on a cluster.

    Returns
    -------
    trees : Trees
        In the order of the seeds.
    votes : array of shape (rows, classes)
        Shares of the hard votes of the trees that did not see the row; zeros where all trees saw it.
    """
    votes = np.zeros((len(training.labels), len(plan.importance)))
    lock = threading.Lock()

    def count_votes(tree: Trees, seed: int) -> None:
        if resample:
            in_bag = bootstrap(len(training.labels), np.random.Generator(np.random.PCG64(seed)))
            leaves = tree_leaves(tree, 0, training.columns.bins)
            with lock:  # whole numbers add up to the same in any order
                add_votes_out_of_bag(leaves, in_bag, tree.majorities, votes)

    def grow_here(seed: int) -> Trees:
        tree = _grow_one(training, plan, seed, resample)
        count_votes(tree, seed)
        return tree

    if _shares_memory():
        workers = joblib.Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")
        grown = list(workers(joblib.delayed(grow_here)(int(seed)) for seed in seeds))
    else:  # on a cluster only the trees come back; their votes are counted here, where all of them add up
        workers = joblib.Parallel(n_jobs=n_jobs)
        grown = list(
            workers(joblib.delayed(in_worker)(_grow_one, training, plan, int(seed), resample) for seed in seeds)
        )
        for tree, seed in zip(grown, seeds, strict=True):
            count_votes(tree, int(seed))
    totals = votes.sum(axis=1, keepdims=True)
    np.divide(votes, totals, out=votes, where=totals > 0)
    return join(grown), votes


def _shares_memory() -> bool:
    """Whether trees grow side by side in this process; they do unless another backend of joblib was chosen."""
    backend, _ = get_active_backend(prefer="threads")
    return bool(getattr(backend, "supports_sharedmem", False))


def _grow_one(training: TrainingSet, plan: Plan, seed: int, resample: bool) -> Trees:
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = len(training.labels)
    # nothing is kept by name, and the bootstrap is drawn again for the votes: memory while a tree grows is what counts
    return grow_tree(training, sampled(training, _in_bag(rows, rng, resample)), plan, rng)


def _in_bag(rows: int, rng: np.random.Generator, resample: bool) -> NDArray[np.uint16]:
    return bootstrap(rows, rng) if resample else np.ones(rows, dtype=np.uint16)
