"""ROC and precision-recall curves of one score, and dominance between models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from compromis._results import Result, columns_of
from compromis._text import Table
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.measures.ranking import area_in_words, average_precision, pr_area, roc_area
from compromis.metrics import KULCZYNSKI
from compromis.tradeoffs._tables import Tabular
from compromis.tradeoffs.comparison import check_named_points, shared_prevalence
from compromis.tradeoffs.envelope import (
    ALWAYS_POSITIVE,
    NEVER_POSITIVE,
    SPECIFICITY_SENSITIVITY,
    Candidates,
    upper_envelope,
)

_ROUNDING = 1e-12
"""Interpolated curves may differ by rounding where they coincide."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RocCurve(Tabular):
    """A ROC curve: from (0, 0), nothing positive, to (1, 1), everything positive."""

    fpr: Floats
    tpr: Floats
    threshold: Floats
    """The false and true positive rate at each cut; NaN where a class is missing, `reason` says which."""
    area: float
    """The probability that a positive row is ranked above a negative one, ties half."""
    words: str
    """What the course says of such an area."""
    reason: str
    """Why rates are NaN; empty where none is."""

    schema = "compromis/roc-curve"
    title = "ROC curve"
    names = ("threshold", "fpr", "tpr")

    def sentences(self) -> list[str]:
        """Return the area in words, or why it is undefined."""
        return [self.reason or f"ROC area {self.area:.4f}: {self.words}"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PrecisionRecallCurve(Tabular):
    """A precision-recall curve, recall rising."""

    recall: Floats
    precision: Floats
    threshold: Floats
    """At each cut; the precision of the first, where nothing is predicted positive, is NaN."""
    average_precision: float
    """The area in steps."""
    area: float
    """The area with the interpolation of Davis and Goadrich."""
    reason: str
    """Why rates are NaN; empty where none is."""

    schema = "compromis/precision-recall-curve"
    title = "precision-recall curve"
    names = ("threshold", "recall", "precision")

    def sentences(self) -> list[str]:
        """Return the areas, or why they are undefined."""
        return [self.reason or f"average precision {self.average_precision:.4f}, area {self.area:.4f}"]


def roc_points(points: OperatingPoints) -> RocCurve:
    """Return the ROC curve of the cuts of a score, with its area.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> (3 * cp.tradeoffs.roc_points(points).fpr).round().astype(int).tolist()  # the six rows of the course
    [0, 0, 1, 1, 1, 2, 3]
    """
    points.check_ranking("a ROC curve")
    area = roc_area(points)
    return RocCurve(
        fpr=points.fpr,
        tpr=points.tpr,
        threshold=points.threshold,
        area=area,
        words=area_in_words(area),
        reason=points.reason,
    )


def precision_recall_points(points: OperatingPoints) -> PrecisionRecallCurve:
    """Return the precision-recall curve of the cuts of a score, with its areas.

    Notes
    -----
    There is no made-up point (recall 0, precision 1): where nothing is predicted positive precision is undefined.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> round(cp.tradeoffs.precision_recall_points(points).average_precision, 4)  # (1 + 2/3 + 3/4) / 3
    0.8056
    """
    points.check_ranking("a precision-recall curve")
    return PrecisionRecallCurve(
        recall=points.recall,
        precision=points.precision,
        threshold=points.threshold,
        average_precision=average_precision(points),
        area=pr_area(points),
        reason="" if points.positives else points.reason,
    )


def dominates(first: OperatingPoints, second: OperatingPoints) -> bool:
    """Return whether the first ROC curve is nowhere below the second, and above it somewhere.

    Notes
    -----
    Then no costs and no priors make the second model better, and the same holds of their precision-recall
    curves on the same rows (Davis and Goadrich 2006, theorem 3.2).

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
    >>> coin = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    >>> cp.tradeoffs.dominates(points, coin), cp.tradeoffs.dominates(coin, points)
    (True, False)
    """
    for points in (first, second):
        points.check_ranking("dominance")
        if points.reason:
            raise InputError(f"dominance needs rows of both kinds; {points.reason}")
    where = np.union1d(first.fpr, second.fpr)
    ahead = np.concatenate([_limit(first, where, side) - _limit(second, where, side) for side in ("left", "right")])
    return bool((ahead >= -_ROUNDING).all() and (ahead > _ROUNDING).any())


def _limit(points: OperatingPoints, fpr: Floats, side: str) -> Floats:
    """The curve at each fpr, coming from the left (the foot of an upright step) or from the right (its top)."""
    x, y = points.fpr, points.tpr
    firsts, lasts = np.searchsorted(x, fpr, side="left"), np.searchsorted(x, fpr, side="right") - 1
    return np.where(firsts <= lasts, y[firsts] if side == "left" else y[lasts], np.interp(fpr, x, y))


def dominance(models: Mapping[str, OperatingPoints]) -> dict[str, tuple[str, ...]]:
    """Return for each model the models whose ROC curves it dominates.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.tradeoffs import dominance
    >>> y = [1, 1, 0, 0]
    >>> perfect = cp.OperatingPoints.from_predictions(y, [4, 3, 2, 1])
    >>> mixed = cp.OperatingPoints.from_predictions(y, [4, 2, 3, 1])
    >>> dominance({"perfect": perfect, "mixed": mixed})
    {'perfect': ('mixed',), 'mixed': ()}
    """
    check_named_points(models, "dominance")
    return {
        name: tuple(other for other in models if other != name and dominates(points, models[other]))
        for name, points in models.items()
    }


NEVER, ALWAYS = "never positive", "always positive"
"""The constant decisions, which every hull starts and ends with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HullPart:
    """A corner of the hull and the slopes for which it is best."""

    slope_low: float
    slope_high: float
    """The range of (cost of a false positive x negatives) / (cost of a false negative x positives)."""
    cost_ratio_low: float
    cost_ratio_high: float
    """The same as a ratio of costs, false positive / false negative, at the prevalence of the data; NaN if the models were tested at
    different ones."""
    models: tuple[str, ...]
    """The models that reach the corner; the constant decision alone where it does."""
    thresholds: tuple[float, ...]
    """The cut of each model (NaN for groups; infinite or the lowest score for the constant decisions)."""
    names: tuple[Label, ...]
    """The group of each model, None for cuts."""
    fpr: float
    tpr: float
    """The corner."""


@dataclass(frozen=True, kw_only=True)
class RocHull(Result):
    """The convex hull of the models' ROC points."""

    parts: tuple[HullPart, ...]
    """The corners from (0, 0) to (1, 1), slopes falling from infinity to 0 without gaps."""
    models: tuple[str, ...]
    """The models on the hull: each is best for some costs and priors."""
    droppable: tuple[str, ...]
    """The models that never are: another model, or chance between two, is at least as good whatever the costs."""
    prevalence: float
    """The share of positives in the data; NaN if the models were tested at different ones."""
    points: dict[str, OperatingPoints] = field(repr=False, compare=False)
    """The operating points of each model."""

    schema = "compromis/roc-hull"

    def best(
        self, *, cost_false_positive: float = 1.0, cost_false_negative: float = 1.0, prevalence: float | None = None
    ) -> HullPart:
        """Return the corner to use under these costs and this prevalence (by default that of the data)."""
        share = self.prevalence if prevalence is None else prevalence
        if not (isinstance(share, Real) and 0 < share < 1):
            raise InputError(
                f"prevalence is a share strictly between 0 and 1, got {share!r:.60}; pass the one you expect"
            )
        costs = cost_false_positive, cost_false_negative
        if not (all(isinstance(cost, Real) and cost >= 0 for cost in costs) and 0 < sum(costs) < math.inf):
            raise InputError(f"costs are at least 0 and not both 0, got {costs[0]!r:.60} and {costs[1]!r:.60}")
        below = cost_false_negative * share
        slope = cost_false_positive * (1 - share) / below if below else math.inf
        return next(part for part in self.parts if part.slope_low <= slope)

    @cached_property
    def area(self) -> float:
        """The area under the hull: what the models reach together."""
        fpr = [0.0, *(part.fpr for part in self.parts), 1.0]
        tpr = [0.0, *(part.tpr for part in self.parts), 1.0]
        return float(np.trapezoid(tpr, fpr))

    @property
    def summary(self) -> dict[str, float]:
        """Area and prevalence."""
        return {"area": self.area, "prevalence": self.prevalence}

    def columns(self) -> dict[str, list[Any]]:
        """Return the corners as lists by column name."""
        return columns_of(self.parts, HullPart)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        values = {name: getattr(self, name) for name in ("parts", "models", "droppable", "prevalence")}
        return self.heading() | values

    def sentences(self) -> list[str]:
        """Return which models are on the hull, and which are not."""
        hull, dropped = (", ".join(names) for names in (self.models, self.droppable))
        return [f"on the hull: {hull or 'none'}", f"can be dropped: {dropped}" if dropped else "none can be dropped"]

    def tables(self) -> list[Table]:
        """Return the corners."""
        rows = [
            [
                ", ".join(
                    model if group is None else f"{model}: {group}"
                    for model, group in zip(part.models, part.names, strict=True)
                ),
                f"{part.slope_low:.4g} to {part.slope_high:.4g}",
                f"{part.cost_ratio_low:.4g} to {part.cost_ratio_high:.4g}",
                ", ".join("" if math.isnan(cut) else f"{cut:.4g}" for cut in part.thresholds),
                f"{part.fpr:.4f}",
                f"{part.tpr:.4f}",
            ]
            for part in self.parts
        ]
        return [Table("corners of the hull", ("models", "slope", "cost ratio", "score from", "fpr", "tpr"), rows)]


def roc_hull(models: Mapping[str, OperatingPoints]) -> RocHull:
    """Return the convex hull of the models' ROC points, and for which slopes each model is best.

    Parameters
    ----------
    models : mapping
        The operating points of each model by name, for one positive class.

    Notes
    -----
    At slope s = (cost of a false positive x negatives) / (cost of a false negative x positives) the best point has the
    largest tpr - s fpr; this is the trade-off space of specificity and sensitivity with metric Kulczynski at
    l = 1 / (1 + s). Provost and Fawcett 2001; the course calls it the selection of models.

    Examples
    --------
    >>> import compromis as cp
    >>> y = [1, 1, 1, 0, 0, 0]
    >>> good = cp.OperatingPoints.from_predictions(y, [0.9, 0.8, 0.4, 0.5, 0.2, 0.1])
    >>> poor = cp.OperatingPoints.from_predictions(y, [0.6, 0.3, 0.2, 0.5, 0.4, 0.1])
    >>> hull = cp.roc_hull({"good": good, "poor": poor})
    >>> hull.models, hull.droppable
    (('good',), ('poor',))
    """
    check_named_points(models, "roc_hull")
    for name, points in models.items():
        if points.reason:
            raise InputError(f"{name!r} has no place in ROC space: {points.reason}")
    shared = shared_prevalence(models.values())
    prevalence = math.nan if shared is None else shared
    parts = tuple(_parts(models, prevalence / (1 - prevalence)))
    used = {name for part in parts for name in part.models}
    return RocHull(
        parts=parts,
        models=tuple(name for name in models if name in used),
        droppable=tuple(name for name in models if name not in used),
        prevalence=prevalence,
        points=dict(models),
    )


def _parts(models: Mapping[str, OperatingPoints], odds: float) -> Iterator[HullPart]:
    """Yield the corners of the hull, slopes falling; `odds` are those of a positive row."""
    own = [SPECIFICITY_SENSITIVITY.candidates(points) for points in models.values()]
    joined = Candidates.join([*own, NEVER_POSITIVE, ALWAYS_POSITIVE])
    chosen = upper_envelope(joined, KULCZYNSKI).chosen
    slopes = [math.inf, *_slopes(joined.take(chosen)), 0.0]
    for corner, low, high in zip(chosen.tolist(), slopes[1:], slopes[:-1], strict=True):
        costs: dict[str, Any] = {"cost_ratio_low": low * odds, "cost_ratio_high": high * odds}
        yield HullPart(slope_low=low, slope_high=high, **costs, **_corner(joined, corner, models))


def _slopes(corners: Candidates) -> list[float]:
    """Return the slopes of the hull's edges, from the counts and not by way of l, which would lose digits near 0 and 1."""
    from compromis.tradeoffs._kernels import switch_odds

    edges = range(len(corners) - 1)
    return [1.0 / switch_odds(corners.first, corners.second, edge, edge + 1, 0) for edge in edges]


def _corner(joined: Candidates, corner: int, models: Mapping[str, OperatingPoints]) -> dict[str, Any]:
    """Return a corner's rates, and the models that reach it with their cuts and groups."""
    kept, negatives = joined.first[:, corner].tolist()
    fpr, tpr = (negatives - kept) / negatives, float(joined.second_rate[corner])
    reached: dict[str, tuple[float, Label]] = {}
    if (fpr, tpr) in ((0.0, 0.0), (1.0, 1.0)):  # no skill is needed to be here
        reached = {ALWAYS: (-math.inf, None)} if tpr else {NEVER: (math.inf, None)}
    else:
        twins, names = joined.twins(corner), list(models)
        for owner, at in zip(joined.owner[twins].tolist(), joined.position[twins].tolist(), strict=True):
            points = models[names[owner]]
            reached.setdefault(names[owner], (float(points.threshold[at]), points.names and points.names[at]))
    thresholds, groups = zip(*reached.values(), strict=True)
    return {"fpr": fpr, "tpr": tpr, "models": tuple(reached), "thresholds": thresholds, "names": groups}
