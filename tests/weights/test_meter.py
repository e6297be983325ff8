"""What a search spends of its limits, and how it reports it."""

from __future__ import annotations

import time

import pytest

from compromis.weights.meter import Meter


def test_evaluations():
    told = []
    meter = Meter(max_evaluations=10, progress=lambda done, loss: told.append((done, loss)))
    assert (meter.left(100), meter.left(3), meter.spent, meter.unlimited) == (10, 3, 0.0, False)
    meter.note(4, 0.5)
    assert (meter.left(100), meter.spent, meter.exhausted) == (6, 0.4, False)
    meter.note(3, 0.6, 0.9)  # no better: not in the history
    meter.note(3, 0.25)
    assert (meter.left(100), meter.spent, meter.exhausted) == (0, 1.0, True)
    meter.note(5, 0.25)
    assert (meter.left(100), meter.evaluations) == (0, 15)
    assert meter.history == [(4, 0.5), (10, 0.25)]
    assert told == [(0.4, 0.5), (0.9, 0.6), (1.0, 0.25), (1.0, 0.25)]


def test_seconds(monkeypatch):
    clock = iter([1.0, 2.0, 6.0, 6.0, 11.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    meter = Meter(max_seconds=10.0)
    measured = meter.seconds, meter.spent, meter.exhausted, meter.exhausted
    monkeypatch.undo()
    assert measured == (1.0, 0.5, False, True)
    assert (meter.unlimited, meter.left(7)) == (False, 7)


def test_without_limits_it_stops_when_told_and_stays_so():
    answers = iter([None, True, False])
    meter = Meter(progress=lambda *_: next(answers))
    assert meter.unlimited
    for spent in (0.0, 1.0, 1.0):
        meter.note(1, 0.5)
        assert (meter.spent, meter.exhausted, meter.left(9)) == (spent, spent == 1.0, 9)


def test_limits_of_numpy_are_numbers():
    np = pytest.importorskip("numpy")
    assert Meter(max_seconds=np.float64(2), max_evaluations=np.int64(3)).left(9) == 3
