"""15. Eight processes on one cold cache of compiled kernels, twenty times; damaged cache files only cost a compilation."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.stress.counting import described
from tests.stress.outcome import NotRun, Outcome, Progress, scaled, silent
from tests.stress.programs import finished, output, start

TITLE = "eight processes on one cold cache; damaged cache files"
QUICK = 0.01
TIMES = 20
PROCESSES = 8
EXPECTED = "[[2, 1], [0, 1]] 0.75"

PROGRAM = """
import numba
if numba.config.DISABLE_JIT:
    raise SystemExit("the cache needs compilation")
import compromis as cp
from compromis.measures.ranking import roc_area
counts = cp.Counts.from_predictions([0, 0, 0, 1], [0, 0, 1, 1])
print(counts.matrix.tolist(), roc_area(cp.OperatingPoints.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])))
"""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count processes that fail, and damages that do."""
    import numba

    if numba.config.DISABLE_JIT:
        raise NotRun("there is no cache without compilation (NUMBA_DISABLE_JIT)")
    times, total = scaled(TIMES, scale), Outcome(0)
    processes = PROCESSES if scale >= 0.05 else 2
    for done in range(times):
        with tempfile.TemporaryDirectory() as folder:
            total += all_at_once(Path(folder), processes)
            if done == 0 and scale >= 0.05:  # tests/test_kernels.py has the small version
                total += damaged(Path(folder), lengths=12)
        progress(done + 1, times)
    return total


def all_at_once(home: Path, processes: int) -> Outcome:
    """Start processes that all find the cache cold."""
    running = [start(PROGRAM, **_at(home)) for _ in range(processes)]
    failures = []
    for number, process in enumerate(running):
        try:
            found = finished(process, 900)
            assert found == EXPECTED, f"printed {found!r}"
        except AssertionError as error:
            failures.append(described(error, f"process {number} of {processes} on a cold cache"))
    return Outcome(processes, tuple(failures))


def damaged(home: Path, lengths: int) -> Outcome:
    """Truncate every cache file to several lengths, and write rubbish into it; the program must not notice."""
    files = [path for path in home.rglob("*") if path.suffix in {".nbi", ".nbc"}]
    failures = [] if files else ["no cache files were written"]
    for share in range(lengths):
        for path in files:
            content = path.read_bytes()
            path.write_bytes(b"\x80\x04rubbish" if share == lengths - 1 else content[: len(content) * share // lengths])
        try:
            assert output(PROGRAM, **_at(home)) == EXPECTED
        except AssertionError as error:
            failures.append(described(error, f"cache files cut to {share}/{lengths} of their length"))
    return Outcome(lengths, tuple(failures))


def _at(home: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(home), "HOME": str(home), "NUMBA_CACHE_DIR": ""}
