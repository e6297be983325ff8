"""Plain twins of the weight kernels: slow, short, and written from the definitions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np


def decide(votes: Any, weights: Any, smoothing: float = 0.0) -> list[int]:
    """Largest weight x (votes + smoothing); ties to the first class."""
    decisions = []
    for row in np.asarray(votes, dtype=float):
        scores = [w * (v + smoothing) for w, v in zip(weights, row, strict=True)]
        decisions.append(scores.index(max(scores)))
    return decisions


def matrix(truth: Any, decision: Any, sizes: Any, classes: int) -> np.ndarray:
    """Confusion counts; a row of size 0 does not count."""
    cells = np.zeros((classes, classes))
    for t, d, size in zip(truth, decision, sizes, strict=True):
        cells[t, d] += size
    return cells


def metric_value(name: str, p: float, r: float, weight: float) -> float:
    """The four metrics of the trade-off paper; 0 where precision or recall is, but for Kulczynski."""
    if name == "kulczynski":
        return (1 - weight) * p + weight * r
    if weight in (0, 1):
        return r if weight else p
    if p == 0 or r == 0:
        return 0.0
    if name == "f":
        return 1 / (weight / r + (1 - weight) / p)
    if name == "fowlkes_mallows":
        return math.exp((1 - weight) * math.log(p) + weight * math.log(r))
    top, bottom = min(2 * weight, 1), min(2 * (1 - weight), 1)
    return p * r / (top * p + bottom * r - (1 - abs(1 - 2 * weight)) * p * r)


def value(cells: np.ndarray, preferences: Any) -> tuple[float, float]:
    """Shortfall from the constraints, and the PRAGMA loss or the average cost."""
    loss, total, shortfall = 0.0, 0.0, 0.0
    for k in range(len(cells)):
        support, predicted, hits = cells[k].sum(), cells[:, k].sum(), cells[k, k]
        over = predicted / cells.sum() - preferences.max_share[k]
        shortfall += over if over > 1e-12 else 0
        if support == 0:
            continue
        p, r = hits / predicted if predicted else 0.0, hits / support
        shortfall += max(preferences.min_precision[k] - p, 0) + max(preferences.min_recall[k] - r, 0)
        f = 1 - metric_value(preferences.metric.name, p, r, preferences.recall_weight[k]) if predicted else 1.0
        loss += preferences.importance[k] * f
        total += preferences.importance[k]
    if preferences.cost is not None:
        return shortfall, float((cells * preferences.cost).sum() / cells.sum())
    return shortfall, loss / total


def best_on_line(
    votes: Any, truth: Any, sizes: Any, weights: Any, k: int, preferences: Any, smoothing: float = 0.0
) -> tuple[float, float]:
    """The best value over class k's weight: one weight between any two flips."""
    rows = np.asarray(votes, dtype=float) + smoothing
    flips = set()
    for row in rows:
        others = max(w * v for j, (w, v) in enumerate(zip(weights, row, strict=True)) if j != k)
        if row[k] > 0 and others > 0:
            flips.add(others / row[k])
    edges = sorted(flips)
    edges = [edges[0] / 4, *edges, edges[-1] * 4] if edges else [weights[k] / 2, weights[k] * 2]
    tried = []
    for low, high in itertools.pairwise(edges):
        if high > low * (1 + 1e-11):
            now = list(weights)
            now[k] = math.sqrt(low * high)
            tried.append(value(matrix(truth, decide(rows, now), sizes, len(weights)), preferences))
    return min(tried)


def reachable(votes: Any) -> set[tuple[int, ...]]:
    """Every list of decisions that some weights give, for two or three classes: one point in every cell of the arrangement.

    Vertices of the lines x = x_i, y = y_i, y - x = d_i in the plane of log-weights, each looked at from eight sides, and
    points far out; every cell has a vertex or lies far out.
    """
    rows = np.asarray(votes, dtype=float)
    rows = rows[rows.sum(axis=1) > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
        finite = lambda line: sorted({round(float(v), 9) for v in line if np.isfinite(v)})  # noqa: E731
        x = finite(logs[:, 0] - logs[:, 1])
        if rows.shape[1] == 2:
            edges = [-50.0, *x, 50.0]
            return {tuple(decide(rows, [1, math.exp((a + b) / 2)])) for a, b in itertools.pairwise(edges)}
        y, d = finite(logs[:, 0] - logs[:, 2]), finite(logs[:, 1] - logs[:, 2])
    xs = sorted({*x, *(b - c for b in y for c in d), 0.0})
    xs = [xs[0] - 50, *xs, xs[-1] + 50]
    found = set()
    for a, b in itertools.pairwise(xs):
        if b - a < 1e-7:
            continue
        at = (a + b) / 2
        ys = sorted({*y, *(at + c for c in d)})
        ys = [ys[0] - 50, *ys, ys[-1] + 50] if ys else [-50.0, 50.0]
        for low, high in itertools.pairwise(ys):
            if high - low > 1e-8:
                found.add(tuple(decide(rows, [1, math.exp(at), math.exp((low + high) / 2)])))
    return found


def brute_force(votes: Any, truth: Any, preferences: Any) -> tuple[float, float]:
    """The best value over all reachable decisions; shortfalls that differ by rounding are equal."""
    rows, classes = np.asarray(votes, dtype=float), np.asarray(votes).shape[1]
    kept = [t for t, row in zip(truth, rows, strict=True) if row.sum() > 0]
    found = [value(matrix(kept, one, [1] * len(kept), classes), preferences) for one in reachable(votes)]
    least = min(shortfall for shortfall, _ in found)
    return min((one for one in found if one[0] <= least + 1e-12), key=lambda one: one[1])
