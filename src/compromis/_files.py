"""Files written whole or not at all, limits on what files may hold, and the version of what we write."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compromis.errors import InputError


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write `data` to `path` through a temporary file beside it, synced to disk and then renamed: a reader never finds a part."""
    target = Path(path)
    payload = data.encode("utf-8") if isinstance(data, str) else data
    try:
        _write_beside(target, payload)
    except OSError as error:  # name the file that the user knows, not the temporary one
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
    """Return the permissions of the file, or those the umask gives a new one; mkstemp makes files private."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on input, which a variable of the environment may change.

    Attributes
    ----------
    setting : str
        The name of the variable.
    default : int
        The limit without it.
    """

    setting: str
    default: int

    @property
    def most(self) -> int:
        """The limit that holds now."""
        text = os.environ.get(self.setting, "")
        if not text:
            return self.default
        try:
            number = int(text)
        except ValueError:
            number = 0
        if number < 1:
            raise InputError(f"{self.setting} must be a whole number above 0, got {text!r}")
        return number

    def check(self, number: int, what: str) -> None:
        """Raise if `number` exceeds the limit; `what` is the beginning of the message."""
        if number > self.most:
            raise InputError(f"{what}, more than the limit of {self.most:,}; set {self.setting} to raise it")


COLUMNS = Limit("COMPROMIS_MAX_COLUMNS", 100_000)
"""Columns of a file."""
CLASSES = Limit("COMPROMIS_MAX_CLASSES", 4096)
"""Classes of a confusion matrix, which has their square as cells."""
LABEL = Limit("COMPROMIS_MAX_LABEL", 10_000)
"""Characters of a label."""
LINE = Limit("COMPROMIS_MAX_LINE", 1 << 25)
"""Characters of a line of a text file."""
UNPACKED = Limit("COMPROMIS_MAX_UNPACKED", 1 << 28)
"""Bytes that a small file may become in memory: decompressed, as columns held at once, or as different texts."""


VERSION = 2
"""The version of every format we write, JSON of results too; raised when a field changes its meaning or goes, new fields leave it alone."""


class Head(msgspec.Struct):
    """The head of a file of ours: what it holds, and in which version."""

    schema: str
    version: int


def check_version(data: str | bytes, name: str, schema: str, again: str) -> None:
    """Raise if JSON is not of this format and version; `again` says how to replace a file of 0.1.0."""
    head = msgspec.json.decode(data, type=Head)
    if head.schema != schema:
        raise InputError(f"{name} holds {head.schema!r}, not {schema!r}")
    if head.version < VERSION:
        raise InputError(f"{name} was written by compromis 0.1.0, which was never published; {again}")
    if head.version > VERSION:
        raise InputError(f"{name} has version {head.version}, this compromis reads up to {VERSION}; update compromis")
