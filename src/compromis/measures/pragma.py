"""PRAGMA: the loss of a result against what a person wants, lower is better."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis.evidence import Counts
from compromis.measures.rates import Rates, precision, recall
from compromis.preferences import PreferenceArrays


@dataclass(frozen=True, slots=True, eq=False)
class PragmaLoss:
    """The PRAGMA loss and its parts.

    Attributes
    ----------
    total : float
        The mean of the classes' losses, weighted by importance.
    by_class : ndarray
        f of each class: 0 is perfect, 1 the worst; NaN for a class absent from the truth.
    share : ndarray
        What each class adds to `total`.
    """

    total: float
    by_class: Rates
    share: Rates


def pragma(counts: Counts, arrays: PreferenceArrays) -> PragmaLoss:
    """Return the PRAGMA loss of `counts` under `arrays`.

    Notes
    -----
    PRAGMA = sum_k theta_k f_k / sum_k theta_k with f_k = 1 - I(p_k, r_k; l_k), I the metric of the preferences; with
    Kulczynski's this is the paper's plane 1 + a r + b p. A class that is never predicted has f = 1 (the paper's
    f(0, 0)); a class absent from the truth is left out of the mean.
    """
    by_class = class_losses(counts, arrays)
    importance = np.where(np.isnan(by_class), 0.0, arrays.importance)
    weight = importance.sum()
    if weight == 0:
        return PragmaLoss(math.nan, by_class, np.full(len(by_class), np.nan))
    share = importance * np.nan_to_num(by_class) / weight
    return PragmaLoss(float(share.sum()), by_class, share)


def class_losses(counts: Counts, arrays: PreferenceArrays) -> Rates:
    """Return f of each class: 1 - the metric, 1 if the class is never predicted, NaN if it does not occur."""
    found, right = recall(counts), precision(counts)
    loss = 1 - arrays.metric.value(right, found, arrays.recall_weight)
    return np.select([counts.support == 0, counts.predicted == 0], [np.nan, 1.0], loss)


def violations(counts: Counts, arrays: PreferenceArrays) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much each class's precision and recall fall short of their minimum, 0 where they do not.

    A class absent from the truth asks for nothing; one that is never predicted has the whole minimum missing. A rate that
    misses its minimum by rounding alone meets it.
    """
    present = counts.support > 0
    short = []
    for rate, floor in ((precision(counts), arrays.min_precision), (recall(counts), arrays.min_recall)):
        missing = floor - np.nan_to_num(rate)
        short.append(np.where(present & (missing > 1e-12 * floor), missing, 0.0))
    return short[0], short[1]
