"""python -m tests.stress.mutation: change the source a little, again and again, and count what the tests notice.

Each room is tried with the tests of its own folder. Compiled kernels are not changed: a change would take a compilation, not
milliseconds. Some changes are equivalent, so a score of 100 % is out of reach; survivors are printed, to be read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LEAST = 0.90
FOLDERS = ("measures", "tradeoffs", "weights")
AGAINST = ("survived", "not run", "no verdict")
KINDS = ("noticed", *AGAINST, "no change")


def main(arguments: list[str] | None = None) -> int:
    """Try the changes; print what survived, and the score; exit code 1 if it is below 90 %."""
    asked = _read(arguments)
    if asked.folder is None:
        given = sys.argv[1:] if arguments is None else arguments
        codes = {folder: _apart(folder, given) for folder in FOLDERS}
        return int(any(codes.values()))
    _prepare()
    from tests.stress.fork_server import Server

    trial = Trial(asked)
    server = Server(trial.in_place, ())
    if not server.run([f"tests/{asked.folder}", "tests/test_papers.py"], []):
        print("without any change these fail: " + (", ".join(server.broken) or "pytest itself, or this script"))
        return 1
    trial.anew(server)
    if trial.counts.total() != trial.chosen:
        print(f"{trial.chosen:,} changes were to be tried, {trial.counts.total():,} were")
        return 1
    return _judged(asked.folder, trial.counts)


def _apart(folder: str, given: list[str]) -> int:
    """Run one folder in a process of its own."""
    command = [sys.executable, "-m", "tests.stress.mutation", "--folder", folder, *given]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


class Trial:
    """The changes that were asked for, and what came of them."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.begun = time.monotonic()
        self.counts: Counter[str] = Counter()
        self.later: list[Any] = []
        self.chosen = -1
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)

    def in_place(self, server: Any) -> None:
        """Try all changes in the functions that exist."""
        slowest = sorted(server.seconds.items(), key=lambda one: -one[1])[:5]
        self.say(f"{len(server.seconds)} tests ran once, slowest " + ", ".join(f"{n} {t:.1f} s" for n, t in slowest))
        if server.unsteady:
            self.say("left out, because they fail in a child without any change: " + ", ".join(server.unsteady))
        if server.broken:
            return
        self._account(server.tried(self._wanted(), self.asked.workers, anew=False))

    def anew(self, server: Any) -> None:
        """Try what is left with everything imported anew."""
        self.say(f"{len(self.later):,} changes need everything imported anew")
        self._account(server.tried(self.later, self.asked.workers, anew=True))

    def say(self, words: str) -> None:
        """Print a line, even while everything else is silent."""
        print(f"{time.monotonic() - self.begun:6.0f} s  {words}", file=self.out)

    def _wanted(self) -> list[Any]:
        from tests.stress.code_changes import changes

        folder = self.asked.folder
        possible = [change for module in _modules(folder, self.asked.only) for change in changes(module)]
        chosen = _chosen(possible, self.asked)
        self.chosen = len(chosen)
        self.say(f"{folder}: {len(possible):,} changes are possible, {len(chosen):,} are tried, seed {self.asked.seed}")
        return chosen

    def _account(self, verdicts: Any) -> None:
        for change, verdict in verdicts:
            outcome = str(verdict.outcome)
            if outcome == "again":
                self.later.append(change)
                continue
            self.counts[outcome] += 1
            if outcome in {"survived", "not run", "no verdict"}:
                self.say(f"{outcome} {verdict.module}:{verdict.line} {verdict.before} -> {verdict.after}")
            if self.asked.log:
                with self.asked.log.open("a", encoding="utf-8") as log:
                    print(json.dumps({**asdict(verdict), "outcome": outcome}), file=log)
            if self.counts.total() % 200 == 0:
                self.say(f"{self.counts.total():,} are known, {len(self.later):,} wait")


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.stress.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="how many changes are drawn per folder; all without it")
    parser.add_argument("--seed", type=int, default=0, help="which are drawn")
    parser.add_argument("--folder", choices=FOLDERS, help="only this folder")
    parser.add_argument("--only", default="", help="a part of the module's name")
    parser.add_argument("--workers", type=int, default=2, help="how many are tried at a time")
    parser.add_argument("--log", type=Path, help="a file to which every outcome is appended as a line of JSON")
    parser.add_argument("--again", type=Path, help="such a file: what was noticed in it is not tried")
    asked = parser.parse_args(arguments)
    asked.log = asked.log and asked.log.resolve()
    return asked


def _prepare() -> None:
    """Set the process up for children that start quickly: few examples, few plugins, heavy imports done."""
    os.chdir(ROOT)
    os.environ.update(COMPROMIS_EXAMPLES="brief", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", OMP_NUM_THREADS="1")
    for name in ("pandas", "polars", "scipy.stats", "scipy.optimize", "sklearn.metrics", "hypothesis"):
        __import__(name)


def _modules(folder: str, only: str) -> list[str]:
    paths = sorted((ROOT / "src" / "compromis" / folder).glob("*.py"))
    names = [f"{folder}/{path.stem}" for path in paths if path.stem != "__init__"]
    return [name for name in names if only in name]


def _chosen(possible: Sequence[Any], asked: argparse.Namespace) -> list[Any]:
    if asked.sample:
        possible = random.Random(f"{asked.seed} {asked.folder}").sample(possible, min(asked.sample, len(possible)))
    if asked.again is None:
        return list(possible)
    lines = [json.loads(line) for line in asked.again.read_text(encoding="utf-8").splitlines()]
    known = {_place(one) for one in lines if one["outcome"] in {"noticed", "no change"}}
    return [one for one in possible if (one.module, one.operator, one.line, one.column, one.variant) not in known]


def _place(verdict: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(verdict[key] for key in ("module", "operator", "line", "column", "variant"))


def _judged(folder: str, count: Counter[str]) -> int:
    judged = sum(count[kind] for kind in ("noticed", *AGAINST))
    score = count["noticed"] / judged if judged else 0.0
    print("| folder | " + " | ".join(KINDS) + " | score |")
    print(f"| {folder} | " + " | ".join(str(count[kind]) for kind in KINDS) + f" | {score:.1%} |")
    print(f"the score is noticed / (noticed + {' + '.join(AGAINST)}); at least {LEAST:.0%} is wanted", flush=True)
    return int(score < LEAST)


if __name__ == "__main__":
    sys.exit(main())
