"""The shares of a report, and how many independent rows each rests on where rows have weights or come in groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.measures.rates import ratio
from compromis.uncertainty.drawing import Evidence
from compromis.uncertainty.interval import normal_quantile

Parts = dict[str, tuple[NDArray[Any], NDArray[Any]]]


def share_parts(matrix: NDArray[Any]) -> Parts:
    """Return what each share of rows has above and below its line, for matrices of shape (..., K, K).

    The parts are sums of cells, so the same function serves counts, sums of squared weights and the tables of groups.
    """
    hits = np.diagonal(matrix, axis1=-2, axis2=-1)
    truth, predicted = matrix.sum(axis=-1), matrix.sum(axis=-2)
    total = np.broadcast_to(truth.sum(axis=-1)[..., np.newaxis], truth.shape)
    others, against, right = total - truth, total - predicted, hits.sum(axis=-1)[..., np.newaxis]
    return {
        "class_recall": (hits, truth),
        "class_precision": (hits, predicted),
        "class_specificity": (others - predicted + hits, others),
        "class_negative_predictive_value": (others - predicted + hits, against),
        "class_false_negative_rate": (truth - hits, truth),
        "class_false_positive_rate": (predicted - hits, others),
        "class_share_predicted": (predicted, total),
        "accuracy": (right, total[..., :1]),
        "error_rate": (total[..., :1] - right, total[..., :1]),
    }


def effective_sizes(evidence: Evidence, confidence: float) -> dict[str, Floats]:
    """Return the effective number of rows behind each share.

    Notes
    -----
    Weights: Kish's (sum w)^2 / sum w^2, which is the number of rows where there are none. Groups: the share p as a ratio of
    group totals a_g, b_g has variance sum_g (a_g - p b_g)^2 / b^2 G/(G - 1); the effective size is p (1 - p) over it, shrunk by
    (z/t)^2 for few groups (Korn and Graubard 1998); at p = 0 or 1, where groups show no spread, a group counts as one row.
    """
    if isinstance(evidence, GroupedCounts):
        parts = share_parts(evidence.tables.astype(np.float64))
        return {
            name: _size_of_groups(above, below, evidence.times, confidence) for name, (above, below) in parts.items()
        }
    return _kish(evidence)


def _kish(counts: Counts) -> dict[str, Floats]:
    matrix = counts.matrix.astype(np.float64)
    sums, squares = share_parts(matrix), share_parts(matrix if counts.squares is None else counts.squares)
    return {name: np.nan_to_num(ratio(below**2, squares[name][1])) for name, (_, below) in sums.items()}


def _size_of_groups(part: Floats, whole: Floats, times: NDArray[np.int64], confidence: float) -> Floats:
    from scipy.stats import t

    often = times[:, np.newaxis]
    total = (often * whole).sum(axis=0)
    share = ratio((often * part).sum(axis=0), total)
    groups = (often * (whole > 0)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (often * (part - share * whole) ** 2).sum(axis=0) / total**2 * groups / (groups - 1)
        size = np.where(spread > 0, share * (1 - share) / spread, total**2 / (often * whole**2).sum(axis=0))
        few = (normal_quantile(confidence) / t.ppf((1 + confidence) / 2, np.maximum(groups - 1, 1))) ** 2
    # groups may happen to spread less than rows would, but they never hold more than their rows
    sizes: Floats = np.nan_to_num(np.minimum(size, total) * few)
    return sizes
