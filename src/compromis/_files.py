"""Files written whole or not at all, limits on what files may hold, and the version of what we write."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from compromis.errors import InputError


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write `data` to `path` through a temporary file beside it, synced to disk and then renamed: a reader never finds a part.

    A link stays one, and the file it leads to keeps its owner and mode. A device, a pipe and the standard output are written to.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    try:
        status = _status(path)
        if status is not None and _is_output(status):
            if sys.stdout is not None:
                sys.stdout.flush()
            _write_through(os.dup(1), payload)  # opened again, it would begin at its first byte
            return
        target, old = _followed(Path(path))
        if status is not None and not stat.S_ISREG(status.st_mode):
            _write_through(os.open(path, os.O_WRONLY | _BINARY), payload)
        else:
            with _signals_put_off():
                _write_beside(target, payload, old)
    except OSError as error:  # name the file that the user knows, not the temporary one
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


_BINARY = getattr(os, "O_BINARY", 0)
_LINKS = 40
"""How many links may follow each other, as in Linux."""
_ANYBODY = stat.S_ISVTX | stat.S_IWOTH


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    with contextlib.suppress(FileNotFoundError):
        return Path(path).stat()
    return None


def _is_output(status: os.stat_result) -> bool:
    """Whether the standard output goes there; a new file of the name would leave it writing into one without a name."""
    try:
        return sys.__stdout__ is not None and os.path.samestat(status, os.fstat(1))
    except OSError:  # closed
        return False


def _followed(path: Path) -> tuple[Path, os.stat_result | None]:
    """Return where links lead, and the status of what is there.

    In a folder where anybody may put files, another user's file, link or pipe may be a trap: it is refused, as Linux itself does
    where its settings fs.protected_* are on.
    """
    for _ in range(_LINKS):
        try:
            status = path.lstat()
        except FileNotFoundError:
            return path, None
        folder = path.parent.stat()
        if folder.st_mode & _ANYBODY == _ANYBODY and status.st_uid not in (folder.st_uid, os.geteuid()):
            raise PermissionError(errno.EACCES, "it belongs to another user, in a folder where anybody may write")
        if not stat.S_ISLNK(status.st_mode):
            return path, status
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _write_through(handle: int, payload: bytes) -> None:
    with os.fdopen(handle, "wb") as stream:
        stream.write(payload)


def _write_beside(target: Path, payload: bytes, old: os.stat_result | None) -> None:
    temporary = target.with_name(f".{target.name[:60]}.{secrets.token_hex(8)}")
    mode = 0o666 if old is None else 0o600  # the kernel takes the umask away
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(payload)
            stream.flush()
            if old is not None:
                _give(stream.fileno() if os.chmod in os.supports_fd else temporary, old)
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # not there yet, or Ctrl-C just after it was renamed
            os.unlink(temporary)
        raise


def _give(file: int | Path, old: os.stat_result) -> None:
    """Give a file the owner and the mode of the old one; who may not give files away may still keep the group."""
    mode = old.st_mode & 0o777
    if sys.platform != "win32" and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        for owner in (old.st_uid, -1):
            with contextlib.suppress(OSError):
                os.chown(file, owner, old.st_gid)
                break
        else:
            mode &= 0o707  # it was meant for another group
    os.chmod(file, mode)


@contextlib.contextmanager
def _signals_put_off() -> Iterator[None]:
    """Let signals that would end the process at once wait until no temporary file is left; only the main thread can."""
    arrived: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    ending = [signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if main and name in signal.Signals.__members__]
    put_off = [number for number in ending if signal.getsignal(number) is signal.SIG_DFL]
    for number in put_off:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number in put_off:
            signal.signal(number, signal.SIG_DFL)
        for late in arrived:
            signal.raise_signal(late)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on input, which a variable of the environment may change."""

    setting: str
    """The name of the variable."""
    default: int
    """The limit without it."""

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
        return min(number, sys.maxsize)

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


def file_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return what a file holds."""
    with Path(path).open("rb") as stream:
        return stream_bytes(stream, os.fspath(path))


def stream_bytes(stream: BinaryIO, name: str) -> bytes:
    """Return the rest of an open file; of a device or a pipe, whose size nobody knows, up to a limit."""
    with contextlib.suppress(io.UnsupportedOperation):  # bytes in memory
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return stream.read()
    data = stream.read(UNPACKED.most + 1)
    UNPACKED.check(len(data), f"{name} goes on after {len(data) - 1:,} bytes")
    return data


VERSION = 2
"""The version of every format we write, JSON of results too; raised when a field changes its meaning or goes, new fields leave it alone."""


class Head(msgspec.Struct):
    """The head of a file of ours: what it holds, and in which version."""

    schema: str
    version: int


Document = TypeVar("Document", bound=Head)


def decode_document(
    data: str | bytes, name: str, kind: type[Document], *, schema: str, again: str, refusal: str
) -> Document:
    """Return JSON of this format and version as an instance of `kind`; `refusal` says what anything else is not."""
    try:
        check_version(data, name, schema, again)
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name} {refusal}: {error}") from error


def check_version(data: str | bytes, name: str, schema: str, again: str) -> None:
    """Raise if JSON is not of this format and version; `again` says how to replace a file of 0.1.0."""
    head = msgspec.json.decode(data, type=Head)
    if head.schema != schema:
        raise InputError(f"{name} holds {head.schema!r}, not {schema!r}")
    if head.version < VERSION:
        raise InputError(f"{name} was written by compromis 0.1.0, which was never published; {again}")
    if head.version > VERSION:
        raise InputError(f"{name} has version {head.version}, this compromis reads up to {VERSION}; update compromis")
