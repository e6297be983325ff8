"""Operating points under minima: only those with enough precision and recall."""

from __future__ import annotations

from dataclasses import replace

from compromis.errors import InputError
from compromis.evidence.points import OperatingPoints
from compromis.tradeoffs.curve import TradeoffCurve


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
    >>> from compromis.tradeoffs.minima import meeting
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
