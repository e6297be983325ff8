"""McNemar's test of whether two models are right equally often."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test on the rows that only one of two models decides rightly.

    Attributes
    ----------
    only_first, only_second : float
        The rows that only the first, only the second model decides rightly.
    exact : float
        The two-sided p-value of the binomial test; conservative. NaN where rows have weights.
    mid_p : float
        The same with half the probability of what was seen; closest to the nominal level (Fagerland et al. 2013).
    """

    only_first: float
    only_second: float
    exact: float
    mid_p: float

    @classmethod
    def undefined(cls, only_first: float, only_second: float) -> McNemar:
        """Return the test where rows have weights: sums of weights are not binomial."""
        return cls(only_first, only_second, math.nan, math.nan)


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """Test whether both models are right equally often.

    Notes
    -----
    Under the hypothesis the rows that only the first decides rightly are Binomial(n, 1/2) among the n on which exactly one is right.

    Examples
    --------
    >>> from compromis.uncertainty.mcnemar import mcnemar
    >>> round(mcnemar(1, 7).exact, 4), round(mcnemar(1, 7).mid_p, 4)
    (0.0703, 0.0391)
    """
    from scipy.special import bdtr

    rows, fewer = only_first + only_second, min(only_first, only_second)
    if rows == 0:
        return McNemar(only_first, only_second, 1.0, 1.0)
    upto, before = float(bdtr(fewer, rows, 0.5)), float(bdtr(fewer - 1, rows, 0.5)) if fewer else 0.0
    return McNemar(only_first, only_second, min(1.0, 2 * upto), min(1.0, upto + before))
