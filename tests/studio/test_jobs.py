"""Jobs: progress, cancellation and errors."""

from __future__ import annotations

import threading
import time

import pytest

from compromis.errors import InputError
from compromis.studio.jobs import Cancelled, Jobs


def test_cancel_stops_the_work():
    jobs, steps = Jobs(), []

    def work(job):
        for step in range(100_000):
            job.report(step / 100_000, f"step {step}")
            steps.append(step)
            time.sleep(0.001)

    job = jobs.start("long", work)
    while not steps:
        time.sleep(0.001)
    job.cancel()
    deadline = time.monotonic() + 5
    while not job.finished and time.monotonic() < deadline:
        time.sleep(0.001)
    assert job.state == "cancelled"
    done = len(steps)
    time.sleep(0.05)
    assert len(steps) == done
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("studio-job")]


def test_the_newest_of_a_kind_counts_and_waiting_work_can_be_cancelled():
    jobs, go = Jobs(), threading.Event()

    def hold(job):
        while not go.is_set():
            job.report(0.5, "")
            time.sleep(0.001)
        return "held"

    first, second = jobs.start("a", hold, key="tune"), jobs.start("b", hold, key="tune")
    third, fourth = jobs.start("c", hold), jobs.start("d", hold)
    light = jobs.start("e", lambda _: "at once", light=True)
    deadline = time.monotonic() + 5
    while not (first.finished and light.finished) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert (first.state, light.result) == ("cancelled", "at once")
    waiting = next(job for job in (second, third, fourth) if job.state == "waiting")
    waiting.cancel()
    while not waiting.finished and time.monotonic() < deadline:
        time.sleep(0.001)
    assert waiting.state == "cancelled"
    go.set()
    jobs.close()
    assert sorted(job.state for job in (second, third, fourth)) == ["cancelled", "done", "done"]


def test_failures_are_sentences(capsys):
    jobs = Jobs()

    def failing(error):
        def work(_):
            raise error

        job = jobs.start("x", work)
        while not job.finished:
            time.sleep(0.001)
        return job.state, job.error

    assert failing(InputError("give more")) == ("failed", "give more")
    assert failing(FileNotFoundError(2, "No such file", "x.csv")) == ("failed", "x.csv: No such file")
    assert "memory" in failing(MemoryError())[1]
    assert "KeyError" in failing(KeyError("k"))[1]
    job = jobs.start("y", lambda _: None)
    job.cancel()
    with pytest.raises(Cancelled):
        job.report(0.1, "")
