"""Areas under trade-off curves: the integral of the value over the recall weight, plain or weighted by a density.

The trade-off paper's future work: one number over all trade-offs, over part of them, or over a distribution of the
trade-offs that may be wanted later.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from compromis.errors import InputError

Function = Callable[[float], float]
Density = Function

_PIECES = 256
"""A density is integrated piece by piece, so that quadrature does not step over a peak wider than about 1e-4."""
_FARTHEST = 36.0
"""Log-odds beyond which recall weights are 0 or 1 to float64's rounding."""


@dataclass(frozen=True, slots=True)
class Beta:
    """A Beta density of the recall weight: how likely each trade-off is to be wanted.

    Parameters
    ----------
    a, b : float
        Both above 0. The mean is a / (a + b); the larger a + b, the surer.

    Examples
    --------
    >>> from compromis.tradeoffs import Beta
    >>> round(Beta(2, 2)(0.5), 3), round(Beta(2, 2).mass(0, 0.5), 3)
    (1.5, 0.5)
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        numbers = isinstance(self.a, Real) and isinstance(self.b, Real)
        if not (numbers and self.a > 0 and self.b > 0 and math.isfinite(self.a + self.b)):
            raise InputError(f"a Beta density has a and b above 0, got a={self.a!r:.60} and b={self.b!r:.60}")

    def __call__(self, weight: float) -> float:
        """Return the density at a recall weight strictly between 0 and 1."""
        from scipy.special import betaln, xlog1py, xlogy

        return math.exp(xlogy(self.a - 1, weight) + xlog1py(self.b - 1, -weight) - betaln(self.a, self.b))

    def mass(self, low: float, high: float) -> float:
        """Return the probability of recall weights between `low` and `high`."""
        from scipy.special import betainc, betaincc

        if low > self.a / (self.a + self.b):  # the upper tail keeps its digits as a complement
            return float(betaincc(self.a, self.b, low) - betaincc(self.a, self.b, high))
        return float(betainc(self.a, self.b, high) - betainc(self.a, self.b, low))

    def over_log_odds(self, log_odds: float) -> float:
        """Return the density of log(l / (1 - l)): smooth everywhere, even where that of l is infinite at an end."""
        from scipy.special import betaln, log_expit

        return math.exp(self.a * log_expit(log_odds) + self.b * log_expit(-log_odds) - betaln(self.a, self.b))

    def bulk(self) -> list[float]:
        """Return log-odds around the peak, by mean and deviation, so that quadrature cannot step over a narrow peak."""
        from scipy.special import digamma, polygamma

        middle = float(digamma(self.a) - digamma(self.b))
        spread = math.sqrt(float(polygamma(1, self.a) + polygamma(1, self.b)))
        return [middle + spread * step for step in (-8, -4, -2, 0, 2, 4, 8)]


def mass(density: Density | None, low: float, high: float) -> float:
    """Return the integral of the density from `low` to `high`; raise unless it is finite and above 0."""
    if density is None:
        return high - low
    _check_density(density, low, high)
    if isinstance(density, Beta):
        total = density.mass(low, high)
    else:
        _check_ends(density, low, high)
        total = sum(_quadrature(density, a, b) for a, b in _pieces(low, high, _PIECES))
    if not total > 0:
        raise InputError(f"the density has no mass between {low:g} and {high:g}; choose another range or density")
    return total


def weighted_area(value: Function, low: float, high: float, density: Function) -> float:
    """Return the integral of a value of the recall weight times a density."""
    if isinstance(density, Beta):
        return sum(_beta_quadrature(value, density, a, b) for a, b in _pieces(low, high, 2))
    pieces = _pieces(low, high, _PIECES)
    return sum(_quadrature(lambda weight: value(weight) * density(weight), a, b) for a, b in pieces)


def _pieces(low: float, high: float, number: int) -> list[tuple[float, float]]:
    """Divide a range at the multiples of 1 / number; an even number, because Jaccard has a kink at 1/2."""
    cuts = [cut / number for cut in range(1, number) if low < cut / number < high]
    return list(itertools.pairwise([low, *cuts, high]))


def _beta_quadrature(value: Function, density: Beta, low: float, high: float) -> float:
    """Integrate over log-odds; beyond those that float64 can tell from 0 and 1 the value no longer changes."""
    from scipy.special import betainc, expit, log_expit, logit

    edges = [max(-_FARTHEST, float(logit(low))), min(_FARTHEST, float(logit(high)))]
    edges[1:1] = [cut for cut in density.bulk() if edges[0] < cut < edges[1]]
    rest = math.exp(log_expit(-_FARTHEST))
    left = value(rest) * float(betainc(density.a, density.b, rest)) if low == 0 else 0.0
    right = value(1 - rest) * float(betainc(density.b, density.a, rest)) if high == 1 else 0.0
    inside = sum(
        _quadrature(lambda x: value(float(expit(x))) * density.over_log_odds(x), a, b)
        for a, b in itertools.pairwise(edges)
    )
    return left + inside + right


def _quadrature(function: Function, low: float, high: float) -> float:
    """Integrate a function that is at least 0; raise if the integral is not finite.

    QUADPACK extrapolates: it gives a divergent integral the value of its analytic continuation, -1 for 1 / l^2, so that
    a sum below 0, its own doubt and a division by 0 next to an end all count as divergence.
    """
    from scipy.integrate import quad

    try:
        total, error, *rest = quad(function, low, high, full_output=1, epsabs=1e-13, epsrel=1e-11, limit=200)
    except ArithmeticError:
        total, error, rest = math.nan, math.inf, []
    doubt = str(rest[1]) if len(rest) > 1 else ""
    uncertain = "divergent" in doubt or (doubt and error > 1e-8 * max(1.0, abs(total)))
    if uncertain or not (math.isfinite(total) and total >= -1e-12):
        raise _divergent(low, high)
    return float(total)


def _divergent(low: float, high: float) -> InputError:
    return InputError(
        f"the density does not integrate between {low:g} and {high:g}; "
        f"give one with a finite integral, such as Beta(2, 2)"
    )


def _check_ends(density: Density, low: float, high: float) -> None:
    """Raise if the mass of a density does not shrink towards an end: from 1e-4 to 1e-8, and again from 1e-8 to 1e-12.

    A power d^a of the distance d to the end loses the factor 1e4^(a + 1), which is below 1 just where it integrates.
    """
    for end, way in ((low, high - low), (high, low - high)):
        steps = np.geomspace(1e-8, 1e-4, 33)
        try:
            outer, inner = (sum(density(end + way * d) * d for d in (steps * scale).tolist()) for scale in (1, 1e-4))
        except ArithmeticError:
            raise _divergent(low, high) from None
        if inner > 0 and not inner < outer:
            raise _divergent(low, high)


def _check_density(density: Density, low: float, high: float) -> None:
    if not callable(density):
        raise InputError(f"density must be a function of the recall weight or a Beta, got {type(density).__name__}")
    for weight in (low + (high - low) * (np.arange(33) + 0.5) / 33).tolist():
        try:
            height = density(weight)
        except ArithmeticError:
            height = math.nan
        if np.ndim(height) != 0 or not (math.isfinite(height) and height >= 0):
            raise InputError(
                f"a density is finite and at least 0 inside its range, got {height} at recall weight {weight:.3g}"
            )
