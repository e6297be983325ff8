"""How many rows of each class each part of a split gets: exact sizes, and each class as near to its share as whole rows allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError

Whole = NDArray[np.int64]


def part_sizes(rows: int, shares: NDArray[np.float64]) -> Whole:
    """Return the sizes of the parts, which sum to `rows`: rounded down, the rows left over to the largest remainders."""
    return _largest_remainders(rows * shares, rows, np.zeros(len(shares), dtype=np.int64))


def class_sizes(support: Whole, shares: NDArray[np.float64], classes: Sequence[Label], names: Sequence[str]) -> Whole:
    """Return the rows of each class (down) in each part (across): every class in every part, every part of its exact size.

    Notes
    -----
    Each class is apportioned by largest remainders, at least one row to each part; then single rows of a class move from
    a part that has one too many to a part that lacks one, always the move that is cheapest in squared distance from the
    exact shares relative to the size of the class.
    """
    _refuse_small(support, classes, names)
    quotas = support[:, np.newaxis] * shares
    least = np.ones(len(shares), dtype=np.int64)
    table = np.array(
        [_largest_remainders(quota, int(rows), least) for quota, rows in zip(quotas, support, strict=True)]
    )
    wanted = part_sizes(int(support.sum()), shares)
    while (excess := table.sum(axis=0) - wanted).any():
        from_part, to_part = int(excess.argmax()), int(excess.argmin())
        cost = (quotas - table)[:, from_part] - (quotas - table)[:, to_part]
        cost = np.where(table[:, from_part] > 1, cost / support, np.inf)
        chosen = int(cost.argmin())
        if not np.isfinite(cost[chosen]):
            raise InputError(
                f"the {names[from_part]} part gets {wanted[from_part]:,} rows, but there are {len(classes):,} classes, and each needs "
                f"at least one row there; make the part larger"
            )
        table[chosen, from_part] -= 1
        table[chosen, to_part] += 1
    return table


def _refuse_small(support: Whole, classes: Sequence[Label], names: Sequence[str]) -> None:
    small = [(label, int(rows)) for label, rows in zip(classes, support, strict=True) if rows < len(names)]
    if small:
        label, rows = small[0]
        more = f" (and {len(small) - 1} more classes are as small)" if len(small) > 1 else ""
        raise InputError(
            f"class {label!r} has {rows} {'row' if rows == 1 else 'rows'}, too few to be in each of the {len(names)} parts "
            f"({', '.join(names)}){more}; merge or drop the class, or pass stratify=False"
        )


def _largest_remainders(quota: NDArray[np.float64], rows: int, least: Whole) -> Whole:
    size = np.maximum(np.floor(quota + 1e-9).astype(np.int64), least)
    while size.sum() > rows:
        size[np.argmax(np.where(size > least, size - quota, -np.inf))] -= 1
    left = rows - int(size.sum())
    size[np.argsort(size - quota, kind="stable")[:left]] += 1
    return size
