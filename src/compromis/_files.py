"""Files written whole or not at all, and limits on what files may hold."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

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
"""Bytes that a compressed file may become in memory; `PIECEWISE` times as many where it is read in pieces."""
PIECEWISE = 16
_DEFLATE = 1032
"""The most bytes that one byte of gzip can become."""


class _Metered(io.RawIOBase):
    """A stream that hands the position and bytes of each read to a function."""

    def __init__(self, stream: BinaryIO, look: Callable[[int, bytes], None]) -> None:
        self._stream = stream
        self._look = look

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        begin = self._stream.tell() if self.seekable() else 0
        data = self._stream.read(len(buffer))
        self._look(begin, data)
        buffer[: len(data)] = data
        return len(data)


def bounded(stream: BinaryIO, source: str, factor: int = 1) -> BinaryIO:
    """Return a stream of decompressed bytes that raises beyond the limit."""
    most = UNPACKED.most * factor

    def look(begin: int, data: bytes) -> None:
        if begin + len(data) > most:
            raise _too_large(source, most)

    return _buffered(stream, look)


def check_announced(packed: BinaryIO, source: str) -> None:
    """Raise if the size at the end of a gzip file exceeds the limit; `bounded` notices a wrong size."""
    size = packed.seek(0, io.SEEK_END)
    packed.seek(max(0, size - 4))
    announced = int.from_bytes(packed.read(4), "little")
    packed.seek(0)
    if UNPACKED.most < announced <= _DEFLATE * size:  # the end of a truncated file is any number
        raise _too_large(source, UNPACKED.most)


def _too_large(source: str, most: int) -> InputError:
    return InputError(
        f"{source} becomes more than {most:,} bytes when it is decompressed; decompress it, read it with an engine "
        f"(--engine duckdb), or set {UNPACKED.setting} to raise the limit"
    )


def short_lines(stream: BinaryIO, source: str) -> BinaryIO:
    """Return a stream of text that raises at a line longer than the limit."""
    most, run = LINE.most, 0

    def look(_: int, data: bytes) -> None:
        nonlocal run
        last = max(data.rfind(b"\n"), data.rfind(b"\r"))
        run = run + len(data) if last < 0 else len(data) - last - 1
        if run > most:
            LINE.check(run, f"{source} has a line of more than {most:,} characters")

    return _buffered(stream, look)


def _buffered(stream: BinaryIO, look: Callable[[int, bytes], None]) -> BinaryIO:
    return io.BufferedReader(_Metered(stream, look), 1 << 17)
