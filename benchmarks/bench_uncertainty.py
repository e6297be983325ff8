"""Intervals against one classification_report of scikit-learn, and what cross_evaluate adds to the fits: ratios.

The machine is shared and noisy: ratios of best times over a few repetitions are what counts.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report
from sklearn.model_selection import StratifiedKFold

import compromis as cp
from benchmarks.lines import Lines, above, at_most
from compromis.uncertainty.report_intervals import report_intervals


def timed(call, clock=time.perf_counter):
    start = clock()
    call()
    return clock() - start


def labels(rows, classes=10, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, rows)
    return truth, np.where(rng.random(rows) < 0.9, truth, rng.integers(0, classes, rows))


def intervals(lines):
    truth, decision = labels(10_000_000)
    cp.evaluate(truth[:1000], decision[:1000], confidence=0.95)
    ours = min(timed(lambda: cp.evaluate(truth, decision, confidence=0.95)) for _ in range(3))
    theirs = timed(lambda: classification_report(truth, decision))
    what = "2,000 replicates of the whole report, 10 M rows, counting included, against one classification_report"
    lines.add(what, theirs / ours, above(1), f"{ours:.3f} s, scikit-learn {theirs:.3f} s", unit="times faster")
    for rows in (50, 50_000_000):
        matrix = np.round(cp.Counts.from_predictions(truth[:100_000], decision[:100_000]).matrix * rows / 100_000)
        counts = cp.Counts.from_matrix(matrix.astype(int), range(10))
        alone = min(timed(lambda counts=counts: report_intervals(counts)) for _ in range(5))
        lines.add(f"the intervals alone, {rows:,} rows", alone, unit="s")


def overhead(lines, name, estimator, X, y, repeat):
    """What cross_evaluate takes beyond fitting and deciding in the same ten folds, as a share of that."""
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    bare, ours = [], []

    def plain():
        for train, test in folds:
            model = clone(estimator).fit(X[train], y[train])
            model.predict(X[test])
            model.predict_proba(X[test])

    for _ in range(repeat):
        # processor time: on a shared machine the wall clock measures the neighbours
        bare.append(timed(plain, time.process_time))
        ours.append(
            timed(lambda: cp.cross_evaluate(estimator, X, y, cv=folds, preferences=preferences), time.process_time)
        )
    share = min(ours) / min(bare) - 1
    turns = ", ".join(f"{100 * (one / other - 1):+.1f}" for one, other in zip(ours, bare, strict=True))
    lines.add(
        f"cross_evaluate beyond the fits: {name}",
        100 * share,
        at_most(5),
        f"fits {min(bare):.3f} s, cross_evaluate {min(ours):.3f} s of processor time; turn by turn {turns} %",
        unit="%",
        missed_because="turns of the same work differ by more than the target, see the figures",
    )


preferences = cp.Preferences.prioritise([1], metric="f")


def main():
    with Lines("uncertainty") as lines:
        intervals(lines)
        X, y = make_classification(3_000, 20, weights=[0.9], random_state=0)
        cp.cross_evaluate(LogisticRegression(), X, y, cv=2, preferences=preferences)
        forest = RandomForestClassifier(20, random_state=0)
        overhead(lines, "forest of 20 trees, 3,000 x 20, 10 folds", forest, X, y, 4)
        X, y = make_classification(20_000, 100, random_state=0)
        overhead(lines, "logistic regression, 20,000 x 100, 10 folds", LogisticRegression(), X, y, 3)


if __name__ == "__main__":
    main()
