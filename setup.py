"""The compiled kernels: one extension per room, written in Cython, for the limited API of Python 3.11 and newer.

COMPROMIS_BUILD=bounds, address or coverage compiles them for a check, nothing leaves them out: see the Makefile.
"""

import os
import sys
import sysconfig
from pathlib import Path
from threading import Lock

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent / "build_backend"))
from compromis_build import use_compiler

BUILD = os.environ.get("COMPROMIS_BUILD", "release")
SOURCES = sorted(Path("src").rglob("_kernels.pyx")) if BUILD != "nothing" else []
"""One extension per room; it includes the files of the room's folder `kernels`."""

# Contracting a * b + c would give other bits on machines that can; errno and traps are never looked at.
SAME_BITS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
FLAGS = {
    "release": ["-O3", "-g0"],
    "bounds": ["-O1", "-g0"],
    "address": ["-O1", "-g", "-fsanitize=address", "-fno-omit-frame-pointer"],
    "coverage": ["-O0", "-g", "--coverage"],
    "nothing": [],
}[BUILD]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": BUILD == "bounds",
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": BUILD == "bounds",
    "embedsignature": True,
    "show_performance_hints": BUILD == "release",  # a check is slow on purpose
}

limited = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Python has no limited API


class BuildKernels(build_ext):
    """Translate each room with Cython and compile it, several rooms at a time, where they changed."""

    translating = Lock()  # Cython is no program for several threads; the C compiler of another room runs meanwhile

    def run(self):
        """Look for a compiler only when something is compiled: pip also asks for names and versions."""
        use_compiler()
        super().run()

    def build_extension(self, ext):
        """Compile one room, if a file that it includes is newer than what stands there."""
        from Cython.Build import cythonize

        built = Path(self.get_ext_fullpath(ext.name))
        self.force = self.force or not built.exists() or built.stat().st_mtime < Path(__file__).stat().st_mtime  # flags
        with self.translating:
            (translated,) = cythonize(
                [Extension(ext.name, ext.sources)],
                force=self.force,
                build_dir=f"build/cython-{BUILD}",
                compiler_directives=DIRECTIVES,
                emit_linenums=BUILD == "address",
                quiet=True,
            )
        ext.sources = translated.sources
        super().build_extension(ext)


setup(
    ext_modules=[
        Extension(
            ".".join(source.with_suffix("").parts[1:]),
            [str(source)],
            extra_compile_args=["/O2", "/fp:precise"] if sys.platform == "win32" else [*FLAGS, *SAME_BITS],
            extra_link_args=[flag for flag in FLAGS if flag in {"-fsanitize=address", "--coverage"}],
            define_macros=[("Py_LIMITED_API", "0x030b0000")] if limited else [],
            py_limited_api=limited,
        )
        for source in SOURCES
    ],
    cmdclass={"build_ext": BuildKernels},
    options={
        "build_ext": {"parallel": os.cpu_count()},
        "bdist_wheel": {"py_limited_api": "cp311"} if limited else {},
    },
)
