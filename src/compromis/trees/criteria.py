"""Split criteria by name, or one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from compromis._text import nearest
from compromis.errors import InputError
from compromis.trees._kernels.gains import CRITERIA, OWN, OwnGain, compiled_gain

ALIASES: Final = {"pragma": "pragma_f"}
CRITERION_NAMES: Final = (*ALIASES, *CRITERIA)

OwnCriterion = Callable[[float, float, float, float, float, float, float], float]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A split criterion as kernels take it: its number, and the function of a user's own one."""

    number: int
    own: OwnGain
    source: str | OwnCriterion = field(compare=False)
    """The name or function that it was found by."""

    def __reduce__(self) -> tuple[Any, ...]:
        return find_criterion, (self.source,)  # compiled code does not travel to workers


def find_criterion(criterion: str | OwnCriterion) -> Criterion:
    """Look a criterion up by name, or compile a function.

    Parameters
    ----------
    criterion : str or function
        A name, or ``f(left, node, n_left, n, importance, recall_weight, prior) -> float``: what one class adds to the
        gain of a cut, given its weight in the left child and in the node, and the weight of all classes there.

    Examples
    --------
    >>> find_criterion("gini").number
    0
    """
    if callable(criterion):
        return Criterion(OWN, _compiled(criterion), criterion)
    name = ALIASES.get(criterion, criterion) if isinstance(criterion, str) else None
    if name not in CRITERIA:
        raise InputError(
            f"criterion is one of {', '.join(CRITERION_NAMES)} or a function, "
            f"got {criterion!r}{nearest(criterion, CRITERION_NAMES)}"
        )
    return Criterion(CRITERIA[name], _compiled(_sum_of_all), criterion)


@lru_cache(maxsize=64)
def _compiled(function: Callable[..., Any]) -> OwnGain:
    try:
        return compiled_gain(function)
    except Exception as error:  # numba's errors are of many kinds and pages long
        raise InputError(
            f"the criterion {getattr(function, '__name__', function)!r} cannot be compiled by numba; "
            f"it must be a function of seven numbers that gives a number ({type(error).__name__})"
        ) from error


def _sum_of_all(
    left: float, node: float, n_left: float, n: float, importance: float, recall_weight: float, prior: float
) -> float:
    """Stand in, never called, where the criterion is one of the family."""
    return left + node + n_left + n + importance + recall_weight + prior
