"""python -m tests.stress.long_run --minutes 60: random use of library, command line and studio in a loop.

Memory must stay flat, and no files, threads, sockets or processes may be left over.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WARM = 0.15
"""The share of the time after which everything is loaded, and memory is measured first."""
GROWTH, SLOPE = 60.0, 40.0
"""Megabytes by which memory may be larger at the end than after warming up, and by which it may rise in the second half."""


@dataclass(frozen=True, slots=True)
class State:
    """What a process holds."""

    memory: float
    threads: int
    handles: int
    children: int
    files: int

    @classmethod
    def now(cls, folder: Path) -> State:
        """Look at this process; garbage is collected first."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        children = sum(len(_children(task)) for task in Path("/proc/self/task").iterdir())
        handles = len(list(Path("/proc/self/fd").iterdir()))
        return cls(
            pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
            len(list(Path("/proc/self/task").iterdir())),  # those of compiled libraries too
            handles,
            children,
            len(list(folder.rglob("*"))),
        )


def main(arguments: list[str] | None = None) -> int:
    """Use everything at random until the time is up; return 1 if something grew or failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.long_run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    done, failures, states = used_apart(asked.minutes * 60, np.random.default_rng(asked.seed))
    failures += grown(states)
    print("\n".join(summary(states)))
    print(f"{sum(done.values()):,} actions: {', '.join(f'{name} {count:,}' for name, count in sorted(done.items()))}")
    print("\n".join(failures[:20]))
    print(f"{len(failures)} failures")
    return 1 if failures else 0


def used_apart(seconds: float, rng: np.random.Generator) -> tuple[Counter[str], list[str], list[State]]:
    """Use everything, with a folder of its own for temporary files, in which what is left over shows."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("TMPDIR", name)
        patch.setattr(tempfile, "tempdir", name)
        return used(Path(name), seconds, rng)


def used(folder: Path, seconds: float, rng: np.random.Generator) -> tuple[Counter[str], list[str], list[State]]:
    """Draw an action, do it, and look at the process, again and again."""
    done: Counter[str] = Counter(list(ACTIONS))
    failures: list[str] = []
    states: list[State] = []
    for action in ACTIONS.values():  # each once, so that all is loaded
        action(folder, rng)
    begin, shown = time.monotonic(), 0.0
    while (passed := time.monotonic() - begin) < seconds:
        name = list(ACTIONS)[rng.integers(len(ACTIONS))]
        try:
            ACTIONS[name](folder, rng)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}"[:300])
        done[name] += 1
        if passed > WARM * seconds:
            states.append(State.now(folder))
        if passed - shown > 60 or not shown:
            shown = passed
            print(f"{passed / 60:.0f} min, {sum(done.values()):,} actions, {State.now(folder)}", flush=True)
    return done, failures, states


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text().split()
    except FileNotFoundError:  # a thread that has just ended
        return []


def grown(states: list[State]) -> list[str]:
    """Return what is more at the end than after warming up, and memory that still rises in the second half."""
    if len(states) < 4:
        return ["too short to judge; give it more minutes"]
    first, last = _ends(states)
    found = []
    for what, most in (("memory", GROWTH), ("threads", 0), ("handles", 0), ("children", 0), ("files", 0)):
        more = _middle(last, what) - _middle(first, what)
        if more > most:
            found.append(f"{what} grew by {more:,.0f}")
    half = states[len(states) // 2 :]
    rise = float(np.polyfit(np.arange(len(half)), [one.memory for one in half], 1)[0] * len(half))
    return [*found, f"memory rose by {rise:.0f} MB in the second half"] if rise > SLOPE else found


def summary(states: list[State]) -> list[str]:
    """Return what the process held after warming up and at the end, one line for each kind."""
    if not states:
        return []
    first, last = _ends(states)
    units = {"memory": " MB", "threads": "", "handles": "", "children": "", "files": ""}
    return [
        f"{what}: {_middle(first, what):,.0f}{unit} at first, {_middle(last, what):,.0f}{unit} at the end"
        for what, unit in units.items()
    ]


def _ends(states: list[State]) -> tuple[list[State], list[State]]:
    quarter = max(1, len(states) // 4)
    return states[:quarter], states[-quarter:]


def _middle(part: list[State], what: str) -> float:
    return float(np.median([getattr(one, what) for one in part]))


def _table(folder: Path, rng: np.random.Generator) -> Path:
    """A file of votes with as many classes and rows as chance gives."""
    from tests.studio.conftest import votes_csv

    classes = [f"c{k}" for k in range(int(rng.integers(2, 6)))]
    return votes_csv(
        folder / f"votes{rng.integers(10**9)}.csv",
        classes,
        rows=int(rng.integers(20, 400)),
        seed=int(rng.integers(10**6)),
    )


def library(folder: Path, rng: np.random.Generator) -> None:
    """Counts, points, search, report."""
    import compromis as cp

    classes, rows = int(rng.integers(2, 6)), int(rng.integers(30, 3000))
    truth = np.concatenate([np.arange(classes), rng.integers(0, classes, rows)])
    votes = rng.integers(0, 6, (len(truth), classes)) + 3 * np.eye(classes, dtype=int)[truth]
    found = cp.search_weights(truth, votes, labels=range(classes), max_evaluations=2000, random_state=0)
    result = cp.evaluate(truth, y_proba=votes / votes.sum(axis=1, keepdims=True), labels=range(classes))
    assert found.loss >= 0
    assert len(str(result)) > 100
    cp.OperatingPoints.from_predictions(truth == 0, votes[:, 0])
    cp.report(result)


def estimators(folder: Path, rng: np.random.Generator) -> None:
    """A forest of ours, fitted and asked."""
    import compromis as cp

    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=150) > 0).astype(int)
    cp.PragmaForestClassifier(5, n_jobs=2, random_state=int(rng.integers(10**6))).fit(X, y).predict_proba(X)


def files(folder: Path, rng: np.random.Generator) -> None:
    """Evidence, decisions and preferences, written, read, merged and removed; a spoiled file refused."""
    import compromis as cp
    from tests.stress.mutations import spoiled_file

    path = folder / f"part{rng.integers(10**9)}.json"
    matrix = rng.integers(0, 100, (3, 3))
    cp.evidence.write(cp.Counts.from_matrix(matrix, ["a", "b", "c"]), path)
    merged = cp.evidence.merge([cp.evidence.read(path)] * 2).evidence
    assert merged.matrix.tolist() == (2 * matrix).tolist()
    path.write_bytes(spoiled_file("evidence.json", int(rng.integers(10**6))))
    with contextlib.suppress(cp.CompromisError):
        cp.evidence.read(path)
    path.unlink()


def engines(folder: Path, rng: np.random.Generator) -> None:
    """A file counted by polars or DuckDB."""
    import compromis as cp

    path = folder / f"rows{rng.integers(10**9)}.csv"
    pairs = rng.integers(0, 4, (int(rng.integers(10, 5000)), 2))
    path.write_text("t,d\n" + "".join(f"c{a},c{b}\n" for a, b in pairs.tolist()))
    counts = cp.Counts.from_frame(
        cp.frames.scan(path, engine=("polars", "duckdb")[rng.integers(2)]), truth="t", prediction="d"
    )
    assert counts.rows == len(pairs)
    path.unlink()


def command_line(folder: Path, rng: np.random.Generator) -> None:
    """A command, in this process."""
    from click.testing import CliRunner

    from compromis.cli import main as compromis

    path = _table(folder, rng)
    common = [str(path), "--truth", "truth"]
    commands: list[list[str]] = [
        ["tune", *common, "--proba", "p_", "--prioritise", "c1", "--output", str(folder / "weights.json")],
        ["evaluate", *common, "--proba", "p_"],
        ["report", *common, "--proba", "p_", "--output", str(folder / "report.html")],
        ["count", *common, "--proba", "p_", "--output", str(folder / "part.json")],
        ["evaluate", *common, "--prediction", "nothing"],
    ]
    chosen = commands[rng.integers(len(commands))]
    done = CliRunner().invoke(compromis, chosen)
    for name in (path.name, "weights.json", "report.html", "part.json"):
        (folder / name).unlink(missing_ok=True)
    expected = 2 if chosen[-1] == "nothing" else 0
    assert done.exit_code == expected, (chosen, done.output[-300:])


def studio(folder: Path, rng: np.random.Generator) -> None:
    """A studio that is started, used and stopped."""
    from tests.studio.running import Running

    path = _table(folder, rng)
    saved = folder / f"saved{rng.integers(10**9)}"
    saved.mkdir()
    one = Running([path], saved)
    try:
        columns = path.read_text().splitlines()[0].split(",")
        labels = [name.removeprefix("p_") for name in columns[1:]]
        model = one.ask(
            "/api/models",
            {
                "source": "1",
                "name": "x",
                "columns": {"truth": "truth", "votes": dict(zip(columns[1:], labels, strict=True))},
            },
        )
        assert one.upload("broken.csv", b"a,b\n1\n").status_code in {200, 400}
        preferences: Any = {"metric": "f", "classes": [{"label": label, "importance": 1.0} for label in labels]}
        asked = {
            "model": model["id"],
            "preferences": preferences,
            "weights": [1.0] * len(labels),
            "kind": "preferences",
            "name": "x.toml",
        }
        one.ask("/api/save", asked)
    finally:
        one.stop()
    (saved / "x.toml").unlink()
    saved.rmdir()
    path.unlink()


ACTIONS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "library": library,
    "estimators": estimators,
    "files": files,
    "engines": engines,
    "command line": command_line,
    "studio": studio,
}

if __name__ == "__main__":
    sys.exit(main())
