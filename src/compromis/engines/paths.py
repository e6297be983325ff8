"""Which files a path means, and whether they are still the same after they were read."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compromis.engines.reading import FORMATS_BY_SUFFIX, format_name
from compromis.errors import InputError, nearest, shown

Where = str | os.PathLike[str]
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format, in a fixed order.

    Attributes
    ----------
    paths : tuple of str
        The files.
    format : str
        CSV, TSV or Parquet.
    partitions : tuple of str
        The keys that folders of the kind key=value give; their values are text.
    stamps : tuple
        What tells a file from a changed one.
    """

    paths: tuple[str, ...]
    format: str
    partitions: tuple[str, ...]
    stamps: tuple[Stamp, ...]

    @classmethod
    def find(cls, where: Where | Sequence[Where]) -> Files:
        """Return the files that a path, a pattern (``*``, ``**``), a folder or a list of them mean."""
        wanted = [where] if isinstance(where, (str, os.PathLike)) else list(where)
        paths = list(dict.fromkeys(path for one in wanted for path in _expand(os.fspath(one))))
        if not paths:
            raise InputError("no file is named; give a path, a pattern or a folder")
        formats = {path: format_name(path) for path in paths}
        found = sorted(set(formats.values()))
        if len(found) > 1:
            raise InputError(f"the files are of several formats, {' and '.join(found)}; give files of one format")
        if found == ["ARFF"]:
            raise InputError(f"{paths[0]} is ARFF, which is read in memory only; export it as CSV or Parquet")
        return cls(tuple(paths), found[0], _partitions(paths), tuple(map(_stamp, paths)))

    def check_unchanged(self) -> None:
        """Refuse what was read from files that changed meanwhile."""
        for path, before in zip(self.paths, self.stamps, strict=True):
            try:
                same = _stamp(path) == before
            except OSError:
                same = False
            if not same:
                raise InputError(f"{path} changed while it was read; run again when it is complete")

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(stamp[0] for stamp in self.stamps)


def _expand(path: str) -> list[str]:
    # a file may be named with a star or a bracket: what exists is meant as it is written
    if Path(path).is_dir():
        found = [str(file) for file in sorted(Path(path).rglob("*")) if _is_data(file, Path(path))]
        if not found:
            raise InputError(f"the folder {path!r} holds no CSV, TSV or Parquet file")
        return found
    if Path(path).exists():
        return [path]
    if not glob.has_magic(path):
        raise InputError(f"there is no file {path!r}{nearest(Path(path).name, _neighbours(Path(path)))}")
    found = sorted(file for file in glob.glob(path, recursive=True) if Path(file).is_file())  # noqa: PTH207 patterns may be absolute
    if not found:
        raise InputError(f"no file matches {path!r}; mind quotes and folders")
    return found


def _is_data(file: Path, root: Path) -> bool:
    """Whether a file of a folder is data: engines write marks and checksums beside it."""
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    suffixes = [suffix for suffix in file.suffixes if suffix.lower() not in {".gz", ".gzip"}]
    return file.is_file() and not hidden and bool(suffixes) and suffixes[-1].lower() in FORMATS_BY_SUFFIX


def _partitions(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of folders named key=value, which must be the same for every file."""
    keys = [tuple(part.partition("=")[0] for part in Path(path).parent.parts if "=" in part) for path in paths]
    if len(set(keys)) > 1:
        raise InputError(f"the folders give different keys, {shown(sorted(set(keys)))}; scan them one by one")
    return keys[0]


def _stamp(path: str) -> Stamp:
    state = Path(path).stat()
    return state.st_size, state.st_mtime_ns, state.st_ino


def _neighbours(path: Path) -> list[str]:
    try:
        return [other.name for other in path.parent.iterdir()]
    except OSError:
        return []
