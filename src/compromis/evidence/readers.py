"""Sample weights, whole numbers, numbers per class, and sets of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import shown
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.labels import by_label, on_host, plain_label


def read_weights(sample_weight: Any, rows: int, *, name: str = "sample_weight") -> Floats | None:
    """Return weights of rows as a checked float64 array, or None where there are none; one number stands for every row."""
    if sample_weight is None:
        return None
    try:
        weight = np.array(on_host(sample_weight), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers; found something else", parameter=name) from None
    weight = np.full(rows, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (rows,):
        raise InputError(
            f"{name} has shape {weight.shape}, but there are {rows:,} rows; give one weight per row",
            parameter=name,
        )
    check_weights(weight, lambda row: f"row {row}", name)
    if not weight.any():
        raise InputError(f"{name} is zero for every row; nothing would count", parameter=name)
    check_weights_add_up(weight, rows, name)
    return weight


def check_weights(weight: Floats, named: Callable[[int], str], name: str = "sample_weight") -> None:
    """Raise at the first weight that is negative or not finite; `named` says what messages call a row."""
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} must be finite and at least 0, got {weight[row]:g} in {named(row)}; drop such rows or weigh them 0",
            parameter=name,
        )


def check_weights_add_up(weight: Floats, rows: int, name: str = "sample_weight") -> None:
    """Raise if the sum of so many weights, or of their squares, may be more than a float holds, or less."""
    largest = float(weight.max(initial=0.0))
    if largest > 0 and largest * largest < np.finfo(float).tiny:
        raise InputError(f"{name} is too small to add up; scale it", parameter=name)
    if not largest * max(largest, 1.0) * rows < np.inf:
        raise InputError(f"{name} is too large to add up; scale it", parameter=name)


def read_class_numbers(
    numbers: Mapping[Any, float] | Sequence[float] | Any,
    classes: Sequence[Label],
    *,
    name: str,
    noun: str,
    default: float | None = None,
) -> Floats:
    """Return one number per class in their order, from a mapping by class or a sequence.

    Parameters
    ----------
    numbers : mapping, pandas series labelled by class, or sequence
        The numbers.
    classes : sequence
        The classes.
    name, noun : str
        What messages call all numbers (the parameter), and one of them.
    default : float, optional
        The number of a class that a mapping leaves out; without it such a class is an error.
    """
    given, named = numbers, by_label(numbers)
    if named is not None:
        unknown = [label for label in named if label not in classes]
        missing = [label for label in classes if label not in named]
        if missing and default is None:
            raise InputError(f"{name} misses {shown(missing)}; give one {noun} for every class", parameter=name)
        if unknown:
            raise InputError(f"there is a {noun} for {shown(unknown)}, but the classes are {shown(classes)}")
        given = [named.get(label, default) for label in classes]
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, one {noun} per class, got {numbers!r}") from None
    if values.shape != (len(classes),):
        raise InputError(
            f"{name} has shape {values.shape}, but there are {len(classes)} classes; give one {noun} per class"
        )
    return values


WIDEST = 1e100
"""The largest weight of a class, and the largest ratio of weights: products with votes stay within float64."""


def read_class_weights(weights: Any, classes: Sequence[Label]) -> Floats:
    """Return the weights of the classes' votes: finite and above 0; a mapping may leave out classes of weight 1."""
    values = read_class_numbers(weights, classes, name="weights", noun="weight", default=1.0)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"weights must be finite and above 0, got {shown(values.tolist())}")
    if values.max(initial=1.0) > WIDEST or values.min(initial=1.0) < 1 / WIDEST:
        raise InputError(
            f"weights must be between {1 / WIDEST:g} and {WIDEST:g}, got {shown(values.tolist())}; scale them"
        )
    return values


def read_whole(value: Any, name: str, least: int, most: int | None = None, *, also: str = "", cure: str = "") -> int:
    """Return a checked whole number, of numpy too; `also` says what else it may be or what it is, `cure` what to do."""
    if (
        isinstance(value, (int, np.integer))
        and not isinstance(value, bool)
        and least <= value
        and (most is None or value <= most)
    ):
        return int(value)
    bounds = f"of at least {least}" if most is None else f"from {least:,} to {most:,}"
    raise InputError(f"{name} is {also}a whole number {bounds}, got {value!r}{cure}", name)


def read_smoothing(smoothing: float | str, also: str = "") -> float:
    """Return what is added to every vote: a finite number of at least 0; `also` names what else the parameter may be."""
    if not (isinstance(smoothing, Real) and 0 <= smoothing < np.inf):
        raise InputError(
            f"smoothing is {also}a finite number of at least 0, got {smoothing!r}; 0.5 / number of trees is a good start for shares",
            parameter="smoothing",
        )
    if smoothing > WIDEST:
        raise InputError(f"smoothing is at most {WIDEST:g}, got {smoothing}; scale the votes", parameter="smoothing")
    return float(smoothing)


def read_shares(
    shares: Mapping[Any, float] | Sequence[float], classes: Sequence[Label], name: str = "shares"
) -> Floats:
    """Return class shares in the order of the classes, scaled to sum to 1; `name` is what messages call them."""
    values = read_class_numbers(shares, classes, name=name, noun="share")
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise InputError(f"{name} are {len(classes)} finite numbers of at least 0, one per class, got {shares!r}")
    normalised: Floats = values / values.sum()
    return normalised


def prevalence_factors(
    shares: Mapping[Any, float] | Sequence[float], classes: Sequence[Label], support: NDArray[Any]
) -> Floats:
    """Return new share / old share of each class; a share for a class without rows is an error."""
    new = read_shares(shares, classes)
    lacking = [label for label, share, rows in zip(classes, new, support, strict=True) if share > 0 and rows == 0]
    if lacking:
        raise InputError(f"there is no row of {shown(lacking)} in the evidence; its share cannot be raised above 0")
    old = support / support.sum()
    return np.divide(new, old, out=np.zeros(len(new)), where=old > 0)


def read_sets(
    target: Any, groups: Mapping[Any, Any] | Iterable[Any], universe_size: int
) -> tuple[frozenset[Any], dict[Label, frozenset[Any]]]:
    """Return the elements of the target and of the named groups, all of them in a universe of so many elements."""
    universe = read_whole(universe_size, "universe_size", 1, also="the number of all elements, ")
    wanted = _read_members(target, "the target", universe)
    members = {name: _read_members(group, f"group {name!r}", universe) for name, group in _read_names(groups).items()}
    everything = len(wanted.union(*members.values()))
    if everything > universe:
        raise InputError(
            f"target and groups hold {everything:,} distinct elements, but the universe has {universe:,}; "
            f"give its full size"
        )
    return wanted, members


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


def _read_members(group: Any, what: str, universe: int) -> frozenset[Any]:
    if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
        raise InputError(f"{what} must be a set or sequence of ids or a boolean array, got {type(group).__name__}")
    values = group if isinstance(group, (set, frozenset)) else np.asarray(group)
    if isinstance(values, np.ndarray) and values.dtype == bool:
        if values.size != universe:
            raise InputError(
                f"{what} has {values.size:,} flags, but the universe has {universe:,} elements; "
                f"give one flag per element"
            )
        members: frozenset[Any] = frozenset(np.flatnonzero(values).tolist())
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
