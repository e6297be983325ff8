"""Intervals against one classification_report of scikit-learn, and what verdicts and cross_evaluate add to fits: ratios.

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
from threadpoolctl import threadpool_limits

import compromis as cp
from benchmarks.lines import Lines, above, at_most
from compromis.estimators.tuning import TuningOptions, cross_fitted
from compromis.uncertainty.report_intervals import report_intervals
from compromis.uncertainty.verdict import verdict_on
from compromis.weights.search import search_problem
from compromis.weights.sweep import Sweep


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


def verdicts(lines):
    """The verdict alone: what it takes does not depend on the rows."""
    for classes, most in ((2, 30), (10, 30), (30, 150), (50, 150)):
        counts = cp.Counts.from_predictions(*labels(1_000_000, classes))
        arrays = cp.Preferences.prioritise([0]).on(counts.classes)
        took = [
            timed(lambda counts=counts, arrays=arrays: verdict_on(counts, arrays), time.process_time) for _ in range(5)
        ]
        lines.add(f"the verdict, {classes} classes", 1000 * min(took), at_most(most), unit="ms")


def cross_fitting(lines):
    """Weights for five parts of the votes, each searched on the others, beside the search that they judge."""
    rng = np.random.default_rng(0)
    for classes, rows in ((2, 20_000), (3, 3_000), (8, 20_000)):
        truth = rng.choice(classes, rows, p=np.r_[0.05, np.full(classes - 1, 0.95 / (classes - 1))])
        votes = rng.multinomial(100, np.full(classes, 1 / classes), rows) + 20 * np.eye(classes)[truth]
        votes, options = cp.Votes.from_proba(truth, votes), TuningOptions(preferences=cp.Preferences.prioritise([0]))
        problem, resamples = options.problem(votes), options.resamples_for(classes)
        searched = timed(lambda: search_problem(problem, resamples=resamples, random_state=0), time.process_time)
        method = "auto" if classes <= 3 else Sweep(rounds=0)
        crossed = timed(lambda: cross_fitted(problem, method, 0), time.process_time)
        what = f"cross-fitted weights beside the search with {resamples} resamples: {classes} classes, {rows:,} rows"
        lines.add(
            what,
            100 * crossed / searched,
            at_most(100),
            f"search {searched:.2f} s, cross-fitting {crossed:.2f} s",
            unit="%",
        )


def verdicts_of_fits(lines):
    """What the verdict takes of tuned fits, beside all else that they do."""
    forest = RandomForestClassifier(100, random_state=0)
    for name, estimator, rows, classes in (
        ("logistic regression", LogisticRegression(), 600, 2),
        ("logistic regression", LogisticRegression(), 20_000, 2),
        ("logistic regression", LogisticRegression(max_iter=500), 5_000, 6),
        ("forest of 100 trees", forest, 300, 2),
        ("forest of 100 trees", forest, 2_000, 3),
    ):
        X, y = make_classification(rows, 20, n_informative=8, n_classes=classes, random_state=0)
        model = cp.TunedDecisionClassifier(estimator, preferences=preferences, random_state=0, n_jobs=1)
        with threadpool_limits(1):
            fit = min(timed(lambda model=model, X=X, y=y: model.fit(X, y), time.process_time) for _ in range(3))
            tuned = model.tuning_
            judge = lambda tuned=tuned: verdict_on(tuned.judged, tuned.chosen.arrays, rows="cross-fitted")  # noqa: E731
            took = min(timed(judge, time.process_time) for _ in range(5))
        lines.add(
            f"the verdict beside the rest of a tuned fit: {name}, {rows:,} x 20, {classes} classes",
            100 * took / (fit - took),
            at_most(10),
            f"verdict {1000 * took:.1f} ms, fit {1000 * fit:.0f} ms",
            unit="%",
            missed_because="a fit this short; the verdict takes as long whatever the rows",
        )


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
        verdicts(lines)
        cross_fitting(lines)
        X, y = make_classification(3_000, 20, weights=[0.9], random_state=0)
        cp.cross_evaluate(LogisticRegression(), X, y, cv=2, preferences=preferences)
        forest = RandomForestClassifier(20, random_state=0)
        overhead(lines, "forest of 20 trees, 3,000 x 20, 10 folds", forest, X, y, 4)
        X, y = make_classification(20_000, 100, random_state=0)
        overhead(lines, "logistic regression, 20,000 x 100, 10 folds", LogisticRegression(), X, y, 3)
        verdicts_of_fits(lines)


if __name__ == "__main__":
    main()
