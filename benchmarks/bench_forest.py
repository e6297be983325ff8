"""Our forest against scikit-learn's, one thread each, same trees, features and depth; prints ratios from one run.

The machine is shared and noisy: the two sides take turns, times are processor times, and medians are compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numba
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from compromis.estimators.forest import PragmaForestClassifier

TREES = 20

FIRST_CALL = """
import time
import numpy as np
from compromis.estimators.forest import PragmaForestClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 5)), rng.integers(0, 2, 500)
wall, processor = time.perf_counter(), time.process_time()
forest = PragmaForestClassifier(2, tune=False).fit(X, y)
forest.predict(X), forest.predict_proba(X)
print(time.perf_counter() - wall, time.process_time() - processor)
"""


def medians(calls, repeat=3):
    """Median processor time of each call, in seconds, the calls taking turns."""
    times = [[] for _ in calls]
    for _ in range(repeat):
        for call, measured in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            measured.append(time.process_time() - start)
    return [float(np.median(measured)) for measured in times]


def ours(criterion="gini", jobs=1):
    return PragmaForestClassifier(TREES, criterion=criterion, tune=False, n_jobs=jobs, random_state=0)


def compare(name, X, y, at_least):
    theirs = RandomForestClassifier(TREES, n_jobs=1, random_state=0)
    mine, pragma = ours(), ours("pragma")
    mine.fit(X[:500], y[:500]).predict_proba(X[:500])  # compiled before the clock starts
    pragma.fit(X[:500], y[:500])
    fit = medians([lambda: mine.fit(X, y), lambda: theirs.fit(X, y), lambda: pragma.fit(X, y)])
    nodes = len(mine.trees_.nodes) / sum(tree.tree_.node_count for tree in theirs.estimators_)
    print(
        f"{name}: fit {fit[0]:.2f} s, scikit-learn {fit[1]:.2f} s: {fit[1] / fit[0]:.1f} times faster (at least {at_least})"
    )
    print(f"{name}: nodes {nodes:.2f} of scikit-learn's; pragma {fit[2] / fit[0]:.2f} of gini's time (at most 1.5)")
    predict = medians([lambda: mine.predict_proba(X), lambda: theirs.predict_proba(X)], repeat=5)
    print(f"{name}: predict_proba {predict[1] / predict[0]:.1f} times faster (at least 2)")


@numba.njit(nogil=True)
def spin(steps):
    total = 0.0
    for i in range(steps):
        total += np.sqrt(i)
    return total


def speed_up(call, repeat=5):
    """Wall time with one thread over that with two, best of a few that take turns; and the processor's, likewise."""
    wall, processor = {1: [], 2: []}, {1: [], 2: []}
    for _ in range(repeat):
        for jobs in (1, 2):
            starts = time.perf_counter(), time.process_time()
            call(jobs)
            wall[jobs].append(time.perf_counter() - starts[0])
            processor[jobs].append(time.process_time() - starts[1])
    return min(wall[1]) / min(wall[2]), min(processor[2]) / min(processor[1])


def threads(X, y):
    """Two threads against one; a bare loop beside it tells what the machine can give at the moment."""
    spin(1)
    gain, work = speed_up(lambda jobs: ours(jobs=jobs).fit(X, y))
    work_of = joblib.delayed(spin)
    bare, _ = speed_up(lambda jobs: joblib.Parallel(jobs, prefer="threads")(work_of(50_000_000) for _ in range(8)))
    print(
        f"two threads: {gain:.2f} times one (at least 1.7), a bare loop {bare:.2f}; processor time {work:.2f} of one thread's"
    )


MEMORY = """
import sys
from pathlib import Path
import numpy as np
from compromis.estimators.forest import PragmaForestClassifier
from compromis.estimators.growing import plan_for, prepare
from compromis.trees.bagging import grow_forest

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024

rows, columns, depth = int(sys.argv[1]), 10, None if sys.argv[2] == "None" else int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, columns)).astype(np.float32)
y = (X[:, 0] + rng.normal(size=rows) > 0).astype(np.int64)
forest = PragmaForestClassifier(2, tune=False, max_depth=depth, n_jobs=1, random_state=0)
forest.fit(X[:500], y[:500])
prepared = prepare(forest, X, y, None) if sys.argv[3] == "growing" else None
Path("/proc/self/clear_refs").write_text("5")
before = peak()
if prepared is not None:
    trees, votes = grow_forest(prepared.training, plan_for(forest, [0, 1], columns), np.arange(2))
    held = votes.nbytes
else:
    forest.fit(X, y)
    trees, held = forest.trees_, forest.oob_votes_.nbytes + rows * columns
model = sum(getattr(trees, field).nbytes for field in trees.__slots__)
print((peak() - before - held - model) / rows, model / rows)
"""


def memory(rows=1_000_000):
    """Peak memory beside bins, votes and the finished trees, in bytes per row, one tree grown at a time.

    Each in a new process that maps every array on its own: otherwise the figure is what malloc kept of earlier work.
    """
    if not Path("/proc/self/clear_refs").exists():
        print("memory: not measured, there is no /proc")
        return
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    for part, depth in (("growing", 12), ("growing", None), ("fit", 12), ("fit", None)):
        command = [sys.executable, "-c", MEMORY, str(rows), str(depth), part]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        beside, model = (float(number) for number in done.stdout.split())
        print(f"memory, {part}, max_depth={depth}: {beside:.1f} bytes per row (at most 16); the trees {model:.1f} more")


def first_call():
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        for name, limit in (("first process, compiling", 15), ("later process, from the cache", 1)):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_CALL], env=environment, capture_output=True, text=True, check=True
            )
            wall, processor = (float(part) for part in done.stdout.split())
            print(f"{name}: {wall:.1f} s, of them {processor:.1f} s of the processor (at most {limit})")


def letter():
    import pandas as pd

    frame = pd.read_csv(Path(os.environ["COMPROMIS_DATA"]) / "letter.csv.gz")
    return frame.drop(columns="class").to_numpy(dtype=float), frame["class"].to_numpy(dtype=str)


def main():
    X, y = make_classification(100_000, 20, n_informative=10, flip_y=0.05, random_state=0)
    compare("100,000 x 20", X, y, at_least=5)
    if os.environ.get("COMPROMIS_DATA"):
        compare("letter", *letter(), at_least=3)
    else:
        print("letter: not measured, COMPROMIS_DATA does not name the folder of the papers' data")
    threads(X, y)
    memory()
    first_call()


if __name__ == "__main__":
    main()
