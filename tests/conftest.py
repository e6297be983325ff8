"""Fixtures: the papers' data where COMPROMIS_DATA names it, and how often random tests try."""

from __future__ import annotations

import inspect
import os
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, Phase, settings

SEED = int(os.environ.get("COMPROMIS_SEED", "0"))
"""0: the same cases in every run. Promise 12 sets others."""

# machines are shared, so time says nothing
settings.register_profile(
    "steady", deadline=None, derandomize=SEED == 0, database=None, suppress_health_check=[HealthCheck.too_slow]
)
# make mutation asks whether a test fails, not for the smallest example
settings.register_profile(
    "brief", settings.get_profile("steady"), max_examples=20, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("COMPROMIS_EXAMPLES", "steady"))


if "mix_stderr" in inspect.signature(CliRunner).parameters:  # click 8.1 mixes what later ones keep apart
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
    Result.output = property(lambda result: result.stdout + result.stderr)  # later ones hold both


@pytest.fixture
def rng(request):
    """A generator of its own for each test, the same in every run with the same COMPROMIS_SEED."""
    own = [ord(letter) for letter in request.node.name]
    return np.random.default_rng([*own, SEED] if SEED else own)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the papers' data."""
    folder = os.environ.get("COMPROMIS_DATA")
    if not folder:
        pytest.skip("COMPROMIS_DATA does not name the folder of the papers' data")
    return Path(folder)


@pytest.fixture(scope="session")
def weka(data) -> Path:
    """The folder of what Weka printed."""
    folder = data.parent / "oracles" / "weka"
    if not folder.is_dir():
        pytest.skip("there is no oracles/weka beside COMPROMIS_DATA")
    return folder
