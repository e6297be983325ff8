"""A metric of the user's own, compiled so that the kernels of the four built in can call it."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numba.experimental.function_type  # registers the type below; numba itself does so with its first compilation only
import numpy as np
from numba import types
from numba.extending import typeof_impl

from compromis.errors import InputError
from compromis.kernels.metric_terms import Objective
from compromis.metrics import Metric

_NUMBERS = types.float64(types.float64, types.float64, types.float64)


class _Unused(types.WrapperAddressProtocol):  # type: ignore[misc]
    """Stands where a formula would, of the same type, so that kernels are compiled once; it is never called."""

    _function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double, ctypes.c_double)(
        lambda *_: math.nan
    )

    def __wrapper_address__(self) -> int:
        return ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def signature(self) -> Any:
        return _NUMBERS


_UNUSED = _Unused()
_KNOWN: dict[tuple[Any, ...], Any] = {}


@typeof_impl.register(Objective)  # type: ignore[untyped-decorator]
def _type_of(objective: Objective, context: Any) -> Any:
    """Return numba's type of an objective, found once for each layout of its arrays.

    A tuple that holds a function is looked at field by field with every call of a kernel, which took most of the time of a
    search among few rows.
    """
    key = tuple(
        (field.dtype, field.ndim, field.flags.num) if isinstance(field, np.ndarray) else type(field)
        for field in objective
    )
    if key not in _KNOWN:
        _KNOWN[key] = typeof_impl.dispatch(tuple)(objective, context)
    return _KNOWN[key]


def formula_of(metric: Metric) -> Any:
    """Return what kernels call for `metric`: nothing for the four built in, else its compiled formula with its limits."""
    return _UNUSED if metric.code >= 0 else _compiled(metric)


@cache
def _compiled(metric: Metric) -> Any:
    if numba.config.DISABLE_JIT:
        return _with_limits(metric.formula, metric.defined_at_zero)
    try:
        return numba.cfunc(_NUMBERS)(_with_limits(numba.njit(metric.formula), metric.defined_at_zero))
    except Exception as error:  # whatever numba makes of a formula
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InputError(
            f"the formula of your metric {metric.name!r} cannot be compiled for the search ({reason[:120]}); "
            f"write it with arithmetic and numpy functions that also take single numbers"
        ) from error


def _with_limits(formula: Callable[..., Any], everywhere: bool) -> Callable[[float, float, float], float]:
    def value(precision: float, recall: float, recall_weight: float) -> float:
        if not everywhere:
            if recall_weight <= 0.0:
                return precision
            if recall_weight >= 1.0:
                return recall
            if precision <= 0.0 or recall <= 0.0:
                return 0.0
        return float(formula(precision, recall, recall_weight))

    return value
