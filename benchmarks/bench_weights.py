"""How fast weights are found, as ratios from one run: forest fits, argsort and other optimisers are the yardsticks.

Times are of the processor, not of the clock: every yardstick runs on one thread, and machines are shared.
Without the papers' data (COMPROMIS_DATA) the letters are left out.
"""

from __future__ import annotations

import gzip
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks.lines import Lines, at_most, below
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.evaluation.scoring import pragma_scorer
from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.weights import Annealing, Sweep, search_weights


def best_of(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the shortest time and the last result; the first run may import."""
    seconds, result = [], None
    for _ in range(times + 1):
        begin = time.process_time()
        result = run()
        seconds.append(time.process_time() - begin)
    return min(seconds[1:]), result


def out_of_bag_votes(forest: RandomForestClassifier, X: np.ndarray, classes: int) -> np.ndarray:
    votes = np.zeros((len(X), classes))
    for tree, sample in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.ones(len(X), dtype=bool)
        unseen[sample] = False
        votes[np.flatnonzero(unseen), tree.predict(X[unseen]).astype(int)] += 1
    return votes


def shares(votes: np.ndarray) -> np.ndarray:
    return votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)


def letters(lines: Lines) -> None:
    with gzip.open(Path(os.environ["COMPROMIS_DATA"]) / "letter.csv.gz", "rt") as file:
        rows = [text.rstrip("\n").split(",") for text in file][1:]
    X, y = np.array([row[:-1] for row in rows], dtype=np.float32), np.array([row[-1] for row in rows])
    forest = RandomForestClassifier(20, max_features=4, n_jobs=1, random_state=0)
    fit, _ = best_of(lambda: forest.fit(X, y))
    votes = shares(out_of_bag_votes(forest, X, 26))
    preferences = Preferences.prioritise(list("AEIOUY"), metric="kulczynski")
    seconds, search = best_of(lambda: search_weights(y, votes, preferences=preferences, random_state=0))
    found = f"{1000 * seconds:.0f} ms, loss {search.loss:.5f}"
    lines.add("letter, 26 classes: search / fit of a 20-tree forest", seconds / fit, at_most(0.10), found)
    smoothed, other = best_of(
        lambda: search_weights(y, votes, preferences=preferences, smoothing=0.025, random_state=0)
    )
    found = f"{1000 * smoothed:.0f} ms, loss {other.loss:.5f}"
    lines.add("letter: the same with smoothing", smoothed / fit, beside=found)
    tuned = TunedDecisionClassifier(forest, preferences=preferences, random_state=0)
    whole, _ = best_of(lambda: tuned.fit(X, y))
    what = "letter: the estimator's default, resamples and out-of-bag votes included, beyond the fit / the fit"
    lines.add(what, (whole - fit) / fit, at_most(0.50), f"{whole:.2f} s, fit {fit:.2f} s")
    against_annealing(lines, votes, y, preferences, search, seconds)


def against_annealing(
    lines: Lines, votes: np.ndarray, y: np.ndarray, preferences: Preferences, search, seconds
) -> None:
    annealed_in, annealed = best_of(
        lambda: search_weights(y, votes, preferences=preferences, method=Annealing(steps=20_000), random_state=0), 1
    )
    its = f"annealing's {annealed.loss:.5f} in {1000 * annealed_in:.0f} ms"
    lines.add(
        "letter: loss of the search / that of annealing, 20,000 steps",
        search.loss / annealed.loss,
        at_most(1),
        f"loss {search.loss:.5f}, {its}",
        missed_because="annealing takes longer; the next line gives the search more time too",
    )
    longer = search_weights(
        y, votes, preferences=preferences, method=Sweep(), max_evaluations=1_000_000, random_state=0
    )
    found = f"loss {longer.loss:.5f} in {1000 * longer.seconds:.0f} ms of wall clock, {its}"
    lines.add("letter: the same with a budget of 1 M evaluations", longer.loss / annealed.loss, at_most(1), found)
    dual_in, dual = dual_annealing(Votes.from_proba(y, votes, merge=False), preferences, 5_000)
    what = "letter: search / scipy's dual_annealing with 5,000 evaluations"
    lines.add(what, seconds / dual_in, at_most(0.02), f"{1000 * seconds:.0f} ms, {dual_in:.1f} s")
    what = "letter: loss of the search / that of dual_annealing"
    lines.add(what, search.loss / dual, below(1), f"{search.loss:.5f}, {dual:.5f}")


def dual_annealing(patterns: Votes, preferences: Preferences, evaluations: int) -> tuple[float, float]:
    """Minimise the plane over log-weights with scipy, on plain numpy."""
    arrays = preferences.on(patterns.classes)
    classes = len(patterns.classes)

    def loss(logs: np.ndarray) -> float:
        decision = np.argmax(patterns.votes * np.exp(logs), axis=1)
        cells = np.bincount(patterns.truth * classes + decision, minlength=classes**2).reshape(classes, classes)
        hits, support, predicted = cells.diagonal(), cells.sum(axis=1), cells.sum(axis=0)
        value = arrays.recall_weight * hits / support + (1 - arrays.recall_weight) * hits / np.maximum(predicted, 1)
        return float(np.average(1 - value, weights=arrays.importance))

    begin = time.process_time()
    found = scipy.optimize.dual_annealing(loss, [(-3.0, 3.0)] * classes, maxfun=evaluations, rng=0)
    return time.process_time() - begin, float(found.fun)


class Known(ClassifierMixin, BaseEstimator):
    """A classifier whose only feature is the probability of the second class."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Known:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[(X[:, 0] > 0.5).astype(int)]


def two_classes(lines: Lines, rows: int = 1_000_000) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(rows) < 0.1).astype(int)
    share = 1 / (1 + np.exp(2 - 1.2 * y - rng.normal(size=rows)))
    votes = np.column_stack([1 - share, share])
    preferences = Preferences({1: Preference(10, 0.1, 0.9)}, metric="kulczynski")
    sort, _ = best_of(lambda: np.argsort(share))
    seconds, search = best_of(lambda: search_weights(y, votes, preferences=preferences, random_state=0))
    found = f"{1000 * seconds:.0f} ms, argsort {1000 * sort:.0f} ms"
    lines.add("two classes, 1 M probabilities: exact search / np.argsort", seconds / sort, at_most(3), found)
    tuner = TunedThresholdClassifierCV(
        Known().fit(share[:, None], y), cv="prefit", refit=False, thresholds=100, scoring=pragma_scorer(preferences)
    )
    begin = time.process_time()
    tuner.fit(share[:, None], y)
    tuned = time.process_time() - begin
    what = "two classes: loss of the search / that of TunedThresholdClassifierCV, 100 thresholds"
    found = f"{search.loss:.5f}, {-tuner.best_score_:.5f}, which took {tuned:.1f} s"
    lines.add(what, search.loss / -tuner.best_score_, at_most(1), found)
    tracemalloc.start()
    search_weights(y, votes, preferences=preferences, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    lines.add("two classes: peak memory of the search / the votes", peak / votes.nbytes, beside=f"{peak / 1e6:.0f} MB")


def three_classes(lines: Lines) -> None:
    preferences = Preferences({2: Preference(10, 0.1, 0.9)}, metric="kulczynski")
    for rows in (500, 5_000, 50_000):
        X, y = make_classification(
            rows,
            12,
            n_informative=5,
            n_classes=3,
            class_sep=0.7,
            flip_y=0.05,
            weights=[0.7, 0.25, 0.05],
            random_state=0,
        )
        forest = RandomForestClassifier(100, n_jobs=1, random_state=0)
        begin = time.process_time()
        forest.fit(X, y)
        fit = time.process_time() - begin
        votes = out_of_bag_votes(forest, X, 3)
        for metric in ("kulczynski", "f"):
            seconds, search = best_of(
                lambda: search_weights(y, votes, preferences=preferences.with_metric(metric), random_state=0), 1
            )
            found = f"{1000 * seconds:.0f} ms, fit {fit:.2f} s; {'optimal' if search.optimal else 'not proved optimal'}"
            what = f"three classes, 100 trees, {rows:,} rows, {metric}: exact search / fit"
            lines.add(what, seconds / fit, at_most(0.10), found)


def many_classes(lines: Lines, classes: int = 1_000) -> None:
    """One pass finishes, and the time per vote stays as it is when rows are added."""
    preferences = Preferences.prioritise(range(50), metric="kulczynski")
    for rows in (classes, 25_000, 50_000, 100_000):
        rng = np.random.default_rng(0)
        y = np.concatenate([np.arange(classes), rng.integers(0, classes, size=rows - classes)])
        column = np.column_stack([y, rng.integers(0, classes, size=(rows, 19))]).ravel()
        votes = scipy.sparse.csr_array(
            (rng.random(column.size), column, np.arange(0, column.size + 1, 20)), shape=(rows, classes)
        )
        begin = time.process_time()
        search = search_weights(y, votes, preferences=preferences, method=Sweep(passes=1), random_state=0)
        seconds = time.process_time() - begin
        if rows == classes:  # the first may import
            continue
        found = f"{seconds:.1f} s, loss {search.loss:.4f}, {search.evaluations:,} weights tried"
        what = f"{classes:,} classes, {rows:,} sparse rows, 20 votes each, one pass: time per vote"
        lines.add(what, 1e6 * seconds / votes.nnz, beside=found, unit="us")


def main() -> None:
    with Lines("weights") as lines:
        if os.environ.get("COMPROMIS_DATA"):
            letters(lines)
        else:
            lines.leave_out("letter", "COMPROMIS_DATA does not name the folder of the papers' data")
        two_classes(lines)
        three_classes(lines)
        many_classes(lines)


if __name__ == "__main__":
    main()
