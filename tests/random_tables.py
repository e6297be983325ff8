"""Random tables for C4.5 with what is awkward: ties, missing values, weights, rare classes, near-equal numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.trees.c45 import Column, Examples, Rules, Table


def random_case(seed: int, largest: int = 800) -> tuple[Examples, Table, Rules]:
    """Examples, further rows to predict, and rules; at most `largest` examples."""
    rng = np.random.default_rng(seed)
    n = min(int(rng.choice([3, 20, 60, 150, 400, 800])), largest)
    n_test = 40
    n_numeric, n_nominal = int(rng.integers(0, 6)), int(rng.integers(0, 6))
    n_nominal += n_numeric == 0 and n_nominal == 0
    n_classes = int(rng.integers(2, 7))
    numeric = np.stack([random_numbers(rng, n + n_test) for _ in range(n_numeric)] or [np.empty(n + n_test)])
    numeric = numeric[:n_numeric]
    sizes = [int(rng.choice([1, 2, 3, 5, 12, 40])) for _ in range(n_nominal)]
    nominal = np.array([rng.integers(0, size, n + n_test) for size in sizes], dtype=np.int32).reshape(
        n_nominal, n + n_test
    )
    classes = random_classes(rng, numeric, nominal, n_classes)[:n]
    rate = float(rng.choice([0.0, 0.0, 0.05, 0.3]))
    numeric[rng.random(numeric.shape) < rate] = np.nan
    nominal[rng.random(nominal.shape) < rate] = -1
    kinds = rng.permutation([False] * n_numeric + [True] * n_nominal)
    left = iter(sizes)
    attributes = tuple(
        Column(f"a{i} x", tuple(f"v{v}" for v in range(next(left)))) if kind else Column(f"a{i}")
        for i, kind in enumerate(kinds)
    )
    weights = [
        np.ones(n),
        np.ones(n),
        rng.integers(1, 6, n).astype(float),
        rng.random(n) * 3,
        rng.choice([0.25, 0.5, 1.0, 0.1], n),
    ][int(rng.integers(0, 5))]
    train = Table(attributes, np.ascontiguousarray(numeric[:, :n]), np.ascontiguousarray(nominal[:, :n]))
    test = Table(attributes, np.ascontiguousarray(numeric[:, n:]), np.ascontiguousarray(nominal[:, n:]))
    rules = Rules(
        confidence=float(rng.choice([0.25, 0.25, 0.1, 0.01, 0.4, 0.5, 0.7])),
        min_leaf=int(rng.choice([2, 2, 1, 3, 5])),
        pruned=bool(rng.random() < 0.85),
        subtree_raising=bool(rng.random() < 0.8),
    )
    return Examples(train, classes, n_classes, weights), test, rules


def random_numbers(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """A numeric column: continuous, few values, constant, neighbours within the tolerances, or huge."""
    return [
        lambda: rng.normal(size=n),
        lambda: rng.integers(0, 8, n).astype(float),
        lambda: rng.integers(-100, 100, n) / 10.0,
        lambda: np.full(n, 3.5),
        lambda: rng.integers(0, 5, n) + rng.choice([0.0, 4e-7, 9e-7, 1.5e-6, 9e-6, 2e-5], n),
        lambda: rng.integers(0, 30, n) * 7e-6,
        lambda: rng.normal(size=n) * 1e9,
        lambda: np.round(rng.lognormal(size=n), 2),
    ][int(rng.integers(0, 8))]()


def random_classes(
    rng: np.random.Generator, numeric: NDArray[np.float64], nominal: NDArray[np.int32], n_classes: int
) -> NDArray[np.int32]:
    """Classes that depend on the columns, with noise, and unequal shares."""
    score = np.zeros(max(numeric.shape[1], nominal.shape[1]))
    for column in [*numeric, *nominal]:
        values = np.unique(column, return_inverse=True)[1]
        scale = rng.uniform(1.0, 6.0) / (values.max() + 1)
        score += rng.exponential() * np.sin(values * scale + rng.uniform(0, 6))
    score += rng.normal(size=len(score)) * rng.choice([0.0, 0.1, 0.3, 1.0])
    edges = np.quantile(score, np.sort(rng.random(n_classes - 1))) if n_classes > 1 else np.empty(0)
    return np.searchsorted(edges, score).astype(np.int32)
