"""The precision-recall space of a target in a universe: what can be reached, and what needs no skill."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric, read_one_weight, read_weight

Rates = tuple[float, float]

ROUNDING = 1e-12
"""Sums of the same weights in another order differ by less, relatively."""
_HALVINGS = 60
"""Bisections of [0, 1] until float64 cannot tell the ends apart."""


@dataclass(frozen=True, slots=True)
class PrecisionRecallSpace:
    """The precision-recall space of a target of some size in a universe (section 3 of the trade-off paper).

    Parameters
    ----------
    target_size, universe_size : float
        ``|T|`` and ``|D|``: the positives, and all rows (or weights).

    Examples
    --------
    >>> from compromis.tradeoffs import PrecisionRecallSpace
    >>> space = PrecisionRecallSpace(20, 100)
    >>> space.maximal_group, space.single_element
    ((0.2, 1.0), (1.0, 0.05))
    >>> round(float(space.lowest_precision(0.5)), 4)
    0.1111
    """

    target_size: float
    universe_size: float

    def __post_init__(self) -> None:
        sizes = self.target_size, self.universe_size
        if not (all(isinstance(size, Real) for size in sizes) and 0 < self.target_size <= self.universe_size):
            raise InputError(
                f"the target has more than 0 elements and at most those of the universe, "
                f"got {self.target_size!r:.60} of {self.universe_size!r:.60}"
            )

    @classmethod
    def of(cls, points: OperatingPoints) -> PrecisionRecallSpace:
        """Return the space in which these points lie."""
        return cls(points.positives, points.positives + points.negatives)

    @classmethod
    def shared_by(cls, models: Iterable[OperatingPoints]) -> PrecisionRecallSpace | None:
        """Return the space in which the points of all models lie, None if there is none."""
        spaces = [cls.of(points) for points in models]
        sizes = np.array([(space.target_size, space.universe_size) for space in spaces])
        return spaces[0] if np.allclose(sizes, sizes[0], rtol=ROUNDING, atol=0) else None

    @property
    def prevalence(self) -> float:
        """The share of positives, ``|T| / |D|``."""
        return self.target_size / self.universe_size

    @property
    def perfect_group(self) -> Rates:
        """Precision and recall of the target itself."""
        return 1.0, 1.0

    @property
    def null_group(self) -> Rates:
        """Precision and recall of a group that misses the target, such as one wrong element."""
        return 0.0, 0.0

    @property
    def maximal_group(self) -> Rates:
        """Precision and recall of the whole universe."""
        return self.prevalence, 1.0

    @property
    def single_element(self) -> Rates:
        """Precision and recall of one element of the target."""
        return 1.0, 1.0 / self.target_size

    def random_groups(self, size: ArrayLike) -> tuple[Floats, Floats]:
        """Return the expected precision and recall of random groups of the given sizes: a horizontal line."""
        sizes = np.asarray(size, dtype=np.float64)
        if ((sizes < 0) | (sizes > self.universe_size)).any():
            raise InputError(f"a group has between 0 and {self.universe_size:,} elements, got {sizes.max():g}")
        return np.full(sizes.shape, self.prevalence), sizes / self.universe_size

    def lowest_precision(self, recall: ArrayLike) -> Any:
        """Return the least precision that a group of this recall can have: all false alarms there are.

        Notes
        -----
        p >= q r / (q r + 1 - q); the paper's p >= q r holds too, but is not sharp. 0 at recall 0; 1 if q = 1.
        """
        part = self.prevalence * np.asarray(recall, dtype=np.float64)
        rest = 1 - self.prevalence
        return np.divide(part, part + rest, out=np.zeros_like(part), where=part + rest > 0)[()]

    def reachable(self, precision: ArrayLike, recall: ArrayLike) -> Any:
        """Return whether some group can have these rates: outside of the grey zone of the paper's figure 1."""
        return np.asarray(precision) >= self.lowest_precision(recall)

    def landmarks(self) -> dict[str, Rates]:
        """Return precision and recall of the groups that every problem has."""
        return {
            "perfect": self.perfect_group,
            "null": self.null_group,
            "maximal": self.maximal_group,
            "single element": self.single_element,
        }

    def curves(
        self, recall_weight: ArrayLike, metric: str | Metric = "f", *, random_size: float | None = None
    ) -> dict[str, Floats]:
        """Return the curves of the landmarks in trade-off space, and of a random group (by default of half size)."""
        weight, family = read_weight(recall_weight), get_metric(metric)
        random = self.random_groups(self.universe_size / 2 if random_size is None else random_size)
        groups: dict[str, tuple[Any, Any]] = {**self.landmarks(), "random": random}
        return {name: family.value(*rates, weight) for name, rates in groups.items()}


def isoline(
    value: float, recall_weight: float, metric: str | Metric = "f", *, size: int = 201
) -> tuple[Floats, Floats]:
    """Return (recall, precision) along the line on which a metric has one value.

    Parameters
    ----------
    value : float
        The value, in [0, 1].
    recall_weight : float
        l in [0, 1].
    metric : str or Metric
        Any metric that rises with precision and recall, one's own included.
    size : int
        How many rates to try along an axis; those that reach the value are returned.

    Notes
    -----
    Solved by bisection to rounding, for precision if l <= 1/2 and for recall above, so that the upright and the level
    line at l = 1 and l = 0 come out too.

    Examples
    --------
    >>> from compromis.tradeoffs import isoline
    >>> recall, precision = isoline(0.5, 0.5, metric="f", size=3)
    >>> recall.tolist(), precision.round(4).tolist()
    ([0.5, 1.0], [0.5, 0.3333])
    """
    weight, family = read_one_weight(recall_weight), get_metric(metric)
    if not (isinstance(value, Real) and 0 <= value <= 1):
        raise InputError(f"a metric has values between 0 and 1, got {value!r:.60}")
    given = np.linspace(0.0, 1.0, size)
    low, high = np.zeros(size), np.ones(size)

    def reached(solved: Floats) -> Floats:
        return family.value(solved, given, weight) if weight <= 0.5 else family.value(given, solved, weight)

    crossed = (reached(low) <= value) & (reached(high) >= value)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = reached(middle) >= value
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    solved = np.where(reached(low) >= value, low, high)
    return (given[crossed], solved[crossed]) if weight <= 0.5 else (solved[crossed], given[crossed])
