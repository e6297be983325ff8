"""One process that has imported and compiled everything, and forks a child for each change of the source.

The parent runs the tests once: that compiles the kernels, times each test, and notes which lines it runs. A child
forgets compromis and the tests (all but the kernels, unless one of them is changed), puts the changed source in place of
the module while it is imported again, and runs the tests of the changed line, quickest first, until one fails. Nothing is
written to disk.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.stress.code_changes import Change, differs, in_words, path_of

ROOT = Path(__file__).parents[2]
FIRST = 1.0
"""Seconds of the quickest tests that are tried before the others are even imported."""
MOST = 20.0
"""Seconds of tests that are tried on one change; the slowest ones beyond that are not."""
PATIENCE = 600.0
"""Seconds after which a child that computes nothing counts as hanging."""
SPACE = 4 << 30
"""Bytes a child may ask for beside those of its parent."""
_QUIET = ("-x", "-q", "-q", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")


@dataclass
class Timed:
    """What the tests take and run, unchanged."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    """Tests by module and line."""
    broken: list[str] = field(default_factory=list)

    def tests(self, change: Change) -> list[str]:
        """Return the tests of the changed statement, quickest first; of what runs on import, those of the module."""
        of_module = self.lines.get(change.module, {})
        found = set().union(*(of_module.get(line, set()) for line in change.lines))
        if "" in found:  # runs while the module is imported
            found = set().union(*of_module.values())
        ordered = sorted(found - {""}, key=lambda name: (self.seconds.get(name, 0.0), name))
        spent = list(itertools.accumulate(self.seconds.get(name, 0.0) for name in ordered))
        return [name for name, total in zip(ordered, spent, strict=True) if total <= MOST] or ordered[:1]


class _Observer:
    """A plugin of pytest that tells coverage which test runs."""

    def __init__(self, measured: Any, timed: Timed) -> None:
        self.measured, self.timed = measured, timed

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.timed.seconds[report.nodeid] = self.timed.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.timed.broken.append(report.nodeid)


def observed(files: Sequence[str]) -> Timed:
    """Run the tests of files once, in this process."""
    import coverage
    import pytest

    timed = Timed()
    measured = coverage.Coverage(data_file=None, source_pkgs=["compromis"], config_file=False)
    measured.start()
    try:
        with _silence():
            pytest.main([*_QUIET[1:], "--continue-on-collection-errors", *files], plugins=[_Observer(measured, timed)])
    finally:
        measured.stop()
    data = measured.get_data()
    source = path_of("x").parent
    for name in data.measured_files():
        module = Path(name).relative_to(source).with_suffix("").as_posix()
        timed.lines[module] = {line: set(contexts) for line, contexts in data.contexts_by_lineno(name).items()}
    return timed


@dataclass
class Verdict:
    """What came of a change."""

    module: str
    operator: str
    line: int
    column: int
    index: int
    before: str
    after: str
    outcome: str
    """noticed, survived, not run (no test runs the line) or no change (not a program, or the same one)."""
    by: str = ""


def tried(wanted: Sequence[Change], timed: Timed, workers: int) -> Iterator[Verdict]:
    """Yield what came of each change, as it is known."""
    waiting = list(reversed(wanted))
    running: dict[int, tuple[Change, int, float]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            change = waiting.pop()
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                _live(change, timed, writer)
            os.close(writer)
            running[child] = change, reader, time.monotonic()
        for child in list(running):
            change, reader, begun = running[child]
            done, status = os.waitpid(child, os.WNOHANG)
            if not done and time.monotonic() - begun > PATIENCE:
                os.kill(child, signal.SIGKILL)
            if done:
                del running[child]
                yield _read(change, reader, status)
        time.sleep(0.005)


def _read(change: Change, reader: int, status: int) -> Verdict:
    with os.fdopen(reader, encoding="utf-8") as pipe:
        lines = [json.loads(line) for line in pipe.read().splitlines()]
    before, after = lines[0] if lines else ("", "")
    outcome, by = lines[1] if len(lines) > 1 else ("noticed", f"ended by signal {status & 127} or exit {status >> 8}")
    return Verdict(change.module, change.operator, change.line, change.column, change.index, before, after, outcome, by)


def _live(change: Change, timed: Timed, writer: int) -> None:
    """Be the child: never returns."""
    try:
        with os.fdopen(writer, "w", encoding="utf-8", buffering=1) as pipe:
            before = path_of(change.module).read_text(encoding="utf-8")
            after = change.apply()
            print(json.dumps(in_words(before, after)), file=pipe)
            if not differs(before, after):
                print(json.dumps(("no change", "")), file=pipe)
            else:
                tests = timed.tests(change)
                _limit(60.0 + 10.0 * sum(timed.seconds.get(one, 0.0) for one in tests))
                with _silence():
                    print(json.dumps(_outcome(change, after, tests, timed)), file=pipe)
    finally:
        os._exit(0)


def _outcome(change: Change, after: str, tests: list[str], timed: Timed) -> tuple[str, str]:
    import pytest

    if not tests:
        return "not run", ""
    _forget(kernels=change.module.startswith("kernels/"))
    sys.meta_path.insert(0, _InPlace(change.module, after))
    failed = _Failed()
    for some in _parts(tests, timed):
        code = pytest.main([*_QUIET, *some], plugins=[failed])
        if code != 0:
            return "noticed", failed.name or f"pytest ended with {int(code)}"
    return "survived", ""


def _parts(tests: list[str], timed: Timed) -> list[list[str]]:
    """Return the quickest tests of one file, then all others: importing a file takes longer than most tests."""
    file = tests[0].partition("::")[0]
    quick, total = [], 0.0
    for name in tests:
        if name.startswith(file) and total < FIRST:
            quick.append(name)
            total += timed.seconds.get(name, 0.0)
    rest = [name for name in tests if name not in set(quick)]
    return [quick, rest] if rest else [quick]


class _Failed:
    """A plugin of pytest that keeps the name of the test that failed."""

    name = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.name = report.nodeid


def _forget(*, kernels: bool) -> None:
    """Forget compromis and its tests; compiled kernels are kept unless one of them is to be changed."""
    for name in list(sys.modules):
        own = name.startswith(("compromis.", "tests.")) or name in {"compromis", "tests", "conftest"}
        if own and (kernels or not name.startswith("compromis.kernels")):
            del sys.modules[name]


class _InPlace(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a changed source."""

    def __init__(self, module: str, source: str) -> None:
        self.name, self.path, self.source = f"compromis.{module.replace('/', '.')}", path_of(module), source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Answer for the changed module only."""
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def exec_module(self, module: Any) -> None:
        """Run the changed source under the name of the file."""
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def _limit(seconds: float) -> None:
    """End this process when it computes for too long (however busy the machine is) or asks for too much memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPACE, used + SPACE))


class _silence:  # noqa: N801 (used like a function)
    """Send what is printed, by Python or by anything else, nowhere."""

    def __enter__(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.kept = os.dup(1), os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, kept in enumerate(self.kept, 1):
            os.dup2(kept, number)
            os.close(kept)
