"""Recall weights at which the best cut, or the best model, changes, with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Unpack

import numpy as np

from compromis._typing import Flags, Floats, Ints
from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.metrics import Metric, get_metric
from compromis.uncertainty.bands import DrawOptions, draw_cuts, simultaneous_tail, tradeoff_draws
from compromis.uncertainty.draws import SEED
from compromis.uncertainty.intervals import Interval, from_draws, read_confidence

FINE = np.linspace(0.0, 1.0, 1001)


@dataclass(frozen=True, slots=True)
class SwitchPoint:
    """The recall weight above which the cut `above` is better than the cut `below`; returned by `switch_points`."""

    recall_weight: Interval
    """Where the two have the same value."""
    below: float
    above: float
    """The thresholds of the two cuts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SureRange:
    """A range of recall weights, the model that is best there, and whether that is sure; returned by `confident_winners`."""

    low: float
    high: float
    """The range."""
    model: str
    """The best model on the data."""
    sure: bool
    """Whether it surely is the best throughout, all ranges taken together."""


def switch_points(
    points: OperatingPoints,
    *,
    metric: str | Metric = "f",
    confidence: float = 0.95,
    **options: Unpack[DrawOptions],
) -> tuple[SwitchPoint, ...]:
    """Return the ends of the intervals of recall weights in which each cut is the best, with their intervals.

    Notes
    -----
    Two cuts have the same value where (1 - m) u(p) + m u(r) is equal, u the transform of the metric; so each draw of the two
    cuts gives its own weight, clipped to [0, 1]. A user's metric without a transform has none. Cuts that are best on less
    than a thousandth of the weights are skipped.

    Examples
    --------
    >>> import compromis as cp
    >>> from compromis.uncertainty.ranges import switch_points
    >>> points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38)
    >>> [round(switch.recall_weight.value, 2) for switch in switch_points(points, metric="f")]
    [0.23]
    """
    level, family = read_confidence(confidence), get_metric(metric)
    if family.transform is None:
        raise InputError(
            f"the metric {family.name!r} has no transform; give it one, or use one of the four named metrics"
        )
    drawn = draw_cuts(points, **options)
    precision, recall = (np.nan_to_num(rate)[drawn.kept] for rate in (points.precision, points.recall))
    best = np.array([family.value(precision, recall, weight).argmax() for weight in FINE[1:-1]])
    chain = best[np.r_[True, best[1:] != best[:-1]]]
    switches = []
    for below, above in pairwise(chain.tolist()):
        draws = _weight_of_switch(family, drawn.precision, drawn.tpr, below, above)
        value = _weight_of_switch(family, precision[np.newaxis], recall[np.newaxis], below, above)
        interval = from_draws(value, draws, level)[0]
        switches.append(SwitchPoint(interval, *(float(points.threshold[drawn.kept[cut]]) for cut in (below, above))))
    return tuple(switches)


def confident_winners(
    models: Mapping[str, OperatingPoints],
    *,
    metric: str | Metric = "f",
    confidence: float = 0.95,
    draws: int = 1000,
    random_state: int = SEED,
) -> tuple[SureRange, ...]:
    """Return for which recall weights which model is the best, and where that is sure.

    Notes
    -----
    Sure is meant of all ranges together: where two models are equally good, any range at all is called sure in about 1 - `confidence` of
    data sets under metric f; under Kulczynski's in 10 % of 250 at 95 %, half of them next to a recall weight of 0, where the best of many
    cuts rests on a few rows. A model is sure where the simultaneous band of its lead over each other model lies above 0.

    The models' cuts are drawn independently: on the same rows, where models agree on much, the ranges that are not sure are
    somewhat too wide; `compromis.compare_models` compares decisions on the same rows.

    Examples
    --------
    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, [3] * 30 + [2] * 30 + [3] * 2 + [2] * 20 + [1] * 38)
    >>> noise = cp.OperatingPoints.from_predictions([1] * 60 + [0] * 60, ([3] * 30 + [2] * 30) * 2)
    >>> first = cp.uncertainty.confident_winners({"model": points, "noise": noise}, metric="f")[0]
    >>> first.model, first.sure
    ('model', True)
    """
    level, family = read_confidence(confidence), get_metric(metric)
    if len(models) < 2:
        raise InputError(f"there is nothing to compare: give at least two models, got {len(models)}")
    at = np.linspace(0.0, 1.0, 201)
    results = [
        tradeoff_draws(points, family, at, draws=draws, random_state=random_state + number)
        for number, points in enumerate(models.values())
    ]
    observed, curves = (np.stack(part) for part in zip(*results, strict=True))
    winner = observed.argmax(axis=0)
    sure = _surely_ahead(curves, winner, level)
    change = np.flatnonzero((winner[1:] != winner[:-1]) | (sure[1:] != sure[:-1]))
    starts = np.r_[0, change + 1]
    middle = (at[change] + at[change + 1]) / 2
    edges = np.r_[0.0, middle, 1.0]
    names = list(models)
    return tuple(
        SureRange(
            low=round(float(low), 4), high=round(float(high), 4), model=names[winner[start]], sure=bool(sure[start])
        )
        for low, high, start in zip(edges[:-1], edges[1:], starts, strict=True)
    )


def _surely_ahead(curves: Floats, winner: Ints, confidence: float) -> Flags:
    """Return at which weights the draws of shape (models, draws, weights) put the winner ahead of all others, all weights together."""
    pairs = list(combinations(range(len(curves)), 2))
    tail = simultaneous_tail((curves[first] - curves[second] for first, second in pairs), confidence)
    sure = np.ones(len(winner), dtype=bool)
    for first, second in pairs:
        low, high = np.quantile(curves[first] - curves[second], [tail, 1 - tail], axis=0)
        sure &= ((winner != first) | (low > 0)) & ((winner != second) | (high < 0))
    return sure


def _weight_of_switch(metric: Metric, precision: Floats, recall: Floats, below: int, above: int) -> Floats:
    """Return the recall weight at which two cuts have the same value, in each draw."""
    assert metric.transform is not None
    tiny = np.finfo(np.float64).tiny  # a drawn rate of 0 makes the other cut the better one, whatever the weight
    with np.errstate(divide="ignore", over="ignore"):
        p, r = (
            metric.transform(np.maximum(rate[:, below], tiny)) - metric.transform(np.maximum(rate[:, above], tiny))
            for rate in (precision, recall)
        )
    weight = np.divide(p, p - r, out=np.full(len(p), 0.5), where=p != r)
    # where one cut is better in both rates they do not switch: the better one is best from end to end
    dominated = np.where((p >= 0) & (r >= 0), 1.0, np.where((p <= 0) & (r <= 0), 0.0, weight))
    bent: Floats = np.clip(np.asarray(metric.bend(np.clip(dominated, 0.0, 1.0))), 0.0, 1.0)
    return bent
