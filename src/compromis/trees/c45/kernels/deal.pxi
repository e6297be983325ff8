# Sending a C4.5 node's instances down its branches: thresholds, shares of missing values, errors of a branch.


cdef class Nodes:
    """A tree as arrays: the children of a node are `n_children` nodes from `first_child` on; `is_empty` is uint8.

    `total` and `class_total` are the node's own distribution; `branch_total` and `branch_class` are what its
    parent's test recorded for the branch that leads to it. The two differ where values are missing.
    """

    cdef const long long[::1] attribute
    cdef const double[::1] threshold
    cdef const long long[::1] first_child, n_children
    cdef const unsigned char[::1] is_empty
    cdef const double[::1] total
    cdef const double[:, ::1] class_total
    cdef const double[::1] branch_total
    cdef const double[:, ::1] branch_class

    def __init__(
        self,
        *,
        const long long[::1] attribute,
        const double[::1] threshold,
        const long long[::1] first_child,
        const long long[::1] n_children,
        const unsigned char[::1] is_empty,
        const double[::1] total,
        const double[:, ::1] class_total,
        const double[::1] branch_total,
        const double[:, ::1] branch_class,
    ):
        self.attribute, self.threshold = attribute, threshold
        self.first_child, self.n_children, self.is_empty = first_child, n_children, is_empty
        self.total, self.class_total = total, class_total
        self.branch_total, self.branch_class = branch_total, branch_class


cdef inline bint not_above(double value, double cut) noexcept nogil:
    """Weka's value <= cut with tolerance."""
    return value - cut < TOLERANCE or value <= cut


def data_threshold(const double[::1] values, const int[::1] order, Py_ssize_t n_known, double cut):
    """The largest value of the data not above the cut, as a scan through the data with tolerance finds it.

    Notes
    -----
    The scan replaces its candidate only by a value larger by more than 1e-6, so among values closer than that the
    first in the data wins. Only the chain of such neighbours below the cut can matter, and only it is scanned.
    """
    cdef Py_ssize_t low = 0, high = n_known, at, first, last, i
    cdef double threshold
    cdef const int[::1] candidates
    with nogil:
        # Binary search: all values before `low` are not above the cut, none from `high` on is.
        while low < high:
            at = (low + high) // 2
            if not_above(values[order[at]], cut):
                low = at + 1
            else:
                high = at
        # The chain of neighbours closer than the tolerance, down from the largest value not above the cut.
        last = first = low - 1
        while first > 0 and not values[order[first]] - values[order[first - 1]] > TOLERANCE:
            first -= 1
    if low == 0:
        return cut
    if values[order[first]] == values[order[last]]:
        return values[order[last]]
    # Scan the chain in the order of the data, as Weka does.
    candidates = np.sort(order[first : last + 1])
    with nogil:
        threshold = values[candidates[0]]
        for i in range(1, candidates.shape[0]):
            if values[candidates[i]] - threshold > TOLERANCE:
                threshold = values[candidates[i]]
    return threshold


cdef inline Py_ssize_t branch_of(Columns columns, Py_ssize_t a, double threshold, Py_ssize_t row) noexcept nogil:
    """The branch a row takes at a test, -1 where its value is missing."""
    cdef double value
    if columns.n_values[a] > 0:
        return columns.nominal[columns.slot[a], row]
    value = columns.numeric[columns.slot[a], row]
    if isnan(value):
        return -1
    return 0 if not_above(value, threshold) else 1


cdef inline double share_of(double branch_total, double total) noexcept nogil:
    """The share of a branch; not a number where nothing is known, and then no comparison holds."""
    return branch_total / total if total != 0.0 else NAN


cdef void count_dealt(
    Columns columns,
    Py_ssize_t a,
    double threshold,
    const int[::1] rows,
    const double[::1] branch_total,
    double total,
    long long[::1] count,
) noexcept nogil:
    """Write how many instances each branch gets; missing values go to all."""
    cdef Py_ssize_t i, b, branch
    for b in range(count.shape[0]):
        count[b] = 0
    for i in range(rows.shape[0]):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch >= 0:
            count[branch] += 1
        else:
            for b in range(count.shape[0]):
                if share_of(branch_total[b], total) > TOLERANCE:
                    count[b] += 1


cdef void write_dealt(
    Columns columns,
    Py_ssize_t a,
    double threshold,
    const int[::1] rows,
    const double[::1] weights,
    const double[::1] branch_total,
    double total,
    long long[::1] place,
    int[::1] dealt_rows,
    double[::1] dealt_weights,
) noexcept nogil:
    """Write the instances of each branch from `place` on, in the order of the instances; places move on."""
    cdef Py_ssize_t i, b, branch
    cdef double share
    for i in range(rows.shape[0]):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch >= 0:
            dealt_rows[place[branch]] = rows[i]
            dealt_weights[place[branch]] = weights[i]
            place[branch] += 1
            continue
        for b in range(place.shape[0]):
            share = share_of(branch_total[b], total)
            if share > TOLERANCE:
                dealt_rows[place[b]] = rows[i]
                dealt_weights[place[b]] = share * weights[i]
                place[b] += 1


def deal(
    Columns columns,
    Py_ssize_t a,
    double threshold,
    const int[::1] rows,
    const double[::1] weights,
    const double[::1] branch_total,
    double total,
):
    """Instances of each branch laid end to end: (where each begins, rows, weights); missing values go to all."""
    # Count the instances of each branch, then sum: branch b begins where those before it end.
    cdef Py_ssize_t n_branches = branch_total.shape[0]
    begin = np.zeros(n_branches + 1, dtype=np.int64)
    cdef long long[::1] count = begin[1:]
    with nogil:
        count_dealt(columns, a, threshold, rows, branch_total, total, count)
    np.cumsum(begin, out=begin)
    # Write them, each branch in the order of the instances.
    dealt_rows, dealt_weights = np.empty(begin[n_branches], dtype=np.int32), np.empty(begin[n_branches])
    cdef long long[::1] place = begin[:n_branches].copy()
    cdef int[::1] row_view = dealt_rows
    cdef double[::1] weight_view = dealt_weights
    with nogil:
        write_dealt(columns, a, threshold, rows, weights, branch_total, total, place, row_view, weight_view)
    return begin, dealt_rows, dealt_weights


cdef void part_rows(
    int[::1] rows, const int[::1] branch, const long long[::1] begin, long long[::1] place, int[::1] parted
) noexcept nogil:
    """Part rows by branch, in place and stably; `place` and `parted` are scratch."""
    cdef Py_ssize_t i, b
    for b in range(place.shape[0]):
        place[b] = begin[b]
    for i in range(rows.shape[0]):
        b = branch[rows[i]]
        parted[place[b]] = rows[i]
        place[b] += 1
    for i in range(rows.shape[0]):
        rows[i] = parted[i]


def part_presorted(Columns columns, test, int[:, ::1] order, int[::1] rows, stretch, int[::1] branch):
    """Part a node's stretch of the rows, and of the order by each attribute, by branch; return where each begins.

    `test` is (attribute, threshold, number of branches); `branch` is scratch, one entry per row of the table.
    """
    cdef Py_ssize_t a = test[0], n_branches = test[2], start = stretch[0], stop = stretch[1], i, b, k
    cdef double threshold = test[1]
    found = np.zeros(n_branches + 1, dtype=np.int64)
    cdef long long[::1] begin = found, place = np.empty(n_branches, dtype=np.int64)
    cdef int[::1] parted = np.empty(stop - start, dtype=np.int32)
    with nogil:
        # The branch of each row, and where each branch begins within the stretch.
        for i in range(start, stop):
            b = branch_of(columns, a, threshold, rows[i])
            branch[rows[i]] = b
            begin[b + 1] += 1
        for b in range(n_branches):
            begin[b + 1] += begin[b]
        # The rows and every attribute's order part alike; a stable parting keeps the orders ascending.
        part_rows(rows[start:stop], branch, begin, place, parted)
        for k in range(order.shape[0]):
            part_rows(order[k, start:stop], branch, begin, place, parted)
    return found


def distribution_at_test(
    Columns columns,
    const int[::1] classes,
    Py_ssize_t a,
    double threshold,
    const int[::1] rows,
    const double[::1] weights,
    n_sizes,
):
    """Distribution of instances at a test: total, per class, per branch, per branch and class.

    `n_sizes` is (number of branches, number of classes).
    """
    found = np.zeros(n_sizes[1]), np.zeros(n_sizes[0]), np.zeros(n_sizes)
    cdef double[::1] class_total = found[0], branch_total = found[1], share = np.empty(n_sizes[0])
    cdef double[:, ::1] branch_class = found[2]
    cdef double known = 0.0, total
    cdef Py_ssize_t i, branch, label
    with nogil:
        # Known values first; those missing are spread over the branches in proportion to them.
        for i in range(rows.shape[0]):
            branch = branch_of(columns, a, threshold, rows[i])
            if branch < 0:
                continue
            label = classes[rows[i]]
            branch_class[branch, label] += weights[i]
            branch_total[branch] += weights[i]
            class_total[label] += weights[i]
            known += weights[i]
        total = add_unknown(
            columns, a, classes, rows, weights, known, class_total, branch_total, branch_class, share
        )
    return total, *found


def leaf_distribution(const int[::1] classes, const int[::1] rows, const double[::1] weights, Py_ssize_t n_classes):
    """Total and class weights of instances, summed in their order."""
    found = np.zeros(n_classes)
    cdef double[::1] class_total = found
    cdef double total
    with nogil:
        total = sum_node(classes, rows, weights, class_total)
    return total, found


cpdef inline double added_errors(double total, double errors, double confidence, double deviate) noexcept nogil:
    """What the upper limit of a binomial confidence interval adds to the errors observed.

    Notes
    -----
    With z the normal deviate of 1 - confidence, f = (e + 0.5) / N: N (f + z^2/2N + z sqrt(f/N - f^2/N + z^2/4N^2))
    / (1 + z^2/N) - e; for e = 0 exactly N (1 - confidence^(1/N)), between 0 and 1 linear (Quinlan 1993, 4.2).
    """
    cdef double base
    if confidence > 0.5:
        return 0.0
    if errors < 1.0:
        base = total * (1.0 - pow(confidence, 1.0 / total))
        if errors == 0.0:
            return base
        return base + errors * (limit_errors(total, 1.0, deviate) - base)
    return limit_errors(total, errors, deviate)


cdef inline double limit_errors(double total, double errors, double deviate) noexcept nogil:
    """The normal approximation of `added_errors`, for at least one error."""
    cdef double f, z2, root, limit
    if errors + 0.5 >= total:
        return max(total - errors, 0.0)
    f = (errors + 0.5) / total
    z2 = deviate * deviate
    root = sqrt(f / total - f * f / total + z2 / (4.0 * total * total))
    limit = (f + z2 / (2.0 * total) + deviate * root) / (1.0 + z2 / total)
    return limit * total - errors


cpdef inline double estimated_errors(
    double total, const double[::1] class_total, double confidence, double deviate
) noexcept nogil:
    """Pessimistic number of errors of a leaf with this distribution."""
    cdef double errors
    if fabs(total) < TOLERANCE:
        return 0.0
    errors = total - class_total[heaviest_class(class_total)]
    return errors + added_errors(total, errors, confidence, deviate)


cdef double sum_by_branch(
    Columns columns,
    Py_ssize_t a,
    double threshold,
    const int[::1] rows,
    const double[::1] weights,
    double[::1] branch_total,
    double[::1] share,
) noexcept nogil:
    """Weight that each branch of a test gets of the instances, missing values in proportion; return the total.

    `share` is scratch, one entry per branch.
    """
    cdef Py_ssize_t n_branches = branch_total.shape[0], n_missing = 0, i, b, branch
    cdef double known = 0.0, total
    for b in range(n_branches):
        branch_total[b] = 0.0
    for i in range(rows.shape[0]):
        branch = branch_of(columns, a, threshold, rows[i])
        if branch < 0:
            n_missing += 1
        else:
            branch_total[branch] += weights[i]
            known += weights[i]
    if n_missing == 0:
        return known
    # Missing values in proportion to the known ones, whose shares are fixed before the first of them is added.
    for b in range(n_branches):
        share[b] = 1.0 / n_branches if fabs(known) < TOLERANCE else branch_total[b] / known
    total = known
    for i in range(rows.shape[0]):
        if branch_of(columns, a, threshold, rows[i]) < 0:
            total += weights[i]
            for b in range(n_branches):
                branch_total[b] += share[b] * weights[i]
    return total


cdef class Pile:
    """Scratch of `branch_errors`: the nodes of a subtree and the instances that wait at them.

    A position stands for a node that was reached: its errors go to its parent's position, and its instances are those
    from `first` to `last`. Positions that are still to be looked at wait in `pending`.
    """

    cdef int[::1] rows
    cdef double[::1] weights
    cdef long long[::1] node, parent, first, last, pending
    cdef double[::1] errors
    cdef Py_ssize_t n_positions, n_pending
    cdef double[::1] class_total, branch_total, share
    cdef long long[::1] count, place

    def __init__(self, Py_ssize_t n_nodes, Py_ssize_t most_children, Py_ssize_t n_classes):
        cdef long long[:, ::1] positions = np.empty((5, n_nodes), dtype=np.int64)
        cdef long long[:, ::1] counts = np.empty((2, most_children), dtype=np.int64)
        cdef double[:, ::1] sums = np.empty((2, most_children))
        self.rows, self.weights = np.empty(0, dtype=np.int32), np.empty(0)
        self.node, self.parent, self.first, self.last = positions[0], positions[1], positions[2], positions[3]
        self.pending, self.errors = positions[4], np.empty(n_nodes)
        self.count, self.place, self.branch_total, self.share = counts[0], counts[1], sums[0], sums[1]
        self.class_total = np.empty(n_classes)

    cdef int reserve(self, Py_ssize_t size) except -1 nogil:
        """Make room for so many instances; those that are there stay."""
        if size > self.rows.shape[0]:
            with gil:
                more = 2 * size - self.rows.shape[0]
                self.rows = np.concatenate((self.rows, np.empty(more, dtype=np.int32)))
                self.weights = np.concatenate((self.weights, np.empty(more)))
        return 0

    cdef void push(self, Py_ssize_t node, Py_ssize_t parent, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Add a position, to be looked at before those that are pending."""
        cdef Py_ssize_t position = self.n_positions
        self.node[position], self.parent[position] = node, parent
        self.first[position], self.last[position] = first, last
        self.errors[position] = 0.0
        self.pending[self.n_pending] = position
        self.n_positions += 1
        self.n_pending += 1


cdef int deal_position(Columns columns, Nodes nodes, Pile pile, Py_ssize_t position) except -1 nogil:
    """Replace the instances of an inner node by those of its children, the last child first."""
    cdef Py_ssize_t node = pile.node[position], first = pile.first[position], last = pile.last[position]
    cdef Py_ssize_t a = nodes.attribute[node], n_branches = nodes.n_children[node], end = last, i, b
    cdef double threshold = nodes.threshold[node], total
    total = sum_by_branch(
        columns,
        a,
        threshold,
        pile.rows[first:last],
        pile.weights[first:last],
        pile.branch_total[:n_branches],
        pile.share[:n_branches],
    )
    count_dealt(columns, a, threshold, pile.rows[first:last], pile.branch_total, total, pile.count[:n_branches])
    # Deal behind the instances, where nothing waits. The first child comes last, so that nothing is behind it when its turn comes.
    for b in range(n_branches - 1, -1, -1):
        pile.place[b] = end
        end += pile.count[b]
    pile.reserve(end)
    write_dealt(
        columns,
        a,
        threshold,
        pile.rows[first:last],
        pile.weights[first:last],
        pile.branch_total,
        total,
        pile.place[:n_branches],
        pile.rows,
        pile.weights,
    )
    # What was dealt moves down to where the node's own instances were, which nothing needs any more.
    for i in range(end - last):
        pile.rows[first + i] = pile.rows[last + i]
        pile.weights[first + i] = pile.weights[last + i]
    end = first
    for b in range(n_branches - 1, -1, -1):
        pile.push(nodes.first_child[node] + b, position, end, end + pile.count[b])
        end += pile.count[b]
    return 0


cdef int drain(
    Columns columns, const int[::1] classes, Nodes nodes, Pile pile, double confidence, double deviate
) except -1 nogil:
    """Take the pending instances down to the leaves, and write the errors of each leaf."""
    cdef Py_ssize_t position, first, last
    cdef double total
    while pile.n_pending > 0:
        pile.n_pending -= 1
        position = pile.pending[pile.n_pending]
        first, last = pile.first[position], pile.last[position]
        if first == last:
            continue
        if nodes.n_children[pile.node[position]] > 0:
            deal_position(columns, nodes, pile, position)
            continue
        total = sum_node(classes, pile.rows[first:last], pile.weights[first:last], pile.class_total)
        pile.errors[position] = estimated_errors(total, pile.class_total, confidence, deviate)
    return 0


def branch_errors(
    Columns columns,
    const int[::1] classes,
    Nodes nodes,
    Py_ssize_t top,
    const int[::1] rows,
    const double[::1] weights,
    at_leaf,
    Pile pile,
):
    """Estimated errors of the subtree under `top` if it received these instances; `at_leaf` is (confidence, deviate).

    Errors are added child after child, as a recursion would; positions are given to the last child first, so that
    going backwards through them does just that.
    """
    cdef double confidence = at_leaf[0], deviate = at_leaf[1]
    cdef Py_ssize_t n = rows.shape[0], k
    with nogil:
        pile.n_positions = pile.n_pending = 0
        pile.reserve(n)
        pile.rows[:n] = rows
        pile.weights[:n] = weights
        pile.push(top, -1, 0, n)
        drain(columns, classes, nodes, pile, confidence, deviate)
        # Add up from the last position to the first: children come after their parents.
        for k in range(pile.n_positions - 1, 0, -1):
            pile.errors[pile.parent[k]] += pile.errors[k]
    return pile.errors[0]


cdef inline void write_shares(double total, const double* class_total, double weight, double[::1] out) noexcept nogil:
    """Put weight x class share into `out`, zeros where there is no weight to share."""
    cdef Py_ssize_t c
    for c in range(out.shape[0]):
        out[c] = 0.0 if fabs(total) < TOLERANCE else weight * (class_total[c] / total)


cdef inline Py_ssize_t settle(
    Columns columns, Nodes nodes, Py_ssize_t row, Py_ssize_t node, double weight, double[::1] out
) noexcept nogil:
    """Follow known values from `node`: return -1 with the shares in `out`, or the node whose value is missing."""
    cdef Py_ssize_t branch, child
    while nodes.n_children[node] > 0:
        branch = branch_of(columns, nodes.attribute[node], nodes.threshold[node], row)
        if branch < 0:
            return node
        child = nodes.first_child[node] + branch
        # No training instance reached this leaf: its parent's test has a record of the branch, or the parent itself answers.
        if nodes.is_empty[child]:
            if nodes.branch_total[child] > TOLERANCE:
                write_shares(nodes.branch_total[child], &nodes.branch_class[child, 0], weight, out)
            else:
                write_shares(nodes.total[node], &nodes.class_total[node, 0], weight, out)
            return -1
        node = child
    write_shares(nodes.total[node], &nodes.class_total[node, 0], weight, out)
    return -1


cdef inline void add_to(double[:, ::1] total, Py_ssize_t k, const double[::1] part) noexcept nogil:
    """Add `part` to row k of `total`."""
    cdef Py_ssize_t c
    for c in range(part.shape[0]):
        total[k, c] += part[c]


def class_shares(Columns columns, Nodes nodes, Py_ssize_t n_rows, Py_ssize_t depth, double[:, ::1] out):
    """Shares of the classes for each row; sums are nested as the tree is, child after child.

    `depth` is the depth of the tree: one frame per missing value on a path is kept.
    """
    cdef Py_ssize_t n_classes = out.shape[1], row, top, node, parent, child, missing_at, c
    cdef double[:, ::1] frame_sum = np.zeros((depth + 1, n_classes))
    cdef long long[::1] frame_node = np.zeros(depth + 1, dtype=np.int64), frame_next = frame_node.copy()
    cdef double[::1] frame_weight = np.zeros(depth + 1), shares = np.zeros(n_classes)
    cdef double weight
    cdef bint resumed
    with nogil:
        for row in range(n_rows):
            top = -1
            node = 0
            weight = 1.0
            resumed = True
            while resumed:
                # Follow known values to a leaf, or to a node whose value is missing, which opens a frame for its children.
                missing_at = settle(columns, nodes, row, node, weight, shares)
                if missing_at >= 0:
                    top += 1
                    frame_node[top] = missing_at
                    frame_weight[top] = weight
                    frame_next[top] = 0
                    for c in range(n_classes):
                        frame_sum[top, c] = 0.0
                elif top >= 0:
                    add_to(frame_sum, top, shares)
                # The next child of the innermost frame goes on; a frame without any left closes into the one around it.
                resumed = False
                while top >= 0 and not resumed:
                    parent = frame_node[top]
                    if frame_next[top] == nodes.n_children[parent]:
                        for c in range(n_classes):
                            shares[c] = frame_sum[top, c]
                        top -= 1
                        if top >= 0:
                            add_to(frame_sum, top, shares)
                        continue
                    child = nodes.first_child[parent] + frame_next[top]
                    frame_next[top] += 1
                    if not nodes.is_empty[child]:
                        node = child
                        weight = share_of(nodes.branch_total[child], nodes.total[parent]) * frame_weight[top]
                        resumed = True
            for c in range(n_classes):
                out[row, c] = shares[c]
