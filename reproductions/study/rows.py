"""What a rival is given, and what it answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compromis as cp
from reproductions.data import load

MOST_ROWS = 2000
METRICS = ("kulczynski", "f", "fowlkes_mallows", "jaccard")

Floats = NDArray[np.float64]
Labels = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a data set: with nominal columns as categories, and as codes."""

    frame: Any
    codes: Floats
    y: Labels
    nominal: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str) -> Rows:
        """The first 2,000 rows, which is a random part: rows come in the order of their hashes."""
        frame, y = load(name)
        frame, y = frame.iloc[:MOST_ROWS], y[:MOST_ROWS]
        nominal = np.array([str(kind) == "category" for kind in frame.dtypes])
        columns = [frame[name].cat.codes if flag else frame[name] for name, flag in zip(frame, nominal, strict=True)]
        # labels that are numbers as text fail under class_weight="balanced" in scikit-learn 1.9
        return cls(frame, np.column_stack(columns).astype(np.float64), np.char.add("class ", y), nominal)

    def part(self, rows: NDArray[np.integer]) -> Rows:
        """Some of the rows."""
        return Rows(self.frame.iloc[rows], self.codes[rows], self.y[rows], self.nominal)

    @property
    def rarest(self) -> str:
        """The smallest class, the one that matters."""
        labels, sizes = np.unique(self.y, return_counts=True)
        return str(labels[sizes.argmin()])


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The same answers under each metric, and the seed of the repetition.

    The rarest class has importance 10 and the answers (0.1, 0.9), the others 1 and (0.8, 0.8), as in the PRAGMA paper.
    """

    by_metric: dict[str, cp.Preferences]
    seed: int

    @classmethod
    def about(cls, label: str, seed: int) -> Settings:
        """Settings whose priority is one class."""
        return cls({metric: cp.Preferences.prioritise([label], metric=metric) for metric in METRICS}, seed)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Decisions about the test rows, seconds of processor time for training, and the loss that training promised (NaN: none)."""

    predicted: Labels
    seconds: float
    promised: float = float("nan")


Answers = dict[str, Answer]
"""By metric."""
Rival = Callable[[Rows, Rows, Settings], Answers]


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
