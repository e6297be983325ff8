"""28b. Guarantees on out-of-bag and out-of-fold votes: how often they are broken on rows that a forest or a regression never saw."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from functools import cache, partial
from typing import Any

import numpy as np
import pandas
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import compromis as cp
from reproductions.data import load
from tests.stress.counting import count_seeds
from tests.stress.outcome import NotRun, Outcome, Progress, scaled, silent

TITLE = "guarantees on out-of-bag and out-of-fold votes of real sets: broken at most twice as often as said"
DEPLOYMENTS, QUICK = 100, 0.01
FIRST = 28_500_000
FEW = 5
"""Up to so many deployments, one small set will do."""
RECALL, CONFIDENCE = 0.9, 0.9
SETS = (
    "magic", "phoneme", "satimage", "penbased", "mammography", "letter", "optdigits", "segment", "splice", "contraceptive",
    "hypothyroid", "vehicle",
)  # fmt: skip
KINDS = ("out-of-bag", "out-of-fold")
TRAINED, MOST_TRAINED = 0.35, 1_500
"""The share of the rows that a model is fitted on, and the most; all others are new rows."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the broken guarantees of each set and kind of votes."""
    if "COMPROMIS_DATA" not in os.environ:
        raise NotRun("COMPROMIS_DATA is not set")
    total, number = Outcome(0), scaled(DEPLOYMENTS, scale)
    sets = SETS if number >= FEW else ("vehicle",)
    for done, (name, kind) in enumerate((name, kind) for name in sets for kind in KINDS):
        part = count_seeds(partial(check_deployment, name, kind), range(FIRST, FIRST + number))
        given, broken = part.notes["given"], part.notes["broken"]
        nominal = part.notes["nominal in 10,000"] / 10_000 / max(given, 1)
        told = f"{name}, {kind}: {broken} of {given} broken, nominal {100 * nominal:.1f} %"
        too_many = (told,) if given >= 50 and broken > 2 * (1 - CONFIDENCE) * given else ()
        total += Outcome(part.cases, (*part.failures, *too_many), Counter({told: 1}))
        progress(done + 1, len(sets) * len(KINDS))
    return total


def check_deployment(name: str, kind: str, seed: int) -> dict[str, int]:
    """Fit a model on some rows of a set with a guarantee, and look at the recall on the others."""
    X, y, label = _numbers(name)
    rng = np.random.default_rng([seed, SETS.index(name)])
    order, trained = rng.permutation(len(y)), min(int(TRAINED * len(y)), MOST_TRAINED)
    first, rest = order[:trained], order[trained:]
    against = (
        0.05,
        0.9,
        0.1,
    )  # what the loss asks for is the opposite, so that the guarantee alone holds the recall up
    preferences = {label: cp.Preference(*against, min_recall=RECALL, confidence=CONFIDENCE)}
    regression = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200, tol=1e-2))
    model: Any = RandomForestClassifier(60, random_state=seed % 2**31) if kind == "out-of-bag" else regression
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuned = cp.TunedDecisionClassifier(model, preferences=preferences, random_state=seed % 2**31)
        tuned.fit(X[first], y[first])
        guarantee = tuned.guarantee_
        if not guarantee.given:
            return {}
        own = rest[y[rest] == label]
        recall = float((tuned.predict(X[own]) == label).mean())
    assert guarantee.calibration == kind
    item = guarantee.items[0]
    nominal = binom.cdf(item.wrong, item.rows, 1 - RECALL)
    return {"given": 1, "broken": int(recall < RECALL), "nominal in 10,000": round(10_000 * nominal)}


@cache
def _numbers(name: str) -> tuple[Any, Any, str]:
    """Return columns as numbers, labels, and the rarest class with at least 100 rows, else the most frequent of the rest."""
    frame, y = load(name)
    wide = pandas.get_dummies(frame).astype(np.float64)
    X = wide.fillna(wide.mean()).fillna(0.0).to_numpy()
    labels, rows = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[rows >= 20])
    enough = rows >= 200 if (rows >= 200).any() else rows >= 100
    return X[kept], y[kept], str(labels[enough][rows[enough].argmin()])
