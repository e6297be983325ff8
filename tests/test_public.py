"""The public namespace: light, complete and documented."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import compromis as cp


def test_importing_is_light():
    program = "import sys, compromis; print([name for name in ('numpy', 'sklearn', 'matplotlib', 'numba') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_evaluating_needs_no_scikit_learn():
    program = "import sys, compromis as cp; cp.evaluate([1, 2], [1, 1]); print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


@pytest.mark.parametrize("name", [name for name in cp.__all__ if name != "__version__"])
def test_every_name_is_there_and_described(name):
    assert name in dir(cp)
    assert getattr(cp, name).__doc__


def test_unknown_name():
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        _ = cp.evalute


def test_version():
    assert cp.__version__ == version("compromis")
