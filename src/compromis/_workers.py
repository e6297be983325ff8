"""Tasks in worker processes: one thread each, because as many tasks run as there are cores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


def for_workers(task: Callable[..., Result], n_jobs: int | None) -> Callable[..., Result]:
    """Return the task as `n_jobs` workers run it: `in_worker`, unless there is one only, which may use all cores."""
    from joblib import effective_n_jobs

    return task if effective_n_jobs(n_jobs) == 1 else partial(in_worker, task)


def in_worker(task: Callable[..., Result], *arguments: Any) -> Result:
    """Run a task with one thread of BLAS, OpenMP and numba, and its own parallel parts one after the other.

    joblib limits threads in its own processes only, not on a cluster. Nested tasks would deadlock a Dask cluster: every worker
    would wait for a free worker.
    """
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), _one_thread_of_numba(), parallel_config(backend="threading", n_jobs=1):
        return task(*arguments)


@contextmanager
def _one_thread_of_numba() -> Iterator[None]:
    """Limit numba, which threadpoolctl does not know."""
    if "numba" not in sys.modules:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)
