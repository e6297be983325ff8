"""Bins of equal width, whose edges are known to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Bins:
    """`count` bins of equal width from `low` to `high`, both inside.

    The bin of a number is floor((number - low) * scale): three operations that every engine rounds alike and that never fall
    where the number rises. So a bin is an interval, and `edges` finds its first number by the same arithmetic.
    """

    low: float
    high: float
    count: int

    @property
    def scale(self) -> float:
        """Bins per unit."""
        width = self.high - self.low
        scale = self.count / width if width > 0 else 1.0
        return scale if np.isfinite(scale) and scale > 0 else 1.0

    def expression(self, column: str) -> nw.Expr:
        """Return the bin of a finite number within the range, as a whole float."""
        return ((nw.col(column) - self.low) * self.scale).floor().clip(0.0, float(self.count - 1))

    def edges(self) -> NDArray[np.float64]:
        """Return the smallest number of each bin, rising."""
        wanted = np.arange(self.count, dtype=np.float64)
        edges = np.clip(self.low + wanted / self.scale, self.low, self.high)
        for _ in range(64):  # rounding moves an edge by a few steps at most
            short = self._place(edges) < wanted
            before = np.nextafter(edges, -np.inf)
            far = ~short & (self._place(before) >= wanted) & (wanted > 0)
            if not (short | far).any():
                break
            edges = np.where(short, np.nextafter(edges, np.inf), np.where(far, before, edges))
        edges[0] = self.low
        return edges

    def _place(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        places: NDArray[np.float64] = np.floor((values - self.low) * self.scale)
        return places
