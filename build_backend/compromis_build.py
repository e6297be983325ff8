"""The build backend: setuptools', with a C compiler from the package index where the machine has none."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Any

from setuptools import build_meta as _setuptools
from setuptools.build_meta import *  # noqa: F403 (the hooks that stay as they are)

Settings = dict[str, Any] | None


def has_compiler() -> bool:
    """Return whether setuptools will find a C compiler: $CC, Visual C++ on Windows, or the one Python was built with."""
    if os.environ.get("CC"):
        return True
    if sys.platform == "win32":
        from setuptools._distutils.compilers.C.msvc import _find_vcvarsall

        return _find_vcvarsall("amd64")[0] is not None
    return shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0]) is not None


def use_compiler() -> None:
    """Let setuptools use zig's C compiler where there is no other; `-mcpu=baseline` is what every machine can run."""
    if has_compiler():
        return
    zig = f"{sys.executable} -m ziglang cc -mcpu=baseline"
    os.environ.update(CC=zig, LDSHARED=f"{zig} -shared")


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what the build needs: Cython, and a compiler where there is none."""
    return [*_setuptools.get_requires_for_build_wheel(config_settings), *_compiler()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return the same for an editable installation."""
    return [*_setuptools.get_requires_for_build_editable(config_settings), *_compiler()]


def _compiler() -> list[str]:
    return [] if has_compiler() else ["ziglang>=0.13"]
