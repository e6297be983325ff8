"""Every promise at a tiny scale, so that the scripts of tests/stress never rot; `make stress` runs them whole."""

from __future__ import annotations

import pytest

from tests.stress.outcome import NotRun, silent
from tests.stress.promises import all_promises


@pytest.mark.parametrize("promise", [pytest.param(one, id=f"{one.number} {one.title}") for one in all_promises()])
def test_the_promise_holds_at_a_tiny_scale(promise):
    try:
        outcome = promise.run(promise.quick, silent)
    except NotRun as reason:
        pytest.skip(str(reason))
    assert outcome.cases > 0
    assert outcome.failures == ()
