"""The judge of the long run: what stays passes, what grows is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.stress.long_run import State, grown, summary

CALM = State(memory=800.0, threads=15, handles=9, children=0, files=0)


def test_a_process_that_stays_as_it_is_passes():
    states = [replace(CALM, memory=799.0 + k % 3) for k in range(400)]
    states[-3] = replace(CALM, threads=30, handles=40, files=5)  # busy for a moment
    assert grown(states) == []
    assert summary(states)[0] == "memory: 800 MB at first, 800 MB at the end"


@pytest.mark.parametrize("what", ["threads", "handles", "children", "files"])
def test_one_thing_left_over_is_named(what):
    states = [replace(CALM, **{what: getattr(CALM, what) + (k > 200)}) for k in range(400)]
    assert grown(states) == [f"{what} grew by 1"]


def test_memory_that_grows_is_named():
    assert grown([replace(CALM, memory=800 + 0.25 * k) for k in range(400)]) == [
        "memory grew by 75",
        "memory rose by 50 MB in the second half",
    ]


def test_too_short_to_judge():
    assert grown([CALM] * 3) == ["too short to judge; give it more minutes"]
