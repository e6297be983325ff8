"""Writing files so that a reader finds the old or the new one whole, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write `data` to `path` through a temporary file beside it, synced to disk and then renamed."""
    target = Path(path)
    payload = data.encode("utf-8") if isinstance(data, str) else data
    try:
        _write_beside(target, payload)
    except OSError as error:  # the user knows the file by its own name, not by that of the temporary one
        error.filename, error.filename2 = str(target), None
        raise


def _write_beside(target: Path, payload: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:60]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(payload)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode_of(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # Ctrl-C just after the file was renamed
            os.unlink(temporary)
        raise


def _mode_of(target: Path) -> int:
    """The permissions the file has, or would get from the umask: mkstemp alone leaves it private."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
