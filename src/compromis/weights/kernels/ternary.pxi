# All cells of the weights of three classes, pruned by bounds on boxes of weights.
#
# With weights (1, A, B) and x = ln A, y = ln B, row i is of the first class while x < x_i and y < y_i, of the second
# while x > x_i and y - x < d_i, of the third otherwise; x_i = ln(v_1 / v_2), y_i = ln(v_1 / v_3), d_i = ln(v_2 / v_3).
# As d_i = y_i - x_i, its three borders are half-lines from the point (x_i, y_i):
#
#      y = ln B
#         |        third          /           level: y = y_i, left of x_i, between first and third
#         |                     /             slanted: y = x + d_i, right of x_i, between second and third
#     y_i |- - ---------------*               upright: x = x_i, below y_i, between first and second
#         |        first      |    second
#         |                   |
#         +-------------------+-------------- x = ln A
#                            x_i
#
# The half-lines of all rows cut the plane into cells; no decision changes within a cell, so one try of each is enough.
# A box is a rectangle of (x, y). Rows that go one way only in all of it are counted; if all others were predicted right as
# far as they can be, the loss would be a bound. Boxes whose bound is no better than the best cell are dropped, the others
# are split, and small ones are gone through slab by slab: a slab is the part of a box between two neighbouring x_i. No
# upright line crosses it: rows with x_i to its right have level lines there and are of the first or third class, those to
# its left have slanted ones and are of the second or third. A cell of a slab lies between two neighbours of either kind.

cdef enum:
    LEAF = 1500  # boxes of at most about so many cells are gone through
    SAMPLE = 64  # room for the rows of which a median is taken

ctypedef double[7] Counted  # hits and predicted of the three classes, and the cost


cdef class TernaryRows:
    """Where each row changes its class, its true class and its multiplicity."""

    cdef readonly const double[::1] x, y, d
    cdef const long long[::1] truth
    cdef const double[::1] size, amount

    def __init__(
        self,
        const double[::1] x,
        const double[::1] y,
        const double[::1] d,
        const long long[::1] truth,
        const double[::1] size,
        amount=None,
    ):
        self.x, self.y, self.d, self.truth, self.size = x, y, d, truth, size
        self.amount = size if amount is None else amount

    def __len__(self):
        return self.x.shape[0]


cdef class Lines:
    """Scratch: the level lines y = s or the slanted lines y = x + m across a slab, and what changes at each."""

    cdef int[::1] order  # the undecided rows of a box by where they go over
    cdef double[::1] at  # where each step begins, and where the last ends
    cdef double[:, ::1] gained  # hits and predicted that the class keeps and that the third class gains, and the cost
    cdef Py_ssize_t steps

    def __init__(self, Py_ssize_t rows):
        self.order, self.at = np.empty(rows, dtype=np.intc), np.empty(rows + 2)
        self.gained = np.empty((rows + 1, 5))


cdef class Boxes:
    """The stack of boxes still to be processed, what is predicted in each, and scratch."""

    cdef readonly Py_ssize_t depth  # how many boxes there are
    cdef double[:, ::1] ends  # x and y from and to
    cdef double[:, ::1] counts
    cdef Py_ssize_t[:, ::1] span  # the undecided rows of the box, as a part of the row list
    cdef int[::1] listed
    cdef Lines level, slanted
    cdef int[::1] by_x, spare
    cdef double[::1] border

    def __init__(self, const double[::1] ends, Py_ssize_t rows, Py_ssize_t most):
        self.depth = 1
        self.ends, self.counts, self.span = np.zeros((most, 4)), np.zeros((most, 7)), np.zeros((most, 2), dtype=np.intp)
        self.ends[0, :] = ends
        self.span[0, 1] = rows
        self.listed = np.arange(rows, dtype=np.intc)
        self.level, self.slanted = Lines(rows), Lines(rows)
        self.by_x, self.spare, self.border = np.empty(rows, dtype=np.intc), np.empty(rows, dtype=np.intc), np.empty(rows)

    cdef int make_room(self) except -1:
        """Let the row list grow, so that the undecided rows of the last box fit behind those of the box."""
        cdef Py_ssize_t begin = self.span[self.depth - 1, 0], end = self.span[self.depth - 1, 1]
        self.listed = np.concatenate((self.listed, np.empty(self.listed.shape[0] + end - begin, dtype=np.intc)))
        return 0


cdef class BestCell:
    """The best cell so far: its shortfall and loss, its middle, and the best of any cell, those narrower than rounding included."""

    cdef readonly double shortfall, loss, any_shortfall, any_loss, x, y

    def __init__(self, double shortfall, double loss, double x, double y):
        self.shortfall, self.loss, self.any_shortfall, self.any_loss = shortfall, loss, shortfall, loss
        self.x, self.y = x, y


cdef inline (double, double) value_of_three(Objective objective, const double* counts, const double* least) noexcept nogil:
    """Shortfall and loss of hits, predicted and cost; capacities are used up by what `least` predicts."""
    cdef double shortfall = 0.0, loss = counts[6]
    cdef Py_ssize_t k
    if not objective.costly:
        loss = 0.0
        for k in range(3):
            loss += class_loss(objective, k, counts[k], counts[3 + k])
    if objective.constrained:
        for k in range(3):
            shortfall += missed_minima(objective, k, counts[k], counts[3 + k]) + excess(objective, k, least[3 + k])
    return shortfall, loss


cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t) settle_rows(
    TernaryRows rows,
    Objective objective,
    const double* ends,
    int[::1] listed,
    (Py_ssize_t, Py_ssize_t) span,
    double* counts,
    double* ideal,
) noexcept nogil:
    """Count the rows that a box decides, list the others behind them; return their number and how many change at an x and at a y within.

    `counts` is added to; `ideal` becomes the counts with every undecided row right if it can be, and nowhere if not.
    """
    cdef double x, y, d, size, least, x0 = ends[0], x1 = ends[1], y0 = ends[2], y1 = ends[3]
    cdef Py_ssize_t e, i, k, t, count = span[1], across_x = 0, across_y = 0
    cdef bint may_1, may_2, may_3, costly = objective.costly
    for k in range(7):
        ideal[k] = 0.0
    for e in range(span[0], span[1]):
        # which classes some weights of the box give the row: the signs of x - x_i, y - y_i and y - x - d_i at its corners
        i = listed[e]
        x, y, d, t, size = rows.x[i], rows.y[i], rows.d[i], rows.truth[i], rows.size[i]
        may_1 = x > x0 and y > y0
        may_2 = x < x1 and d > y0 - x1
        may_3 = y < y1 and d < y1 - x0
        # one way only: the row is settled for every box within this one
        if may_1 + may_2 + may_3 == 1:
            k = 0 if may_1 else 1 if may_2 else 2
            counts[3 + k] += size
            if k == t:
                counts[k] += size
            if costly:
                counts[6] += price(objective, t, k, size, rows.amount[i])
            continue
        # several ways, or none by rounding: the row stays undecided
        listed[count] = <int>i
        count += 1
        if may_1 and may_2 and x < x1:
            across_x += 1
        if may_1 and may_3 and y < y1:
            across_y += 1
        # no weights of the box do better than this: right where it can be, counted nowhere where it cannot
        if (t == 0 and may_1) or (t == 1 and may_2) or (t == 2 and may_3):
            ideal[t] += size
            ideal[3 + t] += size
        if costly:
            least = INFINITY
            if may_1 or not (may_2 or may_3):
                least = min(least, price(objective, t, 0, size, rows.amount[i]))
            if may_2 or not (may_1 or may_3):
                least = min(least, price(objective, t, 1, size, rows.amount[i]))
            if may_3 or not (may_1 or may_2):
                least = min(least, price(objective, t, 2, size, rows.amount[i]))
            ideal[6] += least
    for k in range(7):
        ideal[k] += counts[k]
    return count - span[1], across_x, across_y


cdef double middle_of(
    TernaryRows rows, Boxes boxes, (Py_ssize_t, Py_ssize_t) undecided, const double* ends, int axis
) noexcept nogil:
    """About the median of where the undecided rows leave the first class within a box, along x (axis 0) or y (axis 2)."""
    cdef double x, y, d, x0 = ends[0], x1 = ends[1], y0 = ends[2], y1 = ends[3]
    cdef Py_ssize_t e, i, step, count = 0, taken = 0
    cdef double[SAMPLE] sample
    cdef int[SAMPLE] order
    for e in range(undecided[0], undecided[1]):
        i = boxes.listed[e]
        x, y, d = rows.x[i], rows.y[i], rows.d[i]
        if axis == 0:
            if x > x0 and x < x1 and y > y0 and d > y0 - x1:
                boxes.border[count] = x
                count += 1
        elif y > y0 and y < y1 and x > x0 and d < y1 - x0:
            boxes.border[count] = y
            count += 1
    # every step-th of them is sample enough for a split: at most 61 of them
    step = max(1, count // 31)
    e = 0
    while e < count:
        sample[taken], order[taken] = boxes.border[e], <int>taken
        taken += 1
        e += step
    insertion_sort(sample, order, 0, taken)
    return sample[order[taken // 2]]


cdef void sort_rows(
    const double* values, const int* listed, Py_ssize_t count, int* order, int* spare
) noexcept nogil:
    """Write the listed rows by rising value."""
    cdef Py_ssize_t e
    for e in range(count):
        order[e] = listed[e]
    if count > 24:
        merge_sort(values, order, spare, 0, count)
    else:
        insertion_sort(values, order, 0, count)


cdef void line_up(
    TernaryRows rows,
    Objective objective,
    Lines lines,
    Py_ssize_t count,
    const double* values,
    Py_ssize_t k,
    (double, double, double) ends,
) noexcept nogil:
    """Follow one class k (0 or 1) of a slab upwards as its rows go over to the third class.

    The rows are those of `lines.order` with x on k's side of the slab at ends[2]; `values` says where each goes over,
    within ends[0] and ends[1].
    """
    cdef Py_ssize_t e, i, t, c, step = 0
    cdef double size, low = ends[0], high = ends[1], side = ends[2]
    cdef bint costly = objective.costly
    # first everything as class k
    lines.at[0] = low
    for c in range(5):
        lines.gained[0, c] = 0.0
    for e in range(count):
        i = lines.order[e]
        if (k == 0) != (rows.x[i] > side):
            continue
        t, size = rows.truth[i], rows.size[i]
        lines.gained[0, 1] += size
        if t == k:
            lines.gained[0, 0] += size
        if costly:
            lines.gained[0, 4] += price(objective, t, k, size, rows.amount[i])
    # then over one by one; rows below the slab go over in the first step
    for e in range(count):
        i = lines.order[e]
        if (k == 0) != (rows.x[i] > side):
            continue
        if values[i] >= high:
            break
        t, size = rows.truth[i], rows.size[i]
        if values[i] > lines.at[step]:
            step += 1
            lines.at[step] = values[i]
            for c in range(5):
                lines.gained[step, c] = lines.gained[step - 1, c]
        lines.gained[step, 1] -= size
        lines.gained[step, 3] += size
        if t == k:
            lines.gained[step, 0] -= size
        if t == 2:
            lines.gained[step, 2] += size
        if costly:
            lines.gained[step, 4] += price(objective, t, 2, size, rows.amount[i])
            lines.gained[step, 4] -= price(objective, t, k, size, rows.amount[i])
    lines.at[step + 1] = high
    lines.steps = step + 1


cdef Py_ssize_t walk_slab(
    Objective objective, const double* counts, double lo, double hi, Lines level, Lines slanted, BestCell best
) noexcept nogil:
    """Try every cell of a slab lo < x < hi; return how many there are.

    Cell (i, j) lies above the i-th of the `level` lines y = s and the j-th of the `slanted` lines y = x + m; some x in
    the slab reaches it iff max(lo, s_i - m_j+1) < min(hi, s_i+1 - m_j).
    """
    cdef Counted now
    cdef Py_ssize_t i, j, cells = 0, begin = 0
    cdef double left, right, bottom, top, x, shortfall, loss
    for i in range(level.steps):
        # slanted lines that lie below this level all through the slab stay below the next ones too
        while begin < slanted.steps - 1 and slanted.at[begin + 1] <= level.at[i] - hi:
            begin += 1
        for j in range(begin, slanted.steps):
            if slanted.at[j] >= level.at[i + 1] - lo:  # from here on above the level all through the slab
                break
            # the x that reach the cell, and at their middle the y
            left, right = max(lo, level.at[i] - slanted.at[j + 1]), min(hi, level.at[i + 1] - slanted.at[j])
            if not left < right:
                continue
            x = 0.5 * (left + right)
            bottom, top = max(level.at[i], slanted.at[j] + x), min(level.at[i + 1], slanted.at[j + 1] + x)
            if not bottom < top:
                continue
            # what is settled, plus what the first and second class keep and the third gains
            cells += 1
            now[0], now[3] = counts[0] + level.gained[i, 0], counts[3] + level.gained[i, 1]
            now[1], now[4] = counts[1] + slanted.gained[j, 0], counts[4] + slanted.gained[j, 1]
            now[2] = counts[2] + level.gained[i, 2] + slanted.gained[j, 2]
            now[5] = counts[5] + level.gained[i, 3] + slanted.gained[j, 3]
            now[6] = counts[6] + level.gained[i, 4] + slanted.gained[j, 4]
            shortfall, loss = value_of_three(objective, now, now)
            # any cell may disprove that the best is optimal; only one wider than rounding can be the best
            if is_better(shortfall, loss, best.any_shortfall, best.any_loss):
                best.any_shortfall, best.any_loss = shortfall, loss
            if min(right - left, top - bottom) > merged_flips and is_better(shortfall, loss, best.shortfall, best.loss):
                best.shortfall, best.loss = shortfall, loss
                best.x, best.y = x, 0.5 * (bottom + top)
    return cells


cdef Py_ssize_t walk_box(
    TernaryRows rows,
    Objective objective,
    Boxes boxes,
    (Py_ssize_t, Py_ssize_t) undecided,
    const double* ends,
    const double* counts,
    double limit,
    BestCell best,
) noexcept nogil:
    """Try every cell of a box, slab by slab between the x of its undecided rows; return how many there are."""
    cdef Py_ssize_t cells = 0, e = 0, count = undecided[1] - undecided[0]
    cdef double hi, lo = ends[0]
    if count > 0:
        sort_rows(&rows.x[0], &boxes.listed[undecided[0]], count, &boxes.by_x[0], &boxes.spare[0])
        sort_rows(&rows.y[0], &boxes.listed[undecided[0]], count, &boxes.level.order[0], &boxes.spare[0])
        sort_rows(&rows.d[0], &boxes.listed[undecided[0]], count, &boxes.slanted.order[0], &boxes.spare[0])
    while lo < ends[1] and not objective.failed:
        # within a slab the first class keeps the rows to its right, the second those to its left
        while e < count and not rows.x[boxes.by_x[e]] > lo:
            e += 1
        hi = min(rows.x[boxes.by_x[e]], ends[1]) if e < count else ends[1]
        line_up(rows, objective, boxes.level, count, &rows.y[0], 0, (ends[2], ends[3], lo))
        line_up(
            rows, objective, boxes.slanted, count, &rows.d[0], 1, (max(ends[2] - hi, -limit), min(ends[3] - lo, limit), lo)
        )
        cells += walk_slab(objective, counts, lo, hi, boxes.level, boxes.slanted, best)
        lo = hi
    return cells


cdef Py_ssize_t process_box(
    TernaryRows rows, Objective objective, Boxes boxes, double limit, BestCell best
) noexcept nogil:
    """Take the last box off the stack and drop it, split it or go through it; return the cells tried, -1 where the row list is too short."""
    cdef Counted counts, ideal
    cdef double[4] ends
    cdef Py_ssize_t c, child, count, across_x, across_y, depth = boxes.depth - 1
    cdef Py_ssize_t begin = boxes.span[depth, 0], end = boxes.span[depth, 1], cells = 1 + (end - begin) // 64
    cdef double shortfall, loss, at
    cdef int axis
    if end + (end - begin) > boxes.listed.shape[0]:
        return -1
    # settle its rows; their list is needed no longer once its children are done
    boxes.depth = depth
    for c in range(4):
        ends[c] = boxes.ends[depth, c]
    for c in range(7):
        counts[c] = boxes.counts[depth, c]
    count, across_x, across_y = settle_rows(rows, objective, ends, boxes.listed, (begin, end), counts, ideal)
    # drop the box if even the ideal is no better than the best cell; what is settled uses up capacity in any of its cells
    shortfall, loss = value_of_three(objective, ideal, counts)
    if not is_better(shortfall, loss, best.shortfall, best.loss):
        return cells
    # go through a small box, or one that cannot be split; split any other at the middle of the busier axis
    if (across_x + 1) * (count + 1) <= LEAF or across_x + across_y == 0 or depth + 2 > boxes.span.shape[0]:
        return cells + walk_box(rows, objective, boxes, (end, end + count), ends, counts, limit, best)
    axis = 0 if across_x >= across_y else 2
    at = middle_of(rows, boxes, (end, end + count), ends, axis)
    for child in range(2):
        for c in range(4):
            boxes.ends[depth + child, c] = ends[c]
        boxes.ends[depth + child, axis + 1 - child] = at
        for c in range(7):
            boxes.counts[depth + child, c] = counts[c]
        boxes.span[depth + child, 0], boxes.span[depth + child, 1] = end, end + count
    boxes.depth += 2
    return cells


def search_boxes(
    TernaryRows rows, Objective objective, Boxes boxes, double limit, BestCell best, Py_ssize_t quota
):
    """Process boxes until none is left or `quota` cells were tried; return the cells tried.

    `limit` is the largest difference of y and x; boxes keep x and y within theirs.
    """
    cdef Py_ssize_t tried = 0, cells = 0
    while boxes.depth > 0 and cells < quota and not objective.failed:
        with nogil:
            while boxes.depth > 0 and cells < quota and not objective.failed:
                tried = process_box(rows, objective, boxes, limit, best)
                if tried < 0:
                    break
                cells += tried
        if tried < 0:
            boxes.make_room()
    objective.raise_error()
    return cells
