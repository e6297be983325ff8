"""Where and when a benchmark ran: what a figure is worth depends on it, so that it stands beside every one."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from compromis import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "duckdb")
FIELDS = ("date", "cores", "processor", "memory", "python", "packages", "load_start", "load_end")


def load() -> str:
    """How many processes wanted a core in the last minute, where the system tells."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def surroundings() -> dict[str, str]:
    """Everything of FIELDS, as it is now; `load_end` is for whoever ends the run."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "cores": str(os.cpu_count()),
        "processor": _processor(),
        "memory": _memory(),
        "python": platform.python_version(),
        "packages": ", ".join([f"compromis {__version__}", *_versions()]),
        "load_start": load(),
        "load_end": "",
    }


def described(row: Mapping[str, str]) -> str:
    """One sentence for the page."""
    parts = [f"{row['cores']} cores", row["processor"], row["memory"], f"Python {row['python']}", row["packages"]]
    loads = f"; load {row['load_start']} at the start, {row['load_end']} at the end" if row["load_start"] else ""
    return f"Measured {row['date']} UTC on {', '.join(part for part in parts if part)}{loads}."


def _processor() -> str:
    table = Path("/proc/cpuinfo")
    lines = table.read_text(encoding="utf-8").splitlines() if table.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _memory() -> str:
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return ""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"


def _versions() -> list[str]:
    """Of the packages that are installed."""
    found = []
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return found
