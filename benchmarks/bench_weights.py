"""How fast weights are found, as ratios from one run: forest fits, argsort and other optimisers are the yardsticks.

Times are of the processor, not of the clock: every yardstick runs on one thread, and machines are shared. Run as
``COMPROMIS_DATA=... python benchmarks/bench_weights.py``; without the papers' data the letters are left out.
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

from compromis.estimators.weighted_vote import WeightedVoteClassifier
from compromis.evaluation.scoring import pragma_scorer
from compromis.evidence.votes import VotePatterns
from compromis.preferences import Preference, Preferences
from compromis.weights import Annealing, Budget, Sweep, search_weights


def best_of(run: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the shortest time and the last result; the first run may compile."""
    seconds, result = [], None
    for _ in range(times + 1):
        begin = time.process_time()
        result = run()
        seconds.append(time.process_time() - begin)
    return min(seconds[1:]), result


def line(name: str, reached: float, target: str, note: str = "") -> None:
    print(f"{name:<66} {reached:>9.4g}   {target:<12} {note}")


def out_of_bag_votes(forest: RandomForestClassifier, X: np.ndarray, classes: int) -> np.ndarray:
    votes = np.zeros((len(X), classes))
    for tree, sample in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.ones(len(X), dtype=bool)
        unseen[sample] = False
        votes[np.flatnonzero(unseen), tree.predict(X[unseen]).astype(int)] += 1
    return votes


def shares(votes: np.ndarray) -> np.ndarray:
    return votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)


def letters() -> None:
    with gzip.open(Path(os.environ["COMPROMIS_DATA"]) / "letter.csv.gz", "rt") as file:
        rows = [text.rstrip("\n").split(",") for text in file][1:]
    X, y = np.array([row[:-1] for row in rows], dtype=np.float32), np.array([row[-1] for row in rows])
    forest = RandomForestClassifier(20, max_features=4, n_jobs=1, random_state=0)
    fit, _ = best_of(lambda: forest.fit(X, y))
    votes = shares(out_of_bag_votes(forest, X, 26))
    preferences = Preferences.prioritise(list("AEIOUY"))
    seconds, search = best_of(lambda: search_weights(votes, y, preferences=preferences))
    line(
        "letter, 26 classes: search / fit of the forest",
        seconds / fit,
        "<= 0.10",
        f"{1000 * seconds:.0f} ms, loss {search.loss:.5f}",
    )
    smoothed, other = best_of(lambda: search_weights(votes, y, preferences=preferences, smoothing=0.025))
    line("the same with smoothing", smoothed / fit, "", f"{1000 * smoothed:.0f} ms, loss {other.loss:.5f}")
    tuned = WeightedVoteClassifier(forest, preferences=preferences, random_state=0)
    whole, _ = best_of(lambda: tuned.fit(X, y))
    line("the estimator's default, resamples included: beyond the fit", (whole - fit) / fit, "<= 0.50")
    annealed_in, annealed = best_of(
        lambda: search_weights(votes, y, preferences=preferences, method=Annealing(steps=20_000)), 1
    )
    line(
        "annealing, 20,000 steps: loss of the sweep / its loss",
        search.loss / annealed.loss,
        "<= 1",
        f"{1000 * annealed_in:.0f} ms",
    )
    longer = search_weights(votes, y, preferences=preferences, method=Sweep(), budget=Budget(evaluations=1_000_000))
    line(
        "the same, the sweep with a budget of 1 M evaluations",
        longer.loss / annealed.loss,
        "<= 1",
        f"{1000 * longer.seconds:.0f} ms",
    )
    dual_in, dual = dual_annealing(VotePatterns.from_votes(votes, y, merge=False), preferences, 5_000)
    line("search / dual_annealing with 5,000 evaluations", seconds / dual_in, "<= 0.02", f"{dual_in:.1f} s")
    line("loss of the search / its loss", search.loss / dual, "< 1", f"{dual:.5f}")


def dual_annealing(patterns: VotePatterns, preferences: Preferences, evaluations: int) -> tuple[float, float]:
    """Minimise the plane over log-weights with scipy, on plain numpy."""
    wish = preferences.on(patterns.classes)
    classes = len(patterns.classes)

    def loss(logs: np.ndarray) -> float:
        decision = np.argmax(patterns.votes * np.exp(logs), axis=1)
        cells = np.bincount(patterns.truth * classes + decision, minlength=classes**2).reshape(classes, classes)
        hits, support, decided = cells.diagonal(), cells.sum(axis=1), cells.sum(axis=0)
        value = wish.recall_weight * hits / support + (1 - wish.recall_weight) * hits / np.maximum(decided, 1)
        return float(np.average(1 - value, weights=wish.importance))

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


def two_classes(rows: int = 1_000_000) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(rows) < 0.1).astype(int)
    share = 1 / (1 + np.exp(2 - 1.2 * y - rng.normal(size=rows)))
    votes = np.column_stack([1 - share, share])
    preferences = Preferences({1: Preference(10, 0.1, 0.9)})
    sort, _ = best_of(lambda: np.argsort(share))
    seconds, search = best_of(lambda: search_weights(votes, y, preferences=preferences))
    line("1 M probabilities: exact search / np.argsort", seconds / sort, "<= 3", f"{1000 * seconds:.0f} ms")
    tuner = TunedThresholdClassifierCV(
        Known().fit(share[:, None], y), cv="prefit", refit=False, thresholds=100, scoring=pragma_scorer(preferences)
    )
    begin = time.process_time()
    tuner.fit(share[:, None], y)
    tuned = time.process_time() - begin
    line(
        "loss of the search / TunedThresholdClassifierCV",
        search.loss / -tuner.best_score_,
        "<= 1",
        f"it took {tuned:.1f} s",
    )
    tracemalloc.start()
    search_weights(votes, y, preferences=preferences)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    line("peak memory of the search / the votes", peak / votes.nbytes, "", f"{peak / 1e6:.0f} MB")


def three_classes() -> None:
    preferences = Preferences({2: Preference(10, 0.1, 0.9)})
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
        for index in ("kulczynski", "f"):
            seconds, search = best_of(lambda: search_weights(votes, y, preferences=preferences.with_index(index)), 1)
            line(
                f"3 classes, 100 trees, {rows:,} rows, {index}: exact / fit",
                seconds / fit,
                "<= 0.10",
                f"optimal: {search.optimal}",
            )


def many_classes(classes: int = 1_000) -> None:
    preferences = Preferences.prioritise(range(50))
    for rows in (25_000, 50_000, 100_000):
        rng = np.random.default_rng(0)
        y = np.concatenate([np.arange(classes), rng.integers(0, classes, size=rows - classes)])
        column = np.column_stack([y, rng.integers(0, classes, size=(rows, 19))]).ravel()
        votes = scipy.sparse.csr_array(
            (rng.random(column.size), column, np.arange(0, column.size + 1, 20)), shape=(rows, classes)
        )
        begin = time.process_time()
        search = search_weights(votes, y, preferences=preferences, method=Sweep(passes=1))
        seconds = time.process_time() - begin
        note = f"{seconds:.1f} s, loss {search.loss:.4f}, {search.evaluations:,} weights tried"
        line(f"1,000 classes, {rows:,} rows, 20 votes each: ns per vote", 1e9 * seconds / votes.nnz, "constant", note)


if __name__ == "__main__":
    print(f"{'':<66} {'reached':>9}   target")
    if "COMPROMIS_DATA" in os.environ:
        letters()
    two_classes()
    three_classes()
    many_classes()
