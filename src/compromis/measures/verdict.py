"""Is a result worth anything? It is judged beside the decisions that need no model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.evidence import Counts
from compromis.measures.baselines import Baseline, naive_baselines, shortfall
from compromis.measures.costs import average_cost
from compromis.measures.pragma import pragma, violations
from compromis.measures.rates import precision, recall
from compromis.metrics import KULCZYNSKI
from compromis.preferences import PreferenceArrays


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
