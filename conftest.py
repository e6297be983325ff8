"""Every test and every example of the documentation runs in an empty folder of its own, and leaves no figure open."""

from __future__ import annotations

import os
import signal
import sys

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side, one per core
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(
        signal.SIGHUP, signal.SIG_DFL
    )  # under nohup, processes that tests start would ignore it too, and never end


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
