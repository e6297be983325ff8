"""Table 1 of the trade-off paper: four metrics at two recall weights for three results.

Writes results/table_1.csv. Run: python -m reproductions tradeoff_space
"""

from __future__ import annotations

from pathlib import Path

import compromis as cp
from reproductions.sheets import write

METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")
# recall weight, precision, recall, and the four values as printed
PRINTED = (
    (0.5, 0.7, 0.7, ("0.7", "0.7", "0.7", "0.54")),
    (0.5, 0.5, 0.9, ("0.7", "0.64", "0.67", "0.47")),
    (0.5, 0.9, 0.5, ("0.7", "0.64", "0.67", "0.47")),
    (0.2, 0.7, 0.7, ("0.7", "0.7", "0.7", "0.625")),
    (0.2, 0.5, 0.9, ("0.58", "0.55", "0.56", "0.49")),
    (0.2, 0.9, 0.5, ("0.82", "0.77", "0.8", "0.66")),
)


def rows() -> list[tuple[object, ...]]:
    """Each printed value beside ours; they agree if ours rounds to it."""
    table: list[tuple[object, ...]] = []
    for weight, precision, recall, values in PRINTED:
        for metric, printed in zip(METRICS, values, strict=True):
            ours = float(cp.metric_value(precision, recall, weight, metric=metric))
            digits = max(2, len(printed.split(".")[1]))  # 0.7 is printed for 0.70
            agrees = abs(round(ours, digits) - float(printed)) < 1e-9
            table.append((weight, precision, recall, metric, printed, f"{ours:.4f}", agrees))
    return table


def write_table(folder: Path) -> None:
    """Write table_1.csv."""
    header = ("recall weight", "precision", "recall", "metric", "printed", "ours", "agrees")
    write(folder / "table_1.csv", header, ([str(row[0]), str(row[1]), str(row[2]), *row[3:]] for row in rows()))
