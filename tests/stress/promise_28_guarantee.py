"""28. A guarantee is broken on new rows in at most the share of deployments that its confidence leaves."""

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

TITLE = "a guarantee is broken in at most 5 % of deployments"
DEPLOYMENTS = 10_000
"""For each setting; every number is of deployments of their own."""
QUICK = 0.0008
ALLOWED = 0.056
"""The share that may be broken: 5 %, and what chance adds to it in 10,000 (2.75 standard errors)."""
CONFIDENCE = 0.95
FIRST = 28_000_000
_WHOLE = 30
_ALIKE = 220
"""The rows of class 0 that look like those of other classes, each as many."""
POINTS = 400
"""The rows of each class in a population: rates are known exactly, and samples of 3,000 have ties in any case."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A population, what is asked of it, and the rows that are drawn; ``rows`` of class 0, and three times as many others."""

    classes: int
    rows: int
    votes: str
    """shares, ties (five votes a row), hard (one vote a row), gaps (shares, but 45 % of the rows have no vote for class 0), or alike
    (rows of every other class have the votes of some rows of class 0, of which the weights take all or none)."""
    asked: tuple[tuple[int, str, float], ...]
    smoothing: float = 0.0
    max_share: float | None = None
    planned: int = 0
    """The labels of a stratified sample of thirty times as many rows; 0 where rows are drawn with equal chances."""

    @property
    def name(self) -> str:
        """The setting in words."""
        demands = ", ".join(f"{rate} of {k} {level:g}" for k, rate, level in self.asked)
        beside = f", smoothing {self.smoothing:g}" * (self.smoothing > 0) + ", capacity" * (self.max_share is not None)
        rows = f"{self.planned:,} planned labels" if self.planned else f"{self.rows:,} rows"
        return f"{self.classes} classes, {rows}, {self.votes}: {demands}{beside}"


def _asked(*demands: str) -> tuple[tuple[int, str, float], ...]:
    split = (one.split() for one in demands)
    return tuple((int(k), rate, float(level)) for k, rate, level in split)


SETTINGS = (
    # one rule: the order statistic, on all rows
    Setting(2, 30, "shares", _asked("0 recall 0.9")),
    Setting(2, 150, "shares", _asked("0 recall 0.95")),
    Setting(2, 3_000, "shares", _asked("0 recall 0.8")),
    Setting(2, 93, "ties", _asked("0 recall 0.7"), smoothing=0.1),
    Setting(3, 60, "shares", _asked("0 recall 0.8")),
    Setting(3, 300, "ties", _asked("0 recall 0.6"), smoothing=0.5),
    Setting(4, 150, "shares", _asked("0 recall 0.9"), max_share=0.3),
    Setting(5, 400, "ties", _asked("0 recall 0.5")),
    Setting(3, 30, "hard", _asked("0 recall 0.99")),  # never given: the level said instead must hold
    Setting(2, 5, "gaps", _asked("0 recall 0.99")),  # the same
    # the path, on two halves
    Setting(2, 300, "shares", _asked("0 precision 0.6")),
    Setting(2, 120, "shares", _asked("0 precision 0.5"), max_share=0.2),
    Setting(2, 100, "ties", _asked("0 recall 0.5", "0 precision 0.4")),
    Setting(3, 200, "shares", _asked("0 recall 0.5", "1 recall 0.5")),
    Setting(4, 250, "hard", _asked("0 precision 0.5", "1 precision 0.5")),
    Setting(5, 600, "shares", _asked("0 recall 0.6", "0 precision 0.5", "2 recall 0.3")),
    Setting(45, 1_500, "alike", _asked("0 precision 0.9")),  # a hostile reader's: halves of each class broke a quarter
    # either, on the random rows among planned ones
    Setting(2, 0, "shares", _asked("0 recall 0.7"), planned=300),
    Setting(4, 0, "ties", _asked("0 recall 0.5"), planned=500),
    Setting(3, 0, "shares", _asked("0 recall 0.4", "0 precision 0.3"), planned=900),
)  # fmt: skip


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the broken guarantees of each setting, and the broken levels of those that could not be given."""
    total, number = Outcome(0), scaled(DEPLOYMENTS, scale)
    seeds = range(FIRST, FIRST + number)
    for done, setting in enumerate(SETTINGS):
        part = count_seeds(partial(check_deployment, setting), seeds)
        broken = _too_many(part.notes, number)
        total += Outcome(part.cases, (*part.failures, *broken), _shown(part.notes))
        progress((done + 1) * number, len(SETTINGS) * number)
    return total


def check_deployment(setting: Setting, seed: int) -> dict[str, int]:
    """Draw a population and the labelled rows, search, and look at what the weights do in the population."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    points, shares = _population(setting, rng)
    support = _support(setting, shares, rng)
    y = np.repeat(np.arange(setting.classes), support)
    votes = np.concatenate([rows[rng.integers(POINTS, size=size)] for rows, size in zip(points, support, strict=True)])
    sample = None
    if setting.planned:
        rows, sample = _planned(votes, y, setting.planned, rng)
        y, votes = y[rows], votes[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cp.GuaranteeWarning)
        search = cp.search_weights(
            y, votes, preferences=_preferences(setting), labels=range(setting.classes), method=Sweep(rounds=0),
            smoothing=setting.smoothing, sample=sample, random_state=seed,
        )  # fmt: skip
    decided = [((rows + setting.smoothing) * search.weights).argmax(axis=1) for rows in points]
    matrix = (
        np.array([np.bincount(one, minlength=setting.classes) for one in decided]) * (shares / POINTS)[:, np.newaxis]
    )
    return _noted(setting.name, search, matrix)


def _support(setting: Setting, shares: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how many rows of each class there are; of each class with a demand at least one."""
    if setting.planned:
        support = rng.multinomial(_WHOLE * setting.planned, shares)
    elif any(
        rate == "precision" for _, rate, _ in setting.asked
    ):  # which holds for rows drawn like those of deployments
        support = rng.multinomial(4 * setting.rows, shares)
    else:
        others = rng.multinomial(3 * setting.rows - setting.classes + 1, shares[1:] / shares[1:].sum()) + 1
        support = np.r_[setting.rows, others]
    asked = [k for k, _, _ in setting.asked]
    support[asked] += support[asked] == 0
    return support


def _planned(
    votes: NDArray[np.float64], y: NDArray[np.int64], labels: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], cp.evidence.Sample]:
    """Draw labels by what is predicted and what a judge says: half of them like the rows, half alike from each stratum."""
    judge = np.where(rng.random(len(y)) < 0.8, y == 0, rng.random(len(y)) < 0.5)
    stratum = 2 * (votes.argmax(axis=1) == 0) + judge
    sizes = np.bincount(stratum, minlength=4)
    budget = np.minimum((labels * sizes / (2 * len(y)) + labels / 8).astype(int), sizes)
    rows = np.concatenate([rng.choice(np.flatnonzero(stratum == h), budget[h], replace=False) for h in range(4)])
    sizes_of = {str(h): int(size) for h, size in enumerate(sizes) if size}
    return rows, cp.evidence.Sample.from_strata([str(h) for h in stratum[rows]], sizes=sizes_of)


def _noted(name: str, search: cp.WeightSearch, matrix: NDArray[np.float64]) -> dict[str, int]:
    guarantee, notes = search.guarantee, Counter({f"{name}|cases": 1})
    assert guarantee is not None
    for item in guarantee.items:
        assert item.given == (item.wrong <= item.allowed), str(item)
        k = int(item.label)
        whole = float((matrix[k] if item.rate == "recall" else matrix[:, k]).sum())
        below = whole > 0 and matrix[k, k] / whole < item.level * (1 - 1e-12)
        kind = "broken" if item.given else f"level broken, {item.rate} of {k}"
        notes[f"{name}|{kind}"] |= below
    notes[f"{name}|given"] = guarantee.given
    return dict(notes)


def _population(setting: Setting, rng: np.random.Generator) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the votes of each class's rows, all equally frequent, and the shares of the classes; no row is without votes."""
    size = setting.classes
    if setting.votes == "alike":
        return _alike(size)
    shares = np.r_[0.25, 0.75 * rng.dirichlet(np.full(size - 1, 5.0))]
    points = []
    for k in range(size):
        score = rng.normal(size=(POINTS, size)) + rng.uniform(0.8, 2.5) * np.eye(size)[k]
        share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
        if setting.votes == "ties":
            share = rng.multinomial(5, share).astype(np.float64)
        if setting.votes == "gaps":
            share[rng.random(POINTS) < 0.45, 0] = 0.0
        points.append(np.eye(size)[share.argmax(axis=1)] if setting.votes == "hard" else share)
    return points, shares


def _alike(size: int) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return a population in which a precision of 0.8995 is that of class 0 with the rows of one other class."""
    first = np.zeros((POINTS, size))
    each = _ALIKE // (size - 1)
    clear = POINTS - each * (size - 1)
    first[:clear, 0] = 1.0
    for k in range(1, size):
        rows = np.arange(each) + clear + each * (k - 1)
        first[rows[:, np.newaxis], [0, k]] = 0.5
    other = (clear + each) / POINTS * (1 / 0.8995 - 1)
    shares = np.r_[1.0, np.full(size - 1, other)]
    others = [np.tile(0.5 * (np.eye(size)[0] + np.eye(size)[k]), (POINTS, 1)) for k in range(1, size)]
    return [first, *others], shares / shares.sum()


def _preferences(setting: Setting) -> cp.Preferences:
    by_class = {}
    for k in {k for k, _, _ in setting.asked}:
        asked = {f"min_{rate}": level for label, rate, level in setting.asked if label == k}
        # what the loss asks for is the opposite
        bold = (1000.0 if setting.votes == "alike" else 5.0, 0.1, 0.9)
        against = (0.05, 0.9, 0.1) if set(asked) == {"min_recall"} else bold
        by_class[k] = cp.Preference(*against, confidence=CONFIDENCE, max_share=setting.max_share, **asked)
    return cp.Preferences(by_class)


def _too_many(notes: Counter[str], cases: int) -> tuple[str, ...]:
    limit = ALLOWED * cases if cases >= 5_000 else binom.ppf(0.9999, cases, 1 - CONFIDENCE)
    return tuple(
        f"{cell.replace('|', ': ')} in {count} of {cases}"
        for cell, count in notes.items()
        if "broken" in cell and count > limit
    )


def _shown(notes: Counter[str]) -> Counter[str]:
    return Counter({cell.replace("|", ": "): count for cell, count in notes.items() if not cell.endswith("cases")})
