"""Operating points under minima: only those with enough precision and recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._text import shown, shown_label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.tradeoffs.areas import Density
from compromis.tradeoffs.curve import TradeoffCurve
from compromis.tradeoffs.envelope import Candidates, Pair, join, upper_envelope


def meeting(
    points: OperatingPoints, *, min_precision: float | None = None, min_recall: float | None = None
) -> OperatingPoints:
    """Return the points that meet the minima; everything else about the problem stays.

    Parameters
    ----------
    points : OperatingPoints
        Cuts of a score, or found groups.
    min_precision, min_recall : float, optional
        The least precision and recall to accept.

    Notes
    -----
    Section 5.1 of the trade-off paper: curves that start below the least precision, or end below the least recall, are
    taken away; the envelope of the others is the optimal trade-off curve under these constraints.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.tradeoffs.comparison import meeting
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> meeting(points, min_precision=0.6, min_recall=0.5).threshold.tolist()
    [0.6, 0.4, 0.3]
    """
    choice = TradeoffCurve(points).best(0.5, min_precision=min_precision, min_recall=min_recall)
    if not choice.feasible:
        raise InputError(choice.reason)
    if not (min_precision or min_recall):
        return points
    kept = (points.precision >= (min_precision or 0.0)) & (points.recall >= (min_recall or 0.0))
    return replace(
        points,
        threshold=points.threshold[kept],
        true_positives=points.true_positives[kept],
        false_positives=points.false_positives[kept],
        names=None if points.names is None else tuple(n for n, keep in zip(points.names, kept, strict=True) if keep),
    )


def verdict(comparison: Comparison) -> str:
    """Return who is best where, and who has the largest area."""
    if not comparison.intervals:
        reasons = "; ".join(f"{shown_label(name)}: {curve.reason}" for name, curve in comparison.curves.items())
        return f"Nothing can be compared ({reasons})."
    where = "; ".join(_clause(part, comparison) for part in comparison.intervals)
    sentence = f"By {comparison.metric.name}, {where}."
    return " ".join(part for part in (sentence, _area_sentence(comparison), _prevalence_sentence(comparison)) if part)


def _clause(part: Winner, comparison: Comparison) -> str:
    everywhere = part.low == 0 and part.high == 1
    span = "at every recall weight" if everywhere else f"for recall weights from {part.low:.3g} to {part.high:.3g}"
    best = [shown_label(name) for name in part.best]
    if len(best) == 1:
        return f"{best[0]} is best {span}" if len(comparison.curves) > 1 else f"{best[0]} is alone"
    return f"{' and '.join(best)} are equal {span}"


def _area_sentence(comparison: Comparison) -> str:
    areas = {shown_label(name): area for name, area in comparison.areas.items()}
    if len(areas) < 2:
        return ""
    ranked = sorted(areas, key=lambda name: -areas[name] if areas[name] == areas[name] else 1.0)
    if areas[ranked[0]] == areas[ranked[1]]:
        return f"Over all recall weights {ranked[0]} and {ranked[1]} are level (area {areas[ranked[0]]:.4g})."
    first, second = ranked[:2]
    return f"Over all recall weights {first} has the largest area ({areas[first]:.4g}; {second} {areas[second]:.4g})."


def _prevalence_sentence(comparison: Comparison) -> str:
    prevalences = {curve.points.prevalence for curve in comparison.curves.values()}
    if len(prevalences) == 1:
        return ""
    return "The positives' share differs between them, and precision depends on it: compare on the same rows."


def table(comparison: Comparison) -> str:
    """Return the intervals, the areas and the verdict as text."""
    winners = [(part, shown_label(part.name)) for part in comparison.intervals]
    names = {name: shown_label(name) for name in comparison.curves}
    wide = max(map(len, [*(name for _, name in winners), *names.values(), "algorithm"]))
    lines = [f"recall weight      {'best':<{wide}}"]
    lines += [f"{part.low:.4f} to {part.high:.4f}   {name:<{wide}}".rstrip() for part, name in winners]
    lines += ["", f"{'algorithm':<{wide}}   area    best on"]
    shares = comparison.shares
    lines += [f"{names[name]:<{wide}}   {area:.4f}  {shares[name]:7.1%}" for name, area in comparison.areas.items()]
    return "\n".join([*lines, "", comparison.verdict])


@dataclass(frozen=True, slots=True)
class Winner:
    """The recall weights for which the same algorithms are best.

    Attributes
    ----------
    low, high : float
        The range of recall weights; neighbours share their ends.
    best : tuple of str
        The algorithms whose curves are highest there; several if they coincide.

    Examples
    --------
    >>> import compromis as cp
    >>> few = cp.OperatingPoints.from_groups(range(40), {"small": range(10)}, 200)
    >>> many = cp.OperatingPoints.from_groups(range(40), {"large": range(80)}, 200)
    >>> winner = cp.compare_curves({"few": few, "many": many}).intervals[0]
    >>> winner.best, winner.low, round(winner.high, 3)
    (('few',), 0.0, 0.4)
    """

    low: float
    high: float
    best: tuple[str, ...]

    @property
    def name(self) -> str:
        """The best algorithm, or all that are equal."""
        return " = ".join(self.best)


class Comparison:
    """Algorithms compared by their optimal trade-off curves (section 5.2 of the trade-off paper).

    Attributes
    ----------
    curves : dict
        The optimal trade-off curve of each algorithm.
    intervals : tuple of Winner
        Who is best where; they cover [0, 1] without gaps or overlaps, and their ends are the exact crossings.

    Examples
    --------
    >>> import compromis as cp
    >>> few = cp.OperatingPoints.from_groups(range(40), {"small": range(10)}, 200)
    >>> many = cp.OperatingPoints.from_groups(range(40), {"large": range(80)}, 200)
    >>> comparison = cp.compare_curves({"few": few, "many": many})
    >>> [(part.name, round(part.high, 3)) for part in comparison.intervals]  # precision 1, recall 1/4; precision 1/2, recall 1
    [('few', 0.4), ('many', 1.0)]
    """

    __slots__ = ("curves", "intervals", "metric")

    def __init__(self, curves: dict[str, TradeoffCurve]) -> None:
        self.curves = curves
        self.metric = next(iter(curves.values())).metric
        self.intervals = _winners(curves, self.metric)

    @property
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
        """Return how far apart the curves are at each recall weight.

        Parameters
        ----------
        recall_weight : float or array-like
            l in [0, 1].
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
        if name not in self.curves:
            raise InputError(f"there is no algorithm {name!r}; choose two of {shown(self.curves)}")
        return self.curves[name]

    @property
    def shares(self) -> dict[str, float]:
        """The share of recall weights for which each algorithm is best, alone or with others."""
        return {name: sum(part.high - part.low for part in self.intervals if name in part.best) for name in self.curves}

    def frame(self) -> dict[str, list[Any]]:
        """Return the intervals as columns."""
        parts = self.intervals
        return {"low": [p.low for p in parts], "high": [p.high for p in parts], "best": [p.name for p in parts]}

    @property
    def verdict(self) -> str:
        """Who is best, where and by how much, in a sentence or two."""
        return verdict(self)

    def __str__(self) -> str:
        return table(self)


def compare_curves(
    algorithms: Mapping[str, OperatingPoints],
    metric: str | Metric = "kulczynski",
    *,
    pair: str | Pair = "precision-recall",
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

    Examples
    --------
    >>> import compromis as cp
    >>> careful = cp.OperatingPoints.from_groups(range(10), {"a": range(4)}, 50)
    >>> eager = cp.OperatingPoints.from_groups(range(10), {"b": range(15)}, 50)
    >>> result = cp.compare_curves({"careful": careful, "eager": eager})
    >>> [(round(part.low, 3), round(part.high, 3), part.name) for part in result.intervals]
    [(0.0, 0.357, 'careful'), (0.357, 1.0, 'eager')]
    """
    check_algorithms(algorithms, "compare_curves")
    family = get_metric(metric)
    return Comparison({name: TradeoffCurve(points, family, pair=pair) for name, points in algorithms.items()})


def check_algorithms(algorithms: Any, what: str) -> None:
    """Refuse anything but named operating points for one positive class."""
    if not isinstance(algorithms, Mapping) or not algorithms:
        raise InputError(
            f"{what} takes a mapping from names to OperatingPoints with at least one entry, got {algorithms!r:.60}"
        )
    for name, points in algorithms.items():
        if not isinstance(points, OperatingPoints):
            raise InputError(f"{what} takes OperatingPoints, got {type(points).__name__} for {name!r}")
    positives = {points.pos_label for points in algorithms.values()}
    if len(positives) > 1:
        raise InputError(
            f"{what} needs points for one positive class, got points for {shown(sorted(positives, key=str))}"
        )


def _winners(curves: dict[str, TradeoffCurve], metric: Metric) -> tuple[Winner, ...]:
    """The envelope of all envelopes: where its owner changes, two curves cross."""
    numeric = metric.transform is None
    parts = [curve.candidates if numeric else curve.candidates.take(curve.envelope.chosen) for curve in curves.values()]
    both = join(parts)
    envelope = upper_envelope(both, metric)
    owners = _owners(both, list(curves))
    winners: list[Winner] = []
    for place, low, high in zip(
        envelope.chosen.tolist(), envelope.breaks[:-1].tolist(), envelope.breaks[1:].tolist(), strict=True
    ):
        best = owners[both.first_rate[place], both.second_rate[place]]
        if winners and winners[-1].best == best:
            low = winners.pop().low
        winners.append(Winner(low, high, best))
    return tuple(winners)


def _owners(candidates: Candidates, names: list[str]) -> dict[tuple[float, float], tuple[str, ...]]:
    """Whose results have which rates: curves coincide just where their results do."""
    owners: dict[tuple[float, float], tuple[str, ...]] = {}
    results = zip(
        candidates.first_rate.tolist(), candidates.second_rate.tolist(), candidates.owner.tolist(), strict=True
    )
    for first, second, owner in sorted(results, key=lambda result: result[2]):
        known = owners.get((first, second), ())
        owners[first, second] = known if names[owner] in known else (*known, names[owner])
    return owners
