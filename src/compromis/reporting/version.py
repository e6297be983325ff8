"""The version of the library that made a report."""

from __future__ import annotations

import sys


def running_version() -> str:
    """Return the version that is running, whether it was installed or not."""
    package = sys.modules["compromis"]  # it stands above the layers, so it is not imported here
    running: str = package.__version__
    return running
