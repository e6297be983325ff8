"""Another user of this machine, whom only root can play."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OTHER = 65534
ONLY_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as a second user"
)


@contextmanager
def acting() -> Iterator[None]:
    """Act as the other user."""
    os.setegid(OTHER)
    os.seteuid(OTHER)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder like /tmp: everybody may put files there, and take away his own."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o1777)
        yield folder
