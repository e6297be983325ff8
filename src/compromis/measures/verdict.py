"""Is a result worth anything? It is judged beside the decisions that need no model."""

from __future__ import annotations

import math
from dataclasses import dataclass

from compromis.evidence import Counts
from compromis.indices import KULCZYNSKI
from compromis.measures.baselines import constant_decision, random_decision
from compromis.measures.pragma import pragma, violations
from compromis.measures.rates import precision, recall
from compromis.preferences import Label, Wish


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a decision without a model reaches."""

    name: str
    label: Label | None
    """The class always decided; None for random decisions."""
    loss: float
    shortfall: float
    """The sum of what its rates miss of their minima; 0 when all minima are met."""


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
    """

    informative: bool
    sentence: str
    loss: float
    baselines: tuple[Baseline, ...]
    shortfalls: tuple[Shortfall, ...]

    def __str__(self) -> str:
        return self.sentence


def judge(counts: Counts, wish: Wish) -> Verdict:
    """Compare a result with the constant decisions and with random ones; a met minimum comes before a lower loss."""
    loss, short = pragma(counts, wish).total, _shortfall(counts, wish)
    baselines = naive_baselines(counts, wish)
    missed = _missed(counts, wish)
    best = min(baselines, key=lambda baseline: (baseline.shortfall, baseline.loss))
    # equal up to rounding is as good
    informative = (short, loss) < (best.shortfall, best.loss) and not (
        short == best.shortfall and math.isclose(loss, best.loss, rel_tol=1e-12)
    )
    sentence = _praise(loss, best) if informative else _blame(loss, best, counts, wish)
    return Verdict(informative, "; but ".join([sentence, *(str(one) for one in missed)]), loss, baselines, missed)


def naive_baselines(counts: Counts, wish: Wish) -> tuple[Baseline, ...]:
    """Return what each constant decision and random decisions at the classes' shares reach on the same rows."""
    naive = [
        (f"always deciding {label!r}", label, constant_decision(counts, k)) for k, label in enumerate(counts.classes)
    ]
    return tuple(
        Baseline(name, label, pragma(result, wish).total, _shortfall(result, wish))
        for name, label, result in [*naive, ("random decisions at the classes' shares", None, random_decision(counts))]
    )


def _shortfall(counts: Counts, wish: Wish) -> float:
    return float(sum(part.sum() for part in violations(counts, wish)))


def _missed(counts: Counts, wish: Wish) -> tuple[Shortfall, ...]:
    rates = (("precision", precision(counts), wish.min_precision), ("recall", recall(counts), wish.min_recall))
    return tuple(
        Shortfall(label, name, 0.0 if math.isnan(rate[k]) else float(rate[k]), float(floor[k]))
        for (name, rate, floor), short in zip(rates, violations(counts, wish), strict=True)
        for k, label in enumerate(counts.classes)
        if short[k] > 0
    )


def _praise(loss: float, best: Baseline) -> str:
    gain = f" ({100 * (best.loss - loss) / best.loss:.0f} % lower)" if best.loss > loss else ""
    return (
        f"informative: loss {loss:.4f}{gain} against {best.loss:.4f} for {best.name}, the best decision without a model"
    )


def _blame(loss: float, best: Baseline, counts: Counts, wish: Wish) -> str:
    how = "better" if loss > best.loss and not math.isclose(loss, best.loss) else "as well"
    cause = f"uninformative: your wish is met {how} by {best.name} (loss {best.loss:.4f}, this result {loss:.4f})"
    if best.label is None:
        return f"{cause}; improve the model, or review the wish"
    share = counts.support[counts.classes.index(best.label)] / counts.total
    cure = f"set min_precision for {best.label!r} above {share:.3f}, its share of the rows"
    return (
        f"{cause}; {cure}, or use index f, which does not reward giving up"
        if wish.index is KULCZYNSKI
        else f"{cause}; {cure}"
    )
