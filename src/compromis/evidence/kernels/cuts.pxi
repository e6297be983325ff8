# Counting pairs of small integers, and the cuts of a ranking with areas over them.


cdef inline bint outside(long long label, long long low, unsigned long long span) noexcept nogil:
    """Whether a label is below `low` or above low + span: one comparison, as below `low` the difference wraps around."""
    return <unsigned long long>label - <unsigned long long>low > span


cdef Py_ssize_t add_pairs(
    const long long[::1] truth, const long long[::1] decision, long long low, long long high, long long[:, :, ::1] table
) noexcept nogil:
    """See `count_pairs`."""
    cdef unsigned long long span = <unsigned long long>high - <unsigned long long>low
    cdef Py_ssize_t rows = truth.shape[0], i
    cdef long long a, b, c, d
    # two rows at a time, one for each half; both labels of a row are checked before it is counted
    for i in range(0, rows - 1, 2):
        a, b, c, d = truth[i], decision[i], truth[i + 1], decision[i + 1]
        if outside(a, low, span) or outside(b, low, span):
            return i
        table[0, a - low, b - low] += 1
        if outside(c, low, span) or outside(d, low, span):
            return i + 1
        table[1, c - low, d - low] += 1
    # the last row of an odd number
    if rows % 2:
        a, b = truth[rows - 1], decision[rows - 1]
        if outside(a, low, span) or outside(b, low, span):
            return rows - 1
        table[0, a - low, b - low] += 1
    return rows


def count_pairs(
    const long long[::1] truth, const long long[::1] decision, long long low, long long high, long long[:, :, ::1] table
):
    """Add the pairs (truth - low, decision - low) to `table`; return how many rows came before one outside low..high.

    `table` has shape (2, width, width): two halves take turns, because a store to the cell just written would have to
    wait for it, and most rows of a good classifier hit the same few cells.
    """
    cdef Py_ssize_t counted
    with nogil:
        counted = add_pairs(truth, decision, low, high, table)
    return counted


cdef Py_ssize_t add_weights(
    const long long[::1] truth,
    const long long[::1] decision,
    const double[::1] weight,
    long long low,
    long long high,
    double[:, :, ::1] table,
) noexcept nogil:
    """See `weigh_pairs`."""
    cdef unsigned long long span = <unsigned long long>high - <unsigned long long>low
    cdef Py_ssize_t i
    cdef long long a, b
    # row by row, in order: sums of weights round by their order
    for i in range(truth.shape[0]):
        a, b = truth[i], decision[i]
        if outside(a, low, span) or outside(b, low, span):
            return i
        table[0, a - low, b - low] += weight[i]
        table[1, a - low, b - low] += weight[i] * weight[i]
    return truth.shape[0]


def weigh_pairs(
    const long long[::1] truth,
    const long long[::1] decision,
    const double[::1] weight,
    long long low,
    long long high,
    double[:, :, ::1] table,
):
    """Add weights to ``table[0]`` and squared weights to ``table[1]``; return how many rows came before one outside."""
    cdef Py_ssize_t counted
    with nogil:
        counted = add_weights(truth, decision, weight, low, high, table)
    return counted


def split_scores(const double[:] score, const unsigned char[::1] flags, double[::1] positive, double[::1] negative):
    """Write the scores of the flagged rows into `positive`, the others into `negative`.

    Both have room for one number more than they need, so that every row can write to both without a branch.
    """
    cdef Py_ssize_t i = 0, row
    with nogil:
        # every score is written to the next free entry of both arrays; only one of the two then moves on
        for row in range(score.shape[0]):
            positive[i] = score[row]
            negative[row - i] = score[row]
            i += flags[row]


cdef Py_ssize_t write_cuts(
    const double[::1] positive, const double[::1] negative, double[::1] threshold, long long[:, :] above
) noexcept nogil:
    """See `count_cuts`."""
    cdef Py_ssize_t i = positive.shape[0] - 1, j = negative.shape[0] - 1, cut = 0
    cdef double score
    # both arrays have scores left: the larger of their last scores is the next cut, all rows of equal score together
    while i >= 0 and j >= 0:
        score = max(positive[i], negative[j])
        while i >= 0 and positive[i] == score:
            i -= 1
        while j >= 0 and negative[j] == score:
            j -= 1
        threshold[cut] = score
        above[0, cut] = positive.shape[0] - 1 - i
        above[1, cut] = negative.shape[0] - 1 - j
        cut += 1
    # one array is used up: the scores left in the other are cuts that change only its own count
    while i >= 0:
        score = positive[i]
        while i >= 0 and positive[i] == score:
            i -= 1
        threshold[cut] = score
        above[0, cut] = positive.shape[0] - 1 - i
        above[1, cut] = negative.shape[0]
        cut += 1
    while j >= 0:
        score = negative[j]
        while j >= 0 and negative[j] == score:
            j -= 1
        threshold[cut] = score
        above[0, cut] = positive.shape[0]
        above[1, cut] = negative.shape[0] - 1 - j
        cut += 1
    return cut


def count_cuts(
    const double[::1] positive, const double[::1] negative, double[::1] threshold, long long[:, :] above
):
    """Write every distinct score, falling, with the positives and negatives at or above it; return how many there are.

    `positive` and `negative` are sorted upwards. `above` has two rows: true and false positives.
    """
    cdef Py_ssize_t cuts
    with nogil:
        cuts = write_cuts(positive, negative, threshold, above)
    return cuts


def merge_cuts(const double[:] first, const double[:] second, double[::1] threshold, long long[:, :] taken):
    """Merge two falling lists of thresholds; return how many distinct ones there are.

    `taken` has two rows: for each merged threshold, how many of either list are at or above it.
    """
    cdef Py_ssize_t i = 0, j = 0, cut = 0, m = first.shape[0], n = second.shape[0]
    cdef double score
    with nogil:
        # the larger of the next thresholds of either list; equal ones of both are one cut
        while i < m or j < n:
            score = first[i] if j == n or (i < m and first[i] >= second[j]) else second[j]
            while i < m and first[i] == score:
                i += 1
            while j < n and second[j] == score:
                j += 1
            threshold[cut] = score
            taken[0, cut] = i
            taken[1, cut] = j
            cut += 1
    return cut


cdef mark_cuts(const Number[::1] true_positives, const Number[::1] false_positives, unsigned char[::1] marked):
    """See `mark_dominating_cuts`."""
    cdef double best = -1.0, found = -1.0, hits, predicted, precision  # precision and hits of the last cut marked
    cdef Py_ssize_t last = -1, k, twin
    with nogil:
        # from the cut that predicts most to the one that predicts least: recall falls, so a cut counts only if its precision rises
        for k in range(true_positives.shape[0] - 1, -1, -1):
            hits = <double>true_positives[k]
            predicted = hits + <double>false_positives[k]
            marked[k] = False
            if predicted == 0.0:
                continue
            precision = hits / predicted
            # better than all cuts after it; those that find as many among more rows are beaten now
            if precision > best:
                if hits == found:
                    for twin in range(k + 1, last + 1):
                        marked[twin] = False
                best, found, last = precision, hits, k
                marked[k] = True
            # a twin of the cut marked last
            elif precision == best and hits == found:
                marked[k] = True


def mark_dominating_cuts(true_positives, false_positives, unsigned char[::1] marked):
    """Mark the cuts of a ranking that no other cut beats in precision and recall; both counts rise with the cuts.

    The counts are both int64 or both float64, here and in the areas below.
    """
    if true_positives.dtype.kind == "i":
        mark_cuts[int64](true_positives, false_positives, marked)
    else:
        mark_cuts[double](true_positives, false_positives, marked)


def mark_dominating(
    const double[:] first, const double[:] second, const long long[:] order, unsigned char[::1] marked
):
    """Mark the points that no other point beats in both rates; `order` sorts `second` upwards, NaN left out."""
    cdef double best = -INFINITY, rate, top
    cdef Py_ssize_t end = order.shape[0], start, k
    with nogil:
        # runs of equal second rates, from the highest rate down
        while end > 0:
            rate = second[order[end - 1]]
            start = end
            top = -INFINITY
            # the best first rate of the run
            while start > 0 and second[order[start - 1]] == rate:
                start -= 1
                top = max(top, first[order[start]])
            # it is marked, with its twins, if no run of a higher second rate reached it
            for k in range(start, end):
                marked[order[k]] = top > best and first[order[k]] == top
            best = max(best, top)
            end = start


cdef Number twice_area(const Number[::1] true_positives, const Number[::1] false_positives):
    """See `twice_roc_area`."""
    cdef Number total = true_positives[0] * false_positives[0], width
    cdef Py_ssize_t k
    with nogil:
        # trapezoids between neighbouring cuts, without the division by 2
        for k in range(1, true_positives.shape[0]):
            width = false_positives[k] - false_positives[k - 1]
            total += width * (true_positives[k] + true_positives[k - 1])
    return total


def twice_roc_area(true_positives, false_positives):
    """Twice the area under (false positives, true positives), in the type of the counts: exact for integers."""
    if true_positives.dtype.kind == "i":
        return twice_area[int64](true_positives, false_positives)
    return twice_area[double](true_positives, false_positives)


cdef double step_area(const Number[::1] true_positives, const Number[::1] false_positives):
    """See `step_pr_area`."""
    cdef double total = 0.0, lost = 0.0, before = 0.0, found, term, new
    cdef Py_ssize_t k
    with nogil:
        # a step for each cut that finds more positives; `lost` carries the rounding error on (Kahan's sum)
        for k in range(true_positives.shape[0]):
            found = <double>true_positives[k]
            if found > before:
                term = (found - before) * (found / (found + <double>false_positives[k])) - lost
                new = total + term
                lost = (new - total) - term
                total = new
            before = found
    return total


def step_pr_area(true_positives, false_positives):
    """Sum of precision times newly found positives over the cuts."""
    if true_positives.dtype.kind == "i":
        return step_area[int64](true_positives, false_positives)
    return step_area[double](true_positives, false_positives)


cpdef inline double log_remainder(double z) noexcept nogil:
    """(z - log(1 + z)) / z^2 for z >= 0, by its series where the difference would lose digits."""
    cdef double total = 0.0, power = 1.0
    cdef int n
    if z > 0.1:
        return (z - log1p(z)) / (z * z)
    # 1/2 - z/3 + z^2/4 - ...: 18 terms are exact to the last digit for z <= 0.1
    for n in range(2, 20):
        total += power / n
        power *= -z
    return total


cdef double interpolated_area(const Number[::1] true_positives, const Number[::1] false_positives):
    """See `interpolated_pr_area`."""
    cdef double total = 0.0, b, e, z, remainder
    cdef double a = 0.0, d = 0.0  # true positives and rows at the cut before
    cdef Py_ssize_t k
    with nogil:
        # a piece between each cut and the one before, where positives are found; the first piece has constant precision
        for k in range(true_positives.shape[0]):
            b = <double>true_positives[k]
            e = b + <double>false_positives[k]
            if b > a and d == 0.0:
                total += b * (b / e)
            elif b > a:
                z = (e - d) / d
                remainder = log_remainder(z)
                total += (b - a) * (b - a) / d * remainder + (b - a) * (a / d) * (1.0 - z * remainder)
            a, d = b, e
    return total


def interpolated_pr_area(true_positives, false_positives):
    """The area under precision over true positives when rows between two cuts are taken at random.

    From a cut with a true positives among d rows to one with b among e, precision at x true positives is
    x / (d + (x - a) (e - d) / (b - a)); its integral is (b - a)^2 / d M(z) + (b - a) a / d L(z), z = (e - d) / d,
    L(z) = log(1 + z) / z, M(z) = (z - log(1 + z)) / z^2: sums of positive terms, no digits are lost.
    """
    if true_positives.dtype.kind == "i":
        return interpolated_area[int64](true_positives, false_positives)
    return interpolated_area[double](true_positives, false_positives)
