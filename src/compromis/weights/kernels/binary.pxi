# All cuts between two classes: the ratio of their weights against the ratio of their votes.

cdef (double, double) value_of_two(
    Objective objective, double first_taken, double second_taken, double by_amount
) noexcept nogil:
    """Shortfall and loss when that much of the first and of the second class is predicted as the second; `by_amount` is paid for amounts."""
    cdef double first_left = objective.support[0] - first_taken, second_left = objective.support[1] - second_taken
    cdef double kept = first_left + second_left, taken = first_taken + second_taken, shortfall = 0.0, truly_first
    if objective.constrained:
        shortfall = class_shortfall(objective, 0, first_left, kept) + class_shortfall(objective, 1, second_taken, taken)
    if objective.costly:
        truly_first = by_amount + first_left * objective.cost[0, 0] + first_taken * objective.cost[0, 1]
        return shortfall, truly_first + second_left * objective.cost[1, 0] + second_taken * objective.cost[1, 1]
    return shortfall, class_loss(objective, 0, first_left, kept) + class_loss(objective, 1, second_taken, taken)


def sweep_cuts(Objective objective, tuple cuts, tuple sizes, tuple always, double max_ratio, tuple extras=None):
    """Try every cell of R = w_2 / w_1 within 1 / max_ratio and max_ratio.

    A row is predicted as the second class when R exceeds its cut, the ratio of its votes v_1 / v_2. `cuts` holds the
    positive finite cuts of the rows of either class, sorted upwards, `sizes` their multiplicities (one number: the
    same for all), `always` what is predicted as the second class at any R; `extras` is what amounts cost when nothing else is, and by
    how much each cut changes that. Returned: the ends of the best cell, its
    shortfall and loss; the least shortfall and loss of any cell, those narrower than rounding included; the cells tried.
    """
    cdef const double[::1] first = cuts[0], second = cuts[1], first_size = sizes[0], second_size = sizes[1]
    cdef double first_taken = always[0], second_taken = always[1], by_amount = 0.0 if extras is None else extras[0]
    cdef const double[::1] first_extra = first if extras is None else extras[1], second_extra = second if extras is None else extras[2]
    cdef bint by_row = extras is not None
    cdef double best_low = 1.0, best_high = 1.0, best_shortfall = INFINITY, best_loss = INFINITY
    cdef double any_shortfall = INFINITY, any_loss = INFINITY
    cdef double position = 0.0, coming, low, high, shortfall, loss
    cdef Py_ssize_t i = 0, j = 0, cells = 0
    cdef bint first_sized = first_size.shape[0] > 1, second_sized = second_size.shape[0] > 1
    with nogil:
        while not objective.failed:
            # the cell between the last cut and the coming one; an open end is taken to be a factor 4 away
            coming = INFINITY
            if i < first.shape[0]:
                coming = first[i]
            if j < second.shape[0]:
                coming = min(coming, second[j])
            low = max(position if position > 0.0 else min(0.25 * coming, 0.25), 1.0 / max_ratio)
            high = min(coming if coming < INFINITY else max(4.0 * position, 4.0 * low), max_ratio)
            if high > low:
                cells += 1
                shortfall, loss = value_of_two(objective, first_taken, second_taken, by_amount)
                if is_better(shortfall, loss, any_shortfall, any_loss):
                    any_shortfall, any_loss = shortfall, loss
                # the best cell is one that weights can be trusted to hit; of equal ones the widest
                if (
                    high > low * (1.0 + merged_flips)
                    and not is_better(best_shortfall, best_loss, shortfall, loss)
                    and (is_better(shortfall, loss, best_shortfall, best_loss) or high / low > best_high / best_low)
                ):
                    best_low, best_high, best_shortfall, best_loss = low, high, shortfall, loss
            if coming == INFINITY:
                break
            # rows of both classes cross together where their cuts are equal
            position = coming
            while i < first.shape[0] and first[i] == coming:
                first_taken += first_size[i if first_sized else 0]
                if by_row:
                    by_amount += first_extra[i]
                i += 1
            while j < second.shape[0] and second[j] == coming:
                second_taken += second_size[j if second_sized else 0]
                if by_row:
                    by_amount += second_extra[j]
                j += 1
    objective.raise_error()
    return best_low, best_high, best_shortfall, best_loss, any_shortfall, any_loss, cells
