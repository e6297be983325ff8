"""Programs in processes of their own: with their own environment, and killed when they hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import compromis

ROOT = Path(__file__).parents[2]


def environment(**changes: str) -> dict[str, str]:
    """Return this process's environment with changes; the repository, and the build that runs, stay importable from any folder."""
    here = [str(Path(compromis.__file__).parents[1]), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in here if part), **changes}


def peak_memory() -> float:
    """Return the most megabytes that this process held; ru_maxrss begins with those of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    import resource  # there is none on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def output(program: str, *arguments: str, seconds: float = 600, **changes: str) -> str:
    """Run a Python program and return what it printed; a crash, a signal or a hang is an AssertionError."""
    return finished(start(program, *arguments, **changes), seconds)


def start(program: str, *arguments: str, **changes: str) -> subprocess.Popen[str]:
    """Start a Python program."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], seconds: float) -> str:
    """Wait for a program and return what it printed."""
    try:
        out, complaint = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError(f"hangs: not finished after {seconds:.0f} s") from None
    lines = complaint.strip().splitlines()
    assert process.returncode == 0, f"exit code {process.returncode}: {lines[-1] if lines else 'no message'}"
    return out.strip()
