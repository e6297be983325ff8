"""Algorithms compared over all recall weights: who is best where, by how much, and over all of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import Result
from compromis._text import WIDTH, Table, paragraph, shown, shown_label, text_table
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.tradeoffs._tables import span
from compromis.tradeoffs.areas import Density
from compromis.tradeoffs.curve import TradeoffCurve
from compromis.tradeoffs.envelope import Candidates, Pair, upper_envelope
from compromis.tradeoffs.space import ROUNDING


@dataclass(frozen=True, slots=True)
class Winner:
    """The recall weights for which the same algorithms are best."""

    low: float
    high: float
    """The range of recall weights; neighbours share their ends."""
    best: tuple[str, ...]
    """The algorithms whose curves are highest there; several if they coincide."""

    @property
    def name(self) -> str:
        """The best algorithm, or all that are equal."""
        return " = ".join(self.best)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonVerdict:
    """Who is best where, and who has the largest area; ``str()`` is the text."""

    metric: str
    """By which metric."""
    winners: tuple[Winner, ...]
    """Who is best where; empty if no curve is defined."""
    areas: dict[str, float]
    """The area under each curve, the largest first and the undefined last."""
    undefined: dict[str, str]
    """The algorithms without a curve, and why."""
    same_prevalence: bool
    """Whether all were tested at one share of positives. Precision depends on it: else compare on the same rows."""

    @property
    def exchanges(self) -> tuple[float, ...]:
        """The recall weights where the best algorithm changes."""
        return tuple(part.high for part in self.winners[:-1])

    @property
    def largest(self) -> tuple[str, ...]:
        """The algorithm with the largest area; several if they are level."""
        first = next(iter(self.areas.values()))
        return tuple(name for name, area in self.areas.items() if area == first)

    @property
    def sentences(self) -> list[str]:
        """The verdict, a sentence each, without full stops."""
        if not self.winners:
            return [f"Nothing can be compared ({named_reasons(self.undefined)})"]
        wide = [part for part in self.winners if part.high > part.low] or self.winners
        sentences = [f"By {self.metric}, {'; '.join(map(self._clause, wide))}"]
        if len(self.areas) > 1:
            sentences.append(f"Over all recall weights {self._area_clause()}")
        if not self.same_prevalence:
            sentences.append(
                "The positives' share differs between them, and precision depends on it: compare on the same rows"
            )
        return sentences

    def __str__(self) -> str:
        return " ".join(f"{sentence}." for sentence in self.sentences)

    def _clause(self, part: Winner) -> str:
        everywhere = part.low == 0 and part.high == 1
        span = "at every recall weight" if everywhere else f"for recall weights from {part.low:.3g} to {part.high:.3g}"
        best = [shown_label(name) for name in part.best]
        if len(best) > 1:
            return f"{' and '.join(best)} are equal {span}"
        return f"{best[0]} is best {span}" if len(self.areas) > 1 else f"{best[0]} is alone"

    def _area_clause(self) -> str:
        (first, largest), (second, runner_up) = [(shown_label(name), area) for name, area in self.areas.items()][:2]
        if largest == runner_up:
            return f"{first} and {second} are level (area {largest:.4g})"
        return f"{first} has the largest area ({largest:.4g}; {second} {runner_up:.4g})"


def shared_prevalence(models: Iterable[OperatingPoints]) -> float | None:
    """Return the share of positives at which the models were tested, None if they differ by more than sums of weights round."""
    first, *others = (points.prevalence for points in models)
    return first if np.allclose(others, first, rtol=ROUNDING, atol=0, equal_nan=True) else None


def named_reasons(reasons: Mapping[str, str]) -> str:
    """Return reasons by name as one line."""
    return "; ".join(f"{shown_label(name)}: {reason}" for name, reason in reasons.items())


class Comparison(Result):
    """Algorithms compared by their optimal trade-off curves (section 5.2 of the trade-off paper).

    Attributes
    ----------
    curves : dict
        The optimal trade-off curve of each algorithm; of the points that meet the constraints, where there are any.
    min_precision, min_recall : float or None
        The constraints.
    left_out : dict
        The algorithms without a point that meets the constraints, and why.
    """

    schema = "compromis/tradeoff"

    def __init__(
        self,
        curves: Mapping[str, TradeoffCurve],
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        left_out: Mapping[str, str] | None = None,
    ) -> None:
        _check_curves(curves)
        self.curves = dict(curves)
        first = next(iter(self.curves.values()))
        self.metric, self.pair = first.metric, first.pair
        self.min_precision, self.min_recall = min_precision, min_recall
        self.left_out = dict(left_out or {})

    @cached_property
    def intervals(self) -> tuple[Winner, ...]:
        """Who is best where; they cover [0, 1] without gaps or overlaps, and their ends are the exact crossings."""
        numeric = self.metric.transform is None
        parts = [curve.candidates if numeric else curve.chosen for curve in self.curves.values()]
        joined = Candidates.join(parts)
        envelope = upper_envelope(joined, self.metric)
        names = np.array(list(self.curves), dtype=object)
        # curves coincide just where their results do
        owners = (names[joined.owner[joined.twins(corner)]] for corner in envelope.chosen.tolist())
        runs = envelope.runs(tuple(dict.fromkeys(best)) for best in owners)
        return tuple(Winner(low, high, best) for best, low, high in runs)

    @property
    def summary(self) -> dict[str, float]:
        """The `areas`."""
        return self.areas

    @cached_property
    def areas(self) -> dict[str, float]:
        """The area under each curve over all recall weights."""
        return self.area()

    def area(self, low: float = 0.0, high: float = 1.0, density: Density | None = None) -> dict[str, float]:
        """Return the area under each curve; see `TradeoffCurve.area`."""
        return {name: curve.area(low, high, density) for name, curve in self.curves.items()}

    def mean(self, low: float = 0.0, high: float = 1.0, density: Density | None = None) -> dict[str, float]:
        """Return the mean value of each curve; see `TradeoffCurve.mean`."""
        return {name: curve.mean(low, high, density) for name, curve in self.curves.items()}

    def distance(self, recall_weight: ArrayLike, first: str | None = None, second: str | None = None) -> Any:
        """Return how far apart the curves are at each recall weight l in [0, 1].

        Parameters
        ----------
        recall_weight : float or array-like
            Where.
        first, second : str, optional
            Two algorithms: the value of the first less that of the second. Without them, the best less the runner-up.
        """
        if first is not None or second is not None:
            return self._curve(first).value(recall_weight) - self._curve(second).value(recall_weight)
        if len(self.curves) < 2:
            raise InputError("there is one algorithm only; a distance needs two")
        values = np.sort(np.stack([curve.value(recall_weight) for curve in self.curves.values()]), axis=0)
        return (values[-1] - values[-2])[()]

    def _curve(self, name: str | None) -> TradeoffCurve:
        if not isinstance(name, Hashable) or name not in self.curves:
            raise InputError(f"there is no algorithm {name!r:.60}; choose two of {shown(self.curves)}")
        return self.curves[name]

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share of recall weights for which each algorithm is best, alone or with others."""
        return {name: sum(part.high - part.low for part in self.intervals if name in part.best) for name in self.curves}

    @cached_property
    def verdict(self) -> ComparisonVerdict:
        """Who is best, where and by how much."""
        ranked = sorted(self.areas.items(), key=lambda item: 1.0 if math.isnan(item[1]) else -item[1])
        return ComparisonVerdict(
            metric=self.metric.name,
            winners=self.intervals,
            areas=dict(ranked),
            undefined={name: curve.reason for name, curve in self.curves.items() if curve.reason},
            same_prevalence=shared_prevalence(curve.points for curve in self.curves.values()) is not None,
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the intervals as lists by column name."""
        parts = self.intervals
        return {"low": [p.low for p in parts], "high": [p.high for p in parts], "best": [p.name for p in parts]}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        models = [{"name": name, **curve.numbers()} for name, curve in self.curves.items()]
        return {
            **self.heading(),
            **{name: models[0][name] for name in ("metric", "pos_label", "positives", "negatives")},
            "min_precision": self.min_precision,
            "min_recall": self.min_recall,
            "models": models,
            "left_out": self.left_out,
            "best": self.intervals,
            "verdict": str(self.verdict),
        }

    def sentences(self) -> list[str]:
        """Return the verdict."""
        return self.verdict.sentences

    def tables(self) -> list[Table]:
        """Return who is best where, and the area of each algorithm."""
        best = [[part.name, span(part.low, part.high)] for part in self.intervals]
        areas = [[name, f"{area:.4f}", f"{100 * self.shares[name]:.1f} %"] for name, area in self.areas.items()]
        return [
            Table("Best by recall weight", ("Best", "Recall weight"), best),
            Table("Areas", ("Model", "Area", "Best on"), areas),
        ]

    def report(self, *, width: int = WIDTH) -> str:
        """Return the whole as text, in lines of `width`: the problem, the comparison, and each model's thresholds.

        Examples
        --------
        >>> import compromis as cp
        >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
        >>> print(cp.compare_curves({"a": points}, "f").report())
        Metric f for 1: 3 of 6 rows are positive (50.0 %).
        <BLANKLINE>
        'a': area 0.8796, better than predicting all as positive for recall weights from 0
          to 1.
                                                                False
        Best             Recall weight  Precision  Recall  Missed  alarms  Specificity
        score >= 0.9  0.0000 to 0.1429     1.0000  0.3333       2       0       1.0000
        score >= 0.4  0.1429 to 1.0000     0.7500  1.0000       0       1       0.6667
        """
        points = next(iter(self.curves.values())).points
        total = points.positives + points.negatives
        share = f"{points.positives:,} of {total:,} rows are positive ({100 * points.prevalence:.1f} %)"
        lines = [f"metric {self.metric.name} for {shown_label(points.pos_label)}: {share}"]
        least = {"precision": self.min_precision, "recall": self.min_recall}
        if any(least.values()):
            given = [f"{name} at least {minimum:g}" for name, minimum in least.items() if minimum]
            lines.append(f"only thresholds with {' and '.join(given)}")
        lines = [paragraph(line, width) for line in lines]
        if len(self.curves) > 1:
            lines += ["", self.to_text(width=width).rstrip("\n")]
        for name, curve in self.curves.items():
            lines += ["", paragraph(f"'{name}': area {self.areas[name]:.4f}, {curve.domain_text()}", width)]
            lines += [text_table(table, width) for table in curve.tables()]
        lines += [paragraph(f"'{name}' is left out: {reason}", width) for name, reason in self.left_out.items()]
        return "\n".join(lines)


def _check_curves(curves: Any) -> None:
    """Raise unless `curves` maps names to trade-off curves by one metric, over one pair of rates and for one class."""
    if not isinstance(curves, Mapping) or not curves:
        raise InputError(
            f"a comparison takes a mapping from names to trade-off curves with at least one entry, got {curves!r:.60}"
        )
    for name, curve in curves.items():
        if not isinstance(curve, TradeoffCurve):
            raise InputError(f"a comparison takes trade-off curves, got {type(curve).__name__} for {name!r}")
    first = next(iter(curves.values()))
    if any(curve.metric != first.metric for curve in curves.values()):
        named = {name: curve.metric.name for name, curve in curves.items()}
        raise InputError(f"curves are compared by one metric, got {named_reasons(named)}; use with_metric")
    if any(curve.pair != first.pair for curve in curves.values()):
        named = {name: curve.pair.name for name, curve in curves.items()}
        raise InputError(f"curves are compared over one pair of rates, got {named_reasons(named)}")
    check_named_points({name: curve.points for name, curve in curves.items()}, "a comparison")


def compare_curves(
    algorithms: Mapping[str, OperatingPoints],
    metric: str | Metric = "f",
    *,
    pair: str | Pair = "precision-recall",
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> Comparison:
    """Compare algorithms over all recall weights.

    Parameters
    ----------
    algorithms : mapping
        The operating points of each algorithm by name, for one positive class.
    metric : str or Metric
        ``"kulczynski"``, ``"f"``, ``"fowlkes_mallows"``, ``"jaccard"`` or one's own.
    pair : str
        ``"precision-recall"`` or ``"specificity-sensitivity"``.
    min_precision, min_recall : float, optional
        The least precision and recall to accept; algorithms that have no such point are left out, with the reason.

    Examples
    --------
    >>> import compromis as cp
    >>> careful = cp.OperatingPoints.from_groups(range(10), {"a": range(4)}, 50)
    >>> eager = cp.OperatingPoints.from_groups(range(10), {"b": range(15)}, 50)
    >>> result = cp.compare_curves({"careful": careful, "eager": eager}, metric="kulczynski")
    >>> [(round(part.low, 3), round(part.high, 3), part.name) for part in result.intervals]
    [(0.0, 0.357, 'careful'), (0.357, 1.0, 'eager')]
    >>> cp.compare_curves({"careful": careful, "eager": eager}, min_recall=0.9, metric="kulczynski").left_out
    {'careful': 'no group has recall >= 0.9; recall never exceeds 0.4'}
    """
    check_named_points(algorithms, "compare_curves")
    family = get_metric(metric)
    curves = {name: TradeoffCurve(points, family, pair=pair) for name, points in algorithms.items()}
    constraints: dict[str, Any] = {"min_precision": min_precision, "min_recall": min_recall}
    if not any(constraints.values()):
        return Comparison(curves, **constraints)
    choices = {name: curve.best(0.5, **constraints) for name, curve in curves.items()}
    left_out = {name: choice.reason for name, choice in choices.items() if not choice.feasible}
    if len(left_out) == len(curves):
        raise InputError(named_reasons(left_out))
    kept = {name: curve.with_constraints(**constraints) for name, curve in curves.items() if name not in left_out}
    return Comparison(kept, **constraints, left_out=left_out)


def check_named_points(points: Any, what: str) -> None:
    """Raise unless `points` maps names to operating points for one positive class."""
    if not isinstance(points, Mapping) or not points:
        raise InputError(
            f"{what} takes a mapping from names to OperatingPoints with at least one entry, got {points!r:.60}"
        )
    for name, value in points.items():
        if not isinstance(value, OperatingPoints):
            raise InputError(f"{what} takes OperatingPoints, got {type(value).__name__} for {name!r}")
    positives = {value.pos_label for value in points.values()}
    if len(positives) > 1:
        raise InputError(
            f"{what} needs points for one positive class, got points for {shown(sorted(positives, key=str))}"
        )
