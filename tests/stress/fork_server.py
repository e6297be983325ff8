"""One process that has imported and collected everything, and forks a child for each change of the source.

The parent runs the tests once: that times each test, and notes which lines it runs. A child puts the
changed code into the functions that exist, and runs the tests of the changed line, quickest first, until one fails: nothing
is imported, nothing is written to disk. What changes a module outside of its functions is tried by a child that forgets
compromis and its tests and imports them anew with the changed source in place.
"""

from __future__ import annotations

import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tests.stress.code_changes import SOURCE, Change, differs, in_words, path_of

MOST = 10.0
"""Seconds of tests that are tried on one change; the slowest ones beyond that are not."""
PATIENCE = 900.0
"""Seconds after which a child that computes nothing counts as hanging."""
SPACE = 4 << 30
"""Bytes a child may ask for beside those of its parent."""
_CRASHES = (signal.SIGXCPU, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
"""How a change shows that computes without end, until its limit, or crashes; a killed process shows nothing."""
_QUIET = ("-q", "-q", "-s", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")


@dataclass
class Verdict:
    """What came of a change."""

    module: str
    operator: str
    line: int
    column: int
    variant: int
    before: str
    after: str
    outcome: str
    """noticed, survived, not run (no test runs the line), no change (not a program, or the same one), no verdict, or again."""
    by: str = ""


@dataclass
class Server:
    """A plugin of pytest: runs all tests, then whatever work needs them collected."""

    work: Callable[[Server], None]
    first: Sequence[str] = ()
    """Files whose tests look at single functions, and are tried before others."""
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    """Tests by module and line."""
    broken: list[str] = field(default_factory=list)
    items: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, list[FunctionType]] = field(default_factory=dict)
    """The functions of compromis by file."""
    caches: list[Any] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)
    """Tests that fail when they run again in a child, without any change: they are left out."""

    def run(self, tests: Sequence[str], slow: Sequence[str]) -> bool:
        """Run the tests once but for slow ones, then the work, in this process; return whether all of that went well."""
        import pytest

        with _Silence():
            return pytest.main([*_QUIET, *tests, *(f"--deselect={one}" for one in slow)], plugins=[self]) == 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep whether a test fails."""
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run every test while coverage looks, then work."""
        import coverage

        measured = coverage.Coverage(data_file=None, source_pkgs=["compromis"], config_file=False)
        measured.set_option(
            "run:disable_warnings", ["module-not-measured"]
        )  # compromis/__init__.py was imported before
        measured.start()
        for item, following in itertools.pairwise([*session.items, None]):
            measured.switch_context(item.nodeid)
            begun = time.process_time()  # however busy the machine is
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.seconds[item.nodeid] = time.process_time() - begun
        measured.stop()
        data = measured.get_data()
        for name in data.measured_files():
            module = Path(name).relative_to(SOURCE).with_suffix("").as_posix()
            self.lines[module] = {line: set(tests) for line, tests in data.contexts_by_lineno(name).items()}
        self.items = {item.nodeid: item for item in session.items}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(SOURCE)):
                self.functions.setdefault(one.__code__.co_filename, []).append(one)
            elif isinstance(one, functools._lru_cache_wrapper) and (one.__module__ or "").startswith("compromis"):
                self.caches.append(one)
        gc.freeze()  # children share the parent's memory
        self.unsteady = self._again()
        self.work(self)
        return True

    def _again(self) -> list[str]:
        """Return the tests that a child without any change finds failing."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                with os.fdopen(writer, "w", encoding="utf-8") as pipe, _Silence():
                    json.dump([name for name in self.items if self._fails([name])], pipe)
            finally:
                os._exit(0)
        os.close(writer)
        if not select.select([reader], [], [], PATIENCE)[0]:
            os.kill(child, signal.SIGKILL)
            raise TimeoutError("a child without any change hangs: some test uses threads of its parent")
        with os.fdopen(reader, encoding="utf-8") as pipe:
            found: list[str] = json.load(pipe)
        os.waitpid(child, 0)
        return found

    def _fails(self, names: Sequence[str]) -> str:
        """Run tests that are collected already, with all that pytest does around them; return the first that fails."""
        for name, following in itertools.pairwise([*names, None]):
            item = self.items[name]
            item._initrequest()
            self.broken.clear()
            item.ihook.pytest_runtest_protocol(item=item, nextitem=self.items.get(following or ""))
            if self.broken:
                return name
        return ""

    def tests(self, change: Change) -> list[str]:
        """Return the tests of the changed statement, those of `first` and then the quickest; of what runs on import, those of the module."""
        of_module = self.lines.get(change.module, {})
        found = set().union(*(of_module.get(line, set()) for line in change.lines))
        if "" in found or not change.inside:
            found = set().union(*of_module.values())
        ordered = sorted(
            found - {"", *self.unsteady},
            key=lambda name: (name.split("::")[0] not in self.first, self.seconds.get(name, 0.0), name),
        )
        spent = list(itertools.accumulate(self.seconds.get(name, 0.0) for name in ordered))
        return [name for name, total in zip(ordered, spent, strict=True) if total <= MOST] or ordered[:1]

    def swapped(self, change: Change, after: str, tests: Sequence[str]) -> tuple[str, str]:
        """Be a child: put the changed code into the functions, and run the tests that are collected already."""
        path = str(path_of(change.module))
        new = {(code.co_qualname, code.co_firstlineno): code for code in _codes(_compiled(after, path))}
        for function in self.functions.get(path, []):
            code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is None or code.co_freevars != function.__code__.co_freevars:
                return "again", ""
            function.__code__ = code
        for cache in self.caches:
            cache.cache_clear()
        by = self._fails(tests)
        return ("noticed", by) if by else ("survived", "")

    def imported(self, change: Change, after: str, tests: Sequence[str]) -> tuple[str, str]:
        """Be a child: import everything anew with the changed source in place, and run the tests."""
        import pytest

        _forget()
        sys.meta_path.insert(0, _InPlace(change.module, after))
        failed = _Failed()
        code = pytest.main([*_QUIET, "-x", *tests], plugins=[failed])
        if code != 0 and not failed.name:
            return "no verdict", f"pytest ended with {int(code)}"
        return ("survived", "") if code == 0 else ("noticed", failed.name)

    def tried(self, wanted: Iterable[Change], workers: int, *, anew: bool) -> Iterator[tuple[Change, Verdict]]:
        """Yield what came of each change, as it is known."""
        waiting = iter(wanted)
        running: dict[int, tuple[Change, int, float]] = {}
        while True:
            for change in itertools.islice(waiting, workers - len(running)):
                child, reader = self._start(change, anew)
                running[child] = change, reader, time.monotonic()
            if not running:
                return
            for child in list(running):
                change, reader, begun = running[child]
                done, status = os.waitpid(child, os.WNOHANG)
                if not done and time.monotonic() - begun > PATIENCE:
                    os.kill(child, signal.SIGKILL)
                if done:
                    del running[child]
                    yield change, _read(change, reader, status)
            time.sleep(0.002)

    def _start(self, change: Change, anew: bool) -> tuple[int, int]:
        reader, writer = os.pipe()
        child = os.fork()
        if child:
            os.close(writer)
            return child, reader
        try:
            os.close(reader)
            with os.fdopen(writer, "w", encoding="utf-8", buffering=1) as pipe, _Silence():
                self._live(change, anew, pipe)
        finally:
            os._exit(0)

    def _live(self, change: Change, anew: bool, pipe: Any) -> None:
        before = path_of(change.module).read_text(encoding="utf-8")
        after = change.apply()
        print(json.dumps(in_words(before, after)), file=pipe)
        try:
            outcome = self._outcome(change, before, after, anew)
        except BaseException as error:  # of this harness: what tests raise, pytest catches
            outcome = "no verdict", repr(error)
        print(json.dumps(outcome), file=pipe)

    def _outcome(self, change: Change, before: str, after: str, anew: bool) -> tuple[str, str]:
        tests = self.tests(change)
        if not differs(before, after):
            return "no change", ""
        if not tests:
            return "not run", ""
        if not anew and not change.inside:
            return "again", ""
        _limit(6.0 + 3.0 * sum(self.seconds.get(one, 0.0) for one in tests))
        return (self.imported if anew else self.swapped)(change, after, tests)


def _compiled(source: str, path: str) -> CodeType:
    """Compile a changed source; what Python thinks of it (`is` with a number) is no verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, path, "exec")


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function, nested ones included."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _read(change: Change, reader: int, status: int) -> Verdict:
    with os.fdopen(reader, encoding="utf-8") as pipe:
        lines = [json.loads(line) for line in pipe.read().splitlines()]
    before, after = lines[0] if lines else ("", "")
    ended = os.waitstatus_to_exitcode(status)
    outcome = "noticed" if -ended in _CRASHES else "no verdict"
    outcome, by = lines[1] if len(lines) > 1 else (outcome, f"ended with {ended}")
    return Verdict(
        change.module, change.operator, change.line, change.column, change.variant, before, after, outcome, by
    )


class _Failed:
    """A plugin of pytest that keeps the name of the test that failed, or of the module that could not be imported."""

    name = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.name = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.name = report.nodeid or "collecting the tests"


def _forget() -> None:
    """Forget compromis and its tests, but for compiled kernels, which are initialised once in a process."""
    for name in list(sys.modules):
        own = name.startswith(("compromis.", "tests.")) or name in {"compromis", "tests", "conftest"}
        if own and not name.endswith("._kernels"):
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
        exec(_compiled(self.source, str(self.path)), module.__dict__)


def _limit(seconds: float) -> None:
    """End this process when it computes for too long (however busy the machine is) or asks for too much memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPACE, used + SPACE))


class _Silence:
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
