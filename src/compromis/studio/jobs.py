"""Long work in threads, with progress and cancellation."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from compromis.errors import CompromisError

Progress = Callable[[float, str], None]
"""Called by the work with the fraction done and a note; raises `Cancelled` when the work should stop."""
AT_ONCE = 2
"""Jobs that run at the same time; more of them wait."""
KEPT = 100
"""Finished jobs that are remembered."""


class Cancelled(Exception):
    """The job was asked to stop."""


@dataclass(eq=False)
class Job:
    """A piece of work: its title, its progress and its result."""

    id: str
    title: str
    key: str = ""
    state: str = "waiting"
    share: float = 0.0
    note: str = ""
    result: Any = None
    error: str = ""
    error_kind: str = ""
    version: int = 0
    abandoned: bool = False
    """Whether the work is left alone when it is cancelled: it cannot stop by itself, and changes nothing."""
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in {"done", "failed", "cancelled"}

    def report(self, share: float, note: str) -> None:
        """Set the progress, from the working thread; raise `Cancelled` if the job was asked to stop."""
        if self._stop.is_set():
            raise Cancelled
        before, self.share, self.note = (self.share, self.note), min(1.0, max(self.share, share)), note
        self.version += (self.share, self.note) != before

    def offer(self, result: Any) -> None:
        """Give a first result, from the working thread, while a better one is searched."""
        self.result = result
        self.version += 1

    def cancel(self) -> None:
        """Ask the work to stop; it does at its next report, or its result is not waited for."""
        self._stop.set()
        if self.abandoned and not self.finished:
            self.settle("cancelled")

    def begin(self) -> None:
        """Set the state to running."""
        self.state = "running"
        self.version += 1
        self.report(0.0, "")

    def settle(self, state: str, *, result: Any = None, error: Exception | None = None) -> None:
        """Set the final state, with the result or the error; the first one counts."""
        if self.finished:
            return
        if state == "done":
            self.result, self.share = result, 1.0
        if error is not None:
            self.error, self.error_kind = error_sentence(error), type(error).__name__
        self.state = state
        self.version += 1

    def shown(self) -> dict[str, Any]:
        """Return the job for the page."""
        names = ("id", "title", "state", "share", "note", "result", "error", "error_kind", "version")
        return {name: getattr(self, name) for name in names}


class Jobs:
    """The jobs of a studio."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)
        self._free = threading.Semaphore(AT_ONCE)
        self._threads: list[threading.Thread] = []
        self.closed = False

    def start(
        self, title: str, work: Callable[[Job], Any], *, key: str = "", light: bool = False, abandoned: bool = False
    ) -> Job:
        """Run the work in a thread; an unfinished job of the same `key` is cancelled: the newest counts.

        `light` work does not wait for a free slot; `abandoned` work, which reports no progress, is left alone when it is cancelled.
        """
        for other in self.unfinished():
            if key and other.key == key:
                other.cancel()
        job = Job(str(next(self._numbers)), title, key, abandoned=abandoned)
        self._forget()
        self._jobs[job.id] = job
        thread = threading.Thread(target=self._run, args=(job, work, light), name=f"studio-job-{job.id}", daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        thread.start()
        return job

    def get(self, number: str) -> Job | None:
        """Return the job of that number, if it is remembered."""
        return self._jobs.get(number)

    def unfinished(self) -> list[Job]:
        """Return the jobs that run or wait."""
        return [job for job in self._jobs.values() if not job.finished]

    def close(self, seconds: float = 2.0) -> None:
        """Cancel all jobs and wait a little for the threads to end."""
        self.closed = True
        deadline = time.monotonic() + seconds
        for job in self.unfinished():
            job.cancel()
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, job: Job, work: Callable[[Job], Any], light: bool) -> None:
        try:
            with contextlib.nullcontext() if light else self._slot(job):
                job.begin()
                job.settle("done", result=work(job))
        except Cancelled:
            job.settle("cancelled")
        except Exception as error:  # any error of the work is shown in the page
            job.settle("failed", error=error)

    @contextlib.contextmanager
    def _slot(self, job: Job) -> Iterator[None]:
        while not self._free.acquire(timeout=0.05):
            job.report(0.0, "waiting for other work")
        try:
            yield
        finally:
            self._free.release()

    def _forget(self) -> None:
        finished = [number for number, job in self._jobs.items() if job.finished]
        for number in finished[: max(0, len(finished) - KEPT)]:
            del self._jobs[number]


def error_sentence(error: BaseException) -> str:
    """Return an error as one sentence for the page; with COMPROMIS_DEBUG the terminal shows the traceback of an unexpected one."""
    if isinstance(error, CompromisError):
        return str(error)
    if isinstance(error, MemoryError):
        return "this does not fit into memory; use fewer rows or classes"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the file'}: {error.strerror}"
    if os.environ.get("COMPROMIS_DEBUG"):
        traceback.print_exception(error)
    return f"the studio failed ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}); please report it"
