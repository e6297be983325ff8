"""29. A cap on review is exceeded on at most one day in a hundred, and every way to decide sends the same rows."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import compromis as cp
from compromis.weights.sweep import Sweep
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "a cap on review, planned at 99 %, is exceeded on at most 1 % of days"
DEPLOYMENTS = 10_000
"""For each setting; every one has labelled rows of its own, weights of its own and a day of its own."""
QUICK = 0.001
FIRST = 29_000_000
BROKEN = 0.01


@dataclass(frozen=True, slots=True)
class Setting:
    """The labelled rows, a day's rows, the cap, and what votes look like; a quarter of the rows are of class 0."""

    classes: int
    rows: int
    per: int
    at_most: int
    votes: str = "shares"
    """shares, ties (five votes a row), hard (one vote a row), or gaps (shares, but 2 % of the rows have no vote at all)."""
    resamples: int = 0
    smoothing: float = 0.0
    guaranteed: bool = False
    rare: float = 0.25
    """The share of class 0, which matters."""

    @property
    def name(self) -> str:
        """The setting in words."""
        beside = (
            f", smoothing {self.smoothing:g}" * (self.smoothing > 0)
            + f", {self.resamples} resamples" * (self.resamples > 0)
            + ", guaranteed" * self.guaranteed
        )
        return f"{self.classes} classes, {self.rows:,} rows, {self.votes}, {self.at_most} of {self.per:,}{beside}"


SETTINGS = (
    Setting(2, 300, 1_000, 50),
    Setting(2, 5_000, 20_000, 200, rare=0.02),
    Setting(2, 1_000, 200, 20, resamples=5),
    Setting(3, 300, 1_000, 50, rare=0.05),
    Setting(3, 3_000, 1_000, 20, guaranteed=True),
    Setting(3, 1_000, 1_000, 50, "ties"),
    Setting(3, 500, 500, 100, "hard", smoothing=0.5),
    Setting(2, 1_000, 1_000, 60, "gaps"),
    Setting(4, 200, 200, 40, "gaps", smoothing=0.01),
    Setting(5, 300, 1_000, 100),
    Setting(6, 2_000, 5_000, 100, "ties", rare=0.05),
)


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the days on which more rows are to review than the cap allows, in each setting."""
    total, number = Outcome(0), scaled(DEPLOYMENTS, scale)
    for done, setting in enumerate(SETTINGS):
        part = count_seeds(partial(check_day, setting), range(FIRST, FIRST + number))
        over = part.notes[f"{setting.name}: days over the cap"]
        limit = BROKEN * number if number >= 5_000 else binom.ppf(0.9999, number, BROKEN)
        broken = (f"{setting.name}: the cap is exceeded on {over} of {number} days",) if over > limit else ()
        total += Outcome(part.cases, (*part.failures, *broken), part.notes)
        progress((done + 1) * number, len(SETTINGS) * number)
    return total


def check_day(setting: Setting, seed: int) -> dict[str, int]:
    """Draw a world, labelled rows, search and plan; draw a day, and count the rows that the decision sends to a person."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    others = rng.dirichlet(np.full(setting.classes - 1, 5.0)) * (1 - setting.rare)
    world = np.r_[setting.rare, others], rng.uniform(0.8, 2.5)
    y, votes = _rows(setting, world, setting.rows, rng)
    y[: setting.classes] = np.arange(setting.classes)  # every class occurs
    matters = cp.Preference(10, 0.1, 0.9, **({"min_recall": 0.7, "confidence": 0.9} if setting.guaranteed else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = cp.search_weights(
            y, votes, preferences={0: matters}, labels=range(setting.classes), method=Sweep(rounds=0),
            smoothing=setting.smoothing, resamples=setting.resamples, random_state=seed,
            review=cp.Review(at_most=setting.at_most, per=setting.per, confidence=0.99),
        )  # fmt: skip
    _, day = _rows(setting, world, setting.per, rng)
    _, sent = search.decision.decide(day, return_review=True)
    assert search.review is not None
    here = Counter({f"{setting.name}: days over the cap": int(sent.sum() > setting.at_most)})
    here[f"{setting.name}: days with a row to review"] = int(sent.any())
    return dict(here)


def _rows(
    setting: Setting, world: tuple[NDArray[np.float64], float], rows: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw rows of the world: their classes and votes."""
    shares, apart = world
    y = rng.choice(setting.classes, rows, p=shares)
    score = rng.normal(size=(rows, setting.classes))
    score[np.arange(rows), y] += apart
    share = np.exp(score)
    share /= share.sum(axis=1, keepdims=True)
    if setting.votes == "ties":
        share = rng.multinomial(5, share).astype(np.float64)
    if setting.votes == "hard":
        share = np.eye(setting.classes)[share.argmax(axis=1)]
    if setting.votes == "gaps":
        share[rng.random(rows) < 0.02] = 0.0
    return y, share
