"""Upper hulls of rates given as fractions: which point is best at which weight."""

from __future__ import annotations

import math

from compromis._kernel import kernel
from compromis._typing import Flags, Floats, Ints

_SPLITTER = 134217729.0  # 2^27 + 1: cuts a float64 into two halves whose products are exact


@kernel
def product_error(a: float, b: float, product: float) -> float:
    """The rounding error of `product` = a * b (Dekker 1971): a * b - product, exactly."""
    # Cut both factors into halves of 26 bits, so that the products of halves have no rounding.
    scaled = _SPLITTER * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = _SPLITTER * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    # Add them up from the largest: what is left after taking `product` away is the error.
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def cross(a: float, b: float, c: float, d: float) -> float:
    """A * b - c * d without cancellation: right to about one rounding."""
    left, right = a * b, c * d
    difference = left - right
    if abs(difference) > 0.5 * (abs(left) + abs(right)):  # nothing cancels: the difference keeps its digits
        return difference
    return difference + (product_error(a, b, left) - product_error(c, d, right))


@kernel
def mark_promising(first: Floats, second: Floats, ceiling: Floats, marked: Flags) -> None:
    """Unmark points surely beaten: worse in `first` than one whose `second` lies in a higher bin of [0, 1].

    `ceiling` is room for one number per bin. Two passes instead of a sort of everything.
    """
    # The best first rate of each bin of the second.
    bins = ceiling.size - 1
    ceiling[:] = -math.inf
    for k in range(first.size):
        if not (math.isnan(first[k]) or math.isnan(second[k])):
            slot = min(int(second[k] * bins), bins - 1)
            ceiling[slot] = max(ceiling[slot], first[k])
    # From the top down: the best first rate of each bin and of all above it.
    for slot in range(bins - 1, -1, -1):
        ceiling[slot] = max(ceiling[slot], ceiling[slot + 1])
    # A point is promising if it beats every point of the bins above its own.
    for k in range(first.size):
        marked[k] = False
        if not (math.isnan(first[k]) or math.isnan(second[k])):
            slot = min(int(second[k] * bins), bins - 1)
            marked[k] = first[k] > ceiling[slot + 1]


@kernel
def switch_odds(first: Floats, second: Floats, i: int, j: int, code: int) -> float:
    """The odds m / (1 - m) at which point j, with the larger second rate, draws level with point i.

    `first` and `second` have two rows: numerators and denominators. With u the transform of the metric the odds are
    (u(p_i) - u(p_j)) / (u(r_j) - u(r_i)); `code` 0 is u(x) = x, 1 is -1/x, 2 is log x.
    """
    # lost and won are the numerators of p_i - p_j and r_j - r_i, exact even where the rates nearly agree.
    a, b, c, d = first[0, i], first[1, i], first[0, j], first[1, j]
    e, f, g, h = second[0, i], second[1, i], second[0, j], second[1, j]
    lost, won = cross(a, d, c, b), cross(g, f, e, h)
    if code == 0:  # x: over the product of the denominators
        return float((lost / (b * d)) / (won / (f * h)))
    if code == 1:  # -1 / x: over the product of the numerators
        return float((lost / (a * c)) / (won / (e * g)))
    # log x: the logarithm of a ratio of rates, 1 + what was lost or won relatively
    return float(math.log1p(lost / (c * b)) / math.log1p(won / (e * h)))


@kernel
def upper_envelope(first: Floats, second: Floats, code: int, margin: float, chain: Ints, odds: Floats) -> int:
    """Write the points of the upper hull and the odds from which each is best; return how many there are.

    The points come with the second rate rising and the first falling. A point whose range of odds is narrower than
    `margin` (relative) is left out; a negative margin keeps such doubtful points.
    """
    size = 0
    for j in range(first.shape[1]):
        # chain[:size] is the hull of the points before j, odds rising. Drop those that j makes useless.
        level = 0.0
        while size > 0:
            top = chain[size - 1]
            won = cross(second[0, j], second[1, top], second[0, top], second[1, j])
            if won <= 0.0:  # a twin of the last point: no odds at which it is better
                level = -1.0
                break
            # j is better than the last point from `level` on. If that is before the last point itself becomes best, the
            # last point is best nowhere.
            level = switch_odds(first, second, top, j, code)
            if size > 1 and level <= odds[size - 1] * (1.0 + margin):
                size -= 1
                continue
            break
        # j is best from `level` to infinity among the points so far; the first point from 0 on.
        if level >= 0.0:
            chain[size] = j
            odds[size] = level if size > 0 else 0.0
            size += 1
    return size
