"""Section 5 of the trade-off paper: which bicluster for which trade-off, and Cheng and Church (CC) against ISA.

Writes results/*.csv and results/figure_5.png, figure_6.png. Run: python -m reproductions tradeoff_space
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compromis as cp
from reproductions.sheets import write
from reproductions.tradeoff_space.cheng_church import cheng_church, mean_squared_residue
from reproductions.tradeoff_space.isa import isa
from reproductions.tradeoff_space.pictures import draw_comparison, draw_selection
from reproductions.tradeoff_space.planted import Planted, plant

SEED = 0
LEVEL, NOISE = 0.5, 0.5
SETTINGS = ((0.25, 0.5), (0.5, 0.5), (0.75, 0.5), (1.0, 0.5), (0.5, 0.7))
REPEATS = 12
SIZES = 20  # the paper compares the algorithms at 20 places
Groups = dict[str, NDArray[np.bool_]]


def sweep_cheng_church(planted: Planted) -> Groups:
    """The biclusters of CC for 20 residues allowed, up to that of the whole matrix."""
    whole = mean_squared_residue(planted.matrix, *(np.ones(length, dtype=bool) for length in planted.matrix.shape))
    found = {}
    for share in np.linspace(1 / SIZES, 1, SIZES):
        found[f"delta {share * whole:.3f}"] = np.outer(*cheng_church(planted.matrix, share * whole))
    return found


def sweep_isa(planted: Planted, seed: int) -> Groups:
    """The biclusters of ISA for 20 thresholds; the last is none at all, which keeps the whole matrix."""
    found = {}
    for threshold in [*np.linspace(2, -0.5, SIZES - 1), -np.inf]:
        steps = 100 if np.isfinite(threshold) else 10_000  # singular vectors come slowly, but they do come
        bicluster = isa(planted.matrix, threshold, np.random.default_rng([seed, 1]), steps=steps)
        if bicluster is not None:
            found[f"threshold {threshold:.2f}"] = np.outer(*bicluster)
    return found


def operating_points(seed: int, level: float, noise: float) -> dict[str, cp.OperatingPoints]:
    """Plant a bicluster, sweep both algorithms, and count their biclusters against it, cell by cell."""
    planted = plant(np.random.default_rng(seed), level=level, noise=noise)
    sweeps = {"CC": sweep_cheng_church(planted), "ISA": sweep_isa(planted, seed)}
    cells = planted.matrix.size
    return {name: cp.OperatingPoints.from_groups(planted.target, found, cells) for name, found in sweeps.items()}


def precision_at(points: cp.OperatingPoints, recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """The precision-recall curve as one draws it: straight lines between points sorted by recall, the best of equals."""
    order = np.lexsort((-points.precision, points.recall))
    sorted_recall, first = np.unique(points.recall[order], return_index=True)
    return np.interp(recall, sorted_recall, points.precision[order][first])


def crossings(algorithms: dict[str, cp.OperatingPoints]) -> tuple[int, int]:
    """How often the two precision-recall curves cross, and at how many of 20 recalls CC has the better precision."""
    start = max(points.recall.min() for points in algorithms.values())
    fine, coarse = np.linspace(start, 1, 5001), np.linspace(1 / SIZES, 1, SIZES)
    cc, isa_points = algorithms["CC"], algorithms["ISA"]
    signs = np.sign(np.round(precision_at(cc, fine) - precision_at(isa_points, fine), 12))
    signs = signs[signs != 0]
    better = precision_at(cc, coarse) > precision_at(isa_points, coarse) + 1e-12
    return int((signs[1:] != signs[:-1]).sum()), int(better.sum())


def summary(comparison: cp.tradeoffs.Comparison) -> dict[str, Any]:
    """What the paper says about its one matrix, for one of ours."""
    algorithms = {name: curve.points for name, curve in comparison.curves.items()}
    crossed, better = crossings(algorithms)
    alone = [part for part in comparison.intervals if len(part.best) == 1]
    row: dict[str, Any] = {}
    for name, curve in comparison.curves.items():
        last, size = curve.intervals[-1], curve.points.positives + curve.points.negatives
        row |= {
            f"{name} biclusters": len(curve.points),
            f"{name} dominating": int(curve.points.dominating.sum()),
            f"{name} intervals": len(curve.intervals),
            f"{name} on PR hull": len(curve.with_metric("kulczynski").intervals),
            f"{name} last is whole": last.size == size,
            f"{name} whole from": last.low,
            f"{name} area": comparison.areas[name],
            f"{name} best alone": sum(part.high - part.low for part in alone if part.best == (name,)),
        }
    changes = sum(first.best != second.best for first, second in pairwise(alone))
    shared = comparison.intervals[-1]
    equal = shared.low if len(shared.best) > 1 else 1.0
    return row | {
        "crossings": crossed,
        "CC better of 20": better,
        "winner changes": changes,
        "fewer changes than crossings": changes < crossed,
        "more changes than crossings": changes > crossed,
        "equal from": equal,
    }


def write_one_matrix(comparison: cp.tradeoffs.Comparison, folder: Path) -> None:
    """The points, the intervals and the winners behind figures 5 and 6."""
    points_rows, interval_rows = [], []
    for name, curve in comparison.curves.items():
        points = curve.points
        columns = (points.names or (), points.group_size, points.precision, points.recall, points.dominating)
        points_rows += [(name, *row) for row in zip(*columns, strict=True)]
        parts = curve.intervals
        interval_rows += [(name, p.low, p.high, p.name, int(p.size), p.precision, p.recall) for p in parts]
    write(folder / "points.csv", ("algorithm", "bicluster", "cells", "precision", "recall", "dominating"), points_rows)
    header = ("algorithm", "low", "high", "bicluster", "cells", "precision", "recall")
    write(folder / "intervals.csv", header, interval_rows)
    write(folder / "comparison.csv", ("low", "high", "best"), [(p.low, p.high, p.name) for p in comparison.intervals])


def repeat(folder: Path) -> None:
    """The same statements for other matrices: one row per matrix, and the mean for each setting."""
    rows, table = [], []
    for level, noise in SETTINGS:
        found = [
            summary(cp.compare_curves(operating_points(seed, level, noise), metric="f")) for seed in range(REPEATS)
        ]
        rows += [(level, noise, seed, *row.values()) for seed, row in enumerate(found)]
        table.append((level, noise, REPEATS, *(float(np.mean([row[name] for row in found])) for name in found[0])))
    write(folder / "repeats.csv", ("level", "noise", "seed", *found[0]), rows)
    write(folder / "repeats_mean.csv", ("level", "noise", "matrices", *found[0]), table)


def one_matrix(folder: Path) -> cp.tradeoffs.Comparison:
    """Figures 5 and 6."""
    comparison = cp.compare_curves(operating_points(SEED, LEVEL, NOISE), metric="f")
    write_one_matrix(comparison, folder)
    draw_selection(comparison.curves["CC"], folder / "figure_5.png")
    draw_comparison(comparison, folder / "figure_6.png")
    return comparison
