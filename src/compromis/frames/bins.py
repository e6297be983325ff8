"""Bins of equal width, whose edges are known to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from compromis._typing import Floats, Ints


@dataclass(frozen=True, slots=True)
class Bins:
    """`count` bins of equal width from `low` to `high`, both inside.

    The bin of a number is floor((number - low) * scale): three operations that every engine rounds alike and that never fall
    where the number rises. So a bin is an interval, and `edges` finds its first number by the same arithmetic.
    """

    low: float
    high: float
    count: int

    @classmethod
    def over(cls, low: float, high: float, count: int) -> Bins:
        """Return `count` bins, or one where the range is too narrow or too wide to be divided in floats."""
        width = high - low
        fits = 0 < width < np.inf and np.isfinite(count / width)
        return cls(low, high, count if fits else 1)

    @property
    def scale(self) -> float:
        """Bins per unit."""
        return self.count / (self.high - self.low) if self.count > 1 else 1.0

    def expression(self, column: str) -> nw.Expr:
        """Return the bin of a finite number within the range, as a whole float."""
        return ((nw.col(column) - self.low) * self.scale).floor().clip(0.0, float(self.count - 1))

    def edges(self) -> Floats:
        """Return the smallest number of each bin, rising.

        Found by halving the numbers between `low` and `high`, all of them: near 0 there are more than any few steps from
        low + width would pass.
        """
        wanted = np.arange(self.count, dtype=np.float64)
        below, reached = (np.full(self.count, _rank(end), dtype=np.int64) for end in (self.low, self.high))
        for _ in range(64):
            middle = (below & reached) + ((below ^ reached) >> 1)  # their mean, which cannot overflow
            there = self._bin_of(_number(middle)) >= wanted
            below, reached = np.where(there, below, middle), np.where(there, middle, reached)
        edges = _number(reached)
        edges[0] = self.low
        return edges

    def _bin_of(self, values: Floats) -> Floats:
        bins: Floats = np.floor((values - self.low) * self.scale)
        return bins


def _rank(number: float) -> int:
    """Return the rank of a float among all floats, by its bits."""
    bits = int(np.float64(number).view(np.int64))
    return bits if bits >= 0 else -(bits & int(_ALL))


def _number(rank: Ints) -> Floats:
    """Return the floats of some ranks."""
    return np.where(rank >= 0, rank, -rank | ~_ALL).astype(np.int64).view(np.float64)


_ALL = np.int64(2**63 - 1)
