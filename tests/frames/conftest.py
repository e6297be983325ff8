"""Every test of a frame runs in every engine."""

from __future__ import annotations

import pytest

from tests.frame_kinds import ENGINES, EVERY, running


@pytest.fixture(params=EVERY)
def kind(request):
    with running(request.param):
        yield request.param


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param
