"""The first call after an installation: each in a process of its own, whose home is empty.

`first` is the time from `import compromis` to the end of the first call. `later` is the same call again in that process, and
`imports` what another process takes that only imports every module which the first one had loaded. The first call may take
2 (later + imports) + 0.5 s: it may load what it needs, but not compile. Wall clock, the best of three processes each; the
processor's time beside it says whether a miss is waiting for a core.

Release 0.1.0 compiled its kernels when they were first used. Its figures stand in `BEFORE`; `python -m benchmarks.bench_cold
--before PATH` prints them anew, from a clone of 0.1.0 with an environment PATH/.venv.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lines import Lines, at_most

TURNS = 3
PATIENCE = 900.0
WAITING = "by the processor's time it is met, the rest is waiting for a core"

BEFORE = {
    "evaluate 1,000 rows": 1.0,
    "search, 2 classes": 3.6,
    "search, 3 classes": 44.8,
    "search, 6 classes": 30.8,
    "search, 26 classes": 48.8,
    "PragmaForest, 2 classes": 42.6,
    "PragmaForest, 5 classes": 53.7,
    "C4.5, 3 classes": 18.3,
    "compromis tune": 60.8,
}
"""Seconds of 0.1.0's first call: the smaller of two measurements, 2026-11-18, on two cores that others used as well."""

EVALUATE = """
truth = [rng.choice("abc") for _ in range(1000)]
predicted = [label if rng.random() < 0.8 else rng.choice("abc") for label in truth]
def call():
    return str(cp.evaluate(truth, predicted))
"""
SEARCH = """
truth = [rng.randrange({classes}) for _ in range(500)]
votes = [[rng.randrange(6) + 5 * (k == label) for k in range({classes})] for label in truth]
def call():
    return cp.search_weights({arguments}, labels=range({classes}), random_state=0).weights
"""
FIT = """
X = [[rng.random() for _ in range(10)] for _ in range(1000)]
y = [int({classes} * (row[0] + row[1]) / 2) for row in X]
def call():
    return cp.{estimator}.fit(X, y).predict(X)
"""
TUNE = """
rows = [[rng.randrange(6) for _ in range(3)] for _ in range(500)]
with open("votes.csv", "w") as file:
    print("truth,p_a,p_b,p_c", *("abc"[rng.randrange(3)] + ",%d,%d,%d" % tuple(row) for row in rows), sep="\\n", file=file)
def call():
    from compromis.cli import main
    main(["tune", "votes.csv", "--truth", "truth", "--{votes}", "p_", "--prioritise", "b"], standalone_mode=False)
"""
FRAME = """
import json, random, sys, time
rng = random.Random(0)
{setup}
def now():
    return time.perf_counter(), time.process_time()
def since(begun):
    return [after - before for before, after in zip(begun, now())]
before, begun = set(sys.modules), now()
import compromis as cp
call()
first, begun = since(begun), now()
call()
later = since(begun)
loaded = [name for name, module in sys.modules.items() if name not in before and getattr(module, "__spec__", None)]
print()
print(json.dumps([first, later, loaded]))
"""
IMPORTS = """
import contextlib, importlib, json, sys, time
names = json.load(sys.stdin)
begun = time.perf_counter(), time.process_time()
for name in names:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
print(json.dumps([time.perf_counter() - begun[0], time.process_time() - begun[1]]))
"""


@dataclass(frozen=True, slots=True)
class Cold:
    """Seconds of a first call, of a later one, and of importing what both need."""

    first: float
    later: float
    imports: float

    @property
    def limit(self) -> float:
        return 2 * (self.later + self.imports) + 0.5


def programs(*, before: bool = False) -> dict[str, str]:
    """Return what is called by name, in the words of today or of 0.1.0."""
    arguments, votes = ("votes, truth", "votes") if before else ("truth, votes", "proba")
    searches = {
        f"search, {classes} classes": SEARCH.format(classes=classes, arguments=arguments) for classes in (2, 3, 6, 26)
    }
    forest = "PragmaForestClassifier(20, random_state=0)"
    return {
        "evaluate 1,000 rows": EVALUATE,
        **searches,
        "PragmaForest, 2 classes": FIT.format(classes=2, estimator=forest),
        "PragmaForest, 5 classes": FIT.format(classes=5, estimator=forest),
        "C4.5, 3 classes": FIT.format(classes=3, estimator="C45Classifier()"),
        "compromis tune": TUNE.format(votes=votes),
    }


def cold(setup: str, python: str = sys.executable, turns: int = TURNS) -> tuple[Cold, Cold]:
    """Measure one of them by the wall clock and by the processor's; each turn has a new home."""
    turned = []
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as home:
            first, later, loaded = json.loads(_printed(python, FRAME.format(setup=setup), home))
            turned.append((first, later, json.loads(_printed(python, IMPORTS, home, json.dumps(loaded)))))
    wall, processor = (Cold(*(min(turn[part][clock] for turn in turned) for part in range(3))) for clock in range(2))
    return wall, processor


def _printed(python: str, program: str, home: str, given: str = "") -> str:
    environment = {**os.environ, "HOME": home, "USERPROFILE": home, "XDG_CACHE_HOME": f"{home}/cache"}
    done = subprocess.run(
        [python, "-c", program],
        cwd=home,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    if done.returncode:
        raise RuntimeError(f"ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout.splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_cold")
    parser.add_argument("--before", type=Path, help="a clone of 0.1.0, to measure it alone")
    clone = parser.parse_args().before
    if clone:
        for name, setup in programs(before=True).items():
            print(f'    "{name}": {cold(setup, str(clone / ".venv/bin/python"), 1)[0].first:.1f},', flush=True)
        return
    with Lines("cold") as lines:
        for name, setup in programs().items():
            found, processor = cold(setup)
            beside = f"a later call {found.later:.3f} s, imports {found.imports:.2f} s"
            beside += f"; 0.1.0 {BEFORE[name]:.1f} s" if name in BEFORE else ""
            because = WAITING if processor.first <= processor.limit else ""
            lines.add(
                f"first call: {name}",
                found.first,
                at_most(round(found.limit, 2)),
                beside,
                unit="s",
                missed_because=because,
            )


if __name__ == "__main__":
    main()
