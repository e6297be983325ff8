"""Compare a result with decisions that need no model, and name the minima it misses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from compromis._typing import Floats, Label
from compromis.evidence.counts import Counts
from compromis.measures.pragma import average_cost, excess_at, losses_at, pragma, shortfall, shortfalls_at, violations
from compromis.measures.rates import negative_predictive_value, precision, recall
from compromis.metrics import KULCZYNSKI
from compromis.preferences import PreferenceArrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a decision without a model reaches."""

    name: str
    label: Label | None
    """The class always predicted; None for random decisions."""
    loss: float
    """Its PRAGMA loss; its average cost where results are judged by cost."""
    shortfall: float
    """The sum of what its rates miss of their minima; 0 when all minima are met."""


def naive_baselines(counts: Counts, arrays: PreferenceArrays, cost: Floats | None = None) -> tuple[Baseline, ...]:
    """Return what each constant decision reaches, and random decisions at the classes' shares (the course's baseline)."""
    shares = _class_shares(counts)
    losses = constant_losses(counts, arrays) if cost is None else shares @ cost
    constant = zip(counts.classes, losses.tolist(), _constant_shortfalls(counts, arrays).tolist(), strict=True)
    # expected counts: as for the trade-off paper's random group, the expected precision of a class is its share of the rows
    random = Counts(np.outer(counts.support, shares), counts.classes, counts.rows)
    return (
        *(
            Baseline(name=f"always deciding {label!r}", label=label, loss=loss, shortfall=short)
            for label, loss, short in constant
        ),
        Baseline(
            name="random decisions at the classes' shares",
            label=None,
            loss=_value(random, arrays, cost),
            shortfall=shortfall(random, arrays),
        ),
    )


def constant_losses(counts: Counts, arrays: PreferenceArrays) -> Floats:
    """Return the PRAGMA loss of always deciding each class (the trade-off paper's maximal group).

    The class predicted has recall 1 and its share of the rows for precision; every other class that occurs counts 1.
    """
    occurs = counts.support > 0
    importance = np.where(occurs, arrays.importance, 0.0)
    gain = 1 - losses_at(_class_shares(counts), np.ones(len(occurs)), arrays)
    with np.errstate(invalid="ignore"):  # importances may all be 0 among the classes that occur
        losses: Floats = 1 - importance * np.where(occurs, gain, 0.0) / importance.sum()
    return losses


def _constant_shortfalls(counts: Counts, arrays: PreferenceArrays) -> Floats:
    """The class predicted misses what its share lacks of min_precision and exceeds its capacity; the others miss their minima whole."""
    occurs = counts.support > 0
    whole = np.where(occurs, arrays.min_precision + arrays.min_recall, 0.0)
    others = np.array([np.delete(whole, k).sum() for k in range(len(whole))]) if whole.any() else np.zeros(len(whole))
    over = excess_at(np.ones(len(whole)), arrays.max_share)
    shortfalls: Floats = others + over + shortfalls_at(_class_shares(counts), arrays.min_precision, occurs)
    return shortfalls


def _class_shares(counts: Counts) -> Floats:
    shares: Floats = counts.support / max(counts.total, np.finfo(float).tiny)
    return shares


def _value(counts: Counts, arrays: PreferenceArrays, cost: Floats | None) -> float:
    return pragma(counts, arrays).total if cost is None else average_cost(counts, cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A rate below the minimum the preferences ask for."""

    label: Label
    rate: str
    value: float
    minimum: float

    @property
    def bound(self) -> str:
        """What kind of bound it is."""
        return "maximum" if self.rate == "share predicted" else "minimum"

    def __str__(self) -> str:
        side = "above" if self.bound == "maximum" else "below"
        return f"the {self.rate} of {self.label!r} is {self.value:.3f}, {side} your {self.bound} of {self.minimum:g}"


def missed_minima(counts: Counts, arrays: PreferenceArrays) -> tuple[Shortfall, ...]:
    """Return the minima that are missed, those of precision first; a rate that does not exist counts as 0."""
    rates = (
        ("precision", precision(counts), arrays.min_precision),
        ("recall", recall(counts), arrays.min_recall),
        ("share predicted", counts.predicted / max(counts.total, np.finfo(float).tiny), arrays.max_share),
    )
    return tuple(
        Shortfall(label=label, rate=name, value=float(np.nan_to_num(rate[k])), minimum=float(minimum[k]))
        for (name, rate, minimum), short in zip(rates, violations(counts, arrays), strict=True)
        for k, label in enumerate(counts.classes)
        if short[k] > 0
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cure:
    """What rules out the constant decision that is as good as a result."""

    single_class: bool
    """Whether the rows hold a single class, so that nothing rules it out."""
    min_precision: float
    """What always deciding the class reaches: a minimum above it is missed by the constant decision."""
    other_metric: bool
    """Whether another metric would not reward giving up the other classes."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a result is better than decisions without a model, and why; ``str()`` is the sentence.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences.prioritise(["sick"], metric="f")
    >>> verdict = cp.evaluate(["sick", "well", "well", "well"], ["well"] * 4, preferences=preferences).verdict
    >>> verdict.state, verdict.baseline.name, len(verdict.baselines)
    ('no better', "always deciding 'sick'", 3)
    """

    state: str
    """``"better"`` than the best baseline or ``"no better"``, also where no class that matters occurs."""
    loss: float
    """The PRAGMA loss of the result; its average cost where `measure` says so."""
    measure: str
    """What results are compared by: ``"loss"`` or ``"average cost"``."""
    shortfall: float
    """The sum of what its rates miss of their minima, which comes before the loss."""
    baseline: Baseline
    """The best decision without a model: the least shortfall, then the least loss."""
    baselines: tuple[Baseline, ...]
    """Each constant decision, and random decisions at the classes' shares."""
    shortfalls: tuple[Shortfall, ...]
    """The minima that are missed."""
    cure: Cure | None
    """What rules the best baseline out, where that is a constant decision and as good as the result."""

    @property
    def informative(self) -> bool:
        """Whether the result is better than every baseline."""
        return self.state == "better"

    @cached_property
    def sentence(self) -> str:
        """Cause and cure in words."""
        return _sentence(self)

    def __str__(self) -> str:
        return self.sentence


def judge(counts: Counts, arrays: PreferenceArrays, cost: Floats | None = None) -> Verdict:
    """Compare a result with the constant decisions and with random ones, by PRAGMA loss or by `cost`.

    A met minimum comes before a lower loss.
    """
    loss, short = _value(counts, arrays, cost), shortfall(counts, arrays)
    baselines = naive_baselines(counts, arrays, cost)
    best = min(baselines, key=lambda baseline: (baseline.shortfall, baseline.loss))
    equal = short == best.shortfall and math.isclose(loss, best.loss, rel_tol=1e-12)  # up to rounding
    better = (short, loss) < (best.shortfall, best.loss) and not equal and not math.isnan(loss)
    return Verdict(
        state="better" if better else "no better",
        loss=loss,
        measure="loss" if cost is None else "average cost",
        shortfall=short,
        baseline=best,
        baselines=baselines,
        shortfalls=missed_minima(counts, arrays),
        cure=None if better or cost is not None else _cure(best, counts, arrays),
    )


def _cure(best: Baseline, counts: Counts, arrays: PreferenceArrays) -> Cure | None:
    if best.label is None:
        return None
    k = counts.classes.index(best.label)
    return Cure(
        single_class=int((counts.support > 0).sum()) == 1,
        min_precision=float(max(_class_shares(counts)[k], arrays.min_precision[k])),
        other_metric=arrays.metric is KULCZYNSKI,
    )


def _sentence(verdict: Verdict) -> str:
    if math.isnan(verdict.loss):
        return "no class that matters occurs in these rows; there is nothing to judge"
    text = _praise(verdict) if verdict.informative else _blame(verdict)
    return text + ("; but " + ", and ".join(map(str, verdict.shortfalls)) if verdict.shortfalls else "")


def _praise(verdict: Verdict) -> str:
    loss, best = verdict.loss, verdict.baseline
    if verdict.shortfall < best.shortfall:
        met = "it meets your minima, which no decision without a model does"
        how = met if verdict.shortfall == 0 else "it misses your minima by less than any decision without a model"
        return f"informative: {how} ({verdict.measure} {loss:.4f})"
    gain = f" ({100 * (best.loss - loss) / best.loss:.0f} % lower)" if best.loss > loss > 0 else ""
    flaw = ", which misses a minimum too" if best.shortfall > 0 else ""
    against = f"{best.loss:.4f} for {best.name}{flaw}, the best decision without a model"
    return f"informative: {verdict.measure} {loss:.4f}{gain} against {against}"


def _blame(verdict: Verdict) -> str:
    best, cure = verdict.baseline, verdict.cure
    better = verdict.shortfall > best.shortfall or not math.isclose(verdict.loss, best.loss)
    values = f"({verdict.measure} {best.loss:.4f}, this result {verdict.loss:.4f})"
    cause = f"uninformative: your preferences are met {'better' if better else 'as well'} by {best.name} {values}"
    if cure is None:
        return f"{cause}; improve the model, or review the preferences"
    if cure.single_class:
        return f"{cause}; there is only one class in these rows"
    above = f"set min_precision for {best.label!r} above {cure.min_precision:.3f}, what always deciding it reaches"
    other = ", or use metric f, which does not reward giving up" if cure.other_metric else ""
    return f"{cause}; improve the model, or {above}{other}"


GOOD_NEGATIVE = 0.95
"""A negative prediction that is right this often excludes the condition."""
GOOD_POSITIVE = 0.90
"""A positive prediction that is right this often establishes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What a test of two classes is good for, by the course; ``str()`` is its sentence."""

    positive: Label
    """The condition looked for."""
    negative: Label
    positive_value: float
    """The share of positive decisions that are right; NaN where there is none."""
    negative_value: float
    screens: bool
    """Whether a negative prediction excludes the condition."""
    diagnoses: bool
    """Whether a positive prediction establishes it."""

    def __str__(self) -> str:
        return (
            f"Taking {self.positive!r} as the condition looked for: "
            f"{_decision(self.negative, self.negative_value)}, so it is {'good' if self.screens else 'poor'} for screening; "
            f"{_decision(self.positive, self.positive_value)}, so it is {'good' if self.diagnoses else 'poor'} for diagnosis."
        )


def screening(counts: Counts, arrays: PreferenceArrays | None, pos_label: Label | None = None) -> Screening:
    """Return what the decisions of two classes are good for.

    The condition looked for is `pos_label`, else the more important class, else the rarer one. A negative decision must also
    halve the risk at least: where the condition is rare, 'no' is nearly always right, even at random.
    """
    told = arrays is not None and arrays.importance[0] != arrays.importance[1]
    k = int(arrays.importance.argmax() if arrays is not None and told else counts.support.argmin())
    k = k if pos_label is None else counts.classes.index(pos_label)
    npv, ppv = float(negative_predictive_value(counts)[k]), float(precision(counts)[k])
    share = float(counts.support[k]) / counts.total
    return Screening(
        positive=counts.classes[k],
        negative=counts.classes[1 - k],
        positive_value=ppv,
        negative_value=npv,
        screens=npv >= GOOD_NEGATIVE and 1 - npv <= share / 2,
        diagnoses=ppv >= GOOD_POSITIVE,
    )


def _decision(label: Label, value: float) -> str:
    if math.isnan(value):
        return f"{label!r} is never predicted"
    return f"a decision for {label!r} is right in {100 * value:.1f} %"
