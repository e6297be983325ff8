# The leaves that rows reach in grown trees, and the votes and class shares there.

cdef enum:
    ABREAST = 8  # rows that go down a tree side by side
    BLOCK = 1024  # rows whose leaves are found before they are counted, tree by tree: a large tree stays in the cache

# A node packed in 64 bits, from the lowest: the left child (of a leaf: itself) in 32; the last bin that goes left
# (of a leaf: 255), one more where missing values go left, in 8; whether missing values go left in 1; whether it is a
# leaf in 1; the feature in 22.
cdef enum:
    CUT_AT = 32
    SHIFT_AT = 40
    LEAF_AT = 41
    FEATURE_AT = 42
    MOST_FEATURES = 4194304


cdef class Walk:
    """What rows meet on their way down: their bins, and the trees that they walk; see `store.Trees`."""

    cdef const uint8_t[:, ::1] bins
    cdef const uint32_t[:, ::1] nodes
    cdef const uint8_t[:, ::1] subsets
    cdef const uint64_t[::1] steps

    def __init__(self, bins, nodes, subsets, steps):
        self.bins = bins
        self.nodes = nodes
        self.subsets = subsets
        self.steps = steps


cdef void find_one_by_one(
    Walk walk, Py_ssize_t root, Py_ssize_t first, Py_ssize_t count, uint32_t *leaves
) noexcept nogil:
    """Write the leaves of rows `first` to `first` + `count`."""
    cdef Py_ssize_t row, node
    cdef Test test
    for row in range(count):
        node = root
        # Down one level at a time: the right child follows the left one.
        while walk.nodes[node, FEATURE] != UINT32_MAX:
            test = Test(walk.nodes[node, FEATURE], walk.nodes[node, CUT], walk.nodes[node, KIND])
            node = walk.nodes[node, CHILD] + 1 - goes_left(walk.bins[test.feature, first + row], test, walk.subsets)
        leaves[row] = walk.nodes[node, CHILD]


cdef void find_abreast(
    Walk walk, Py_ssize_t root, Py_ssize_t first, Py_ssize_t count, uint32_t *leaves
) noexcept nogil:
    """`find_one_by_one` without nominal features, for at least eight rows, which go down side by side.

    One row waits for memory at each step; eight of them wait together. The last eight rows may overlap.
    """
    cdef const uint8_t *bins = &walk.bins[0, first]
    cdef const uint64_t *steps = &walk.steps[0]
    cdef Py_ssize_t stride = walk.bins.shape[1], block, start
    cdef uint64_t at[ABREAST]
    cdef uint64_t step[ABREAST]
    cdef uint64_t common
    cdef uint8_t b
    cdef int lane
    for block in range((count + ABREAST - 1) // ABREAST):
        start = min(block * ABREAST, count - ABREAST)
        for lane in range(ABREAST):
            at[lane] = root
        while True:
            # A row at a leaf stays there; the block is done when all of them have arrived.
            common = UINT64_MAX
            for lane in range(ABREAST):
                step[lane] = steps[at[lane]]
                common &= step[lane]
            if (common >> LEAF_AT) & 1:
                break
            # Down one level: right where the bin is above the cut; missing values become 0 where they go left.
            for lane in range(ABREAST):
                b = bins[<Py_ssize_t>(step[lane] >> FEATURE_AT) * stride + start + lane]
                b += <uint8_t>((step[lane] >> SHIFT_AT) & 1)
                at[lane] = <uint32_t>step[lane] + <uint64_t>(b > <uint8_t>(step[lane] >> CUT_AT))
        for lane in range(ABREAST):
            leaves[start + lane] = walk.nodes[at[lane], CHILD]


cdef void find_block(
    Walk walk, Py_ssize_t root, Py_ssize_t first, Py_ssize_t count, uint32_t *leaves
) noexcept nogil:
    """Write the leaves of rows `first` to `first` + `count` in the tree at `root`."""
    if count < ABREAST or walk.subsets.shape[0] > 0 or walk.bins.shape[0] > MOST_FEATURES:
        find_one_by_one(walk, root, first, count, leaves)
    else:
        find_abreast(walk, root, first, count, leaves)


def find_leaves(Walk walk, Py_ssize_t root, uint32_t[::1] leaves):
    """Write the leaf of every row for the tree at `root`."""
    with nogil:
        if leaves.shape[0] > 0:
            find_block(walk, root, 0, leaves.shape[0], &leaves[0])


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
                steps[node] = <uint64_t>node | (<uint64_t>255 << CUT_AT) | (<uint64_t>1 << LEAF_AT)
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


def sum_votes(Walk walk, const int64_t[::1] roots, const uint16_t[::1] majorities, double[:, ::1] votes):
    """Add the votes of all trees for every row."""
    cdef uint32_t leaves[BLOCK]
    cdef Py_ssize_t block, first, count, tree, row
    with nogil:
        for tree in range(roots.shape[0]):
            for block in range((votes.shape[0] + BLOCK - 1) // BLOCK):
                first = block * BLOCK
                count = min(votes.shape[0] - first, <Py_ssize_t>BLOCK)
                find_block(walk, roots[tree], first, count, leaves)
                for row in range(count):
                    votes[first + row, majorities[leaves[row]]] += 1.0


def sum_shares(
    Walk walk,
    const int64_t[::1] roots,
    const int64_t[::1] leaf_starts,
    const uint16_t[::1] leaf_classes,
    const double[::1] leaf_shares,
    double[:, ::1] total,
):
    """Add the class shares of the leaves of all trees for every row."""
    cdef uint32_t leaves[BLOCK]
    cdef Py_ssize_t block, first, count, tree
    with nogil:
        for tree in range(roots.shape[0]):
            for block in range((total.shape[0] + BLOCK - 1) // BLOCK):
                first = block * BLOCK
                count = min(total.shape[0] - first, <Py_ssize_t>BLOCK)
                find_block(walk, roots[tree], first, count, leaves)
                add_block(leaves, count, leaf_starts, leaf_classes, leaf_shares, &total[first, 0], total.shape[1])


def add_shares(
    const uint32_t[::1] leaves,
    const int64_t[::1] leaf_starts,
    const uint16_t[::1] leaf_classes,
    const double[::1] leaf_shares,
    double[:, ::1] total,
):
    """Add the class shares of the given leaves, one for every row."""
    with nogil:
        if leaves.shape[0] > 0:
            add_block(
                &leaves[0], leaves.shape[0], leaf_starts, leaf_classes, leaf_shares, &total[0, 0], total.shape[1]
            )


cdef void add_block(
    const uint32_t *leaves,
    Py_ssize_t count,
    const int64_t[::1] leaf_starts,
    const uint16_t[::1] leaf_classes,
    const double[::1] leaf_shares,
    double *total,
    Py_ssize_t classes,
) noexcept nogil:
    """Add the class shares of one leaf to each row of `total`."""
    cdef Py_ssize_t row, entry
    for row in range(count):
        # Only classes present in the leaf have an entry.
        for entry in range(leaf_starts[leaves[row]], leaf_starts[leaves[row] + 1]):
            total[row * classes + leaf_classes[entry]] += leaf_shares[entry]
