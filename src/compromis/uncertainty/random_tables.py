"""Random tables with both margins fixed: the hits and the costs of predictions that know nothing of the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats, Ints

MOST_CLASSES = 64
"""In one random table; the hits of rarer classes, next to uncorrelated, are drawn alone, and costs from their normal limit."""
ROUNDING = 1e-12


def whole_margins(matrix: Floats) -> tuple[Ints, Ints]:
    """Return the margins of a matrix in whole rows, with the same sum; a class that occurs has one row at least."""
    rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
    support = np.where(rows > 0, np.maximum(np.rint(rows), 1), 0).astype(np.int64)
    parts = columns * (support.sum() / columns.sum())
    predicted = np.floor(parts + ROUNDING * parts).astype(np.int64)
    order = np.argsort(predicted - parts, kind="stable")
    predicted[order[: int(support.sum() - predicted.sum())]] += 1
    return support, predicted


def random_hits(
    support: Ints, predicted: Ints, wanted: Ints, tables: int, rng: np.random.Generator
) -> Iterator[tuple[int, Ints]]:
    """Yield the hits of each class wanted in random tables with these margins.

    A class's column is followed up to its own row: what is left of it then joins all others, which saves half the cells.
    """
    pool = total = int(support.sum())
    order = wanted[np.argsort(-(support[wanted] / total * predicted[wanted]), kind="stable")].tolist()
    together, alone = order[:MOST_CLASSES], order[MOST_CLASSES:]
    left = {k: np.full(tables, predicted[k]) for k in together}
    for number, row in enumerate(together):
        columns = [row] if number == len(together) - 1 else together[number:]
        for column, cells in _random_row(left, columns, int(support[row]), pool, rng):
            if column == row:
                yield row, cells
        pool -= int(support[row])
    for k in alone:
        yield k, rng.hypergeometric(predicted[k], total - predicted[k], support[k], tables)


@dataclass(frozen=True, slots=True)
class Price:
    """What an effective row of each cell costs; of this `varying` is the mean of its amounts, whose variance is `spread` x mean^2."""

    cost: Floats
    varying: Floats
    spread: Floats

    def of(self, row: int, column: int, cells: Ints, support: int, rng: np.random.Generator) -> Floats:
        """Return what drawn rows cost: a random part of the class's rows, whose amounts sum to a random part of theirs."""
        paid = np.asarray(self.cost[row, column] * cells, dtype=np.float64)
        step = self.varying[row, column] * self.spread[row] * (1 - cells / max(support, 1))
        some = (cells > 0) & (step > 0)
        mean = self.varying[row, column] * cells[some]
        paid[some] += step[some] * rng.standard_gamma(mean / step[some]) - mean
        return paid


def random_costs(support: Ints, predicted: Ints, price: Price, tables: int, rng: np.random.Generator) -> Floats:
    """Return the costs of random tables with these margins."""
    if len(support) > MOST_CLASSES:
        total = int(support.sum())
        expected = np.outer(support, predicted / total)
        centred = centred_on_margins(price.cost, support / total, predicted / total)
        apart = price.varying**2 * price.spread[:, np.newaxis] * (1 - predicted / total)
        variance = float((expected * (centred**2 * total / max(total - 1, 1) + apart)).sum())
        return rng.normal(float((expected * price.cost).sum()), math.sqrt(variance), tables)
    paid = np.zeros(tables)
    for row, column, cells in random_cells(support, predicted, tables, rng):
        paid += price.of(row, column, cells, int(support[row]), rng)
    return paid


def random_cells(
    support: Ints, predicted: Ints, tables: int, rng: np.random.Generator
) -> Iterator[tuple[int, int, Ints]]:
    """Yield every cell of random tables with these margins."""
    pool = int(support.sum())
    columns = np.flatnonzero(predicted > 0).tolist()
    left = {k: np.full(tables, predicted[k]) for k in columns}
    for row in np.flatnonzero(support > 0).tolist():
        for column, cells in _random_row(left, columns, int(support[row]), pool, rng):
            yield row, column, cells
        pool -= int(support[row])


def _random_row(
    left: dict[int, Ints], columns: list[int], rows: int, pool: int, rng: np.random.Generator
) -> Iterator[tuple[int, Ints]]:
    """Draw a row's cells, each hypergeometric given those before it, and take them from what is `left` of the columns."""
    among = np.full(len(left[columns[0]]), pool)
    rest = np.full_like(among, rows)
    for column in columns:
        among -= left[column]
        cells = rng.hypergeometric(left[column], among, rest)
        left[column] -= cells
        rest -= cells
        yield column, cells


def centred_on_margins(cost: Floats, truth: Floats, decision: Floats) -> Floats:
    """Take from each cell what its margins let expect, with these shares of rows and columns."""
    return cost - (cost @ decision)[:, np.newaxis] - truth @ cost + float(truth @ cost @ decision)
