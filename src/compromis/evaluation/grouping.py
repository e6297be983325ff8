"""Whole groups of rows dealt out to the parts of a split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError
from compromis.preferences import Label

Positions = NDArray[np.int64]
Floats = NDArray[np.float64]

ATTEMPTS = 20
"""How many orders of the groups are tried until every class stands in every part."""


def assign_groups(
    groups: Positions,
    codes: Positions,
    classes: Sequence[Label],
    shares: Floats,
    names: Sequence[str],
    rng: np.random.Generator,
) -> Positions:
    """Return the part of each row: groups from large to small, each to the part that lacks its rows most, for its size."""
    held = np.zeros((groups.max() + 1, len(classes)))
    np.add.at(held, (groups, codes), 1.0)
    _refuse_few(held, classes, names)
    for _ in range(ATTEMPTS):
        part_of = _fill(held, shares, rng)
        filled = np.array([held[part_of == part].sum(axis=0) for part in range(len(names))])
        if filled.all():
            return part_of[groups]
    part, code = np.argwhere(filled == 0)[0]
    if filled[part].sum() == 0:
        raise InputError(
            f"the groups are so large that the {names[part]} part would stay empty (the largest has {int(held.sum(axis=1).max()):,} of "
            f"{len(groups):,} rows); make the part larger, or split without groups"
        )
    raise InputError(
        f"the groups leave the {names[part]} part without class {classes[code]!r}, which stands in "
        f"{int((held[:, code] > 0).sum())} groups; make the part larger, or pass stratify=False"
    )


def _refuse_few(held: Floats, classes: Sequence[Label], names: Sequence[str]) -> None:
    if len(held) < len(names):
        raise InputError(
            f"there are {len(held)} groups for {len(names)} parts ({', '.join(names)}), so a part would stay empty; "
            f"use fewer parts or finer groups"
        )
    for label, in_groups in zip(classes, (held > 0).sum(axis=0), strict=True):
        if in_groups < len(names):
            raise InputError(
                f"class {label!r} stands in {in_groups} {'group' if in_groups == 1 else 'groups'}, too few to be in each of the "
                f"{len(names)} parts ({', '.join(names)}); merge or drop the class, or pass stratify=False"
            )


def _fill(held: Floats, shares: Floats, rng: np.random.Generator) -> Positions:
    size = held.sum(axis=1)
    order = np.lexsort((rng.random(len(held)), -size))
    scale = 1 / held.sum(axis=0)
    lacking = np.outer(shares, held.sum(axis=0)) * scale
    part_of = np.empty(len(held), dtype=np.int64)
    for group, adds in zip(order.tolist(), (held[order] * scale), strict=True):
        # relative to the part's share, or the largest part would take every large group
        part = int(np.argmax((lacking @ adds) / shares))
        part_of[group] = part
        lacking[part] -= adds
    return part_of
