"""Speed and memory of curves: compromis against scikit-learn, and envelopes against sorting.

Ratios come from one run on one machine: each side is timed REPEATS times in turn, the best of each counts. Memory is
the peak of a fresh process beyond what it holds before the work begins.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lines import Lines, at_least, below

Floats = NDArray[np.float64]
ROWS, POINTS, REPEATS = 5_000_000, 1_000_000, 3
METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")


def rows(number: int) -> tuple[NDArray[np.int64], Floats]:
    """Labels and scores without ties, one positive in three."""
    rng = np.random.default_rng(0)
    y = (rng.random(number) < 1 / 3).astype(np.int64)
    return y, rng.normal(size=number) + y


def with_compromis(y: NDArray[np.int64], score: Floats) -> tuple[float, float]:
    """Points, both curves, both areas, and the optimal trade-off curve."""
    from compromis.evidence.points import OperatingPoints
    from compromis.tradeoffs import TradeoffCurve, precision_recall_points, roc_points

    points = OperatingPoints.from_predictions(y, score)
    roc, pr = roc_points(points), precision_recall_points(points)
    assert len(TradeoffCurve(points, "f").breaks) > 2
    return roc.area, pr.average_precision


def with_scikit_learn(y: NDArray[np.int64], score: Floats) -> tuple[float, float]:
    """Both curves and both areas."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

    roc, pr = roc_curve(y, score), precision_recall_curve(y, score)
    assert len(roc[0]) > 2
    assert len(pr[0]) > 2
    return float(roc_auc_score(y, score)), float(average_precision_score(y, score))


Times = tuple[float, float]


def best_of(*works: Callable[[], Any]) -> list[Times]:
    """Return the shortest wall-clock and processor time of each work, taking turns.

    On a machine that others use too, wall-clock times are theirs as well; all works run on one thread, so that
    ratios of processor times are the ones to trust.
    """
    times: list[list[Times]] = [[] for _ in works]
    for _ in range(REPEATS):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter(), time.process_time()
            work()
            taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return [(min(wall for wall, _ in taken), min(spent for _, spent in taken)) for taken in times]


def _status(key: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    return float("nan")


def _measure(work: Callable[..., Any], number: int, answer: Any) -> None:
    work(*rows(2000))  # imports
    y, score = rows(number)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
    before = _status("VmRSS")
    work(y, score)
    answer.put(_status("VmHWM") - before)


def peak(work: Callable[..., Any], number: int) -> float:
    """Return the memory in MB that the work takes at its peak, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=_measure, args=(work, number, answer))
    process.start()
    taken = float(answer.get())
    process.join()
    return taken


def curves(lines: Lines, number: int) -> None:
    """Compare with scikit-learn."""
    y, score = rows(number)
    ours, theirs = with_compromis(y[:2000], score[:2000]), with_scikit_learn(y[:2000], score[:2000])
    assert np.allclose(ours, theirs, atol=1e-12), (ours, theirs)
    fast, slow = best_of(lambda: with_compromis(y, score), lambda: with_scikit_learn(y, score))
    small, large = peak(with_compromis, number), peak(with_scikit_learn, number)
    what = f"{number / 1e6:g} M scores: points, ROC, PR, both areas, optimal curve, against four scikit-learn calls"
    beside = (
        f"{fast[1]:.2f} s of processor time, scikit-learn {slow[1]:.2f} s; by wall clock {slow[0] / fast[0]:.1f} times"
    )
    lines.add(what, slow[1] / fast[1], at_least(3), beside, unit="times faster")
    lines.add("the same, peak memory / scikit-learn's", small / large, below(1), f"{small:.0f} MB, {large:.0f} MB")


def envelopes(lines: Lines, number: int) -> None:
    """Compare the time of all four envelopes with that of sorting the points twice."""
    from compromis.evidence.points import OperatingPoints
    from compromis.tradeoffs import TradeoffCurve

    y, score = rows(number)
    cuts = OperatingPoints.from_predictions(y, score)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(cuts) - 1) + 1
    counts = {"true_positives": cuts.true_positives[order], "false_positives": cuts.false_positives[order]}
    groups = {"threshold": np.full(len(order), np.nan), "names": tuple(range(len(order)))}
    shuffled = replace(cuts, **counts, **groups)
    recall = rng.permutation(number) + 1.0  # a front: every point dominates, none is below another
    precision = 1 - (recall / number) ** 2 / 2
    counts = {"true_positives": recall, "false_positives": recall / precision - recall}
    front = replace(cuts, **counts, **groups, positives=float(number), negatives=3.0 * number)
    for name, points in {
        "cuts of a score": cuts,
        "unsorted groups": shuffled,
        "unsorted groups, every one a corner of every hull": front,
    }.items():
        rates = points.recall.copy()
        sort_as_given = points.recall[order - 1] if name == "cuts of a score" else rates

        def all_four(points: OperatingPoints = points) -> None:
            curve = TradeoffCurve(points, METRICS[0])
            for metric in METRICS:
                assert len(curve.with_metric(metric).breaks) > 1

        def sort_twice(rates: Floats = sort_as_given) -> None:
            np.argsort(rates)
            np.argsort(rates)

        all_four()
        four, twice = best_of(all_four, sort_twice)
        corners = ", ".join(f"{len(TradeoffCurve(points, metric).positions):,}" for metric in METRICS)
        because = "one sort and four hulls of so many corners are more work than two sorts" if points is front else ""
        lines.add(
            f"{number / 1e6:g} M {name}: envelopes of all four metrics / sorting twice",
            four[1] / twice[1],
            below(1),
            f"{four[1] * 1e3:.0f} ms, {twice[1] * 1e3:.0f} ms of processor time; corners {corners}",
            missed_because=because,
        )


def main() -> None:
    """Run both benchmarks."""
    with Lines("tradeoffs") as lines:
        curves(lines, ROWS)
        envelopes(lines, POINTS)


if __name__ == "__main__":
    main()
