"""The test suite as a promise: run by pytest in a process of its own, counted from its report."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tests.stress.counting import WORKERS
from tests.stress.outcome import Outcome
from tests.stress.programs import ROOT, environment


def run_suite(*arguments: str, what: str, seconds: float = 7200, workers: int = WORKERS, **changes: str) -> Outcome:
    """Run pytest with arguments and return its tests as cases; skipped tests do not count."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        spread = ["-n", str(workers)] if workers > 1 else []
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *spread,
            f"--junitxml={report}",
            *arguments,
        ]
        done = subprocess.run(
            command, cwd=ROOT, env=environment(**changes), capture_output=True, text=True, check=False, timeout=seconds
        )
        if not report.exists():
            return Outcome(
                1, (f"{what}: pytest ended with code {done.returncode}: {(done.stdout + done.stderr)[-300:]}",)
            )
        return _counted(report, what, done.returncode)


def _counted(report: Path, what: str, code: int) -> Outcome:
    cases = ElementTree.parse(report).getroot().findall(".//testcase")
    broken = [one for one in cases if one.find("failure") is not None or one.find("error") is not None]
    run = [one for one in cases if one.find("skipped") is None or one in broken]
    failures = [f"{what}: {one.get('classname')}::{one.get('name')}: {_reason(one)}" for one in broken]
    if code != (1 if broken else 0) or not run:
        failures.append(f"{what}: pytest ended with code {code} after {len(run):,} tests")
    return Outcome(max(1, len(run)), tuple(failures))


def _reason(case: ElementTree.Element) -> str:
    """Return the beginning of what pytest says of a test that failed."""
    found = case.find("failure")
    found = case.find("error") if found is None else found
    return "" if found is None else " ".join((found.get("message") or "").split())[:200]
