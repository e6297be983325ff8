"""The compiled kernels: one extension per room, written in Cython, for the limited API of Python 3.11 and newer."""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).parent / "build_backend"))
from compromis_build import use_compiler

SOURCES = sorted(Path("src").rglob("_kernels.pyx"))
"""One extension per room; it includes the files of the room's folder `kernels`."""

# Contracting a * b + c would give other bits on machines that can; errno and traps are never looked at.
FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "embedsignature": True,
}

limited = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Python has no limited API
use_compiler()
extensions = [
    Extension(
        ".".join(source.with_suffix("").parts[1:]),
        [str(source)],
        extra_compile_args=["/O2", "/fp:precise"] if sys.platform == "win32" else FLAGS,
        define_macros=[("Py_LIMITED_API", "0x030b0000")] if limited else [],
        py_limited_api=limited,
    )
    for source in SOURCES
]
setup(
    ext_modules=cythonize(extensions, build_dir="build/cython", compiler_directives=DIRECTIVES, quiet=True),
    options={
        "build_ext": {"parallel": os.cpu_count()},
        "bdist_wheel": {"py_limited_api": "cp311"} if limited else {},
    },
)
