"""The door for found groups: a target set and groups in a universe become counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError, shown
from compromis.labels import plain_label

Members = frozenset[Any]


def count_groups(
    target: Any, groups: Mapping[Any, Any] | Iterable[Any], universe_size: int
) -> tuple[tuple[Label, ...], NDArray[np.int64], NDArray[np.int64], tuple[int, int]]:
    """Return the groups' names, hits and false alarms, and the sizes of the target and of the rest of the universe."""
    universe = _read_size(universe_size)
    wanted = _read_members(target, "the target", universe)
    named = _read_names(groups)
    found = {name: _read_members(group, f"group {name!r}", universe) for name, group in named.items()}
    everything = len(wanted.union(*found.values()))
    if everything > universe:
        raise InputError(
            f"target and groups hold {everything:,} distinct elements, but the universe has {universe:,}; "
            f"give its full size"
        )
    hits = np.array([len(wanted & group) for group in found.values()], dtype=np.int64)
    sizes = np.array([len(group) for group in found.values()], dtype=np.int64)
    return tuple(found), hits, sizes - hits, (len(wanted), universe - len(wanted))


def _read_size(universe_size: Any) -> int:
    if isinstance(universe_size, bool) or not isinstance(universe_size, (int, np.integer)) or universe_size < 1:
        raise InputError(
            f"universe_size is the number of all elements, a whole number of at least 1, got {universe_size!r}"
        )
    return int(universe_size)


def _read_names(groups: Any) -> dict[Label, Any]:
    if isinstance(groups, Mapping):
        named = {plain_label(name): group for name, group in groups.items()}
    elif isinstance(groups, (str, bytes)) or not hasattr(groups, "__iter__"):
        raise InputError(
            f"groups must be a sequence of groups or a mapping from names to groups, got {type(groups).__name__}"
        )
    else:
        named = dict(enumerate(groups))
    if not named:
        raise InputError("there are no groups; give at least one found group")
    return named


def _read_members(group: Any, what: str, universe: int) -> Members:
    if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
        raise InputError(f"{what} must be a set or sequence of ids or a boolean array, got {type(group).__name__}")
    values = group if isinstance(group, (set, frozenset)) else np.asarray(group)
    if isinstance(values, np.ndarray) and values.dtype == bool:
        if values.size != universe:
            raise InputError(
                f"{what} has {values.size:,} flags, but the universe has {universe:,} elements; "
                f"give one flag per element"
            )
        members: Members = frozenset(np.flatnonzero(values).tolist())
    else:
        members = frozenset(values.ravel().tolist() if isinstance(values, np.ndarray) else map(plain_label, values))
    if not members:
        raise InputError(f"{what} is empty, so its precision or recall is undefined; leave it out")
    outside = [element for element in members if isinstance(element, int) and not 0 <= element < universe]
    if outside:
        raise InputError(
            f"{what} holds {shown(sorted(outside), 3)}, outside the universe of {universe:,} elements; integers count "
            f"elements from 0 to {universe - 1:,}, write other ids as strings"
        )
    return members
