"""A table of text columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Column = list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of text by name; None is a missing value."""

    source: str
    columns: Mapping[str, Column]
    weights: list[float] | None = None
    """Weights that belong to the rows themselves, as ARFF may give them."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))
