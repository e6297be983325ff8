# Upper hulls of rates given as fractions: which point is best at which weight.

cdef enum:  # the transform u of the rates; the table of `compromis.tradeoffs.envelope` has the same numbers
    IDENTITY
    RECIPROCAL
    LOGARITHM

cdef double SPLITTER = 134217729.0  # 2^27 + 1: cuts a float64 into two halves whose products are exact


cpdef inline double product_error(double a, double b, double product) noexcept nogil:
    """The rounding error of `product` = a * b (Dekker 1971): a * b - product, exactly."""
    # Cut both factors into halves of 26 bits, so that the products of halves have no rounding.
    cdef double scaled = SPLITTER * a
    cdef double a_high = scaled - (scaled - a)
    cdef double a_low = a - a_high
    scaled = SPLITTER * b
    cdef double b_high = scaled - (scaled - b)
    cdef double b_low = b - b_high
    # Add them up from the largest: what is left after taking `product` away is the error.
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


cpdef inline double cross(double a, double b, double c, double d) noexcept nogil:
    """A * b - c * d without cancellation: right to about one rounding."""
    cdef double left = a * b, right = c * d
    cdef double difference = left - right
    if fabs(difference) > 0.5 * (fabs(left) + fabs(right)):  # nothing cancels: the difference keeps its digits
        return difference
    return difference + (product_error(a, b, left) - product_error(c, d, right))


def mark_promising(const double[::1] first, const double[::1] second, double[::1] ceiling, unsigned char[::1] marked):
    """Unmark points surely beaten: worse in `first` than one whose `second` lies in a higher bin of [0, 1].

    `ceiling` is room for one number per bin. Two passes instead of a sort of everything.
    """
    cdef Py_ssize_t bins = ceiling.shape[0] - 1, k, slot
    with nogil:
        # The best first rate of each bin of the second.
        for slot in range(bins + 1):
            ceiling[slot] = -INFINITY
        for k in range(first.shape[0]):
            if not (isnan(first[k]) or isnan(second[k])):
                slot = min(<Py_ssize_t>(second[k] * bins), bins - 1)
                ceiling[slot] = max(ceiling[slot], first[k])
        # From the top down: the best first rate of each bin and of all above it.
        for slot in range(bins - 1, -1, -1):
            ceiling[slot] = max(ceiling[slot], ceiling[slot + 1])
        # A point is promising if it beats every point of the bins above its own.
        for k in range(first.shape[0]):
            marked[k] = False
            if not (isnan(first[k]) or isnan(second[k])):
                slot = min(<Py_ssize_t>(second[k] * bins), bins - 1)
                marked[k] = first[k] > ceiling[slot + 1]


cdef double odds_between(
    const double[:, :] first, const double[:, :] second, Py_ssize_t i, Py_ssize_t j, int code
) noexcept nogil:
    """The odds m / (1 - m) at which point j, with the larger second rate, draws level with point i: see `switch_odds`."""
    # lost and won are the numerators of p_i - p_j and r_j - r_i, exact even where the rates nearly agree.
    cdef double a = first[0, i], b = first[1, i], c = first[0, j], d = first[1, j]
    cdef double e = second[0, i], f = second[1, i], g = second[0, j], h = second[1, j]
    cdef double lost = cross(a, d, c, b), won = cross(g, f, e, h)
    if code == IDENTITY:  # x: over the product of the denominators
        return (lost / (b * d)) / (won / (f * h))
    if code == RECIPROCAL:  # -1 / x: over the product of the numerators
        return (lost / (a * c)) / (won / (e * g))
    # log x: the logarithm of a ratio of rates, 1 + what was lost or won relatively
    return log1p(lost / (c * b)) / log1p(won / (e * h))


cdef int check_transform(int code) except -1:
    """Raise for a number that is no transform."""
    if not IDENTITY <= code <= LOGARITHM:
        raise ValueError(f"there is no transform {code}")
    return 0


def switch_odds(const double[:, :] first, const double[:, :] second, Py_ssize_t i, Py_ssize_t j, int code):
    """The odds m / (1 - m) at which point j, with the larger second rate, draws level with point i.

    `first` and `second` have two rows: numerators and denominators. With u the transform of the metric the odds are
    (u(p_i) - u(p_j)) / (u(r_j) - u(r_i)); `code` 0 is u(x) = x, 1 is -1/x, 2 is log x.
    """
    check_transform(code)
    return odds_between(first, second, i, j, code)


def upper_envelope(
    const double[:, :] first, const double[:, :] second, int code, double margin, long long[::1] chain, double[::1] odds
):
    """Write the points of the upper hull and the odds from which each is best; return how many there are.

    The points come with the second rate rising and the first falling. A point whose range of odds is narrower than
    `margin` (relative) is left out; a negative margin keeps such doubtful points.
    """
    cdef Py_ssize_t size = 0, j, top
    cdef double level, won
    check_transform(code)
    with nogil:
        for j in range(first.shape[1]):
            # chain[:size] is the hull of the points before j, odds rising. Drop those that j makes useless.
            level = 0.0
            while size > 0:
                top = chain[size - 1]
                won = cross(second[0, j], second[1, top], second[0, top], second[1, j])
                if won <= 0.0:  # a twin of the last point: no odds at which it is better
                    level = -1.0
                    break
                # j is better than the last point from `level` on. If that is before the last point itself becomes best,
                # the last point is best nowhere.
                level = odds_between(first, second, top, j, code)
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
