"""What the ways are judged on: rows of a data set, folds with cut rare classes, and what matters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import compromis as cp
from compromis.preferences import PreferenceArrays
from reproductions.study.families import load

MOST_ROWS = 1200
FEWEST = 8
"""Classes of fewer rows are left out: five folds need some of each."""
FOLDS = 5
CUTS = (0, 8, 25, 60)
"""How many training rows the rarest class keeps; 0 keeps all."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[Any]

ASKED: dict[str, Callable[[str, str], cp.Preferences]] = {
    "paper": lambda label, metric: cp.Preferences.prioritise([label], metric=metric),
    "macro": lambda _, metric: cp.Preferences(metric=metric),
    "mild": lambda label, metric: cp.Preferences({label: cp.Preference(3, 0.4, 0.8)}, metric=metric),
    "floor": lambda label, metric: cp.Preferences({label: cp.Preference(min_recall=0.9)}, metric=metric),
}
"""The paper's preferences, all classes alike, a mild preference, and a minimum; of the rarest class."""
METRICS = {"f": tuple(ASKED), "kulczynski": ("paper", "macro")}
"""Under which preferences each metric is run."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a data set: with nominal columns as categories, as codes, and as indicators."""

    frame: Any
    codes: Floats
    y: Labels
    nominal: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str) -> Rows:
        """The first 1,200 rows, which is a random part: rows come in the order of their hashes."""
        frame, y = load(name)
        labels, sizes = np.unique(y[:MOST_ROWS], return_counts=True)
        keep = np.flatnonzero(np.isin(y[:MOST_ROWS], labels[sizes >= FEWEST]))
        frame, y = frame.iloc[keep], y[keep]
        frame = frame.loc[:, frame.notna().any()]
        nominal = np.array([str(kind) == "category" for kind in frame.dtypes])
        columns = [frame[name].cat.codes if flag else frame[name] for name, flag in zip(frame, nominal, strict=True)]
        codes = np.column_stack(columns).astype(np.float64)
        codes = np.where(
            np.isnan(codes), np.nanmedian(codes, axis=0), codes
        )  # SMOTE and logistic regression need numbers
        # labels that are numbers as text fail under class_weight="balanced" in scikit-learn 1.9
        return cls(frame, codes, np.char.add("class ", y), nominal)

    def part(self, rows: NDArray[np.integer]) -> Rows:
        """Some of the rows."""
        return Rows(self.frame.iloc[rows], self.codes[rows], self.y[rows], self.nominal)

    @property
    def rarest(self) -> str:
        """The smallest class, the one that matters."""
        labels, sizes = np.unique(self.y, return_counts=True)
        return str(labels[sizes.argmin()])


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on, whose rarest class may be cut, and rows to judge on, at the class shares of training."""

    train: Rows
    test: Rows
    labels: list[str]
    factors: Floats
    """What a test row of each class counts: the rarest class's rows are rarer where it was cut."""
    seed: int
    name: str
    """Of the fold, for the store of votes."""

    @cached_property
    def truth(self) -> Ints:
        """The positions of the classes of the training rows."""
        return np.searchsorted(self.labels, self.train.y)

    def counts(self, predicted: Ints) -> Floats:
        """The confusion counts of decisions about the test rows."""
        size, truth = len(self.labels), np.searchsorted(self.labels, self.test.y)
        return np.bincount(truth * size + predicted, minlength=size * size).reshape(size, size) * self.factors[:, None]


def folds(name: str, cut: int, seed: int) -> list[Fold]:
    """The five folds of a data set, none if its rarest class is too small to be cut so."""
    rows = Rows.of(name)
    rarest, labels = rows.rarest, np.unique(rows.y).tolist()
    if cut and (rows.y == rarest).sum() * (1 - 1 / FOLDS) < 1.25 * cut:
        return []
    found = []
    for number, (train, test) in enumerate(
        StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows.codes, rows.y)
    ):
        own = train[rows.y[train] == rarest]
        kept = np.random.default_rng([seed, number]).permutation(own)[: cut or None]
        train = np.sort(np.concatenate([train[rows.y[train] != rarest], kept]))
        factors = np.where(np.array(labels) == rarest, len(kept) / len(own), 1.0)
        found.append(Fold(rows.part(train), rows.part(test), labels, factors, seed, f"{name}-{cut}-{seed}-{number}"))
    return found


@dataclass(frozen=True, eq=False)
class Asked:
    """Preferences under one metric, and the loss they give counts."""

    name: str
    preferences: cp.Preferences
    arrays: PreferenceArrays

    @classmethod
    def every(cls, labels: list[str], rarest: str) -> list[Asked]:
        """All preferences under all metrics."""
        return [
            cls(f"{name} {metric}", preferences, preferences.on(labels))
            for metric, names in METRICS.items()
            for name in names
            for preferences in [ASKED[name](rarest, metric)]
        ]

    def loss(self, matrix: Floats) -> float:
        """PRAGMA, and what recall misses of its minimum on top."""
        right, support, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
        weight, there = self.arrays.recall_weight, np.maximum(support, 1e-12)
        if self.name.endswith(" f"):
            value = right / (weight * there + (1 - weight) * predicted)
        else:
            value = weight * right / there + (1 - weight) * right / np.maximum(predicted, 1e-12)
        theta = np.where(support > 0, self.arrays.importance, 0.0)
        missed = np.where(support > 0, np.maximum(self.arrays.min_recall - right / there, 0.0), 0.0)
        return float((theta * (1 - value)).sum() / theta.sum() + missed.sum())


@dataclass(slots=True)
class Clock:
    """Seconds of processor time spent under `running`: other people's load on the machine does not count."""

    seconds: float = field(default=0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure what is done inside."""
        begun = time.process_time()
        yield
        self.seconds += time.process_time() - begun
