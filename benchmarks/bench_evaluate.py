"""Evaluating against scikit-learn's classification_report, in one run on the same data: ratios.

The machine is shared and noisy: ratios of best times over a few repetitions are what counts.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import tracemalloc

import numpy as np
from sklearn.metrics import classification_report

import compromis as cp
from benchmarks.lines import Lines, at_least, at_most, below


def best(call, repeat=5):
    """Return the shortest of a few timings, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def labels(rows, classes=10, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, rows)
    return truth, np.where(rng.random(rows) < 0.9, truth, rng.integers(0, classes, rows))


def everything(truth, decision):
    result = cp.evaluate(truth, decision)
    return result.summary, result.per_class


def against_scikit_learn(lines, name, truth, decision, target):
    everything(truth[:1000], decision[:1000])
    ours, theirs = (
        best(lambda: everything(truth, decision)),
        best(lambda: classification_report(truth, decision), repeat=1),
    )
    what = f"counts and all measures, {name}, against classification_report"
    beside = f"{ours:.4f} s, scikit-learn {theirs:.3f} s"
    lines.add(what, theirs / ours, at_least(target), beside, unit="times faster")


def memory(lines, dtype):
    truth, decision = (part.astype(dtype) for part in labels(10_000_000))
    everything(truth[:1000], decision[:1000])
    tracemalloc.start()
    everything(truth, decision)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    lines.add(f"extra memory, 10 M labels, {np.dtype(dtype).name}", peak / len(truth), below(2), unit="bytes per row")


def starting(lines):
    def run(*arguments):
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    bare, quick = best(lambda: run("-c", "pass"), 15), best(lambda: run("-m", "compromis", "--help"), 15)
    python = f"python -c pass {1000 * bare:.0f} ms"
    lines.add("compromis --help / python -c pass", quick / bare, at_most(6), f"{1000 * quick:.0f} ms, {python}")
    imported = best(lambda: run("-c", "import compromis"), 15)
    lines.add("import compromis / python -c pass", imported / bare, beside=f"{1000 * imported:.0f} ms, {python}")


def main():
    with Lines("evaluate") as lines:
        truth, decision = labels(10_000_000)
        against_scikit_learn(lines, "10 M int64 labels, 10 classes", truth, decision, 100)
        names = np.array([f"class {k}" for k in range(10)], dtype=object)
        truth, decision = labels(5_000_000)
        against_scikit_learn(lines, "5 M Python strings, 10 classes", names[truth], names[decision], 5)
        for dtype in (np.int8, np.int16, np.int32, np.int64):
            memory(lines, dtype)
        starting(lines)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lines.add("peak resident memory of this run, scikit-learn's included", peak, unit="MB")


if __name__ == "__main__":
    main()
