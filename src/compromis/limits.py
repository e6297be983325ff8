"""Limits on what a file may ask of the machine, each with a setting that raises it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import BinaryIO

from compromis.errors import InputError


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that input must not exceed.

    Attributes
    ----------
    setting : str
        The variable of the environment that sets another number.
    default : int
        The number without it.
    """

    setting: str
    default: int

    @property
    def most(self) -> int:
        """The number that holds now."""
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

    def check(self, found: int, what: str) -> None:
        """Refuse more than the limit; `what` says in words what was found."""
        if found > self.most:
            raise InputError(f"{what}, more than the limit of {self.most:,}; set {self.setting} to raise it")


COLUMNS = Limit("COMPROMIS_MAX_COLUMNS", 100_000)
"""Columns of a file."""
CLASSES = Limit("COMPROMIS_MAX_CLASSES", 4096)
"""Classes of a confusion matrix, which has their square as cells."""
LABEL = Limit("COMPROMIS_MAX_LABEL", 10_000)
"""Letters of a label."""
LINE = Limit("COMPROMIS_MAX_LINE", 1 << 25)
"""Letters of a line of a text file."""
UNPACKED = Limit("COMPROMIS_MAX_UNPACKED", 1 << 28)
"""Bytes that a compressed file may become in memory; sixteen times as many where it is read a piece at a time."""
PIECEWISE = 16


def check_labels(labels: Iterable[object]) -> None:
    """Refuse labels that are no names any more but texts."""
    longest = max(
        (len(label) for label in labels if isinstance(label, (str, bytes)) and isinstance(label, Sized)), default=0
    )
    LABEL.check(longest, f"a label has {longest:,} letters")


class Bounded(io.RawIOBase):
    """A decompressing stream that refuses to go on beyond a number of bytes."""

    def __init__(self, stream: BinaryIO, source: str, factor: int = 1) -> None:
        self._stream = stream
        self._source = source
        self._most = UNPACKED.most * factor
        self._read = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes."""
        data = self._stream.read(len(buffer))
        self._read += len(data)
        if self._read > self._most:
            raise InputError(
                f"{self._source} becomes more than {self._most:,} bytes when it is decompressed; decompress it, read it with an "
                f"engine (--engine duckdb), or set {UNPACKED.setting} to raise the limit"
            )
        buffer[: len(data)] = data
        return len(data)


def bounded(stream: BinaryIO, source: str, factor: int = 1) -> BinaryIO:
    """Return the stream of decompressed bytes with an end to its patience."""
    return io.BufferedReader(Bounded(stream, source, factor), 1 << 17)  # type: ignore[return-value]
