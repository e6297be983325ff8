"""compromis: classifiers and evaluation for people whose classes do not matter equally.

Say what matters in two questions per class, and evaluate, tune, build and compare models by it.
Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder

import lazy_loader

__version__ = "0.2.0"


def _check_platform() -> None:
    """Raise if this Python can load no compiled kernels here; one room's file is looked for, nothing is loaded."""
    room = FileFinder(f"{__path__[0]}/tradeoffs", (ExtensionFileLoader, EXTENSION_SUFFIXES))
    found = room.find_spec("_kernels")
    if found is None or found.loader is None:
        import sys
        import sysconfig

        raise ImportError(
            f"this installation of compromis has no compiled kernels for Python {sys.version_info[0]}.{sys.version_info[1]} on "
            f"{sysconfig.get_platform()}: it was built for another platform, or not at all; install it again with pip, "
            "or run make demo in a clone"
        )


_check_platform()

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _room_of(name: str) -> str | None:
    """Return the submodule whose public name this is; nothing is imported for it."""
    from pathlib import Path

    stubs = () if name.startswith("_") else sorted(Path(__path__[0]).glob("*/__init__.pyi"))
    return next((stub.parent.name for stub in stubs if f'"{name}"' in stub.read_text(encoding="utf-8")), None)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used; say where a name is that a submodule has."""
    try:
        return _imported(name)
    except AttributeError:
        room = None if name in __all__ else _room_of(name)
        if room is None:
            raise
        raise AttributeError(f"compromis has no {name!r} itself; it is compromis.{room}.{name}") from None
