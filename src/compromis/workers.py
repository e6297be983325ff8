"""One thread per task in worker processes: as many tasks run there as there are cores."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Result = TypeVar("Result")


def in_worker(task: Callable[..., Result], *arguments: Any) -> Result:
    """Run a task with one thread of BLAS, OpenMP and numba.

    joblib's own processes are limited by joblib, those of a cluster by nobody; and threadpoolctl does not know numba.
    """
    if "numba" not in sys.modules:
        with threadpool_limits(limits=1):
            return task(*arguments)
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            return task(*arguments)
    finally:
        numba.set_num_threads(before)
