# Choosing the test of a C4.5 node: Weka's order of instances, ties included, and the best test of all attributes.
#
# Weights of instances are summed in this order. With fractional weights another order of equal values gives other
# last bits, and those can decide a tie, so a library sort would not do.

cdef double LARGEST = 1.7976931348623157e308  # missing values are ordered as if they were this one
cdef double NEAR_AVERAGE = 1e-3


cdef inline void exchange(int[::1] places, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Exchange two positions."""
    cdef int place = places[i]
    places[i] = places[j]
    places[j] = place


cdef inline void order_if_needed(const double[::1] keys, int[::1] places, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Exchange two positions if their keys descend."""
    if keys[places[i]] > keys[places[j]]:
        exchange(places, i, j)


cdef inline Py_ssize_t part(const double[::1] keys, int[::1] places, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    """Put the median of three where it belongs within low..high and return its index."""
    cdef Py_ssize_t centre = (low + high) // 2, i = low, j = high - 1
    cdef double pivot
    order_if_needed(keys, places, low, centre)
    order_if_needed(keys, places, low, high)
    order_if_needed(keys, places, centre, high)
    # The median of three is in the centre; it waits before the last while the others are parted by it.
    exchange(places, centre, high - 1)
    pivot = keys[places[high - 1]]
    while True:
        # No key up to i is above the pivot, none from j on below it. Keys equal to it stop both scans, as in Weka.
        i += 1
        while keys[places[i]] < pivot:
            i += 1
        j -= 1
        while keys[places[j]] > pivot:
            j -= 1
        if i >= j:
            break
        exchange(places, i, j)
    exchange(places, i, high - 1)
    return i


cdef void order_places(const double[::1] keys, int[::1] places, long long[::1] pending) noexcept nogil:
    """See `quicksort_places`."""
    cdef Py_ssize_t n_pending = 2, low, high, at
    if places.shape[0] < 2:
        return
    pending[0] = 0
    pending[1] = places.shape[0] - 1
    while n_pending > 0:
        # `pending` holds pairs (low, high) of ranges that are still to be ordered; ranges of up to three are ordered by hand.
        n_pending -= 2
        low = pending[n_pending]
        high = pending[n_pending + 1]
        if high - low > 2:
            at = part(keys, places, low, high)
            pending[n_pending] = low
            pending[n_pending + 1] = at - 1
            pending[n_pending + 2] = at + 1
            pending[n_pending + 3] = high
            n_pending += 4
        elif high - low == 2:
            order_if_needed(keys, places, low, low + 1)
            order_if_needed(keys, places, low, high)
            order_if_needed(keys, places, low + 1, high)
        elif high - low == 1:
            order_if_needed(keys, places, low, high)


def quicksort_places(const double[::1] keys, int[::1] places, long long[::1] pending):
    """Order `places` so that keys[places] ascends; `pending` is scratch of twice the length and 4 more.

    The parts of a range are disjoint, so the order of work does not change the result.
    """
    with nogil:
        order_places(keys, places, pending)


cpdef inline Py_ssize_t heaviest_class(const double[::1] class_total) noexcept nogil:
    """The first class that no other exceeds by more than the tolerance."""
    cdef Py_ssize_t best = 0, c
    cdef double most = 0.0
    for c in range(class_total.shape[0]):
        if class_total[c] - most > TOLERANCE:
            most = class_total[c]
            best = c
    return best


cdef bint is_final(double node_weight, const double[::1] node_class, long long min_leaf) noexcept nogil:
    """Whether a node is too light to split, or of one class."""
    if 2.0 * min_leaf - node_weight > TOLERANCE:
        return True
    return fabs(node_weight - node_class[heaviest_class(node_class)]) < TOLERANCE


cdef Py_ssize_t best_test(Judgement judged) noexcept nogil:
    """The attribute of largest gain ratio among the tests of at least average gain; LEAF if there is none."""
    cdef double total = 0.0, average, most = 0.0
    cdef Py_ssize_t n_tests = 0, best = LEAF, a
    # The average gain of the tests that count for it.
    for a in range(judged.gain.shape[0]):
        if judged.is_test[a] and judged.in_average[a]:
            total += judged.gain[a]
            n_tests += 1
    if n_tests == 0:
        return LEAF
    average = total / n_tests
    # Among tests of about that gain at least, the first of largest ratio.
    for a in range(judged.gain.shape[0]):
        if judged.is_test[a] and judged.gain[a] >= average - NEAR_AVERAGE and judged.ratio[a] - most > TOLERANCE:
            best = a
            most = judged.ratio[a]
    return best


cdef inline bint is_missing(Columns columns, Py_ssize_t a, Py_ssize_t row) noexcept nogil:
    """Whether the value of attribute `a` is unknown in this row."""
    if columns.n_values[a] == 0:
        return isnan(columns.numeric[columns.slot[a], row])
    return columns.nominal[columns.slot[a], row] < 0


cdef double add_unknown(
    Columns columns,
    Py_ssize_t a,
    const int[::1] classes,
    const int[::1] rows,
    const double[::1] weights,
    double known,
    double[::1] class_total,
    double[::1] branch_total,
    double[:, ::1] branch_class,
    double[::1] share,
) noexcept nogil:
    """Spread the instances whose value is missing over the branches, in proportion; return the new total.

    `share` is scratch, one entry per branch.
    """
    cdef Py_ssize_t n_branches = branch_total.shape[0], b, i, label
    cdef double total = known, more
    for b in range(n_branches):
        share[b] = 1.0 / n_branches if fabs(known) < TOLERANCE else branch_total[b] / known
    # Shares are those of the known instances, fixed before the first of the others is added.
    for i in range(rows.shape[0]):
        if not is_missing(columns, a, rows[i]):
            continue
        label = classes[rows[i]]
        class_total[label] += weights[i]
        total += weights[i]
        for b in range(n_branches):
            more = share[b] * weights[i]
            branch_class[b, label] += more
            branch_total[b] += more
    return total


cdef class Room:
    """Scratch for the choice of a node's test, one entry per instance."""

    cdef double[::1] keys, values, weights
    cdef int[::1] classes, places, rows
    cdef long long[::1] pending

    def __init__(self, Py_ssize_t n, bint sorts):
        cdef double[:, ::1] floats = np.empty((3 if sorts else 2, n))
        cdef int[:, ::1] ints = np.empty((3 if sorts else 1, n), dtype=np.int32)
        self.keys, self.weights, self.classes = floats[0], floats[1], ints[0]
        if sorts:
            self.values, self.places, self.rows = floats[2], ints[1], ints[2]
            self.pending = np.empty(2 * n + 4, dtype=np.int64)


cdef Py_ssize_t sort_by_attribute(
    Columns columns, Py_ssize_t slot, int[::1] rows, double[::1] weights, Room room
) noexcept nogil:
    """Order a node's instances by one attribute, in place, missing last; return the number known before them.

    `room.keys` receives the ordered values.
    """
    cdef Py_ssize_t n = rows.shape[0], n_known = n, i
    cdef double value
    # Missing values are ordered as the largest number, in Weka's own order of equal keys.
    for i in range(n):
        value = columns.numeric[slot, rows[i]]
        room.values[i] = LARGEST if isnan(value) else value
        room.places[i] = i
    order_places(room.values, room.places, room.pending)
    # Rows and weights follow the order; the first missing value ends the known ones.
    for i in range(n):
        room.rows[i] = rows[i]
        room.weights[i] = weights[i]
    for i in range(n):
        rows[i] = room.rows[room.places[i]]
        weights[i] = room.weights[room.places[i]]
        room.keys[i] = room.values[room.places[i]]
        if n_known == n and isnan(columns.numeric[slot, rows[i]]):
            n_known = i
    return n_known


cdef double sum_node(
    const int[::1] classes, const int[::1] rows, const double[::1] weights, double[::1] class_total
) noexcept nogil:
    """Write the weight of each class and return the total, both summed in the order of the instances."""
    cdef double total = 0.0
    cdef Py_ssize_t i, c
    for c in range(class_total.shape[0]):
        class_total[c] = 0.0
    for i in range(rows.shape[0]):
        class_total[classes[rows[i]]] += weights[i]
        total += weights[i]
    return total


cdef void judge_in_order(
    Columns columns,
    const int[::1] classes,
    int[::1] rows,
    double[::1] weights,
    double node_weight,
    long long min_leaf,
    Judgement judged,
    Room room,
) noexcept nogil:
    """Judge each attribute's test; each numeric one reorders the instances, and the next one starts from that order, as in Weka."""
    cdef Py_ssize_t a, i, n_known
    for a in range(columns.slot.shape[0]):
        if columns.n_values[a] > 0:
            judge_nominal(judged, a, columns, classes, rows, weights, node_weight, min_leaf)
        else:
            n_known = sort_by_attribute(columns, columns.slot[a], rows, weights, room)
            for i in range(n_known):
                room.classes[i] = classes[rows[i]]
            judge_numeric(judged, a, room.keys, room.classes, weights, n_known, node_weight, min_leaf)


def choose_in_order(
    Columns columns, const int[::1] classes, int[::1] rows, double[::1] weights, long long min_leaf, Judgement judged
):
    """The test of a node and its total weight; leaves the node's instances in Weka's order.

    The totals of the test chosen, missing values included, stay in `judged`; for a leaf, those of the node.
    """
    cdef Py_ssize_t best, first, last
    cdef double total
    cdef bint final
    cdef Room room
    with nogil:
        total = sum_node(classes, rows, weights, judged.node_class)
        final = is_final(total, judged.node_class, min_leaf)
    if final:
        return LEAF, total
    room = Room(rows.shape[0], True)
    with nogil:
        judge_in_order(columns, classes, rows, weights, total, min_leaf, judged, room)
        best = best_test(judged)
        # Instances whose value is missing go to all branches of the test chosen.
        if best != LEAF:
            first, last = judged.first_branch[best], judged.first_branch[best + 1]
            total = add_unknown(
                columns,
                best,
                classes,
                rows,
                weights,
                judged.known[best],
                judged.class_total[best],
                judged.branch_total[first:last],
                judged.branch_class[first:last],
                judged.share,
            )
    return best, total


cdef double gather_weights(
    const int[::1] classes, const int[::1] rows, const double[::1] weights, double[::1] own, Judgement judged
) noexcept nogil:
    """Write the weight of each of a node's rows, from a whole column, and the node's own distribution; return the total."""
    cdef Py_ssize_t i
    for i in range(rows.shape[0]):
        own[i] = weights[rows[i]]
    return sum_node(classes, rows, own, judged.node_class)


cdef void judge_presorted(
    Columns columns,
    const int[::1] classes,
    const int[:, ::1] order,
    const int[::1] rows,
    const double[::1] weights,
    const double[::1] own_weights,
    Py_ssize_t start,
    double node_weight,
    long long min_leaf,
    Judgement judged,
    Room room,
) noexcept nogil:
    """Judge each attribute's test, numeric ones in the order that was sorted once for the whole table."""
    cdef Py_ssize_t a, i, row, slot
    for a in range(columns.slot.shape[0]):
        slot = columns.slot[a]
        if columns.n_values[a] > 0:
            judge_nominal(judged, a, columns, classes, rows, own_weights, node_weight, min_leaf)
        else:
            for i in range(rows.shape[0]):
                row = order[slot, start + i]
                room.keys[i] = columns.numeric[slot, row]
                room.classes[i] = classes[row]
                room.weights[i] = weights[row]
            judge_numeric(judged, a, room.keys, room.classes, room.weights, rows.shape[0], node_weight, min_leaf)


def choose_presorted(
    Columns columns,
    const int[::1] classes,
    const int[:, ::1] order,
    const int[::1] rows,
    const double[::1] weights,
    stretch,
    long long min_leaf,
    Judgement judged,
):
    """The test of a node and its total weight, where all values are known and all weights whole numbers.

    The node's rows are a stretch of `rows`, and in ascending order of each numeric attribute the same stretch of
    that attribute's `order`; `weights` is a whole column.
    """
    cdef Py_ssize_t start = stretch[0], best
    cdef const int[::1] own_rows = rows[start : stretch[1]]
    cdef double[::1] own_weights = np.empty(own_rows.shape[0])
    cdef double total
    cdef bint final
    cdef Room room
    with nogil:
        total = gather_weights(classes, own_rows, weights, own_weights, judged)
        final = is_final(total, judged.node_class, min_leaf)
    if final:
        return LEAF, total
    room = Room(own_rows.shape[0], False)
    with nogil:
        judge_presorted(
            columns, classes, order, own_rows, weights, own_weights, start, total, min_leaf, judged, room
        )
        best = best_test(judged)
    return best, total
