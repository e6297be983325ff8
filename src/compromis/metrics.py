"""The family of metrics: one number for a precision and a recall, by one recall weight l in [0, 1].

l = 0 is precision alone, l = 1 recall alone. PRAGMA's plane is 1 - Kulczynski; the trade-off space draws every metric
over l. A member of the family is data: its value, its l from the two answers, the transform that turns it into
straight lines (so that envelopes are hulls), and its area over l. What a member leaves out is worked out numerically.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import unknown_name
from compromis.errors import InputError

Array = NDArray[np.float64]
Formula = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, slots=True, repr=False)
class Metric:
    """A metric of precision and recall with a recall weight.

    Parameters
    ----------
    name : str
        How reports call it.
    formula : callable
        ``formula(precision, recall, recall_weight)`` on arrays, and in searches for weights on single numbers, for
        0 < recall_weight < 1 and positive precision and recall; at the edges `value` takes the limits.
    answer : callable, optional
        The recall weight from the two answers (x, y), both in (0, 1). Without it a root-finder solves
        ``value(x, 1, l) = value(1, y, l)``.
    transform : callable, optional
        u, increasing, such that the metric orders results as ``(1 - m) u(precision) + m u(recall)`` does; envelopes
        are then convex hulls.
    bend : callable
        l from the weight m of that line; l = m but for Jaccard.
    surface : callable, optional
        The integral over l from a to b of a point's value, ``surface(precision, recall, a, b)``.
    defined_at_zero : bool
        Whether the formula holds where precision or recall is 0. Elsewhere the value is 0 there for 0 < l < 1.

    Notes
    -----
    A metric must increase in precision and in recall, be 1 at (1, 1), and be the precision at l = 0 and the
    recall at l = 1.

    Examples
    --------
    One's own metric needs a name and a formula; everything else follows:

    >>> import numpy as np
    >>> import compromis as cp
    >>> quadratic = cp.Metric("quadratic", lambda p, r, l: np.sqrt((1 - l) * p**2 + l * r**2))
    >>> round(float(cp.metric_value(0.9, 0.5, 0.5, metric=quadratic)), 3)
    0.728
    >>> round(cp.Preference(precision_at_full_recall=0.1, recall_at_full_precision=0.9).recall_weight_for(quadratic), 3)
    0.839
    """

    name: str
    formula: Formula
    answer: Callable[[float, float], float] | None = None
    transform: Callable[[Array], Array] | None = None
    bend: Callable[[Any], Any] = lambda weight: weight
    surface: Callable[[Array, Array, Any, Any], Array] | None = None
    defined_at_zero: bool = False

    def __repr__(self) -> str:
        return f"<Metric {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.built_in:  # formulas are code, which a pickle cannot hold
            return get_metric, (self.name,)
        return Metric, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def built_in(self) -> bool:
        """Whether this is one of `METRICS`; any other is one's own, whatever its name."""
        return METRICS.get(self.name) is self

    def value(self, precision: ArrayLike, recall: ArrayLike, recall_weight: ArrayLike) -> Array:
        """Return the value for arrays of precision, recall and recall weight, with the limits at their edges."""
        p, r, weight = np.broadcast_arrays(
            *(np.asarray(a, dtype=np.float64) for a in (precision, recall, recall_weight))
        )
        if self.defined_at_zero:
            return self.formula(p, r, weight)
        with np.errstate(all="ignore"):  # at the edges, where a limit takes over
            inside = self.formula(p, r, weight)
        limits = [np.isnan(p) | np.isnan(r) | np.isnan(weight), weight <= 0, weight >= 1, (p <= 0) | (r <= 0)]
        return np.select(limits, [np.full(p.shape, np.nan), p, r, np.zeros(p.shape)], inside)

    def recall_weight(self, precision_at_full_recall: float, recall_at_full_precision: float) -> float:
        """Return l such that (precision x, recall 1) and (precision 1, recall y) are worth the same.

        At x = 0 or y = 0 it is the limit; with both 0 there is none for the metrics that are 0 there, and
        l = 1/2 treats the two alike.
        """
        x, y = precision_at_full_recall, recall_at_full_precision
        if not self.defined_at_zero and (x == 0 or y == 0):
            return 0.5 if x == y else float(x == 0)
        if self.answer is not None:
            return self.answer(x, y)
        from scipy.optimize import brentq

        return float(
            brentq(lambda weight: float(self.value(x, 1.0, weight) - self.value(1.0, y, weight)), 0.0, 1.0, xtol=1e-14)
        )

    def weight_text(self, recall_weight: float) -> str:
        """Return a recall weight as text: for f with the beta of the F measure, for kulczynski with the paper's R = l / (1 - l).

        Examples
        --------
        >>> import compromis as cp
        >>> [cp.metrics.METRICS[name].weight_text(0.9) for name in ("f", "kulczynski", "jaccard")]
        ['0.9 (beta 3)', '0.9 (R 9)', '0.9']
        """
        if self.name not in ("f", "kulczynski"):
            return f"{recall_weight:.3g}"
        odds = recall_weight / (1 - recall_weight) if recall_weight < 1 else math.inf
        return f"{recall_weight:.3g} ({f'beta {math.sqrt(odds):.3g}' if self.name == 'f' else f'R {odds:.3g}'})"

    def area(self, precision: ArrayLike, recall: ArrayLike, low: float = 0.0, high: float = 1.0) -> Array:
        """Return the integral of the value over recall weights from `low` to `high`, for each point."""
        p, r = np.broadcast_arrays(np.asarray(precision, dtype=np.float64), np.asarray(recall, dtype=np.float64))
        if self.surface is None:
            return self._area_by_quadrature(p, r, low, high)
        if self.defined_at_zero:
            return self.surface(p, r, low, high)
        positive = (p > 0) & (r > 0)
        p, r = np.where(positive, p, 1.0), np.where(positive, r, 1.0)
        return np.where(positive, self.surface(p, r, low, high), 0.0)

    def _area_by_quadrature(self, p: Array, r: Array, low: float, high: float) -> Array:
        from scipy.integrate import quad_vec

        return np.asarray(quad_vec(lambda weight: self.value(p, r, weight), low, high, epsabs=1e-12)[0])


def _answer_f(x: float, y: float) -> float:
    return y * (1 - x) / (y * (1 - x) + x * (1 - y))


def _answer_jaccard(x: float, y: float) -> float:
    return y * (1 - x) / (2 * x * (1 - y)) if x >= y else 1 - x * (1 - y) / (2 * y * (1 - x))


def _jaccard(p: Array, r: Array, weight: Array) -> Array:
    """The paper's p r / (w(l) p + w(1-l) r - v(l) p r), on each side of 1/2 in a form that loses no digits."""
    return p * r / np.where(weight <= 0.5, r + 2 * weight * p * (1 - r), p + 2 * (1 - weight) * r * (1 - p))


def _surface_f(p: Array, r: Array, low: float, high: float) -> Array:
    start, end = (bound * p + (1 - bound) * r for bound in (low, high))
    return p * r * (high - low) * _mean_inverse(start, end, (high - low) * (p - r))


def _surface_fowlkes_mallows(p: Array, r: Array, low: float, high: float) -> Array:
    width, slope = high - low, np.log(r) - np.log(p)
    return width * p * np.exp(low * slope) * _exp_ratio(width * slope)


def _surface_jaccard(p: Array, r: Array, low: float, high: float) -> Array:
    """The curve is a hyperbola on each side of 1/2, and its mirror image there with p and r exchanged."""
    left, right = (low, min(high, 0.5)), (1 - high, 1 - max(low, 0.5))
    return _half_jaccard(p, r, *left) + _half_jaccard(r, p, *right)


def _half_jaccard(p: Array, r: Array, low: float, high: float) -> Array:
    if high <= low:
        return np.zeros(p.shape)
    start, end = (r + 2 * bound * p * (1 - r) for bound in (low, high))
    return p * r * (high - low) * _mean_inverse(start, end, 2 * (high - low) * p * (1 - r))


def _mean_inverse(start: Array, end: Array, step: Array) -> Array:
    """The mean of 1/m for m from `start` to `end` = `start` + `step`: log(end / start) / step, without losing digits."""
    ratio = step / start
    logarithm = np.where(np.abs(ratio) < 0.5, np.log1p(np.maximum(ratio, -0.5)), np.log(end / start))
    return np.divide(logarithm, step, out=np.asarray(1 / start), where=step != 0)


def _exp_ratio(z: Array) -> Array:
    """(exp(z) - 1) / z, 1 at z = 0."""
    return np.divide(np.expm1(z), z, out=np.ones_like(z), where=z != 0)


def _bend_jaccard(weight: ArrayLike) -> Array:
    weight = np.asarray(weight, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.where(weight <= 0.5, weight / (2 * (1 - weight)), (3 - 1 / weight) / 2)


KULCZYNSKI = Metric(
    "kulczynski",
    lambda p, r, weight: (1 - weight) * p + weight * r,
    answer=lambda x, y: (1 - x) / ((1 - x) + (1 - y)),
    transform=lambda rate: rate,
    surface=lambda p, r, low, high: (high - low) * (p + (r - p) * (low + high) / 2),
    defined_at_zero=True,
)
F = Metric(
    "f",
    lambda p, r, weight: 1 / (weight / r + (1 - weight) / p),
    answer=_answer_f,
    transform=lambda rate: -1 / rate,
    surface=_surface_f,
)
FOWLKES_MALLOWS = Metric(
    "fowlkes_mallows",
    lambda p, r, weight: p ** (1 - weight) * r**weight,
    answer=lambda x, y: math.log(x) / (math.log(x) + math.log(y)),
    transform=np.log,
    surface=_surface_fowlkes_mallows,
)
JACCARD = Metric(
    "jaccard",
    _jaccard,
    answer=_answer_jaccard,
    transform=lambda rate: -1 / rate,
    bend=_bend_jaccard,
    surface=_surface_jaccard,
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in (KULCZYNSKI, F, FOWLKES_MALLOWS, JACCARD)}
"""The four metrics of the trade-off paper by name.

Examples
--------
>>> import compromis as cp
>>> list(cp.metrics.METRICS)
['kulczynski', 'f', 'fowlkes_mallows', 'jaccard']
"""


def get_metric(metric: str | Metric) -> Metric:
    """Return the metric of that name, or the metric itself."""
    if isinstance(metric, Metric):
        return metric
    name = _OTHER_NAMES.get(metric.lower(), metric.lower()) if isinstance(metric, str) else metric
    if not isinstance(name, str) or name not in METRICS:
        raise InputError(unknown_name("metric", metric, METRICS), "metric")
    return METRICS[name]


_OTHER_NAMES = {"f1": "f", "f-measure": "f", "f_measure": "f", "fbeta": "f", "f-beta": "f"}
"""What people call metric f, whose beta follows from the preferences."""


def metric_value(
    precision: ArrayLike, recall: ArrayLike, recall_weight: ArrayLike, metric: str | Metric = "f"
) -> Array:
    """Return the value of a metric for arrays of precision, recall and recall weight.

    Parameters
    ----------
    precision, recall : array-like
        Rates in [0, 1]; NaN stays NaN.
    recall_weight : array-like
        l in [0, 1]: 0 is precision alone, 1 recall alone.
    metric : str or Metric
        ``"kulczynski"``, ``"f"``, ``"fowlkes_mallows"``, ``"jaccard"`` or one's own.

    Notes
    -----
    Hanczar and Nadif, section 2. The printed Fowlkes-Mallows exponents do not fit their table 1;
    p^(1-l) r^l does.

    Examples
    --------
    Table 1 of the paper, third row, at l = 0.2:

    >>> import compromis as cp
    >>> [round(float(cp.metric_value(0.9, 0.5, 0.2, metric=i)), 2) for i in ("kulczynski", "f", "fowlkes_mallows", "jaccard")]
    [0.82, 0.78, 0.8, 0.66]
    """
    for name, rate in (("precision", precision), ("recall", recall), ("recall_weight", recall_weight)):
        values = np.asarray(rate, dtype=np.float64)
        if bool(np.any((values < 0) | (values > 1))):
            worst = values[(values < 0) | (values > 1)].flat[0]
            raise InputError(f"{name} is a share between 0 and 1, got {worst:g}")
    return get_metric(metric).value(precision, recall, recall_weight)


def unit_values(values: ArrayLike, rule: str) -> Array:
    """Return numbers between 0 and 1 as an array; the message of the error is `rule` and the first wrong number."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{rule}, got {values!r:.60}") from None
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        raise InputError(f"{rule}, got {array[wrong].flat[0]:g}")
    return array


def read_weight(recall_weight: ArrayLike) -> Array:
    """Return recall weights as a checked array."""
    return unit_values(recall_weight, "a recall weight lies between 0 (precision alone) and 1 (recall alone)")


def read_one_weight(recall_weight: float) -> float:
    """Return a checked recall weight where there is room for one only."""
    weight = read_weight(recall_weight)
    if weight.ndim:
        raise InputError(f"give one recall weight, got {recall_weight!r:.60}")
    return float(weight)


def check_range(low: float, high: float) -> None:
    """Raise unless 0 <= low < high <= 1."""
    if not (isinstance(low, Real) and isinstance(high, Real) and 0 <= low < high <= 1):
        raise InputError(
            f"low and high are recall weights with 0 <= low < high <= 1, got low={low!r:.60} and high={high!r:.60}"
        )
