"""The table of promises: printed, and kept in docs/reliability.md."""

from __future__ import annotations

import os
import platform
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import compromis
from tests.stress.outcome import Outcome
from tests.stress.promises import Promise

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by python -m tests.stress --write -->", "<!-- end -->"
PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "narwhals", "skops")


@dataclass(frozen=True, slots=True)
class Row:
    """One promise put to the test; a reason stands in place of an outcome where it could not be."""

    promise: Promise
    outcome: Outcome | None
    seconds: float
    scale: float
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether cases were tried and none failed."""
        return self.outcome is not None and self.outcome.cases > 0 and not self.outcome.failures

    def cells(self) -> list[str]:
        """Return number, title, cases, failures and seconds as text."""
        name = [self.promise.number, self.promise.title]
        if self.outcome is None:
            return [*name, "not run", self.reason, ""]
        return [*name, f"{self.outcome.cases:,}", f"{len(self.outcome.failures):,}", f"{self.seconds:,.1f}"]


def printed(rows: list[Row]) -> str:
    """Return the table as text, ending with how many promises passed and failed."""
    lines = [f"{'':>3} {'promise':<62} {'cases':>11} {'failures':>9} {'seconds':>9}"]
    for row in rows:
        number, title, cases, failures, seconds = row.cells()
        tail = f"{failures:>9} {seconds:>9}" if row.outcome is not None else f" {failures}"
        lines.append(f"{number:>3} {title:<62} {cases:>11} {tail}")
    lines += [f"  note, promise {row.promise.number}: {note}" for row in rows for note in _notes(row)]
    run = [row for row in rows if row.outcome is not None]
    if len(run) < len(rows):
        lines.append(f"{len(rows) - len(run)} not run, for the reasons given")
    passed = sum(row.passed for row in run)
    return "\n".join([*lines, f"{passed} passed, {len(run) - passed} failed"])


def _notes(row: Row) -> list[str]:
    notes = Counter[str]() if row.outcome is None else row.outcome.notes
    return [f"{count:,} x {text}" for text, count in sorted(notes.items())]


def write_page(rows: list[Row], page: Path = PAGE) -> None:
    """Put the rows into the page's table; rows of other promises stay as they are."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    known = dict(re.findall(r"^\| (\S+) (\|.*)$", inside, re.MULTILINE))
    known.pop("promise", None)
    known |= {row.promise.number: _markdown(row) for row in rows}
    order = sorted(known, key=lambda number: (not number[0].isdigit(), int(re.sub(r"\D", "", number) or 0), number))
    table = [
        "| promise | | cases | failures | seconds | scale | date |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    lines = [f"| {number} {known[number]}" for number in order if not set(number) <= set("-:")]
    text = "\n".join([_machine(), "", *table, *lines, "", f"{_counted(lines)}."])
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _counted(lines: list[str]) -> str:
    """Say of the page's rows, of this run and of earlier ones, how many passed and failed; a part of the cases can fail, but not pass."""
    results = [line.rsplit(" | ", 5)[1:] for line in lines]
    run = [(failures == "0", float(scale) >= 1) for cases, failures, _, scale, _ in results if cases != "not run"]
    passed, failed = run.count((True, True)), sum(not right for right, _ in run)
    rest = len(results) - passed - failed
    return f"{passed} passed, {failed} failed" + (f"; {rest} not run at full count" if rest else "")


def _markdown(row: Row) -> str:
    _, title, cases, failures, seconds = row.cells()
    today = datetime.now(UTC).date().isoformat()
    notes = "".join(f"<br>{note}" for note in _notes(row)).replace("|", "\\|")
    return f"| {title}{notes} | {cases} | {failures} | {seconds} | {row.scale:g} | {today} |"


def _machine() -> str:
    versions = [f"compromis {compromis.__version__}"]  # the one that runs, installed or not
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    return (
        f"Last run {datetime.now(UTC):%Y-%m-%d %H:%M} UTC on {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, {', '.join(versions)}."
    )
