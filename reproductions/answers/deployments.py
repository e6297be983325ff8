"""Label 150 rows, tune, and judge the decision on the rows that were not labelled; forty times for each data set."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import compromis as cp
from reproductions.answers.voters import answers_of, beliefs, rows_of

SETS = ("contraceptive", "vowel", "vehicle", "segment", "penbased", "optdigits", "splice", "led7digit")
"""Every set of the study with more than two classes, in the order of data_sets.csv; five were asked for."""
LABELS, EACH, TIMES = 150, 5, 40
LEVELS, CONFIDENCE = (0.8, 0.6), 0.9
"""The recalls that are guaranteed: of 13 labels none may be missed for the one, two for the other."""


def preferences_for(rarest: str, level: float | None = None) -> cp.Preferences:
    """The paper's preferences of the rarest class; with a guarantee of its recall."""
    guarantee = {} if level is None else {"min_recall": level, "confidence": CONFIDENCE}
    return cp.Preferences({rarest: cp.Preference(10, 0.1, 0.9, **guarantee)})


def deploy(belief: Any, y: Any, labels: list[str], seed: int) -> dict[str, float]:
    """One deployment: losses on rows that were not labelled, and the recall of the rarest class over all rows."""
    rng = np.random.default_rng(seed)
    answers = answers_of(belief, labels, EACH, rng)
    sizes = [(y == label).sum() for label in labels]
    rarest = labels[int(np.argmin(sizes))]
    drawn = rng.integers(0, len(y), LABELS)  # with replacement: the rows that are all are what new rows come from
    votes = cp.Votes.from_answers(answers[drawn], labels=labels, y_true=y[drawn], unanswered="even")
    everyone = cp.Votes.from_answers(answers, labels=labels, unanswered="even").votes
    others = np.setdiff1d(np.arange(len(y)), drawn)
    plain = preferences_for(rarest)
    found = {"rows of the class": float((y[drawn] == rarest).sum())}
    for level in (None, *LEVELS):
        tuned = cp.estimators.tune_votes(votes, preferences=preferences_for(rarest, level), random_state=seed)
        predicted = tuned.decision.decide(everyone)
        found["tuned" if level is None else f"guaranteed {level}"] = cp.pragma_loss(
            y[others], predicted[others], preferences=plain
        )
        if level is not None:
            found[f"recall {level}"] = float((predicted[y == rarest] == rarest).mean())
            found[f"given {level}"] = float(tuned.guarantee is not None and tuned.guarantee.given)
    majority = cp.Decision(labels, [1.0] * len(labels)).decide(everyone)
    return found | {"majority": cp.pragma_loss(y[others], majority[others], preferences=plain)}


def run_set(name: str, folder: Path) -> None:
    """Write every deployment of a data set."""
    X, y = rows_of(name)
    belief, labels = beliefs(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=cp.FewRowsWarning)
        warnings.simplefilter("ignore", category=cp.GuaranteeWarning)
        lines = [deploy(belief, y, labels, seed) for seed in range(TIMES)]
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(lines[0])
        writer.writerows([f"{value:.6g}" for value in line.values()] for line in lines)
