"""What decisions without a model reach on the same rows: every result is shown beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.evidence import Counts
from compromis.measures.costs import average_cost
from compromis.measures.pragma import pragma, violations
from compromis.preferences import PreferenceArrays


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a decision without a model reaches."""

    name: str
    label: Label | None
    """The class always predicted; None for random decisions."""
    loss: float
    """Its PRAGMA loss; its average cost where results are judged by cost."""
    shortfall: float
    """The sum of what its rates miss of their minima; 0 when all minima are met."""


def naive_baselines(
    counts: Counts, arrays: PreferenceArrays, cost: NDArray[np.float64] | None = None
) -> tuple[Baseline, ...]:
    """Return what each constant decision reaches, and random decisions at the classes' shares."""
    losses = constant_losses(counts, arrays) if cost is None else constant_costs(counts, cost)
    constant = zip(counts.classes, losses.tolist(), _constant_shortfalls(counts, arrays).tolist(), strict=True)
    random = random_decision(counts)
    loss = pragma(random, arrays).total if cost is None else average_cost(random, cost)
    return (
        *(Baseline(f"always deciding {label!r}", label, value, short) for label, value, short in constant),
        Baseline("random decisions at the classes' shares", None, loss, shortfall(random, arrays)),
    )


def constant_losses(counts: Counts, arrays: PreferenceArrays) -> NDArray[np.float64]:
    """Return the PRAGMA loss of always deciding each class (the trade-off paper's maximal group).

    The class predicted has recall 1 and its share of the rows for precision; every other class that occurs counts 1.
    """
    present = counts.support > 0
    importance = np.where(present, arrays.importance, 0.0)
    worth = arrays.metric.value(_shares(counts), np.ones(len(present)), arrays.recall_weight)
    with np.errstate(invalid="ignore"):  # importances may all be 0 among the classes that occur
        losses: NDArray[np.float64] = 1 - importance * np.where(present, worth, 0.0) / importance.sum()
    return losses


def constant_costs(counts: Counts, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the average cost of always deciding each class."""
    costs: NDArray[np.float64] = _shares(counts) @ cost
    return costs


def random_decision(counts: Counts) -> Counts:
    """Return the expected counts of deciding at random with the classes' shares (the naive baseline of 004).

    As for the trade-off paper's random group, the expected precision of class k is its share of the rows.
    """
    return Counts(np.outer(counts.support, _shares(counts)), counts.classes, counts.rows)


def shortfall(counts: Counts, arrays: PreferenceArrays) -> float:
    """Return the sum of what precisions and recalls miss of their minima."""
    return float(sum(part.sum() for part in violations(counts, arrays)))


def _constant_shortfalls(counts: Counts, arrays: PreferenceArrays) -> NDArray[np.float64]:
    """The class predicted misses what its share lacks of min_precision; the others that occur miss their minima whole."""
    whole = np.where(counts.support > 0, arrays.min_precision + arrays.min_recall, 0.0)
    missing = arrays.min_precision - _shares(counts)
    own = np.where((counts.support > 0) & (missing > 1e-12 * arrays.min_precision), missing, 0.0)
    others = np.array([np.delete(whole, k).sum() for k in range(len(whole))]) if whole.any() else np.zeros(len(whole))
    shortfalls: NDArray[np.float64] = others + own
    return shortfalls


def _shares(counts: Counts) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = counts.support / max(counts.total, np.finfo(float).tiny)
    return shares
