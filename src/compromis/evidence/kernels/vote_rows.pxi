# Rows of votes: checking, merging, deciding.


cdef Py_ssize_t first_invalid(const Score[:, ::1] votes, unsigned char[::1] empty):
    """See `scan_dense`."""
    cdef Py_ssize_t i, k, classes = votes.shape[1]
    cdef bint found
    with nogil:
        for i in range(votes.shape[0]):
            found = False
            # check each value and look for one above 0; NaN fails every comparison
            for k in range(classes):
                if not (votes[i, k] >= 0.0 and votes[i, k] < INFINITY):
                    return i * classes + k
                if votes[i, k] > 0.0:
                    found = True
            empty[i] = not found
    return -1


def scan_dense(votes, unsigned char[::1] empty):
    """Mark rows without votes; return the flat index of the first value that is negative or not finite, -1 if there is none."""
    if votes.itemsize == 4:
        return first_invalid[float](votes, empty)
    return first_invalid[double](votes, empty)


cdef inline unsigned long long mixed_in(unsigned long long key, long long bits) noexcept nogil:
    """Return a hash of a hash and 64 more bits; a hash has 32 bits, so that no product overflows."""
    key = (key * 1000003 + (<unsigned long long>bits & 0x7FFFFFFF)) % 4294967291ULL
    return (key * 1000003 + (<unsigned long long>(bits >> 31) & 0xFFFFFFFFULL)) % 4294967291ULL


cdef inline unsigned long long row_hash_dense(const Bits[:, ::1] bits, Py_ssize_t i) noexcept nogil:
    """Return a hash of the bits of row i; zeros are passed over, as most votes are."""
    cdef unsigned long long key = 2166136261ULL
    cdef Py_ssize_t k
    for k in range(bits.shape[1]):
        if bits[i, k] != 0:
            key = mixed_in(mixed_in(key, bits[i, k]), k)
    return key


cdef inline unsigned long long row_hash_sparse(
    const long long[::1] start, const int[::1] column, const long long[::1] bits, Py_ssize_t i
) noexcept nogil:
    """Return a hash of the non-zero votes of row i."""
    cdef unsigned long long key = 2166136261ULL
    cdef Py_ssize_t e
    for e in range(start[i], start[i + 1]):
        key = mixed_in(mixed_in(key, bits[e]), column[e])
    return key


cdef inline bint same_row_dense(const Bits[:, ::1] bits, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Return whether two rows hold the same votes."""
    cdef Py_ssize_t k
    for k in range(bits.shape[1]):
        if bits[i, k] != bits[j, k]:
            return False
    return True


cdef inline bint same_row_sparse(
    const long long[::1] start, const int[::1] column, const long long[::1] bits, Py_ssize_t i, Py_ssize_t j
) noexcept nogil:
    """Return whether two rows hold the same non-zero votes."""
    cdef Py_ssize_t length = start[i + 1] - start[i], e
    if length != start[j + 1] - start[j]:
        return False
    for e in range(length):
        if column[start[i] + e] != column[start[j] + e] or bits[start[i] + e] != bits[start[j] + e]:
            return False
    return True


cdef class Groups:
    """The distinct rows so far: hash and first row of each, and a hash table of their numbers."""

    cdef unsigned long long[::1] keys
    cdef long long[::1] first
    cdef long long[::1] table
    cdef Py_ssize_t count

    def __init__(self):
        self.keys = np.empty(512, dtype=np.uint64)
        self.first = np.empty(512, dtype=np.int64)
        self.table = np.empty(1024, dtype=np.int64)
        self.table[:] = -1
        self.count = 0

    cdef bint is_full(self) noexcept nogil:
        return self.count == self.first.shape[0]

    cdef enlarge(self):
        """Double the room; the table stays at most half full."""
        cdef Py_ssize_t group, slot, last
        self.keys = np.concatenate((self.keys, np.empty(self.count, dtype=np.uint64)))
        self.first = np.concatenate((self.first, np.empty(self.count, dtype=np.int64)))
        self.table = np.full(4 * self.count, -1, dtype=np.int64)
        last = self.table.shape[0] - 1
        with nogil:
            # each group goes to the first free slot from its hash on; no two are equal, so nothing is compared
            for group in range(self.count):
                slot = self.keys[group] & last
                while self.table[slot] >= 0:
                    slot = (slot + 1) & last
                self.table[slot] = group


cdef Py_ssize_t number_rows(
    Groups groups,
    const Bits[:, ::1] dense,
    const long long[::1] start,
    const int[::1] column,
    const long long[::1] bits,
    const long long[::1] truth,
    Py_ssize_t step,
    Py_ssize_t position,
    long long[::1] group,
) noexcept nogil:
    """Number rows from `position` on until the room for groups is full; return how far it came."""
    cdef bint is_dense = dense is not None
    cdef Py_ssize_t i, j, slot, last = groups.table.shape[0] - 1
    cdef unsigned long long key
    while position < group.shape[0] and not groups.is_full():
        # the hash of the votes and the true class
        i = position * step
        key = row_hash_dense(dense, i) if is_dense else row_hash_sparse(start, column, bits, i)
        key = mixed_in(key, truth[i])
        slot = key & last
        # walk to the slot of an equal row, or to a free one
        while groups.table[slot] >= 0:
            j = groups.first[groups.table[slot]]
            if groups.keys[groups.table[slot]] == key and truth[i] == truth[j]:
                if same_row_dense(dense, i, j) if is_dense else same_row_sparse(start, column, bits, i, j):
                    break
            slot = (slot + 1) & last
        # a new group takes the free slot
        if groups.table[slot] < 0:
            groups.table[slot] = groups.count
            groups.keys[groups.count] = key
            groups.first[groups.count] = i
            groups.count += 1
        group[position] = groups.table[slot]
        position += 1
    return position


cdef first_rows(
    const Bits[:, ::1] dense,
    const long long[::1] start,
    const int[::1] column,
    const long long[::1] bits,
    const long long[::1] truth,
    Py_ssize_t step,
    long long[::1] group,
):
    """See `group_rows`."""
    cdef Groups groups = Groups()
    cdef Py_ssize_t position = 0
    while position < group.shape[0]:
        if groups.is_full():
            groups.enlarge()
        with nogil:
            position = number_rows(groups, dense, start, column, bits, truth, step, position, group)
    return groups.first.base[: groups.count].copy()


def group_rows(dense, sparse, const long long[::1] truth, Py_ssize_t step, long long[::1] group):
    """Number every `step`-th row by (votes, true class) in the order of appearance; return the first row of each number.

    `dense` holds the bits of the votes; where it is None, `sparse` holds start, class and bits of the non-zero ones.
    """
    if dense is None:
        return first_rows[int64](None, *sparse, truth, step, group)
    if dense.itemsize == 4:
        return first_rows[int](dense, None, None, None, truth, step, group)
    return first_rows[int64](dense, None, None, None, truth, step, group)


cdef decide_rows(const Score[:, ::1] votes, const double[::1] weights, double smoothing, long long[::1] decision):
    """See `decide_dense`."""
    cdef Py_ssize_t i, k, chosen
    cdef double best, score
    with nogil:
        for i in range(votes.shape[0]):
            # a later class must be strictly larger, so that ties stay with the first
            chosen = 0
            best = weights[0] * (votes[i, 0] + smoothing)
            for k in range(1, votes.shape[1]):
                score = weights[k] * (votes[i, k] + smoothing)
                if score > best:
                    best = score
                    chosen = k
            decision[i] = chosen


def decide_dense(votes, const double[::1] weights, double smoothing, long long[::1] decision):
    """Write the class with the largest weight x (votes + smoothing) of each row; ties go to the first."""
    if votes.itemsize == 4:
        decide_rows[float](votes, weights, smoothing, decision)
    else:
        decide_rows[double](votes, weights, smoothing, decision)


def decide_sparse(
    const long long[::1] start,
    const int[::1] column,
    const double[::1] value,
    const double[::1] weights,
    double smoothing,
    long long[::1] decision,
):
    """As `decide_dense`, for the non-zero votes by row: all other classes share one background, of which only the best can win."""
    cdef Py_ssize_t background = 0, k, i, e, chosen
    cdef double best, score
    with nogil:
        # the best class among those without votes: the same for all rows
        for k in range(1, weights.shape[0]):
            if weights[k] * smoothing > weights[background] * smoothing:
                background = k
        for i in range(start.shape[0] - 1):
            # the classes with votes against it; they come in order, but the background may stand after them
            chosen = background
            best = weights[background] * smoothing
            for e in range(start[i], start[i + 1]):
                score = weights[column[e]] * (value[e] + smoothing)
                if score > best or (score == best and column[e] < chosen):
                    best = score
                    chosen = column[e]
            decision[i] = chosen


cdef add_decisions(
    const long long[::1] truth, const long long[::1] decision, const Number[::1] multiplicity, Number[:, ::1] matrix
):
    """See `count_decisions`."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(truth.shape[0]):
            matrix[truth[i], decision[i]] += multiplicity[i]


def count_decisions(const long long[::1] truth, const long long[::1] decision, multiplicity, matrix):
    """Add each pattern's multiplicity, int64 or float64, to its cell (truth, decision)."""
    if matrix.dtype.kind == "i":
        add_decisions[int64](truth, decision, multiplicity, matrix)
    else:
        add_decisions[double](truth, decision, multiplicity, matrix)
