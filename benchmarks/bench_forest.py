"""Our forest against scikit-learn's, one thread each, same trees, features and depth: ratios from one run.

The machine is shared and noisy: the two sides take turns, times are processor times, and medians are compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.lines import Lines, at_least, at_most
from compromis.estimators.pragma_forest import PragmaForestClassifier

TREES = 20


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


def compare(lines, name, X, y, target):
    theirs = RandomForestClassifier(TREES, n_jobs=1, random_state=0)
    mine, pragma = ours(), ours("pragma")
    mine.fit(X[:500], y[:500]).predict_proba(X[:500])  # loaded before the clock starts
    pragma.fit(X[:500], y[:500])
    fit = medians([lambda: mine.fit(X, y), lambda: theirs.fit(X, y), lambda: pragma.fit(X, y)])
    nodes = len(mine.trees_.nodes) / sum(tree.tree_.node_count for tree in theirs.estimators_)
    beside = f"{fit[0]:.2f} s, scikit-learn {fit[1]:.2f} s; {nodes:.2f} of its nodes"
    lines.add(
        f"{name}: fit, against RandomForestClassifier", fit[1] / fit[0], at_least(target), beside, unit="times faster"
    )
    lines.add(f"{name}: fit, pragma / gini", fit[2] / fit[0], at_most(1.5), f"{fit[2]:.2f} s, gini {fit[0]:.2f} s")
    predict = medians([lambda: mine.predict_proba(X), lambda: theirs.predict_proba(X)], repeat=5)
    beside = f"{predict[0]:.3f} s, scikit-learn {predict[1]:.3f} s"
    lines.add(f"{name}: predict_proba", predict[1] / predict[0], at_least(2), beside, unit="times faster")


def boosters(depth):
    """The random forests of XGBoost and LightGBM, with as many trees, features per node and rows per tree, as deep."""
    from lightgbm import LGBMClassifier
    from xgboost import XGBRFClassifier

    share = 4 / 20  # of the 20 columns: the square root of their number, as ours
    rows = 0.632  # distinct rows of a bootstrap sample
    yield (
        "XGBoost",
        XGBRFClassifier(TREES, max_depth=depth, tree_method="hist", subsample=rows, colsample_bynode=share, n_jobs=1),
    )
    yield (
        "LightGBM",
        LGBMClassifier(
            boosting_type="rf", n_estimators=TREES, max_depth=depth, num_leaves=2**depth, min_child_samples=1,
            bagging_fraction=rows, bagging_freq=1, feature_fraction_bynode=share, n_jobs=1, verbose=-1,
        ),
    )  # fmt: skip


def compare_boosters(lines, X, y, depth=12):
    """Fit of all rows and probabilities of 20,000 against XGBoost's and LightGBM's random forests."""
    mine, few = PragmaForestClassifier(TREES, criterion="gini", tune=False, max_depth=depth, n_jobs=1), X[:20_000]
    for name, theirs in boosters(depth):
        fit = medians([lambda: mine.fit(X, y), lambda theirs=theirs: theirs.fit(X, y)])
        beside = f"{fit[0]:.2f} s, {name} {fit[1]:.2f} s"
        lines.add(
            f"100,000 x 20, depth {depth}: fit, against {name}'s random forest",
            fit[1] / fit[0], at_least(3), beside, unit="times faster",
        )  # fmt: skip
        mine.predict_proba(few), theirs.predict_proba(few)
        predict = medians([lambda: mine.predict_proba(few), lambda theirs=theirs: theirs.predict_proba(few)], repeat=9)
        beside = f"{1000 * predict[0]:.1f} ms, {name} {1000 * predict[1]:.1f} ms"
        lines.add(
            f"20,000 x 20, depth {depth}: predict_proba, against {name}'s", predict[1] / predict[0], at_least(1), beside,
            unit="times faster",
        )  # fmt: skip


def spin(rounds, room=2**16):
    """Sort again and again, which numpy does without the interpreter's lock."""
    numbers = np.random.default_rng(0).random(room)
    for _ in range(rounds):
        np.sort(numbers)


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


def threads(lines, X, y):
    """Two threads against one; a bare loop beside it tells what the machine can give at the moment."""
    gain, work = speed_up(lambda jobs: ours(jobs=jobs).fit(X, y))
    work_of = joblib.delayed(spin)
    bare, _ = speed_up(lambda jobs: joblib.Parallel(jobs, prefer="threads")(work_of(500) for _ in range(8)))
    lines.add(
        "fit, 100,000 x 20: two threads against one, wall clock",
        gain,
        at_least(1.7),
        f"a bare loop without the interpreter's lock {bare:.2f}; processor time {work:.2f} of one thread's",
        unit="times faster",
        missed_because="the bare loop beside it tells what the machine gave at the moment",
    )


MEMORY = """
import sys
from pathlib import Path
import numpy as np
from compromis.estimators.pragma_forest import PragmaForestClassifier
from compromis.trees.grow import grow_forest

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024

rows, columns, depth = int(sys.argv[1]), 10, None if sys.argv[2] == "None" else int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(rows, columns)).astype(np.float32)
y = (X[:, 0] + rng.normal(size=rows) > 0).astype(np.int64)
forest = PragmaForestClassifier(2, tune=False, max_depth=depth, n_jobs=1, random_state=0)
forest.fit(X[:500], y[:500])
prepared = forest._prepare(X, y, None) if sys.argv[3] == "growing" else None
Path("/proc/self/clear_refs").write_text("5")
before = peak()
if prepared is not None:
    trees, votes = grow_forest(prepared.training, prepared.plan, np.arange(2))
    held = votes.nbytes
else:
    forest.fit(X, y)
    trees, held = forest.trees_, forest.oob_votes_.nbytes + rows * columns
model = sum(getattr(trees, field).nbytes for field in trees.__slots__)
print((peak() - before - held - model) / rows, model / rows)
"""


def memory(lines, rows=1_000_000):
    """Peak memory beside bins, votes and the finished trees, in bytes per row, one tree grown at a time.

    Each in a new process that maps every array on its own: otherwise the figure is what malloc kept of earlier work.
    """
    if not Path("/proc/self/clear_refs").exists():
        lines.leave_out("memory", "there is no /proc")
        return
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    for part, depth in (("growing", 12), ("growing", None), ("fit", 12), ("fit", None)):
        command = [sys.executable, "-c", MEMORY, str(rows), str(depth), part]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        beside, model = (float(number) for number in done.stdout.split())
        what = f"memory of {'growing alone' if part == 'growing' else 'fit'}, per row and tree being grown, max_depth={depth}"
        lines.add(what, beside, at_most(16), f"the finished trees {model:.1f} more", unit="bytes")


def letter():
    import pandas as pd

    frame = pd.read_csv(Path(os.environ["COMPROMIS_DATA"]) / "letter.csv.gz")
    return frame.drop(columns="class").to_numpy(dtype=float), frame["class"].to_numpy(dtype=str)


def main():
    X, y = make_classification(100_000, 20, n_informative=10, flip_y=0.05, random_state=0)
    with Lines("forest") as lines:
        compare(lines, "100,000 x 20, two classes", X, y, 11)
        if os.environ.get("COMPROMIS_DATA"):
            compare(lines, "letter", *letter(), 3)
        else:
            lines.leave_out("letter", "COMPROMIS_DATA does not name the folder of the papers' data")
        try:
            compare_boosters(lines, X, y)
        except ImportError as error:
            lines.leave_out("XGBoost and LightGBM", f"{error.name} is not installed (make test-integrations does it)")
        threads(lines, X, y)
        memory(lines)


if __name__ == "__main__":
    main()
