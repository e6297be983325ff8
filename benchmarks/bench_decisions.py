"""What a decision costs beside what it is added to.

Tuning beside the forest, a guarantee beside the search, a review beside deciding, a plan of labels, an evaluation of a planned sample
beside one of rows.

Processor time, the sides taking turns, the least of several; one thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

import compromis as cp
from benchmarks.lines import Lines, at_least, at_most

TREES = 100


def least(*calls: Callable[[], Any], repeat: int = 5) -> list[float]:
    """The least processor time of each call, in seconds, the calls taking turns."""
    best = [np.inf] * len(calls)
    for _ in range(repeat):
        for place, call in enumerate(calls):
            start = time.process_time()
            call()
            best[place] = min(best[place], time.process_time() - start)
    return best


def rows_of(rows: int, shares: list[float]) -> tuple[Any, Any]:
    return make_classification(
        rows, 20, n_informative=8, n_classes=len(shares), weights=shares, flip_y=0.05, random_state=0
    )  # fmt: skip


def tuning(lines: Lines) -> None:
    """The forest with tuning, less the same forest without, over the same forest without."""
    cases = {
        "1,500 rows, two classes, one of 5 %": (1_500, [0.95, 0.05]),
        "1,500 rows, two classes alike": (1_500, [0.5, 0.5]),
        "1,500 rows, six classes, five of 5 %": (1_500, [0.75, *[0.05] * 5]),
        "1,500 rows, six classes alike": (1_500, [1 / 6] * 6),
        "5,000 rows, three classes, two of 5 %": (5_000, [0.9, 0.05, 0.05]),
        "5,000 rows, three classes alike": (5_000, [1 / 3] * 3),
    }
    for name, (rows, shares) in cases.items():
        X, y = rows_of(rows, shares)
        preferences = cp.Preferences.prioritise([len(shares) - 1])
        options = {"preferences": preferences, "n_jobs": 1, "random_state": 0}
        grown = cp.PragmaForestClassifier(TREES, tune=False, sampling="limited", **options)
        whole = cp.PragmaForestClassifier(TREES, **options)
        whole.fit(X, y)
        grow, fit = least(lambda: grown.fit(X, y), lambda: whole.fit(X, y))
        figures = f"growth {1000 * grow:.0f} ms, tuning {1000 * (fit - grow):.0f} ms"
        lines.add(f"PragmaForest, {name}: tuning / growth", (fit - grow) / grow, at_most(1), figures)
    forest = RandomForestClassifier(TREES, n_jobs=1, random_state=0)
    for name in list(cases)[::2]:
        rows, shares = cases[name]
        X, y = rows_of(rows, shares)
        preferences = cp.Preferences.prioritise([len(shares) - 1])
        tuned = cp.TunedDecisionClassifier(forest, preferences=preferences, random_state=0)
        fit, whole_fit = least(lambda: forest.fit(X, y), lambda: tuned.fit(X, y), repeat=3)
        figures = f"fit {1000 * fit:.0f} ms, tuning {1000 * (whole_fit - fit):.0f} ms"
        lines.add(f"scikit-learn's forest, {name}: tuning / fit", (whole_fit - fit) / fit, at_most(1), figures)


def against_the_tuner(lines: Lines) -> None:
    for name, rows, shares in (("one of 5 %", 1_500, [0.95, 0.05]), ("one of 20 %", 5_000, [0.8, 0.2])):
        X, y = rows_of(rows, shares)
        preferences = cp.Preferences.prioritise([1])
        ours = cp.PragmaForestClassifier(TREES, preferences=preferences, n_jobs=1, random_state=0)
        forest = RandomForestClassifier(TREES, n_jobs=1, random_state=0)
        scorer = make_scorer(cp.pragma_loss, greater_is_better=False, preferences=preferences)
        theirs = TunedThresholdClassifierCV(forest, scoring=scorer)
        mine, its = least(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeat=3)
        what = f"PragmaForest tuned, {rows:,} rows, two classes, {name}: against TunedThresholdClassifierCV around a forest"
        lines.add(what, its / mine, at_least(5), f"{mine:.2f} s, the tuner {its:.2f} s", unit="times faster")


def votes_of(rows: int, size: int) -> cp.Votes:
    rng = np.random.default_rng(0)
    y = rng.integers(0, size, rows)
    logs = 1.5 * np.eye(size)[y] + rng.normal(size=(rows, size))
    return cp.Votes.from_proba(y, np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True))


def guarantees(lines: Lines) -> None:
    """The search with a guarantee beside the same search without and a sort of the votes of each class."""
    plain, sure = (cp.Preferences({0: cp.Preference(5, min_recall=0.9, confidence=one)}) for one in (None, 0.95))
    for size, rows in ((2, 1_000_000), (3, 100_000), (5, 100_000)):
        votes = votes_of(rows, size)
        search, held, sort = least(
            lambda votes=votes: cp.search_weights(votes, preferences=plain, method="sweep", random_state=0),
            lambda votes=votes: cp.search_weights(votes, preferences=sure, method="sweep", random_state=0),
            lambda votes=votes, size=size: [np.sort(votes.votes[:, k]) for k in range(size)],
            repeat=3,
        )
        lines.add(
            f"guarantee, {size} classes, {rows:,} rows: the search with it / the search and a sort for each class",
            held / (search + sort), at_most(1), f"search {search:.3f} s, with it {held:.3f} s, the sorts {sort:.3f} s",
            missed_because="the other classes' weights are searched a second time, on rows of these classes alone" if size > 2
            else "above the order statistic the weight of the lowest loss is searched along its line",
        )  # fmt: skip
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10_000)
    few = cp.Votes.from_proba(y, rng.multinomial(20, np.full(3, 1 / 3), len(y)) + 6 * np.eye(3)[y], merge=True)
    many = few
    while many.rows < 10**9:
        many = many + many
    seconds = least(*(lambda one=one: cp.search_weights(one, preferences=sure, random_state=0) for one in (few, many)))
    figures = f"{len(few.votes):,} patterns: {1000 * seconds[0]:.1f} and {1000 * seconds[1]:.1f} ms"
    what = f"guarantee from patterns, {many.rows:,} rows / 10,000 rows"
    lines.add(what, seconds[1] / seconds[0], at_most(1.2), figures)


def reviews(lines: Lines) -> None:
    rng = np.random.default_rng(0)
    for size, rows in ((2, 1_000_000), (5, 1_000_000), (12, 300_000), (20, 300_000), (40, 150_000)):
        votes, weights = rng.dirichlet(np.ones(size), rows), np.linspace(0.5, 2, size)
        plain, reviewed = (cp.Decision(range(size), weights, review=ratio) for ratio in (None, 1.1))
        alone, both = least(
            lambda plain=plain, votes=votes: plain.decide(votes),
            lambda reviewed=reviewed, votes=votes: reviewed.decide(votes, return_review=True),
            repeat=9,
        )
        lines.add(
            f"review, {rows:,} rows x {size} classes: what it adds to deciding", 100 * (both / alone - 1), at_most(20),
            f"decide {1000 * alone:.1f} ms, with the review {1000 * both:.1f} ms", unit="%",
            missed_because="from 32 classes on numpy finds the largest of a row with vector instructions, the second largest not",
        )  # fmt: skip


def labels(lines: Lines) -> None:
    rng = np.random.default_rng(0)
    votes, truth = rng.dirichlet(np.ones(3), 1_000_000), rng.integers(0, 3, 1_000_000)
    judge, wanted = rng.integers(0, 3, 1_000_000), cp.Preferences({0: cp.Preference(10, 0.1, 0.9)})
    plan = cp.model_selection.plan_labels(
        votes, budget=2_000, labels=range(3), judge=judge, preferences=wanted, random_state=0
    )
    (planned,) = least(
        lambda: cp.model_selection.plan_labels(
            votes, budget=300, labels=range(3), judge=judge, preferences=wanted, random_state=0
        ),
        repeat=3,
    )
    lines.add("300 labels planned among 1 M rows of votes, 3 classes, with a judge", planned, at_most(2), unit="s")
    said, predicted = truth[plan.rows], votes.argmax(axis=1)[plan.rows]
    options = {"labels": range(3), "preferences": wanted, "confidence": 0.95}
    of_rows, of_sample = least(
        lambda: str(cp.evaluate(said, predicted, **options)),
        lambda: str(cp.evaluate(said, predicted, sample=plan, **options)),
    )
    figures = f"{1000 * of_sample:.1f} ms, of rows {1000 * of_rows:.1f} ms"
    lines.add(
        "evaluation of 2,000 planned labels with intervals / of 2,000 rows",
        of_sample / of_rows,
        at_most(1),
        figures,
        missed_because="the draws are made in each stratum",
    )


def main() -> None:
    warnings.simplefilter("ignore")
    with Lines("decisions") as lines:
        tuning(lines)
        against_the_tuner(lines)
        guarantees(lines)
        reviews(lines)
        labels(lines)


if __name__ == "__main__":
    main()
