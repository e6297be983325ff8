"""Split criteria by name, or one's own."""

from __future__ import annotations

import ctypes
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from compromis._text import nearest
from compromis.errors import InputError
from compromis.trees._kernels import CRITERIA, OWN, address_in

ALIASES: Final = {"pragma": "pragma_f"}
CRITERION_NAMES: Final = (*ALIASES, *CRITERIA)

OwnCriterion = Callable[[float, float, float, float, float, float, float], float]

CTYPES_FUNCTION: Final = ctypes.CFUNCTYPE(None).__bases__[0]
"""What every ctypes function is."""
C_SIGNATURE: Final = "double (double, double, double, double, double, double, double)"
ORDINARY_CUT: Final = (3.0, 4.0, 5.0, 10.0, 1.0, 0.5, 0.4)
"""Arguments that every criterion must take."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A split criterion as kernels take it: its number, and the function of a user's own one."""

    number: int
    own: int | OwnCriterion | None
    """The address of a C function, or a Python function; None for a criterion of the family."""
    source: Any = field(compare=False)
    """The name or function that it was found by; it keeps a C function alive."""

    def __reduce__(self) -> tuple[Any, ...]:
        return find_criterion, (self.source,)  # addresses do not travel to workers


def find_criterion(criterion: str | OwnCriterion | Any) -> Criterion:
    """Look a criterion up by name, or check a function.

    Parameters
    ----------
    criterion : str, function or C function
        A name, or ``f(left, node, n_left, n, importance, recall_weight, prior) -> float``: what one class adds to the
        gain of a cut, given its weight in the left child and in the node, and the weight of all classes there. A C
        function of seven doubles (`scipy.LowLevelCallable`, a ctypes function, or an object with an ``address``, such
        as numba's cfunc) is called without Python.

    Examples
    --------
    >>> find_criterion("gini").number
    0
    """
    address = _c_address(criterion)
    if address is not None:
        return Criterion(OWN, address, criterion)
    if callable(criterion):
        return Criterion(OWN, _checked(criterion), criterion)
    name = ALIASES.get(criterion, criterion) if isinstance(criterion, str) else None
    if name not in CRITERIA:
        raise InputError(
            f"criterion is one of {', '.join(CRITERION_NAMES)} or a function, "
            f"got {criterion!r}{nearest(criterion, CRITERION_NAMES)}"
        )
    return Criterion(CRITERIA[name], None, criterion)


def _c_address(criterion: Any) -> int | None:
    """Return the address of a C function of seven doubles; None for anything that is not a C function."""
    if isinstance(criterion, CTYPES_FUNCTION):
        return _ctypes_address(criterion)
    if hasattr(criterion, "ctypes") and hasattr(criterion, "address"):  # numba's cfunc, whose signature can be checked
        return _ctypes_address(criterion.ctypes)
    if isinstance(getattr(criterion, "address", None), int):
        return int(criterion.address)
    if isinstance(criterion, tuple):
        return _low_level_address(criterion)
    return None


def _ctypes_address(function: Any) -> int:
    arguments = tuple(function.argtypes or ())
    if function.restype is not ctypes.c_double or arguments != (ctypes.c_double,) * 7:
        raise InputError(
            "a C function as criterion takes seven numbers and gives one; its ctypes restype must be c_double "
            f"and its argtypes (c_double,) * 7, got {function.restype} and {len(arguments)} argtypes"
        )
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise InputError("criterion is a ctypes function at no address; load it from a library")
    return address


def _low_level_address(criterion: Any) -> int | None:
    """Return the address that a `scipy.LowLevelCallable` holds."""
    from scipy import LowLevelCallable  # only where a tuple came in

    if not isinstance(criterion, LowLevelCallable):
        return None
    if criterion.signature != C_SIGNATURE or criterion.user_data is not None:
        raise InputError(
            f"criterion is a LowLevelCallable of {criterion.signature!r}; a criterion takes seven numbers "
            f"and no user data: {C_SIGNATURE!r}"
        )
    return address_in(tuple.__getitem__(criterion, 0))  # a capsule, where scipy's C code looks for it too


def _checked(function: Callable[..., Any]) -> OwnCriterion:
    """Return the function if it takes seven numbers and gives one."""
    name = getattr(function, "__name__", function)
    try:
        gain = function(*ORDINARY_CUT)
    except Exception as error:  # whatever the user's code raises
        raise InputError(
            f"the criterion {name!r} must be a function of seven numbers; for {ORDINARY_CUT} "
            f"it raised {type(error).__name__}: {error}"
        ) from error
    if not isinstance(gain, numbers.Real):
        raise InputError(f"the criterion {name!r} must be a function of seven numbers that gives one, got {gain!r}")
    return function
