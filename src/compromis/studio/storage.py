"""The files that a studio may read (named by the user, or uploaded), and the folder it may write to."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from compromis.errors import InputError
from compromis.frames import table_suffix

MODEL_SUFFIXES = (".zip", ".model", ".skops", ".compromis")
_ZIP = b"PK\x03\x04"
MOST_LISTED = 500
"""Files of a folder that are listed."""
LONGEST_NAME = 200
"""Bytes of the name of a saved file."""
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    "conin$",
    "conout$",
    *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789¹²³"),
}
PREFIX = "compromis-studio-"
"""Begins the name of a folder of uploads; the number of the process follows."""


class NameTaken(InputError):
    """There is a file of that name already."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that may be read; the page knows its number, never its path."""

    id: str
    name: str
    path: Path

    @property
    def kind(self) -> str:
        """Whether it is a table or a model file, by its content."""
        with self.path.open("rb") as stream:
            return "model" if stream.read(len(_ZIP)) == _ZIP else "table"

    def renamed(self, message: str) -> str:
        """Return the message with the user's name of the file in place of its path."""
        return message.replace(str(self.path), self.name)

    def shown(self) -> dict[str, Any]:
        """Return the source for the page: its number and name, not its path."""
        return {"id": self.id, "name": self.name, "kind": self.kind, "size": self.path.stat().st_size}


class Places:
    """The files a studio may read, and the folder it may write to.

    Parameters
    ----------
    pointed : sequence of paths
        Files, and folders whose tables are offered.
    output : path
        The folder to save into.
    """

    def __init__(self, pointed: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]) -> None:
        self._given = [Path(path).absolute() for path in pointed]
        for path in self._given:
            if not path.exists():
                raise InputError(f"there is no file or folder {os.fspath(path)!r}")
        self.output = Path(output).resolve()
        if not self.output.is_dir():
            raise InputError(f"there is no folder {os.fspath(output)!r} to save into; create it, or choose another")
        self._numbers = itertools.count(1)
        self._known: dict[Path, Source] = {}
        self._uploads: dict[Path, BinaryIO] = {}
        """What was uploaded, held open: its bytes outlive a cleaner of temporary folders."""
        self._private: Path | None = None
        _sweep()

    def sources(self) -> list[Source]:
        """Return the files that may be read now; folders are listed again."""
        paths = self._offered()
        for path in dict.fromkeys(paths):
            self._know(path, path.name)
        for path, held in list(self._uploads.items()):
            if not path.is_file():
                self._bring_back(path, held)
        offered = dict.fromkeys([*paths, *self._uploads])
        return [self._known[path] for path in offered if _is_readable(path)]

    def unreadable(self) -> list[str]:
        """Return the names of files that are there but that this user may not read."""
        return sorted({path.name for path in self._offered() if path.is_file() and not _is_readable(path)})

    def _offered(self) -> list[Path]:
        return [path for given in self._given for path in (_tables_in(given) if given.is_dir() else [given])]

    def source(self, number: str) -> Source:
        """Return the source of that number."""
        for source in self.sources():
            if source.id == number:
                return source
        raise InputError("this file is not offered here (any more); load it again")

    async def upload(self, name: str, pieces: AsyncIterator[bytes]) -> Source:
        """Write the pieces to a private temporary file; nothing stays of an upload that breaks off."""
        handle, text = tempfile.mkstemp(prefix="upload-", suffix=_suffixes(name), dir=self.private())
        path = Path(text)
        try:
            with os.fdopen(handle, "wb") as stream:
                async for piece in pieces:
                    stream.write(piece)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._uploads[path] = path.open("rb")
        return self._know(path, name)

    def forget(self, source: Source) -> None:
        """Remove an uploaded file; files that the user named stay."""
        held = self._uploads.pop(source.path, None)
        if held is None:
            raise InputError(f"{source.name} was named when the studio was started; only uploaded files can be removed")
        held.close()
        source.path.unlink(missing_ok=True)

    def _bring_back(self, lost: Path, held: BinaryIO) -> None:
        """Write an upload again whose file a cleaner removed, under a name that nobody can foresee."""
        handle, text = tempfile.mkstemp(prefix="upload-", suffix=_suffixes(lost.name), dir=self.private())
        with os.fdopen(handle, "wb") as stream:
            held.seek(0)
            shutil.copyfileobj(held, stream)
        path = Path(text)
        self._uploads[path] = self._uploads.pop(lost)
        self._known[path] = replace(self._known.pop(lost), path=path)

    def private(self) -> Path:
        """Return the folder for temporary files, which only this user can open."""
        # temporary folders are cleaned while studios run
        if self._private is None or not _is_own_folder(self._private):
            self._private = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        return self._private

    def offer(self, path: Path) -> None:
        """Offer a file that the studio made itself, in its private folder."""
        self._given.append(path)

    def save(self, name: str, suffix: str, write: Callable[[Path], object], *, replace: bool) -> Path:
        """Let `write` write the file of that name into the output folder, and return its path.

        It is written beside and moved to its name in one step: a link of that name is replaced, not followed, and without
        `replace` the name must be free, also for programs that save at the same moment.
        """
        path = self.output / checked_name(name, suffix)
        taken = NameTaken(f"there is {name!r} already in {self.output}; choose another name, or replace it")
        if path.is_dir() or (path.exists() and not replace):
            raise taken
        with tempfile.TemporaryDirectory(prefix=".compromis-", dir=self.output) as folder:
            beside = Path(folder) / name
            write(beside)
            try:
                beside.replace(path) if replace else _move_to_free_name(beside, path)
            except FileExistsError:
                raise taken from None
        return path

    def close(self) -> None:
        """Remove every temporary file."""
        for held in self._uploads.values():
            held.close()
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)

    def _know(self, path: Path, name: str) -> Source:
        if path not in self._known:
            self._known[path] = Source(str(next(self._numbers)), name, path)
        return self._known[path]


def checked_name(name: str, suffix: str) -> str:
    """Return the name if it is a plain file name that ends in `suffix`; refuse paths and names that systems treat apart."""
    stem = name.removesuffix(suffix)
    if not name.endswith(suffix) or not stem.strip():
        raise InputError(f"the name must end in {suffix}, got {name!r}")
    if any(letter in '/\\:*?"<>|' or ord(letter) < 32 or ord(letter) == 127 for letter in name):
        raise InputError(f'a file name holds no / \\ : * ? " < > | and no control characters, got {name!r}')
    if name.startswith((".", " ", "-", "~")) or stem.endswith((" ", ".")) or stem.split(".")[0].lower() in _RESERVED:
        raise InputError(f"{name!r} is a name that systems treat apart; choose another")
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise InputError("the file name is not text that a file system can hold; choose another") from None
    if size > LONGEST_NAME:
        raise InputError(f"the file name has {size} bytes; use at most {LONGEST_NAME}")
    return name


def _move_to_free_name(source: Path, target: Path) -> None:
    """Give a file a name that is free; raise FileExistsError if it is not."""
    if sys.platform == "win32":
        source.rename(target)  # never replaces there
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name, then replace what was reserved
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        source.replace(target)


def _sweep() -> None:
    """Remove the uploads of this user's studios that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if number.isdigit() and not _is_running(int(number)) and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    if sys.platform == "win32":  # its temporary folder is the user's own, and os.kill would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _is_own_folder(path: Path) -> bool:
    """Whether a folder is there and is still the one that was made: another user may have taken its name."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and (sys.platform == "win32" or found.st_uid == os.getuid())
    return False


def _is_readable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def _tables_in(folder: Path) -> list[Path]:
    """Return the tables and models in the folder itself; links that lead out of it are left out."""
    home = folder.resolve()
    wanted = [
        path
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".") and _suffixes(path.name) and path.is_file() and path.resolve().parent == home
    ]
    return wanted[:MOST_LISTED]


def _suffixes(name: str) -> str:
    """Return the suffixes of a name by which its format is known, in lower case; else an empty text."""
    return table_suffix(name) or next((suffix for suffix in MODEL_SUFFIXES if name.lower().endswith(suffix)), "")
