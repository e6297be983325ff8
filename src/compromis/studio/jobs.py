"""Long work: a thread each, progress to look at, and a cancel that stops it."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from compromis.errors import CompromisError

Report = Callable[[float, str], None]
"""Called by the work with the share done and what it is doing; raises `Cancelled` when it should stop."""
AT_ONCE = 2
"""Jobs that run at the same time; more of them wait."""
KEPT = 100
"""Finished jobs that are remembered."""


class Cancelled(Exception):
    """The job was asked to stop."""


class Job:
    """One piece of work: what it is, how far it is, and what came of it."""

    def __init__(self, number: int, title: str, key: str) -> None:
        self.id = str(number)
        self.title = title
        self.key = key
        self.state = "waiting"
        self.share = 0.0
        self.note = ""
        self.result: Any = None
        self.error = ""
        self.version = 0
        self._stop = threading.Event()

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in {"done", "failed", "cancelled"}

    def report(self, share: float, note: str) -> None:
        """Note progress, from the working thread; raise `Cancelled` if the job was asked to stop."""
        if self._stop.is_set():
            raise Cancelled
        before, self.share, self.note = (self.share, self.note), min(1.0, max(self.share, share)), note
        self.version += (self.share, self.note) != before

    def offer(self, result: Any) -> None:
        """Give a first result, from the working thread, while a better one is looked for."""
        self.result = result
        self.version += 1

    def cancel(self) -> None:
        """Ask the work to stop; it does at its next report."""
        self._stop.set()

    def settle(self, state: str, *, result: Any = None, error: str = "") -> None:
        """Say how it ended."""
        self.result, self.error = result if state == "done" else self.result, error
        self.share = 1.0 if state == "done" else self.share
        self.state = state
        self.version += 1

    def begin(self) -> None:
        """Say that it runs."""
        self.state = "running"
        self.version += 1

    def shown(self) -> dict[str, Any]:
        """Return what the page needs to know."""
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "share": self.share,
            "note": self.note,
            "result": self.result,
            "error": self.error,
            "version": self.version,
        }


class Jobs:
    """The jobs of a studio."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)
        self._free = threading.Semaphore(AT_ONCE)
        self._threads: list[threading.Thread] = []
        self.closed = False

    def start(self, title: str, work: Callable[[Job], Any], *, key: str = "", light: bool = False) -> Job:
        """Begin the work in a thread of its own; an unfinished job of the same `key` is cancelled: the newest counts.

        `light` work does not wait until heavy work leaves room.
        """
        for other in self._jobs.values():
            if key and other.key == key and not other.finished:
                other.cancel()
        job = Job(next(self._numbers), title, key)
        self._forget()
        self._jobs[job.id] = job
        thread = threading.Thread(target=self._run, args=(job, work, light), name=f"studio-job-{job.id}", daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()
        return job

    def get(self, number: str) -> Job | None:
        """Return the job of that number, if it is remembered."""
        return self._jobs.get(number)

    def unfinished(self) -> list[Job]:
        """Return the jobs that run or wait."""
        return [job for job in self._jobs.values() if not job.finished]

    def close(self, seconds: float = 2.0) -> None:
        """Cancel everything and wait a little for the threads to end."""
        self.closed = True
        deadline = time.monotonic() + seconds
        for job in self.unfinished():
            job.cancel()
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, job: Job, work: Callable[[Job], Any], light: bool) -> None:
        try:
            with contextlib.nullcontext() if light else self._room(job):
                job.begin()
                job.report(0.0, "")
                job.settle("done", result=work(job))
        except Cancelled:
            job.settle("cancelled")
        except Exception as error:  # whatever the work raises is shown where it was asked for
            job.settle("failed", error=sentence(error))

    @contextlib.contextmanager
    def _room(self, job: Job) -> Iterator[None]:
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


def sentence(error: BaseException) -> str:
    """Return an error as one sentence for the page; an unexpected one shows its traceback in the terminal when debugging."""
    if isinstance(error, CompromisError):
        return str(error)
    if isinstance(error, MemoryError):
        return "this does not fit into memory; use fewer rows or classes"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the file'}: {error.strerror}"
    if os.environ.get("COMPROMIS_DEBUG"):
        traceback.print_exception(error)
    return f"the studio failed ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}); please report it"
