"""Stratified samples: the strata of a population, and of which one each labelled row was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.labels import number, read_labels

MOST_HYPERGEOMETRIC = 10**9
"""numpy draws hypergeometric numbers below it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Strata:
    """The strata of a population, by name, with the number of rows that each has there.

    Strata of the same name are the same rows, so that labels of two phases add up; others are different rows.
    """

    names: tuple[str, ...]
    sizes: Ints

    def __len__(self) -> int:
        return len(self.names)

    def join(self, other: Strata) -> tuple[Strata, Ints, Ints]:
        """Return the strata of both in the order of their names, and the positions of either's strata among them."""
        if self.names == other.names and (self.sizes == other.sizes).all():
            same = np.arange(len(self))
            return self, same, same
        size_of = dict(zip(self.names, self.sizes.tolist(), strict=True))
        for name, size in zip(other.names, other.sizes.tolist(), strict=True):
            if size_of.setdefault(name, size) != size:
                raise InputError(
                    f"stratum {name!r} has {size_of[name]:,} rows in one sample and {size:,} in the other; give strata of "
                    "different populations different names",
                    "sample",
                )
        names = tuple(sorted(size_of))
        position = {name: place for place, name in enumerate(names)}
        places = [np.array([position[name] for name in part.names], dtype=np.int64) for part in (self, other)]
        sizes = np.array([size_of[name] for name in names], dtype=np.int64)
        return Strata(names=names, sizes=sizes), places[0], places[1]

    def weights(self, drawn: NDArray[Any]) -> Floats:
        """Return how many rows of the population each of the rows drawn stands for; 0 where none was drawn."""
        weight: Floats = np.divide(self.sizes, drawn, out=np.zeros(len(self)), where=drawn > 0)
        return weight

    def generator(self) -> np.random.Generator:
        """Return random numbers that follow from the names and sizes, which were there before any label."""
        told = "\n".join(f"{name} {size}" for name, size in zip(self.names, self.sizes.tolist(), strict=True))
        return np.random.default_rng(list(sha256(told.encode()).digest()))

    def draw_random(self, drawn: NDArray[Any], short: float, generator: np.random.Generator) -> Ints:
        """Return how many of the rows drawn in each stratum make a random sample of the population, as large a one as there can be.

        A random sample has a random number of rows in each stratum: its size is the largest that asks for more rows than were drawn
        with the probability `short` at most; such a stratum gives what it has.
        """
        from scipy.stats import binom, hypergeom  # seldom needed

        whole, low, high = int(self.sizes.sum()), 0, int(drawn.sum())
        small = whole < MOST_HYPERGEOMETRIC
        while low < high:
            middle = (low + high + 1) // 2
            lacking = (
                hypergeom.sf(drawn, whole, self.sizes, middle) if small else binom.sf(drawn, middle, self.sizes / whole)
            )
            low, high = (middle, high) if lacking.sum() <= short else (low, middle - 1)
        rows = (
            generator.multivariate_hypergeometric(self.sizes, low)
            if small
            else generator.multinomial(low, self.sizes / whole)
        )
        return np.minimum(rows, drawn)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Labelled rows that were drawn at random within strata of a population, each row of a stratum with the same chance.

    `compromis.model_selection.plan_labels` draws one; `from_strata` takes a sample that was drawn elsewhere.

    Examples
    --------
    >>> import compromis as cp
    >>> sample = cp.evidence.Sample.from_strata(["flagged", "quiet", "quiet"], sizes={"flagged": 40, "quiet": 960})
    >>> cp.Counts.from_predictions([1, 0, 1], [1, 0, 0], sample=sample).matrix.tolist()
    [[480.0, 0.0], [480.0, 40.0]]
    """

    strata: Strata
    """The strata of the population."""
    stratum: Ints
    """The position of each row's stratum, in the order of the rows."""

    @classmethod
    def from_strata(cls, stratum: Any, sizes: Mapping[Any, int]) -> Sample:
        """Return the sample of rows whose strata are given by name, with the number of rows that each stratum has in the population."""
        column = read_labels(stratum, "stratum")
        (codes,), found = number(column)
        names = tuple(map(str, found))
        size_of = {str(name): size for name, size in sizes.items()}
        lacking = sorted({*size_of} ^ {*names})
        if lacking:
            raise InputError(
                f"the strata of the rows and those of sizes differ: {', '.join(map(repr, lacking[:5]))}; every stratum "
                "needs its size and at least one row",
                "sizes",
            )
        drawn = np.bincount(codes, minlength=len(names))
        for name, rows in zip(names, drawn.tolist(), strict=True):
            size = size_of[name]
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < rows:
                raise InputError(
                    f"stratum {name!r} has {rows:,} labelled rows, so its size is a whole number of at least that, got {size!r}",
                    "sizes",
                )
        strata = Strata(names=names, sizes=np.array([size_of[name] for name in names], dtype=np.int64))
        return cls(strata=strata, stratum=codes)

    @property
    def weight(self) -> Floats:
        """How many rows of the population each row stands for."""
        return self.strata.weights(np.bincount(self.stratum, minlength=len(self.strata)))[self.stratum]

    def tabulate(self, truth: Ints, predicted: Ints, classes: int) -> Ints:
        """Return the labelled rows of each stratum by true and predicted class, of shape (strata, K, K)."""
        cells = classes * classes
        flat = np.bincount(self.stratum * cells + truth * classes + predicted, minlength=len(self.strata) * cells)
        return flat.reshape(len(self.strata), classes, classes)


def read_sample(sample: Any, rows: int, **others: Any) -> Sample:
    """Return a checked sample of so many labelled rows; `others` do not go with one."""
    if not isinstance(sample, Sample):
        raise InputError(
            f"sample is what plan_labels returns, or evidence.Sample, got {type(sample).__name__}", "sample"
        )
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise InputError(
            f"sample says what each row stands for, and its strata what belongs together; leave out {' and '.join(given)}",
            given[0],
        )
    if len(sample.stratum) != rows:
        raise InputError(
            f"the sample has {len(sample.stratum):,} rows, y_true has {rows:,}; give the labels of all rows of the plan, in its order",
            "sample",
        )
    return sample
