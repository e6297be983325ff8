# The leaves that rows reach in grown trees, and the votes and class shares there.

cpdef enum:
    MOST_FEATURES = 4194304
    ABREAST = 8  # rows that go down a tree side by side

# A node packed in 64 bits, from the lowest: the left child (of a leaf: itself) in 32; the last bin that goes left
# (of a leaf: 255), one more where missing values go left, in 8; whether missing values go left in 1; the feature in 22.
cdef enum:
    CUT_AT = 32
    SHIFT_AT = 40
    FEATURE_AT = 42


def find_leaves(
    const uint8_t[:, ::1] bins,
    Py_ssize_t root,
    const uint32_t[:, ::1] nodes,
    const uint8_t[:, ::1] subsets,
    uint32_t[::1] leaves,
):
    """Write the leaf of every row for the tree at `root`."""
    cdef Py_ssize_t row, node
    cdef Test test
    with nogil:
        for row in range(bins.shape[1]):
            node = root
            # Down one level at a time: the right child follows the left one.
            while nodes[node, FEATURE] != UINT32_MAX:
                test = Test(nodes[node, FEATURE], nodes[node, CUT], nodes[node, KIND])
                node = nodes[node, CHILD] + (1 - goes_left(bins[test.feature, row], test, subsets))
            leaves[row] = nodes[node, CHILD]


cdef inline uint64_t step_from(uint64_t step, uint8_t b) noexcept nogil:
    """The node after the one packed in `step`, for bin `b`; a leaf comes back to itself."""
    cdef uint8_t shifted = <uint8_t>(b + ((step >> SHIFT_AT) & 1))  # missing values become 0 where they go left
    return <uint32_t>step + <uint64_t>(shifted > <uint8_t>(step >> CUT_AT))


def find_leaves_abreast(
    const uint8_t[:, ::1] bins,
    Py_ssize_t root,
    const uint64_t[::1] steps,
    const uint32_t[:, ::1] nodes,
    uint32_t[::1] leaves,
):
    """`find_leaves` without nominal features, for at least eight rows, which go down side by side.

    One row waits for memory at each step; eight of them wait together. The last eight rows may overlap.
    """
    cdef Py_ssize_t rows = bins.shape[1], block, first
    cdef const uint8_t *column = &bins[0, 0]
    cdef uint64_t at[ABREAST]
    cdef uint64_t moved, step, now
    cdef int lane
    with nogil:
        for block in range((rows + ABREAST - 1) // ABREAST):
            first = min(block * ABREAST, rows - ABREAST)
            for lane in range(ABREAST):
                at[lane] = root
            # A row at a leaf stays there, so the block is done when none of them moved.
            moved = 1
            while moved:
                moved = 0
                for lane in range(ABREAST):
                    step = steps[at[lane]]
                    now = step_from(step, column[<Py_ssize_t>(step >> FEATURE_AT) * rows + first + lane])
                    moved |= now ^ at[lane]
                    at[lane] = now
            for lane in range(ABREAST):
                leaves[first + lane] = nodes[at[lane], CHILD]


def find_majorities(
    const int64_t[::1] leaf_starts, const uint16_t[::1] leaf_classes, const double[::1] leaf_shares, uint16_t[::1] majorities
):
    """Write the class of largest share of every leaf, the first of equals: the classes of a leaf ascend."""
    cdef Py_ssize_t leaf, entry, best
    with nogil:
        for leaf in range(majorities.shape[0]):
            best = leaf_starts[leaf]
            # `best` is the first of the largest shares so far.
            for entry in range(best + 1, leaf_starts[leaf + 1]):
                if leaf_shares[entry] > leaf_shares[best]:
                    best = entry
            majorities[leaf] = leaf_classes[best]


def divide_by_leaf(const int64_t[::1] leaf_starts, double[::1] leaf_weights):
    """Turn the class weights of every leaf into shares, in place."""
    cdef Py_ssize_t leaf, entry
    cdef double total
    with nogil:
        for leaf in range(leaf_starts.shape[0] - 1):
            total = 0.0
            for entry in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                total += leaf_weights[entry]
            for entry in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                leaf_weights[entry] /= total


def place_nodes(
    uint32_t[:, ::1] nodes,
    Py_ssize_t first,
    Py_ssize_t last,
    uint32_t first_subset,
    uint32_t first_leaf,
    uint64_t[::1] steps,
):
    """Renumber, in place, nodes `first` to `last` of a tree that joins others, and pack them."""
    cdef Py_ssize_t node
    cdef uint64_t shift, cut
    with nogil:
        for node in range(first, last):
            # A leaf leads to itself, whatever the bin: its cut is the largest byte.
            if nodes[node, FEATURE] == UINT32_MAX:
                nodes[node, CHILD] += first_leaf
                steps[node] = <uint64_t>node | (<uint64_t>255 << CUT_AT)
                continue
            nodes[node, CHILD] += <uint32_t>first
            if nodes[node, KIND] & NOMINAL:
                nodes[node, CUT] += first_subset
            # Where missing values go left, bins are shifted by one, so that 255 becomes 0 and one comparison serves both.
            shift = nodes[node, KIND] & MISSING_LEFT
            cut = (nodes[node, CUT] + shift) & 255
            steps[node] = (
                nodes[node, CHILD]
                | (cut << CUT_AT)
                | (shift << SHIFT_AT)
                | (<uint64_t>nodes[node, FEATURE] << FEATURE_AT)
            )


def add_votes_out_of_bag(
    const uint32_t[::1] leaves, const uint16_t[::1] in_bag, const uint16_t[::1] majorities, double[:, ::1] votes
):
    """Add a tree's vote for every row that it was not grown on."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(leaves.shape[0]):
            if in_bag[row] == 0:
                votes[row, majorities[leaves[row]]] += 1.0


def add_votes(const uint32_t[::1] leaves, const uint16_t[::1] majorities, double[:, ::1] votes):
    """Add a tree's vote for every row."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(leaves.shape[0]):
            votes[row, majorities[leaves[row]]] += 1.0


def add_shares(
    const uint32_t[::1] leaves,
    const int64_t[::1] leaf_starts,
    const uint16_t[::1] leaf_classes,
    const double[::1] leaf_shares,
    double[:, ::1] total,
):
    """Add the class shares of a tree's leaves for every row."""
    cdef Py_ssize_t row, leaf, entry
    with nogil:
        for row in range(leaves.shape[0]):
            leaf = leaves[row]
            # Only classes present in the leaf have an entry.
            for entry in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                total[row, leaf_classes[entry]] += leaf_shares[entry]
