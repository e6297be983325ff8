"""Between which numbers a loss lies whose counts are known up to bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.count_bounds import CountBounds
from compromis.preferences import PreferenceArrays


def loss_bounds(bounds: CountBounds, arrays: PreferenceArrays) -> tuple[float, float]:
    """Return the lowest and the highest PRAGMA loss that the bounds allow.

    Notes
    -----
    Every metric rises with precision and with recall, so the best of both gives the lowest loss of a class and the worst of
    both the highest; a class that may never be predicted may have the loss 1.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> sure = np.array([[4, 0], [0, 5]])
    >>> bounds = cp.CountBounds(sure, sure, np.array([4, 5]), ("bad", "good"))
    >>> cp.loss_bounds(bounds, cp.Preferences().on(("bad", "good")))  # nothing is in doubt, and nothing is wrong
    (0.0, 0.0)
    """
    low_precision, high_precision = bounds.precision
    low_recall, high_recall = bounds.recall
    best = _losses(arrays, high_precision, high_recall)
    worst = _losses(arrays, low_precision, low_recall)
    importance = np.where(bounds.support > 0, arrays.importance, 0.0)
    low, high = (float(importance @ part / importance.sum()) for part in (best, worst))
    return low, high


def _losses(
    arrays: PreferenceArrays, precision: NDArray[np.float64], recall: NDArray[np.float64]
) -> NDArray[np.float64]:
    values = arrays.metric.value(np.nan_to_num(precision), np.nan_to_num(recall), arrays.recall_weight)
    return np.asarray(np.where(np.isnan(precision), 1.0, 1.0 - values))
