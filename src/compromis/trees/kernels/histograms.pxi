# Numbers to bins, and the class weights of a node's rows by bin.

cpdef enum:
    MISSING = 255  # the bin of missing values
    LAST_BIN = 254

cdef enum:
    CELLS = 1024  # of the search for bins

ctypedef fused Number:
    float
    double

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


cdef struct Search:
    # Where to look for a number among ascending thresholds. Their range is cut into equal cells, and a cell knows how
    # many thresholds lie in the cells before it, so that only those of the number's own cell are left to compare.
    double low
    double scale
    Py_ssize_t half  # the first step of the search within a cell, a power of 2
    double thresholds[512]  # padded with infinity: a search may look beyond the last one
    uint8_t starts[CELLS + 1]


cdef inline Py_ssize_t cell_of(double value, const Search *search) noexcept nogil:
    """The cell of a number; it never falls where the number rises, and that is all that the search relies on."""
    cdef double cell = (value - search.low) * search.scale
    cell = cell if cell > 0.0 else 0.0  # also where it is not a number
    return <int>(cell if cell < CELLS - 1.0 else CELLS - 1.0)


cdef void prepare_search(const double[::1] thresholds, Py_ssize_t rows, Search *search) noexcept nogil:
    """Lay out the search; for few rows all thresholds are in one cell, as counting them would not pay."""
    cdef Py_ssize_t count = thresholds.shape[0], i, most = 0
    for i in range(512):
        search.thresholds[i] = thresholds[i] if i < count else INFINITY
    search.low = thresholds[0] if count > 0 else 0.0
    search.scale = 0.0
    if rows >= CELLS and count > 1:
        search.scale = CELLS / (thresholds[count - 1] - search.low)
    # How many thresholds each cell has, and then how many all cells before it have.
    for i in range(CELLS + 1):
        search.starts[i] = 0
    for i in range(count):
        search.starts[cell_of(thresholds[i], search) + 1] += 1
    for i in range(1, CELLS + 1):
        most = max(most, <Py_ssize_t>search.starts[i])
        search.starts[i] += search.starts[i - 1]
    search.half = 1
    while 2 * search.half - 1 < most:
        search.half *= 2


cdef inline uint8_t bin_of(double value, const Search *search, Py_ssize_t half) noexcept nogil:
    """The number of thresholds below a number, which is its bin."""
    cdef Py_ssize_t below = search.starts[cell_of(value, search)]
    while half > 0:
        # The answer lies between `below` and `below` + 2 half - 1; a comparison becomes a number, not a branch.
        below += half * (search.thresholds[below + half - 1] < value)
        half >>= 1
    return MISSING if isnan(value) else <uint8_t>below


cdef void bin_numbers(
    const Number[:, :] X, Py_ssize_t feature, const Search *search, uint8_t[:, ::1] bins
) noexcept nogil:
    """Write the bin of each number of a column."""
    cdef uint8_t *column = &bins[feature, 0]
    cdef Py_ssize_t row
    # The usual lengths of the search within a cell are constants, for loops without a branch.
    if search.half == 1:
        for row in range(X.shape[0]):
            column[row] = bin_of(X[row, feature], search, 1)
    elif search.half == 2:
        for row in range(X.shape[0]):
            column[row] = bin_of(X[row, feature], search, 2)
    elif search.half == 4:
        for row in range(X.shape[0]):
            column[row] = bin_of(X[row, feature], search, 4)
    else:
        for row in range(X.shape[0]):
            column[row] = bin_of(X[row, feature], search, search.half)


cdef void bin_codes(
    const Number[:, :] X, Py_ssize_t feature, const uint8_t[::1] code_bins, uint8_t[:, ::1] bins
) noexcept nogil:
    """Write the bin of each category's code; codes that are not known are missing."""
    cdef Py_ssize_t row
    cdef double value
    for row in range(X.shape[0]):
        value = X[row, feature]
        bins[feature, row] = code_bins[<Py_ssize_t>value] if 0.0 <= value < code_bins.shape[0] else MISSING


def bin_columns(
    const Number[:, :] X, thresholds, code_bins, const uint8_t[::1] nominal, uint8_t[:, ::1] bins
):
    """Write the bins of all columns of X, one row of `bins` each.

    The bin of a number is the number of thresholds below it, so that a value equal to a threshold stays left of it.
    """
    cdef Search search
    cdef const double[::1] cuts
    cdef const uint8_t[::1] codes
    cdef Py_ssize_t feature
    if X.shape[0] == 0:
        return
    for feature in range(X.shape[1]):
        if nominal[feature]:
            codes = code_bins[feature]
            with nogil:
                bin_codes(X, feature, codes, bins)
        else:
            cuts = thresholds[feature]
            if cuts.shape[0] > LAST_BIN:
                raise ValueError(f"a column has at most {LAST_BIN} thresholds, got {cuts.shape[0]}")
            with nogil:
                prepare_search(cuts, X.shape[0], &search)
                bin_numbers(X, feature, &search, bins)


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
