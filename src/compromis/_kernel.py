"""The one decorator behind every compiled function: GIL released, cached where it is safe.

numba's cache is pickle, so it lives in a folder that only this user can write, never in a shared one; the
folder's name carries a fingerprint of all kernels, because numba does not notice when a callee in another
module changes; and a damaged cache file means compiling again, not an error.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` with numba when it is first called, without the GIL, and cache the result on disk."""
    compiled: F = numba.njit(nogil=True)(function)
    if not numba.config.DISABLE_JIT:
        _enable_cache(compiled, function)
    return compiled


class _SturdyCache(FunctionCache):
    """numba's function cache, but a file that cannot be read or written only costs a compilation."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a truncated or foreign pickle may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # a damaged index is read before it is written: start it anew, once
            try:
                self.flush()
                super().save_overload(sig, data)
            except OSError:  # full or read-only disk: go on without a cache
                self.disable()


def _enable_cache(compiled: Any, function: Callable[..., Any]) -> None:
    folder = cache_folder()
    if folder is None:
        return
    with _cache_directory(folder):
        try:
            compiled._cache = _SturdyCache(function)  # noqa: SLF001 (numba offers no other way)
        except RuntimeError:  # the source is not a file (frozen application): no cache
            return


@contextmanager
def _cache_directory(folder: str) -> Iterator[None]:
    """Point numba at our folder while a cache is created; other libraries keep their own setting."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@cache
def cache_folder() -> str | None:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR if set, else the user's cache folder; None if unsafe."""
    if numba.config.CACHE_DIR:
        return str(numba.config.CACHE_DIR)
    try:
        folder = _user_cache() / "compromis" / "kernels" / _fingerprint()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(folder) if _is_private(folder) else None
    except (OSError, RuntimeError):  # no home folder, or one that cannot be written
        return None


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _is_private(folder: Path) -> bool:
    if sys.platform == "win32":
        return True  # the profile folder is private by its access list
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _fingerprint() -> str:
    """A hash over the sources of all kernels: editing one leaves no stale caller behind."""
    digest = hashlib.sha256()
    for path in sorted([Path(__file__), *Path(__file__).parent.glob("*/_kernels/*.py")]):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
