"""A table of numeric and nominal columns, as C4.5 reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis.kernels.c45 import Columns


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column's name and, if it is nominal, the values it may take in their order."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def is_nominal(self) -> bool:
        """Whether the column holds one of a few values rather than a number."""
        return self.values is not None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns side by side: `numeric` float64 with NaN for missing, `nominal` codes with -1 for missing.

    Both are (columns, rows); attribute by attribute, the next row of the one or of the other.
    """

    attributes: tuple[Attribute, ...]
    numeric: NDArray[np.float64]
    nominal: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.numeric.shape[1])

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool(np.isnan(self.numeric).any() or (self.nominal < 0).any())

    def columns(self) -> Columns:
        """The arrays the kernels read."""
        nominal = np.array([attribute.is_nominal for attribute in self.attributes], dtype=bool)
        slot = np.where(nominal, np.cumsum(nominal) - 1, np.cumsum(~nominal) - 1)
        # A column whose values were all missing has none; one value that never occurs stands for it.
        n_values = [
            max(1, len(attribute.values)) if attribute.values is not None else 0 for attribute in self.attributes
        ]
        return Columns(self.numeric, self.nominal, slot.astype(np.int64), np.array(n_values, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """A table with the class (a code below `n_classes`) and the weight of each row."""

    table: Table
    classes: NDArray[np.int32]
    n_classes: int
    weights: NDArray[np.float64]

    @property
    def sums_are_exact(self) -> bool:
        """Whether every sum of weights is a whole number without rounding, whatever its order."""
        whole = bool((self.weights == np.floor(self.weights)).all())
        return whole and float(self.weights.sum()) < 2.0**53 and not self.table.has_missing
