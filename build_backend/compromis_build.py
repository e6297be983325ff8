"""The build backend: setuptools', with a C compiler from the package index where the machine has none.

`python build_backend/compromis_build.py` prints what must be installed before `setup.py build_ext` can compile.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from setuptools import build_meta as _setuptools
from setuptools.build_meta import *  # noqa: F403 (the hooks that stay as they are)

Settings = dict[str, Any] | None

ZIG = "ziglang>=0.13"
NO_COMPILER = (
    "compromis cannot be built: there is no C compiler; install one (Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf "
    "install gcc; macOS: xcode-select --install) or, from the package index, pip install ziglang"
)
NO_HEADERS = (
    "compromis cannot be built: {} is missing; install the headers of Python (Debian, Ubuntu: apt install python3-dev; "
    "Fedora: dnf install python3-devel)"
)


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what the build needs beside `build-system.requires`: a compiler where there is none."""
    return [*_setuptools.get_requires_for_build_wheel(config_settings), *missing_compiler()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return the same for an editable installation; an sdist compiles nothing and needs nothing."""
    return [*_setuptools.get_requires_for_build_editable(config_settings), *missing_compiler()]


def missing_compiler() -> list[str]:
    """Return the compiler to install, if any.

    Where it cannot be had it is not asked for: pip would only say that it found none, `use_compiler` says what to install.
    """
    here = os.environ.get("COMPROMIS_BUILD") == "nothing" or find_spec("ziglang") or find_compiler()
    return [ZIG] if not here and _index_has_zig() else []


def use_compiler() -> None:
    """Point setuptools at the C compiler, zig's where there is no other, or end with a sentence that says what to install."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.exists():
        sys.exit(NO_HEADERS.format(header))
    if compiler := find_compiler():
        if sys.platform != "win32":
            os.environ["CC"] = compiler
        return
    if find_spec("ziglang") is None:
        sys.exit(NO_COMPILER)
    # Without -mcpu zig compiles for the processor of this machine, and the wheel would crash on an older one.
    zig = f"{shlex.quote(sys.executable)} -m ziglang cc -mcpu=baseline"
    undefined = " -undefined dynamic_lookup" if sys.platform == "darwin" else ""  # Python's own symbols
    os.environ.update(CC=zig, LDSHARED=f"{zig} -shared{undefined}")


def find_compiler() -> str | None:
    """Return the C compiler: $CC, the one Python was built with, or one of the usual names that works."""
    if sys.platform == "win32":
        return "cl"  # setuptools looks for Visual C++ itself, and says where to get it
    if named := os.environ.get("CC"):
        return named
    built_with = sysconfig.get_config_var("CC") or "cc"
    return next((command for command in (built_with, "cc", "gcc", "clang") if _works(command)), None)


def _works(command: str) -> bool:
    """Return whether a compiler is there and finds the headers of C: macOS has a cc that only offers to install one."""
    try:
        done = subprocess.run(
            [*shlex.split(command), "-E", "-xc", "-"], input=b"#include <stdlib.h>", capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def _index_has_zig() -> bool:
    """Return whether pip finds ziglang, with the index, the proxy and the certificates it is set up for."""
    if os.environ.get("UV_OFFLINE"):
        return False
    # pip hides itself from the isolated build by PYTHONPATH
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ask = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--retries", "0", "--quiet", ZIG]
    done = subprocess.run(ask, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0 or "No module named pip" in done.stderr  # another installer will see


if __name__ == "__main__":
    print(*missing_compiler())
