"""Whole groups of rows dealt out to the parts of a split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError

ATTEMPTS = 20
"""How many orders of the groups are tried until every class stands in every part, and as many that begin with rare classes."""


def assign_groups(
    groups: Ints,
    codes: Ints,
    classes: Sequence[Label],
    shares: Floats,
    names: Sequence[str],
    rng: np.random.Generator,
) -> Ints:
    """Return the part of each row: groups from large to small, each to the part that lacks its rows most, for its size.

    Where that leaves a part without a class, the classes that stand in few groups are dealt out first.
    """
    held = np.zeros((groups.max() + 1, len(classes)))
    np.add.at(held, (groups, codes), 1.0)
    _refuse_few(held, classes, names)
    for attempt in range(2 * ATTEMPTS):
        begun = np.full(len(held), -1) if attempt < ATTEMPTS else _each_class_once(held, len(names), rng)
        part_of = _fill(held, shares, begun, rng)
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


def _each_class_once(held: Floats, parts: int, rng: np.random.Generator) -> Ints:
    """Deal groups out until every class stands in every part, if there are enough; -1 for the others."""
    part_of = np.full(len(held), -1)
    for code in np.argsort((held > 0).sum(axis=0), kind="stable"):
        for part in rng.permutation(parts):
            if not held[part_of == part, code].any():
                free = np.flatnonzero((held[:, code] > 0) & (part_of < 0))
                part_of[rng.permutation(free)[:1]] = part
    return part_of


def _fill(held: Floats, shares: Floats, begun: Ints, rng: np.random.Generator) -> Ints:
    """Deal the groups out whose part is not known yet."""
    size = held.sum(axis=1)
    order = np.lexsort((rng.random(len(held)), -size))
    scale = 1 / held.sum(axis=0)
    lacking = np.outer(shares, held.sum(axis=0)) * scale
    part_of = begun.copy()
    for group, adds in zip(order.tolist(), (held[order] * scale), strict=True):
        # relative to the part's share, or the largest part would take every large group
        part = int(part_of[group]) if part_of[group] >= 0 else int(np.argmax((lacking @ adds) / shares))
        part_of[group] = part
        lacking[part] -= adds
    return part_of
