"""Plain-Python twins of the trade-off and ranking kernels, in exact fractions where there are fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

Rates = tuple[Fraction, Fraction]


def cuts(flags: Sequence[bool], scores: Sequence[float]) -> list[tuple[float, int, int]]:
    """Every distinct score, falling, with the positives and negatives at or above it; infinity first."""
    rows = list(zip(flags, scores, strict=True))
    found = [(math.inf, 0, 0)]
    for cut in sorted(set(scores), reverse=True):
        above = [flag for flag, score in rows if score >= cut]
        found.append((cut, sum(above), len(above) - sum(above)))
    return found


def ordering_probability(flags: Sequence[bool], scores: Sequence[float]) -> Fraction:
    """The share of pairs of a positive and a negative that are ordered rightly, ties half."""
    positive = [score for flag, score in zip(flags, scores, strict=True) if flag]
    negative = [score for flag, score in zip(flags, scores, strict=True) if not flag]
    half_wins = sum(2 * (p > n) + (p == n) for p in positive for n in negative)
    return Fraction(half_wins, 2 * len(positive) * len(negative))


def average_precision(counts: Sequence[tuple[int, int]]) -> Fraction:
    """Sum of precision times newly found recall over (true positives, false positives)."""
    total = Fraction(0)
    for (before, _), (found, alarms) in pairwise(counts):
        if found > before:
            total += (found - before) * Fraction(found, found + alarms)
    return total / counts[-1][0]


def interpolated_precision(counts: Sequence[tuple[int, int]], hits: float) -> float:
    """Precision when `hits` true positives are found, rows between two cuts taken at random."""
    for (a, fp_a), (b, fp_b) in pairwise(counts):
        if a < b and a <= hits <= b:
            alarms = fp_a + (fp_b - fp_a) * (hits - a) / (b - a)
            return hits / (hits + alarms) if hits else 0.0
    raise AssertionError(hits)


def dominating(rates: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether no other result is at least as good in both rates and better in one."""
    return [
        not any(a >= p and b >= r and (a > p or b > r) for a, b in rates) and not (math.isnan(p) or math.isnan(r))
        for p, r in rates
    ]


def plane_hull(rates: Sequence[Rates]) -> list[Rates]:
    """The corners of the upper right convex hull, recall rising: results best alone at some weight inside (0, 1)."""
    points = set(rates)
    return sorted((point for point in points if _is_corner(point, points - {point})), key=lambda x: x[1])


def _is_corner(point: Rates, others: set[Rates]) -> bool:
    low, high = Fraction(0), Fraction(1)
    for p, r in others:
        lost, won = point[0] - p, point[1] - r  # better where (1 - l) lost + l won > 0
        if lost <= 0 and won <= 0:
            return False
        if won < 0:
            high = min(high, lost / (lost - won))
        elif lost < 0:
            low = max(low, lost / (lost - won))
    return low < high


def metric_value(name: str, p: float, r: float, weight: float) -> float:
    """The four metrics as the paper writes them (with the exponents that fit its table 1)."""
    if name == "kulczynski":
        return (1 - weight) * p + weight * r
    if weight == 0:
        return p
    if weight == 1:
        return r
    if p == 0 or r == 0:
        return 0.0
    if name == "f":
        return p * r / (weight * p + (1 - weight) * r)
    if name == "fowlkes_mallows":
        return math.exp((1 - weight) * math.log(p) + weight * math.log(r))
    w, v = (lambda x: min(2 * x, 1.0)), 1 - abs(1 - 2 * weight)
    return p * r / (w(weight) * p + w(1 - weight) * r - v * p * r)


def crossing(name: str, first: Rates, second: Rates) -> float:
    """The weight at which two results are worth the same, in exact fractions (50 digits for logarithms)."""
    (p, r), (q, s) = first, second
    if name == "kulczynski":
        return float((p - q) / ((p - q) + (s - r)))
    if name == "fowlkes_mallows":
        from decimal import Decimal, localcontext

        with localcontext() as context:
            context.prec = 50
            lost, won = (
                (Decimal(x.numerator) / Decimal(x.denominator)).ln()
                for x in (Fraction(p) / Fraction(q), Fraction(s) / Fraction(r))
            )
            return float(lost / (lost + won))
    lost, won = 1 / q - 1 / p, 1 / r - 1 / s
    m = lost / (lost + won)
    if name == "f":
        return float(m)
    return float(m / (2 * (1 - m)) if m <= Fraction(1, 2) else (3 - 1 / m) / 2)
