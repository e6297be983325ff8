"""Growing trees: the plan, the training rows, one tree, and many trees on bootstrap samples with their out-of-bag votes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from compromis._rows import in_worker
from compromis._typing import Bytes, Floats, Ints
from compromis.trees._kernels import (
    ABSENT,
    FIGURES,
    NODE_FIELDS,
    PLACE_FIELDS,
    SUBSET_BYTES,
    UNLIMITED,
    BinnedRows,
    Cuts,
    Room,
    Rules,
    Sample,
    Workspace,
    add_shares,
    add_votes_out_of_bag,
    divide_by_leaf,
    draw_bootstrap,
    grow,
    take_sample,
)
from compromis.trees.binning import Columns
from compromis.trees.criteria import Criterion, find_criterion
from compromis.trees.store import Trees, join, tree_leaves, tree_of_leaves

MOST_CLASSES = 2**16 - 1

LocalModel = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a node becomes a leaf."""

    max_depth: int = UNLIMITED
    """Most tests from the root to a leaf."""
    min_samples_leaf: int = 1
    min_weight_share: float = 0.0
    """Least share of the training weight in a leaf."""
    min_gain: float = 0.0
    """Least gain of a split, times the share of the training weight in its node."""
    max_leaf_nodes: int = UNLIMITED
    """Most leaves; with it, the split of largest gain times weight is made first."""


def class_shares(weights: Floats) -> Floats:
    """Local model: the shares of the classes in each leaf (rows of `weights`)."""
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def laplace_shares(weights: Floats) -> Floats:
    """Local model: shares with one row added to each class, as Laplace proposed."""
    return class_shares(weights + 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How trees are grown: importances and recall weights of the classes, features per node, criterion, stop rule, local model."""

    importance: Floats
    recall_weight: Floats
    max_features: int
    criterion: Criterion = field(default_factory=lambda: find_criterion("gini"))
    stop: StopRule = StopRule()
    local_model: LocalModel = class_shares

    def rules(self) -> Rules:
        """Return criterion and stop rule as kernels take them."""
        stop = self.stop
        return Rules(
            self.criterion.number,
            self.max_features,
            stop.max_depth,
            stop.min_samples_leaf,
            float(stop.min_weight_share),
            float(stop.min_gain),
            stop.max_leaf_nodes,
        )


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Binned columns with a class number and, where they differ, a weight above 0 for each row."""

    columns: Columns
    labels: NDArray[np.uint16]
    weights: Floats
    """Empty where all rows weigh 1."""
    priors: Floats

    @classmethod
    def of(cls, columns: Columns, labels: NDArray[np.integer], n_classes: int, weights: Floats | None) -> TrainingSet:
        """Return the training set, with the class shares as priors."""
        given = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        sums = np.bincount(labels, weights=weights, minlength=n_classes).astype(np.float64)
        priors = np.clip(sums / sums.sum(), 1e-9, 1 - 1e-9)
        return cls(columns, labels.astype(np.uint16), given, priors)


def bootstrap(rows: int, rng: np.random.Generator) -> NDArray[np.uint16]:
    """Return how often each row is in a bootstrap sample."""
    in_bag = np.zeros(rows, dtype=np.uint16)
    draw_bootstrap(rng, in_bag)
    return in_bag


def draw_bag(labels: NDArray[np.integer], draws: Ints | None, rng: np.random.Generator) -> NDArray[np.uint16]:
    """Return how often each row is in the sample of one tree."""
    return bootstrap(len(labels), rng) if draws is None else class_bootstrap(labels, draws, rng)


def class_bootstrap(labels: NDArray[np.integer], draws: Ints, rng: np.random.Generator) -> NDArray[np.uint16]:
    """Return how often each row is in a sample that has so many draws from each class, with replacement."""
    order, stops = np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=len(draws)))
    picked = [
        order[start:stop][rng.integers(stop - start, size=size)]
        for start, stop, size in zip([0, *stops[:-1]], stops, draws, strict=True)
        if size
    ]
    return np.bincount(np.concatenate(picked), minlength=len(labels)).astype(np.uint16)


def sampled(training: TrainingSet, in_bag: NDArray[np.uint16] | None = None) -> Sample:
    """Return the rows, as often as `in_bag` says (None: each once), for `grow_tree`."""
    if in_bag is None:
        in_bag = np.ones(len(training.labels), dtype=np.uint16)
    distinct = int(np.count_nonzero(in_bag))
    weighted = training.weights.size > 0
    sample = Sample(
        rows=np.empty(distinct, np.uint32),
        classes=np.empty(distinct, np.uint16),
        weights=np.empty(distinct) if weighted else None,
        counts=None if weighted else np.empty(distinct, np.uint16),
    )
    take_sample(in_bag, training.labels, training.weights, sample)
    return sample


def grow_tree(training: TrainingSet, sample: Sample, plan: Plan, rng: np.random.Generator) -> Trees:
    """Grow one tree on the sample, whose rows it reorders."""
    columns, space, room = BinnedRows(*training.columns), _workspace(training, plan), _room(len(sample), plan)
    used = grow(columns, sample, plan.rules(), plan.criterion.own, space, Room(**room), rng)
    del sample  # where the caller keeps none, its memory serves to trim the tree
    return _as_trees(room, used, len(plan.importance), plan.local_model)


def _workspace(training: TrainingSet, plan: Plan) -> Workspace:
    n_classes, n_features = len(plan.importance), len(training.columns.nominal)
    return Workspace(
        class_terms=np.vstack([plan.importance, plan.recall_weight, training.priors]),
        present=np.zeros(n_classes, np.uint32),
        local=np.full(n_classes, ABSENT, np.uint32),
        node=np.zeros((4, n_classes)),
        features=np.arange(n_features, dtype=np.uint32),
        histogram=np.zeros(256 * n_classes),
        bin_rows=np.zeros(256, np.uint32),
        seen=np.zeros(256, np.uint8),
        order=np.zeros(257, np.uint32),
        shares=np.zeros(256),
        cuts=Cuts(np.zeros(512 * n_classes), np.zeros(512), np.zeros((2, 512)), np.zeros(512)),
        subset=np.zeros(SUBSET_BYTES, np.uint8),
    )


def _room(rows: int, plan: Plan) -> dict[str, NDArray[Any]]:
    """Zeros for the largest tree possible, which the operating system hands out page by page as they are written."""
    stop = plan.stop
    leaves = max(1, min(rows // stop.min_samples_leaf, stop.max_leaf_nodes, 2 ** min(stop.max_depth, 31)))
    entries = min(rows, leaves * len(plan.importance))
    return {
        "nodes": np.zeros((2 * leaves, NODE_FIELDS), np.uint32),
        "figures": np.zeros((2 * leaves, FIGURES)),
        "subsets": np.zeros((2 * leaves, SUBSET_BYTES), np.uint8),  # best first, a leaf may have had a split too
        "leaf_starts": np.zeros(leaves + 1, np.uint32),
        "leaf_classes": np.zeros(entries, np.uint32),
        "leaf_weights": np.zeros(entries),
        "frontier": np.zeros((leaves, PLACE_FIELDS), np.uint32),
    }


def _as_trees(
    room: dict[str, NDArray[Any]], used: tuple[int, int, int], n_classes: int, local_model: LocalModel
) -> Trees:
    """The tree in arrays of its size; empties the room, so that memory holds at most one array twice."""
    n_nodes, n_subsets, n_leaves = used
    del room["frontier"]
    starts = room.pop("leaf_starts")[: n_leaves + 1].astype(np.int64)
    classes = room.pop("leaf_classes")[: starts[-1]].astype(np.uint16)
    weights = room.pop("leaf_weights")[: starts[-1]].copy()
    if local_model is class_shares:  # the same without a dense table
        shares = weights
        divide_by_leaf(starts, shares)
    else:
        dense = np.zeros((n_leaves, n_classes))
        dense[np.repeat(np.arange(n_leaves), np.diff(starts)), classes] = weights
        modelled = local_model(dense)
        leaves, labels = np.nonzero(modelled)
        starts = np.searchsorted(leaves, np.arange(n_leaves + 1)).astype(np.int64)
        classes, shares = labels.astype(np.uint16), modelled[leaves, labels]
    subsets = room.pop("subsets")[:n_subsets].copy()
    figures = room.pop("figures")[:n_nodes].copy()
    nodes = room.pop("nodes")[:n_nodes].copy()
    return tree_of_leaves(nodes, figures, subsets, starts, classes, shares)


def grow_forest(
    training: TrainingSet,
    plan: Plan,
    seeds: NDArray[np.integer],
    *,
    resample: bool = True,
    draws: Ints | None = None,
    n_jobs: int | None = None,
) -> tuple[Trees, Floats]:
    """Grow one tree per seed; return them and, of each row, the shares of the hard votes of the trees that did not see it.

    They are zeros where all trees saw the row. The same seeds give the same trees, whatever `n_jobs`: threads, or inside
    ``joblib.parallel_config(backend="dask")`` tasks on a cluster. Without `resample` each tree is grown on all rows. `draws` says how
    many rows of each class a sample has; without it as many rows as there are, of any class.
    """
    votes = np.zeros((len(training.labels), len(plan.importance)))
    lock = threading.Lock()

    def count_votes(tree: Trees, seed: int) -> None:
        if resample:
            in_bag = draw_bag(training.labels, draws, _generator(seed))
            leaves = tree_leaves(tree, 0, training.columns.bins)
            with lock:  # whole numbers add up to the same in any order
                add_votes_out_of_bag(leaves, in_bag, tree.majorities, votes)

    def grow_here(seed: int) -> Trees:
        tree = _grow_one(training, plan, seed, resample, draws)
        count_votes(tree, seed)
        return tree

    if _shares_memory():
        workers = joblib.Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")
        grown = list(workers(joblib.delayed(grow_here)(int(seed)) for seed in seeds))
    else:  # on a cluster only the trees come back; their votes are counted here, where all of them add up
        workers = joblib.Parallel(n_jobs=n_jobs)
        grown = list(
            workers(joblib.delayed(in_worker)(_grow_one, training, plan, int(seed), resample, draws) for seed in seeds)
        )
        for tree, seed in zip(grown, seeds, strict=True):
            count_votes(tree, int(seed))
    return join(grown), _as_shares(votes)


def out_of_bag_shares(
    trees: Trees,
    training: tuple[Bytes, NDArray[np.integer]],
    seeds: NDArray[np.integer],
    draws: Ints | None,
    n_classes: int,
) -> Floats:
    """Return the mean class shares of the trees that did not see the row; zeros where all trees saw it.

    `training` are the bins and labels that `grow_forest` had, `seeds` and `draws` its own: each tree's sample is drawn again.
    """
    bins, labels = training
    total = np.zeros((bins.shape[1], n_classes))
    for tree, seed in enumerate(seeds):
        out = np.flatnonzero(draw_bag(labels, draws, _generator(int(seed))) == 0)
        part = np.zeros((len(out), n_classes))
        add_shares(tree_leaves(trees, tree, bins)[out], trees.leaf_starts, trees.leaf_classes, trees.leaf_shares, part)
        total[out] += part
    return _as_shares(total)


def _as_shares(votes: Floats) -> Floats:
    """Divide each row by its sum, in place; rows without votes stay 0."""
    totals = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, totals, out=votes, where=totals > 0)


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _shares_memory() -> bool:
    """Whether trees grow side by side in this process; they do unless another backend of joblib was chosen."""
    backend, _ = get_active_backend(prefer="threads")
    return bool(getattr(backend, "supports_sharedmem", False))


def _grow_one(training: TrainingSet, plan: Plan, seed: int, resample: bool, draws: Ints | None) -> Trees:
    rng = _generator(seed)
    # The bootstrap is held by no name, and drawn again for the votes, so that memory stays low while the tree grows.
    sample = sampled(training, draw_bag(training.labels, draws, rng) if resample else None)
    return grow_tree(training, sample, plan, rng)
