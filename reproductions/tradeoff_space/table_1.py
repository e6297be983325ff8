"""Table 1 of the trade-off paper: four indices at two recall weights for three results.

Writes results/table_1.csv. Run: python reproductions/tradeoff_space/table_1.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import compromis as cp

FILE = Path(__file__).parent / "results" / "table_1.csv"
INDICES = ("kulczynski", "f", "fowlkes_mallows", "jaccard")
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
        for index, printed in zip(INDICES, values, strict=True):
            ours = float(cp.index_value(precision, recall, weight, index=index))
            digits = max(2, len(printed.split(".")[1]))  # 0.7 is printed for 0.70
            agrees = abs(round(ours, digits) - float(printed)) < 1e-9
            table.append((weight, precision, recall, index, printed, f"{ours:.4f}", agrees))
    return table


def main() -> None:
    table = rows()
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("recall weight", "precision", "recall", "index", "printed", "ours", "agrees"))
        writer.writerows(table)
    print(f"{sum(bool(row[-1]) for row in table)} of {len(table)} values agree")
    print(*(row for row in table if not row[-1]), sep="\n")


if __name__ == "__main__":
    main()
