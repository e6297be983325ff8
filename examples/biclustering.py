"""Which bicluster for which trade-off, and which of two algorithms? A small matrix with one bicluster hidden in it.

Run: python examples/biclustering.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import compromis as cp

sys.path.append(str(Path(__file__).parents[1] / "reproductions" / "tradeoff_space"))
from cheng_church import cheng_church
from isa import isa
from planted import plant

planted = plant(np.random.default_rng(0), level=0.5)
matrix = planted.matrix

# Each algorithm has a parameter for the size of what it finds; every value of it gives one group of cells.
cc, signatures = {}, {}
for delta in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8, 2.0):
    cc[f"delta {delta}"] = np.outer(*cheng_church(matrix, delta))
for threshold in (1.5, 1.0, 0.75, 0.5, 0.25, 0.0, -0.25, -np.inf):
    found = isa(matrix, threshold, np.random.default_rng(1))
    if found is not None:
        signatures[f"threshold {threshold}"] = np.outer(*found)

algorithms = {
    name: cp.OperatingPoints.from_groups(planted.target, groups, matrix.size)
    for name, groups in {"CC": cc, "ISA": signatures}.items()
}
comparison = cp.compare_curves(algorithms, metric="f")
for curve in comparison.curves.values():
    print(curve, end="\n\n")
print(comparison.verdict)

choice = comparison.curves["CC"].best(0.5, min_precision=0.95)
print(f"CC with a precision of at least 0.95, precision and recall alike: {choice.name}, F = {choice.value:.3f}")
