"""Distributions and curves of a report as paths of SVG."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from compromis._typing import Floats, Label
from compromis.evidence.votes import VoteDistribution
from compromis.reports.result import Report
from compromis.tradeoffs import TradeoffCurve
from compromis.weights import WeightSweep

WIDTH, HEIGHT = 150.0, 100.0
"""The size of a plane in its own units."""
_GRID = np.linspace(0.0, 1.0, 41)


class Plane(NamedTuple):
    """Paths in the unit square, each with its CSS classes, and a marked point (None: undefined)."""

    paths: tuple[tuple[str, str], ...]
    point: tuple[float, float] | None = None
    chance: bool = False
    """Whether the diagonal is drawn."""


class Picture(NamedTuple):
    """The planes of one class, by their names."""

    label: Label
    planes: dict[str, Plane]
    note: str = ""


def vote_pictures(report: Report) -> Iterator[Picture]:
    """Return how the votes for each class are distributed over its own rows and over all others."""
    return map(_vote_picture, report.distributions)


def _vote_picture(distribution: VoteDistribution) -> Picture:
    k = distribution.classes.index(distribution.label)
    own, unvoted = distribution.rows[:, k], distribution.unvoted[k]
    others = distribution.rows.sum(axis=1) - own
    support = own.sum() + unvoted
    note = f"{100 * unvoted / support:.1f} % without a vote" if unvoted > 0.0005 * support else ""
    plane = Plane((("cp-area cp-precision", _bars(others)), ("cp-area cp-recall", _bars(own))))
    return Picture(distribution.label, {"votes": plane}, note)


def curve_pictures(report: Report) -> Iterator[Picture]:
    """Return the trade-off, precision-recall and ROC curves of each class, with the points of the report's weights."""
    return (_curve_picture(curve, report) for curve in report.curves)


def _curve_picture(curve: TradeoffCurve, report: Report) -> Picture:
    assert report.after is not None
    points, metric, label = curve.points, curve.metric, curve.points.pos_label
    now = report.after.per_class[label]
    weight = report.preferences.of(label).recall_weight_for(metric)
    precision, recall = np.nan_to_num([now.precision, now.recall])
    fpr, tpr = (np.concatenate([[0.0], np.nan_to_num(rate), [1.0]]) for rate in (points.fpr, points.tpr))
    tradeoff = (
        ("cp-line cp-own-line", path(_GRID, metric.value(precision, recall, _GRID))),
        ("cp-line cp-best-line", path(_GRID, np.nan_to_num(curve.value(_GRID)))),
    )
    best = "cp-line cp-best-line"
    return Picture(
        label,
        {
            "trade-off": Plane(tradeoff, _point(weight, float(metric.value(precision, recall, weight)))),
            "precision-recall": Plane(
                ((best, path(points.recall, points.precision)),), _point(now.recall, now.precision)
            ),
            "ROC": Plane(((best, path(fpr, tpr)),), _point(now.false_positive_rate, now.recall), chance=True),
        },
    )


def sweep_picture(sweep: WeightSweep) -> Picture:
    """Return recall, precision and loss as the weight of a class grows; the point marks the loss of the given weights."""
    k = sweep.classes.index(sweep.label)
    x = np.linspace(0.0, 1.0, len(sweep.ratio))
    lines = {"recall": sweep.recall[:, k], "precision": sweep.precision[:, k], "loss": sweep.loss}
    paths = tuple((f"cp-line cp-{name}-line", path(x, y)) for name, y in lines.items())
    return Picture(sweep.label, {"sweep": Plane(paths, _point(0.5, float(sweep.loss[len(x) // 2])))})


def path(x: Floats, y: Floats) -> str:
    """Return the path through points of the unit square; undefined points and those too near to be told apart are left out."""
    known = ~np.isnan(x + y)
    left, top = x[known] * WIDTH, (1 - y[known]) * HEIGHT
    cells = np.column_stack([np.rint(left), np.rint(top)])
    kept = np.ones(len(left), dtype=bool)
    kept[1:-1] = (cells[1:-1] != cells[:-2]).any(axis=1)
    corners = (f"{right:.1f},{down:.1f}" for right, down in zip(left[kept], top[kept], strict=True))
    return "M" + "L".join(corners) if kept.any() else ""


def _bars(rows: Floats) -> str:
    """Return the outline of bars, scaled to the highest."""
    if rows.max() <= 0:
        return ""
    edges = np.linspace(0.0, WIDTH, len(rows) + 1)
    tops = HEIGHT * (1 - rows / rows.max())
    corners = [
        f"L{left:.1f},{top:.1f}L{right:.1f},{top:.1f}"
        for left, right, top in zip(edges[:-1], edges[1:], tops, strict=True)
    ]
    return f"M0,{HEIGHT:g}" + "".join(corners) + f"L{WIDTH:g},{HEIGHT:g}Z"


def _point(x: float, y: float) -> tuple[float, float] | None:
    return None if np.isnan(x) or np.isnan(y) else (round(x * WIDTH, 1), round((1 - y) * HEIGHT, 1))
