"""Documents as JSON, and texts as files."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from compromis._files import write_whole


def running_version() -> str:
    """Return the version that is running, whether it was installed or not."""
    running: str = sys.modules["compromis"].__version__  # the package stands above this module: it is not imported here
    return running


def write_json(document: dict[str, Any], path: str | os.PathLike[str] | None = None) -> str:
    """Return the document as JSON text, NaN as null; with `path`, write it there too, whole or not at all."""
    return written(msgspec.json.format(msgspec.json.encode(document), indent=2).decode(), path, "\n")


def written(text: str, path: str | os.PathLike[str] | None, end: str = "") -> str:
    """Return the text; with `path`, write it there too, whole or not at all."""
    if path is not None:
        write_whole(path, text + end)
    return text
