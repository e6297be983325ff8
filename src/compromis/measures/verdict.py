"""What decisions without a model reach on the same rows: every result is shown beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.evidence import Counts
from compromis.measures.pragma import average_cost, pragma, violations
from compromis.measures.rates import negative_predictive_value, precision, recall
from compromis.metrics import KULCZYNSKI
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


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A rate below the minimum the preferences ask for."""

    label: Label
    rate: str
    value: float
    minimum: float

    def __str__(self) -> str:
        return f"the {self.rate} of {self.label!r} is {self.value:.3f}, below your minimum of {self.minimum:g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a result is worth anything, and why.

    Attributes
    ----------
    informative : bool
        False when a decision without a model is as good.
    sentence : str
        Cause and cure in words.
    loss : float
        The PRAGMA loss of the result.
    baselines : tuple of Baseline
        Each constant decision, and random decisions at the classes' shares.
    shortfalls : tuple of Shortfall
        The minima that are missed.

    Examples
    --------
    >>> import compromis as cp
    >>> arrays = cp.Preferences.prioritise(["sick"], metric="f")
    >>> verdict = cp.evaluate(["sick", "well", "well", "well"], ["well"] * 4, preferences=arrays).verdict
    >>> verdict.informative, len(verdict.baselines)
    (False, 3)
    """

    informative: bool
    sentence: str
    loss: float
    baselines: tuple[Baseline, ...]
    shortfalls: tuple[Shortfall, ...]

    def __str__(self) -> str:
        return self.sentence


def judge(counts: Counts, arrays: PreferenceArrays, cost: NDArray[np.float64] | None = None) -> Verdict:
    """Compare a result with the constant decisions and with random ones, by PRAGMA loss or by `cost`.

    A met minimum comes before a lower loss.
    """
    loss = pragma(counts, arrays).total if cost is None else average_cost(counts, cost)
    short = shortfall(counts, arrays)
    baselines = naive_baselines(counts, arrays, cost)
    missed = _missed(counts, arrays)
    best = min(baselines, key=lambda baseline: (baseline.shortfall, baseline.loss))
    if math.isnan(loss):
        return Verdict(
            False, "no class that matters occurs in these rows; there is nothing to judge", loss, baselines, missed
        )
    equal = short == best.shortfall and math.isclose(loss, best.loss, rel_tol=1e-12)  # up to rounding
    informative = (short, loss) < (best.shortfall, best.loss) and not equal
    what = "loss" if cost is None else "average cost"
    say = _praise if informative else _blame
    cure = "" if informative else f"; {_cure(best, counts, arrays, cost)}"
    but = "; but " + ", and ".join(map(str, missed)) if missed else ""
    return Verdict(informative, say(what, loss, short, best) + cure + but, loss, baselines, missed)


def _missed(counts: Counts, arrays: PreferenceArrays) -> tuple[Shortfall, ...]:
    rates = (("precision", precision(counts), arrays.min_precision), ("recall", recall(counts), arrays.min_recall))
    return tuple(
        Shortfall(label, name, 0.0 if math.isnan(rate[k]) else float(rate[k]), float(floor[k]))
        for (name, rate, floor), short in zip(rates, violations(counts, arrays), strict=True)
        for k, label in enumerate(counts.classes)
        if short[k] > 0
    )


def _praise(what: str, loss: float, short: float, best: Baseline) -> str:
    if short < best.shortfall:
        met = "it meets your minima, which no decision without a model does"
        how = met if short == 0 else "it misses your minima by less than any decision without a model"
        return f"informative: {how} ({what} {loss:.4f})"
    gain = f" ({100 * (best.loss - loss) / best.loss:.0f} % lower)" if best.loss > loss > 0 else ""
    flaw = ", which misses a minimum too" if best.shortfall > 0 else ""
    return f"informative: {what} {loss:.4f}{gain} against {best.loss:.4f} for {best.name}{flaw}, the best decision without a model"


def _blame(what: str, loss: float, short: float, best: Baseline) -> str:
    how = "better" if short > best.shortfall or not math.isclose(loss, best.loss) else "as well"
    return (
        f"uninformative: your preferences are met {how} by {best.name} ({what} {best.loss:.4f}, this result {loss:.4f})"
    )


def _cure(best: Baseline, counts: Counts, arrays: PreferenceArrays, cost: NDArray[np.float64] | None) -> str:
    if best.label is None or cost is not None:
        return "improve the model, or review the preferences"
    if (counts.support > 0).sum() == 1:
        return "there is only one class in these rows"
    place = counts.classes.index(best.label)
    share = max(counts.support[place] / counts.total, arrays.min_precision[place])
    cure = (
        f"improve the model, or set min_precision for {best.label!r} above {share:.3f}, what always deciding it reaches"
    )
    if arrays.metric is KULCZYNSKI:
        cure += ", or use metric f, which does not reward giving up"
    return cure


GOOD_NEGATIVE = 0.95
"""A negative decision that is right this often keeps the condition out."""
GOOD_POSITIVE = 0.90
"""A positive decision that is right this often establishes it."""


def positive_position(counts: Counts, arrays: PreferenceArrays | None) -> int:
    """Return which of two classes is the condition looked for: the more important one, else the rarer one."""
    if arrays is not None and arrays.importance[0] != arrays.importance[1]:
        return int(arrays.importance.argmax())
    return int(counts.support.argmin())


def screening_sentence(counts: Counts, arrays: PreferenceArrays | None, pos_label: Label | None = None) -> str:
    """Return the course's sentence on a test of two classes, from its negative and positive predictive values.

    Notes
    -----
    A negative decision must also halve the risk at least: where the condition is rare, 'no' is right nearly always,
    whoever says it.
    """
    k = positive_position(counts, arrays) if pos_label is None else counts.classes.index(pos_label)
    positive, negative = counts.classes[k], counts.classes[1 - k]
    npv, ppv = float(negative_predictive_value(counts)[k]), float(precision(counts)[k])
    share = float(counts.support[k]) / counts.total
    screens = npv >= GOOD_NEGATIVE and 1 - npv <= share / 2
    for_screening, for_diagnosis = ("good" if good else "poor" for good in (screens, ppv >= GOOD_POSITIVE))
    return (
        f"Taking {positive!r} as the condition looked for: "
        f"{_decision(negative, npv)}, so it is {for_screening} for screening; "
        f"{_decision(positive, ppv)}, so it is {for_diagnosis} for diagnosis."
    )


def _decision(label: Label, value: float) -> str:
    return (
        f"{label!r} is never predicted"
        if math.isnan(value)
        else f"a decision for {label!r} is right in {100 * value:.1f} %"
    )
