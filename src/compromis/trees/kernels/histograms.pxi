# Numbers to bins, and the class weights of a node's rows by bin.

cpdef enum:
    MISSING = 255  # the bin of missing values
    LAST_BIN = 254

ctypedef fused Weight:
    double
    uint16_t


cdef class BinnedRows:
    """The columns of `binning.Columns`: one row of `bins` per feature, bin 255 for missing values."""

    cdef const uint8_t[:, ::1] bins
    cdef const uint32_t[::1] bin_counts
    cdef const uint8_t[::1] nominal

    def __init__(self, bins, bin_counts, nominal):
        self.bins = bins
        self.bin_counts = bin_counts
        self.nominal = nominal


cdef class Sample:
    """Rows being split, with their class and weight, each node's rows side by side.

    Where rows only repeat, their weights are the `counts`, of two bytes each; else `counts` is None.
    """

    cdef uint32_t[::1] rows
    cdef uint16_t[::1] classes
    cdef double[::1] weights
    cdef uint16_t[::1] counts
    cdef bint whole

    def __init__(self, rows, classes, weights, counts):
        self.rows = rows
        self.classes = classes
        self.weights = weights
        self.counts = counts
        self.whole = counts is not None

    def __len__(self):
        return self.rows.shape[0]


def few_distinct(const double[::1] column, Py_ssize_t most):
    """Return the distinct values of a column, ascending, missing ones left out; `most` + 1 as soon as there are more."""
    found = np.empty(most + 1)
    cdef double[::1] values = found
    cdef double value
    cdef Py_ssize_t count = 0, i, j, position
    with nogil:
        for i in range(column.shape[0]):
            value = column[i]
            if isnan(value):
                continue
            # The first `count` values are distinct and ascending; a new one goes where it keeps them so.
            position = first_not_below(values, count, value)
            if position < count and values[position] == value:
                continue
            for j in range(count, position, -1):
                values[j] = values[j - 1]
            values[position] = value
            count += 1
            if count > most:
                break
    return found[:count].copy()


cdef inline Py_ssize_t first_not_below(const double[::1] values, Py_ssize_t count, double value) noexcept nogil:
    """How many of the first `count` ascending values are below `value`."""
    cdef Py_ssize_t low = 0, length = count, half
    while length > 0:
        # All values before `low` are below, none from `low + length` on is.
        half = length >> 1
        if values[low + half] < value:
            low += half + 1
            length -= half + 1
        else:
            length = half
    return low


def bin_column(const double[::1] column, const double[::1] thresholds, uint8_t[::1] bins):
    """Write the number of thresholds below each value, so that a value equal to a threshold stays left of it.

    `thresholds` is padded with infinity to 255, which makes the search eight steps without a branch.
    """
    cdef Py_ssize_t i, below, half
    cdef double value
    with nogil:
        for i in range(column.shape[0]):
            value = column[i]
            below = 0
            half = 128
            while half > 0:
                # The answer lies between `below` and `below` + 2 half - 1; a comparison becomes a number, not a branch.
                below += half * (thresholds[below + half - 1] < value)
                half >>= 1
            bins[i] = MISSING if isnan(value) else <uint8_t>below


def bin_codes(const double[::1] column, const uint8_t[::1] code_bins, uint8_t[::1] bins):
    """Write the bin of each category's code; codes that are not known are missing."""
    cdef Py_ssize_t i
    cdef double value
    with nogil:
        for i in range(column.shape[0]):
            value = column[i]
            bins[i] = code_bins[<Py_ssize_t>value] if 0.0 <= value < code_bins.shape[0] else MISSING


cdef void fill_weights(
    const uint8_t *column,
    Sample sample,
    const Weight *weights,
    Py_ssize_t start,
    Py_ssize_t stop,
    Workspace space,
    Py_ssize_t classes,
) noexcept nogil:
    """Add the class weights by bin, and mark the bins that have rows."""
    cdef const uint32_t *rows = &sample.rows[0]
    cdef const uint16_t *labels = &sample.classes[0]
    cdef const uint32_t *local = &space.local[0]
    cdef double *histogram = &space.histogram[0]
    cdef uint8_t *seen = &space.seen[0]
    cdef Py_ssize_t i, b
    for i in range(start, stop):
        b = column[rows[i]]
        seen[b] = 1
        histogram[b * classes + local[labels[i]]] += weights[i]


cdef void fill_rows(
    const uint8_t *column, Sample sample, Py_ssize_t start, Py_ssize_t stop, Workspace space
) noexcept nogil:
    """Count the rows per bin."""
    cdef const uint32_t *rows = &sample.rows[0]
    cdef uint32_t *bin_rows = &space.bin_rows[0]
    cdef Py_ssize_t i
    for i in range(start, stop):
        bin_rows[column[rows[i]]] += 1


cdef Py_ssize_t list_met(
    const uint8_t *column, Sample sample, Py_ssize_t start, Py_ssize_t stop, Workspace space
) noexcept nogil:
    """List in `order` the marked bins of a tiny node's rows, ascending, and unmark them; return their number."""
    cdef const uint32_t *rows = &sample.rows[0]
    cdef uint32_t *order = &space.order[0]
    cdef uint8_t *seen = &space.seen[0]
    cdef Py_ssize_t met = 0, i, j
    cdef uint8_t b
    for i in range(start, stop):
        b = column[rows[i]]
        if seen[b] == 0:
            continue
        seen[b] = 0
        # Insertion sort: the first `met` bins of the order ascend, the new one moves down to its position.
        j = met - 1
        while j >= 0 and order[j] > b:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = b
        met += 1
    return met


cdef Py_ssize_t list_marked(Py_ssize_t bin_count, Workspace space) noexcept nogil:
    """List in `order` the marked bins, ascending, missing last, and unmark them; return their number."""
    cdef uint32_t *order = &space.order[0]
    cdef uint8_t *seen = &space.seen[0]
    cdef Py_ssize_t met = 0, b
    for b in range(bin_count):
        order[met] = <uint32_t>b  # overwritten by the next bin unless this one counts: no branch to mispredict
        met += seen[b]
        seen[b] = 0
    order[met] = MISSING
    met += seen[MISSING]
    seen[MISSING] = 0
    return met


cdef void clear_bins(Workspace space, Py_ssize_t met, Py_ssize_t classes) noexcept nogil:
    """Set the listed bins back to zero."""
    cdef const uint32_t *order = &space.order[0]
    cdef double *histogram = &space.histogram[0]
    cdef uint32_t *bin_rows = &space.bin_rows[0]
    cdef Py_ssize_t i, b, k
    for i in range(met):
        b = order[i]
        bin_rows[b] = 0
        for k in range(b * classes, b * classes + classes):
            histogram[k] = 0.0


cdef void sort_by_share(Py_ssize_t k, Py_ssize_t length, Py_ssize_t classes, Workspace space) noexcept nogil:
    """Sort the bins of `order` by the share of class `k`; equal shares keep the order of their numbers."""
    cdef const double *histogram = &space.histogram[0]
    cdef uint32_t *order = &space.order[0]
    cdef double *shares = &space.shares[0]
    cdef Py_ssize_t i, j, first
    cdef uint32_t b
    cdef double total
    # The share of the class in each bin; every listed bin has weight.
    for i in range(length):
        b = order[i]
        first = b * classes
        total = 0.0
        for j in range(classes):
            total += histogram[first + j]
        shares[b] = histogram[first + k] / total
    # Insertion sort, by share and then by number: no two bins are equal, so the order does not depend on the one before.
    for i in range(1, length):
        b = order[i]
        j = i - 1
        while j >= 0 and (shares[order[j]] > shares[b] or (shares[order[j]] == shares[b] and order[j] > b)):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = b


cdef Py_ssize_t sum_lefts(Py_ssize_t length, Py_ssize_t classes, bint has_missing, Workspace space) noexcept nogil:
    """Write the weights left of each cut of `order`; return the number of cuts.

    Where the node has missing values, the last cut has all known values left, and all cuts but it come again with
    missing values left: `length` cuts are followed by `length` - 1.
    """
    cdef const double *histogram = &space.histogram[0]
    cdef const double *missing = &space.histogram[MISSING * classes]
    cdef const uint32_t *order = &space.order[0]
    cdef double *sizes = &space.cuts.sizes[0]
    cdef double *lefts
    cdef double total
    cdef Py_ssize_t cuts = length if has_missing else length - 1
    cdef Py_ssize_t again = cuts - 1 if has_missing else 0
    cdef Py_ssize_t count = cuts + again, k, c
    for c in range(count):
        sizes[c] = 0.0
    # Class by class, so that `lefts` has each class's weights side by side, as the loops over cuts read them.
    for k in range(classes):
        lefts = &space.cuts.lefts[k * count]
        total = 0.0
        for c in range(cuts):
            total += histogram[order[c] * classes + k]
            lefts[c] = total
            sizes[c] += total
        for c in range(again):
            lefts[cuts + c] = lefts[c] + missing[k]
            sizes[cuts + c] += lefts[cuts + c]
    return count
