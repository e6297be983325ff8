"""Evaluating against scikit-learn's classification_report, in one run on the same data; prints ratios.

The machine is shared and noisy: ratios of best times over a few repetitions are what counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
import tracemalloc

import numpy as np
from sklearn.metrics import classification_report

import compromis as cp


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


def against_scikit_learn(name, truth, decision, target):
    everything(truth[:1000], decision[:1000])
    ours, theirs = (
        best(lambda: everything(truth, decision)),
        best(lambda: classification_report(truth, decision), repeat=1),
    )
    print(
        f"{name:<34} ours {ours:8.4f} s   scikit-learn {theirs:7.3f} s   {theirs / ours:6.1f} times faster (target {target})"
    )


def memory(dtype):
    truth, decision = (part.astype(dtype) for part in labels(10_000_000))
    everything(truth[:1000], decision[:1000])
    tracemalloc.start()
    everything(truth, decision)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{'extra memory, ' + np.dtype(dtype).name:<34} {peak / len(truth):.3f} bytes per row (target below 2)")


def starting():
    def run(*arguments):
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    bare, quick = best(lambda: run("-c", "pass"), 15), best(lambda: run("-m", "compromis", "--help"), 15)
    print(f"{'compromis --help':<34} {1000 * quick:.0f} ms, {quick / bare:.1f} times python -c pass (target 6)")
    imported = best(lambda: run("-c", "import compromis"), 15)
    print(f"{'import compromis':<34} {1000 * imported:.0f} ms, {imported / bare:.1f} times python -c pass")


def main():
    print(f"compromis {cp.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    truth, decision = labels(10_000_000)
    against_scikit_learn("10 M int64 labels, 10 classes", truth, decision, 100)
    names = np.array([f"class {k}" for k in range(10)], dtype=object)
    truth, decision = labels(5_000_000)
    against_scikit_learn("5 M Python strings, 10 classes", names[truth], names[decision], 5)
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        memory(dtype)
    starting()
    print(f"peak resident memory of this run: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
