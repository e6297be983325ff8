"""The same result group by group (hospital, sex): the rates of each, and the constraints that each must meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import Table, count, fixed, shown
from compromis._typing import Flags, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.labels import encode, read_labels
from compromis.measures.pragma import MissedConstraint, missed_constraints, shortfall
from compromis.measures.rates import precision, recall
from compromis.preferences import PreferenceArrays

MOST_GROUPS = 1_000
"""More groups are taken for a mistake, such as a column of keys."""


@dataclass(frozen=True, slots=True, eq=False)
class ByGroup:
    """Which group each row is of."""

    names: tuple[Label, ...]
    code: Ints
    """The position of each row's group."""

    @classmethod
    def read(cls, by: Any, rows: int) -> ByGroup:
        """Read a group for each row."""
        column = read_labels(by, "by")
        if len(column) != rows:
            raise InputError(f"by has {len(column):,} rows, the data has {rows:,}; give one group per row", "by")
        (code,), names = encode(column)
        if len(names) > MOST_GROUPS:
            raise InputError(
                f"by has {len(names):,} groups, for each of which a constraint would have to hold; give a column of up to "
                f"{MOST_GROUPS:,}, such as a hospital; rows that only belong together are groups=",
                "by",
            )
        return cls(names, code)

    def __getitem__(self, chosen: Ints | Flags | slice) -> ByGroup:
        return replace(self, code=self.code[chosen])

    def counts(
        self, truth: Ints, predicted: Ints, classes: tuple[Label, ...], size: NDArray[Any]
    ) -> dict[Label, Counts]:
        """Return the counts of each group; `size` is how many rows each row stands for, or its weight."""
        rows = np.zeros(len(self.names), dtype=np.int64)
        np.add.at(rows, self.code, 1 if size.dtype.kind == "f" else size)
        matrices = self._cells(truth, predicted, size, len(classes))
        squares = self._cells(truth, predicted, size**2, len(classes)) if size.dtype.kind == "f" else [None] * len(rows)
        parts = zip(self.names, matrices, squares, rows.tolist(), strict=True)
        return {name: Counts(cells, classes, number, square) for name, cells, square, number in parts}

    def _cells(self, truth: Ints, predicted: Ints, size: NDArray[Any], classes: int) -> NDArray[Any]:
        cells = np.zeros(len(self.names) * classes**2, dtype=size.dtype)
        np.add.at(cells, (self.code * classes + truth) * classes + predicted, size)
        return cells.reshape(len(self.names), classes, classes)


@dataclass(frozen=True, slots=True)
class MissedInGroup:
    """A constraint that a group misses."""

    group: Label
    missed: MissedConstraint

    def __str__(self) -> str:
        return f"group {self.group!r}: {self.missed}"


def each_alone(arrays: PreferenceArrays) -> PreferenceArrays:
    """Return the constraints that must hold in each group: the minima; a capacity is of all rows together."""
    return replace(arrays, max_share=np.ones_like(arrays.max_share))


def missed_by_group(by: Mapping[Label, Counts], arrays: PreferenceArrays) -> tuple[MissedInGroup, ...]:
    """Return the minima that groups miss; those of classes that a group has no row of are not judged.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.measures.by_group import missed_by_group
    >>> preferences = cp.Preferences({"ill": cp.Preference(min_recall=0.8)}).on(["ill", "well"])
    >>> matrices = {"north": [[9, 1], [5, 85]], "south": [[7, 3], [2, 88]]}
    >>> sites = {name: cp.Counts.from_matrix(matrix, ["ill", "well"]) for name, matrix in matrices.items()}
    >>> print(missed_by_group(sites, preferences)[0])
    group 'south': the recall of 'ill' is 0.700, below your minimum of 0.8 (1 prediction must change)
    """
    alone = each_alone(arrays)
    return tuple(
        MissedInGroup(name, missed) for name, counts in by.items() for missed in missed_constraints(counts, alone)
    )


def shortfall_by_group(by: Mapping[Label, Counts], arrays: PreferenceArrays) -> float:
    """Return what the groups together miss of the minima."""
    alone = each_alone(arrays)
    return sum(shortfall(counts, alone) for counts in by.values())


def check_groups(by: Mapping[Label, Counts], arrays: PreferenceArrays) -> None:
    """Raise if a group has no row of a class that has a minimum."""
    for k in np.flatnonzero(arrays.has_minimum).tolist():
        without = [name for name, counts in by.items() if not counts.support[k]]
        if without:
            rate = "recall" if arrays.min_recall[k] > 0 else "precision"
            raise InputError(
                f"by has {'a group' if len(without) == 1 else 'groups'} without a row of class {arrays.classes[k]!r}, {shown(without)}, "
                f"whose {rate} cannot be held; label some there, join groups, or leave their rows out",
                "by",
            )


def rows_of(by: Mapping[Label, Counts], arrays: PreferenceArrays | None) -> list[dict[str, Any]]:
    """Return the rates of each group: of the classes with a minimum, else of all classes."""
    first = next(iter(by.values()))
    asked = None if arrays is None else np.flatnonzero(arrays.has_minimum)
    chosen = range(len(first.classes)) if asked is None or not len(asked) else asked.tolist()
    missed = (
        set()
        if arrays is None
        else {(one.group, one.missed.label, one.missed.rate) for one in missed_by_group(by, arrays)}
    )
    return [
        {
            "group": name,
            "label": counts.classes[k],
            "support": counts.support[k].item(),
            "predicted": counts.predicted[k].item(),
            "recall": float(recall(counts)[k]),
            "precision": float(precision(counts)[k]),
            "missed": [rate for rate in ("recall", "precision") if (name, counts.classes[k], rate) in missed],
        }
        for name, counts in by.items()
        for k in chosen
    ]


def group_table(by: Mapping[Label, Counts], arrays: PreferenceArrays | None) -> Table:
    """Return the rates of each group as a table; where there are minima, also whether they are met."""
    asked = arrays is not None and bool(arrays.has_minimum.any())
    header = ["Group: class", "Support", "Predicted", "Recall", "Precision", *["Minima"] * asked]
    rows = [
        [
            f"{row['group']}: {row['label']}",
            count(row["support"]),
            count(row["predicted"]),
            fixed(row["recall"]),
            fixed(row["precision"]),
            *[f"MISSED: {', '.join(row['missed'])}" if row["missed"] else "met"] * asked,
        ]
        for row in rows_of(by, arrays)
    ]
    return Table("By group", header, rows)
