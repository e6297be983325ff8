"""Decisions without a model, for a result to stand beside: always one class, or at random at the classes' shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts
from compromis.measures.pragma import losses_at, pragma
from compromis.preferences import PreferenceArrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a decision without a model reaches."""

    name: str
    label: Label | None
    """The class always predicted; None where there is no such class."""
    loss: float
    """Its PRAGMA loss; its average cost where results are judged by cost."""


def naive_baselines(counts: Counts, arrays: PreferenceArrays) -> tuple[Baseline, ...]:
    """Return what predicting each class always reaches, and random predictions at the classes' shares (the course's baseline)."""
    shares = _class_shares(counts)
    losses = constant_losses(counts, arrays) if arrays.cost is None else shares @ arrays.cost
    constant = zip(counts.classes, losses.tolist(), strict=True)
    # expected counts: as for the trade-off paper's random group, the expected precision of a class is its share of the rows
    random = Counts(np.outer(counts.support, shares), counts.classes, counts.rows)
    loss = pragma(random, arrays).total
    return (
        *(Baseline(name=f"always predicting {label!r}", label=label, loss=loss) for label, loss in constant),
        Baseline(name="random predictions at the classes' shares", label=None, loss=loss),
    )


def constant_losses(counts: Counts, arrays: PreferenceArrays) -> Floats:
    """Return the PRAGMA loss of always predicting each class (the trade-off paper's maximal group).

    The class predicted has recall 1 and its share of the rows for precision; every other class that occurs counts 1.
    """
    occurs = counts.support > 0
    importance = np.where(occurs, arrays.importance, 0.0)
    gain = 1 - losses_at(_class_shares(counts), np.ones(len(occurs)), arrays)
    with np.errstate(invalid="ignore"):  # importances may all be 0 among the classes that occur
        losses: Floats = 1 - importance * np.where(occurs, gain, 0.0) / importance.sum()
    return losses


def _class_shares(counts: Counts) -> Floats:
    shares: Floats = counts.support / max(counts.total, np.finfo(float).tiny)
    return shares
