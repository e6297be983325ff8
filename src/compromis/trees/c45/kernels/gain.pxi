# How good one C4.5 test is: information gain and gain ratio, numeric cuts and nominal values.
#
# The sums are taken in the order of the instances given, and every comparison has Weka's tolerance of 1e-6, so
# that trees agree with J48 to the last bit wherever a tie is decided by rounding.

cdef double LEAST_GAP = 1e-5  # values closer than this are never separated
cdef double LARGEST_MIN_SPLIT = 25.0
cdef double LARGEST_SUMMAND = 8e307
cdef double LOG_2 = log(2.0)


cdef class Columns:
    """A table without its classes: attribute a is row `slot[a]` of `numeric`, or of `nominal` if it has values."""

    cdef const double[:, ::1] numeric
    cdef const int[:, ::1] nominal
    cdef readonly const long long[::1] slot, n_values

    def __init__(
        self,
        const double[:, ::1] numeric,
        const int[:, ::1] nominal,
        const long long[::1] slot,
        const long long[::1] n_values,
    ):
        self.numeric, self.nominal, self.slot, self.n_values = numeric, nominal, slot, n_values


cdef class Judgement:
    """Scratch for one node: what was found about each attribute's test, branches laid end to end.

    `in_average` and `is_test` are flags as uint8; `share` is room for one number per branch.
    """

    cdef readonly const long long[::1] first_branch
    cdef const unsigned char[::1] in_average
    cdef readonly unsigned char[::1] is_test
    cdef readonly double[::1] gain, cut
    cdef double[::1] ratio, known
    cdef double[:, ::1] class_total, branch_class
    cdef readonly double[::1] branch_total
    cdef double[::1] node_class, share
    cdef const double[::1] times_log2

    def __init__(
        self,
        *,
        const long long[::1] first_branch,
        const unsigned char[::1] in_average,
        unsigned char[::1] is_test,
        double[::1] gain,
        double[::1] ratio,
        double[::1] cut,
        double[::1] known,
        double[:, ::1] class_total,
        double[::1] branch_total,
        double[:, ::1] branch_class,
        double[::1] node_class,
        double[::1] share,
        const double[::1] times_log2,
    ):
        self.first_branch, self.in_average, self.is_test = first_branch, in_average, is_test
        self.gain, self.ratio, self.cut, self.known = gain, ratio, cut, known
        self.class_total, self.branch_total, self.branch_class = class_total, branch_total, branch_class
        self.node_class, self.share, self.times_log2 = node_class, share, times_log2

    def of_node(self):
        """Return a copy of the node's own weight by class."""
        return self.node_class.base.copy()

    def of_test(self, Py_ssize_t a):
        """Return copies of the totals of attribute `a`'s test: by class, by branch, by branch and class."""
        own = slice(self.first_branch[a], self.first_branch[a + 1])
        return self.class_total.base[a].copy(), self.branch_total.base[own].copy(), self.branch_class.base[own].copy()

    cdef void clear_test(self, Py_ssize_t a) noexcept nogil:
        """Say that attribute `a` has no test, and forget its totals."""
        cdef Py_ssize_t b, c
        self.is_test[a] = False
        self.gain[a] = self.ratio[a] = self.cut[a] = self.known[a] = 0.0
        for c in range(self.class_total.shape[1]):
            self.class_total[a, c] = 0.0
        for b in range(self.first_branch[a], self.first_branch[a + 1]):
            self.branch_total[b] = 0.0
            for c in range(self.branch_class.shape[1]):
                self.branch_class[b, c] = 0.0


cdef inline double times_log2(double x) noexcept nogil:
    """Return x log2(x), and 0 below the tolerance."""
    if x < TOLERANCE:
        return 0.0
    return x * log(x) / LOG_2


def times_log2_table(Py_ssize_t size):
    """Return x log2(x) for the whole numbers below `size`."""
    table = np.empty(size)
    cdef double[::1] entries = table
    cdef Py_ssize_t i
    with nogil:
        for i in range(size):
            entries[i] = times_log2(<double>i)
    return table


cdef inline double look_up_times_log2(double x, const double[::1] table) noexcept nogil:
    """Return x log2(x), from the table where x is known to be a whole number; an empty table says that it is not."""
    if table.shape[0] > 0 and x < table.shape[0]:
        return table[<Py_ssize_t>x]
    return times_log2(x)


cpdef inline double smallest_branch(double known_weight, long long n_classes, long long min_leaf) noexcept nogil:
    """Weight that both sides of a numeric cut need: a tenth of a class's share, within min_leaf and 25."""
    cdef double least = 0.1 * known_weight / n_classes
    if least - min_leaf < TOLERANCE:
        return <double>min_leaf
    if least - LARGEST_MIN_SPLIT > TOLERANCE:
        return LARGEST_MIN_SPLIT
    return least


cdef double gain_ratio(Judgement judged, Py_ssize_t a, double gain, double known_weight, double node_weight) noexcept nogil:
    """Gain over the entropy of the branches, the missing values counted as one more branch."""
    cdef double split_entropy = 0.0
    cdef Py_ssize_t b
    if known_weight > TOLERANCE:
        for b in range(judged.first_branch[a], judged.first_branch[a + 1]):
            split_entropy -= times_log2(judged.branch_total[b])
        split_entropy -= times_log2(node_weight - known_weight)
        split_entropy += times_log2(node_weight)
    if fabs(split_entropy) < TOLERANCE:
        return 0.0
    return gain / (split_entropy / node_weight)


cdef inline double gain_per_instance(double less_entropy, double known_weight, double node_weight) noexcept nogil:
    """The fall of entropy per instance, scaled by the share of known values."""
    cdef double unknown_rate = (node_weight - known_weight) / node_weight
    cdef double scaled = (1.0 - unknown_rate) * less_entropy
    if fabs(scaled) < TOLERANCE:
        return 0.0
    return scaled / known_weight


cdef inline bint at_least(double a, double b) noexcept nogil:
    """Weka's a >= b with tolerance."""
    return b - a < TOLERANCE or a >= b


cdef inline double middle(double low, double high) noexcept nogil:
    """The middle of two neighbouring values, or the lower one where no number lies between."""
    cdef bint huge = max(fabs(low), fabs(high)) > LARGEST_SUMMAND  # their sum may be infinite, and halving them is exact
    cdef double cut = high / 2.0 + low / 2.0 if huge else (high + low) / 2.0
    return low if cut == high else cut


cdef double sum_branches(
    Judgement judged, Py_ssize_t first, const int[::1] classes, const double[::1] weights, Py_ssize_t n_left, Py_ssize_t n_known
) noexcept nogil:
    """Totals left and right of a cut, each summed afresh, as branches `first` and the next; their sum is returned."""
    cdef double left = 0.0, right = 0.0
    cdef Py_ssize_t i, c
    for c in range(judged.branch_class.shape[1]):
        judged.branch_class[first, c] = 0.0
        judged.branch_class[first + 1, c] = 0.0
    for i in range(n_left):
        left += weights[i]
        judged.branch_class[first, classes[i]] += weights[i]
    for i in range(n_left, n_known):
        right += weights[i]
        judged.branch_class[first + 1, classes[i]] += weights[i]
    judged.branch_total[first] = left
    judged.branch_total[first + 1] = right
    return left + right


cdef void judge_numeric(
    Judgement judged,
    Py_ssize_t a,
    const double[::1] keys,
    const int[::1] classes,
    const double[::1] weights,
    Py_ssize_t n_known,
    double node_weight,
    long long min_leaf,
) noexcept nogil:
    """Write the best cut of attribute `a` into the judgement, from ascending keys with classes and weights.

    Notes
    -----
    Gain is lowered by log2(number of admissible cuts) / node weight (Quinlan 1996, the MDL correction).
    """
    cdef Py_ssize_t n_classes = judged.class_total.shape[1], left_branch = judged.first_branch[a]
    cdef Py_ssize_t right_branch = left_branch + 1, i, j, c, last = -1, moved = 0, n_cuts = 0
    cdef double known = 0.0, min_split, entropy = 0.0, left = 0.0, right, best = 0.0, kept, gain
    # Totals of the known values; too few of them for two branches of the least weight make no test.
    judged.clear_test(a)
    for i in range(n_known):
        judged.class_total[a, classes[i]] += weights[i]
        known += weights[i]
    judged.known[a] = known
    min_split = smallest_branch(known, n_classes, min_leaf)
    if 2.0 * min_split - n_known > TOLERANCE:
        return
    # Start with all instances right of the cut, and the entropy before it.
    for c in range(n_classes):
        judged.branch_class[right_branch, c] = judged.class_total[a, c]
    for c in range(n_classes):
        entropy += look_up_times_log2(judged.class_total[a, c], judged.times_log2)
    entropy = look_up_times_log2(known, judged.times_log2) - entropy
    right = known
    for i in range(1, n_known):
        # A cut between i - 1 and i, unless the values are as good as equal; all instances before i move to the left.
        if not keys[i - 1] + LEAST_GAP < keys[i]:
            continue
        for j in range(moved, i):
            judged.branch_class[right_branch, classes[j]] -= weights[j]
            judged.branch_class[left_branch, classes[j]] += weights[j]
            right -= weights[j]
            left += weights[j]
        moved = i
        if not (at_least(left, min_split) and at_least(right, min_split)):
            continue
        # What the cut leaves of the entropy, branch by branch; the first cut of largest gain wins.
        kept = 0.0
        for c in range(n_classes):
            kept += look_up_times_log2(judged.branch_class[left_branch, c], judged.times_log2)
        kept -= look_up_times_log2(left, judged.times_log2)
        for c in range(n_classes):
            kept += look_up_times_log2(judged.branch_class[right_branch, c], judged.times_log2)
        kept -= look_up_times_log2(right, judged.times_log2)
        gain = gain_per_instance(entropy + kept, known, node_weight)
        if gain - best > TOLERANCE:
            best = gain
            last = i - 1
        n_cuts += 1
    if n_cuts == 0:
        return
    best -= (log(<double>n_cuts) / LOG_2) / node_weight
    if best < TOLERANCE or last < 0:
        return
    # Sums that were moved from right to left have rounding errors; Weka sums both branches afresh.
    known = sum_branches(judged, left_branch, classes, weights, last + 1, n_known)
    judged.is_test[a] = True
    judged.gain[a] = best
    judged.ratio[a] = gain_ratio(judged, a, best, known, node_weight)
    judged.cut[a] = middle(keys[last], keys[last + 1])
    judged.known[a] = known


cdef void judge_nominal(
    Judgement judged,
    Py_ssize_t a,
    Columns columns,
    const int[::1] classes,
    const int[::1] rows,
    const double[::1] weights,
    double node_weight,
    long long min_leaf,
) noexcept nogil:
    """Write the test of attribute `a` with one branch per value into the judgement.

    `classes` is a whole column read at `rows`; `weights` goes along with `rows`.
    """
    cdef Py_ssize_t slot = columns.slot[a], first = judged.first_branch[a], last = judged.first_branch[a + 1]
    cdef Py_ssize_t i, b, c, value, label, n_large = 0
    cdef double known = 0.0, entropy = 0.0, kept = 0.0, gain
    # Totals by value and class; instances without a value are left out.
    judged.clear_test(a)
    for i in range(rows.shape[0]):
        value = columns.nominal[slot, rows[i]]
        if value < 0:
            continue
        label = classes[rows[i]]
        judged.branch_class[first + value, label] += weights[i]
        judged.branch_total[first + value] += weights[i]
        judged.class_total[a, label] += weights[i]
        known += weights[i]
    judged.known[a] = known
    # A test needs two branches of the least weight.
    for b in range(first, last):
        if at_least(judged.branch_total[b], <double>min_leaf):
            n_large += 1
    if n_large < 2:
        return
    for c in range(judged.class_total.shape[1]):
        entropy += look_up_times_log2(judged.class_total[a, c], judged.times_log2)
    entropy = look_up_times_log2(known, judged.times_log2) - entropy
    # The entropy before the test, less what its branches leave of it.
    for b in range(first, last):
        for c in range(judged.branch_class.shape[1]):
            kept += look_up_times_log2(judged.branch_class[b, c], judged.times_log2)
        kept -= look_up_times_log2(judged.branch_total[b], judged.times_log2)
    gain = gain_per_instance(entropy + kept, known, node_weight)
    judged.is_test[a] = True
    judged.gain[a] = gain
    judged.ratio[a] = gain_ratio(judged, a, gain, known, node_weight)
