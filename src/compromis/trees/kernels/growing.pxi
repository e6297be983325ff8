# Growing one tree: its sample, the node that is split next, and the arrays it is written to.

cpdef enum:
    GAIN = 0  # columns of the nodes' figures
    WEIGHT = 1
    ROWS = 2
    FIGURES = 3

    FEATURE = 0  # columns of the nodes; LEAF in a leaf
    CUT = 1  # last bin that goes left, or the number of the subset of a nominal feature
    CHILD = 2  # the left child, the right one follows it; in a leaf its number among leaves
    KIND = 3  # flags: MISSING_LEFT, NOMINAL
    NODE_FIELDS = 4

    MISSING_LEFT = 1
    NOMINAL = 2

    PLACE_FIELDS = 4

    UNLIMITED = 2147483647

LEAF = UINT32_MAX  # for Python: the feature of a leaf


cdef struct Place:
    # A node that waits to be split: its number, its rows, its depth; as many numbers as PLACE_FIELDS says.
    uint32_t node
    uint32_t start
    uint32_t stop
    uint32_t depth


cdef class Room:
    """Where a tree is written, all zero: nodes and their figures, subsets of categories, class weights of leaves as sparse rows.

    As long as the largest tree that the rows and the stop rule allow; what is not written takes no memory.
    """

    cdef uint32_t[:, ::1] nodes
    cdef double[:, ::1] figures
    cdef uint8_t[:, ::1] subsets
    cdef uint32_t[::1] leaf_starts
    cdef uint32_t[::1] leaf_classes
    cdef double[::1] leaf_weights
    cdef uint32_t[:, ::1] frontier

    def __init__(self, nodes, figures, subsets, leaf_starts, leaf_classes, leaf_weights, frontier):
        self.nodes = nodes
        self.figures = figures
        self.subsets = subsets
        self.leaf_starts = leaf_starts
        self.leaf_classes = leaf_classes
        self.leaf_weights = leaf_weights
        self.frontier = frontier


cdef struct Used:
    # How much of the room a tree takes.
    Py_ssize_t nodes
    Py_ssize_t subsets
    Py_ssize_t leaves


cdef struct Test:
    # What an inner node asks: see FEATURE, CUT and KIND.
    uint32_t feature
    uint32_t cut
    uint32_t kind


cdef inline bint comes_first(uint32_t a, uint32_t b, const double[:, ::1] figures) noexcept nogil:
    """Whether node `a` is to be split before node `b`: larger gain times weight, else the older one."""
    cdef double gain_a = figures[a, GAIN] * figures[a, WEIGHT]
    cdef double gain_b = figures[b, GAIN] * figures[b, WEIGHT]
    return gain_a > gain_b or (gain_a == gain_b and a < b)


cdef inline void swap(Place *heap, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Exchange two places."""
    cdef Place place = heap[i]
    heap[i] = heap[j]
    heap[j] = place


cdef void push_best(Place *heap, const double[:, ::1] figures, Py_ssize_t length) noexcept nogil:
    """Sift the last of `length` entries up a heap ordered by gain, then by the older node."""
    cdef Py_ssize_t i = length - 1, parent
    while i > 0:
        # The entry has reached i; all others are in order. It moves on while it comes before its parent.
        parent = (i - 1) // 2
        if not comes_first(heap[i].node, heap[parent].node, figures):
            return
        swap(heap, i, parent)
        i = parent


cdef void pop_best(Place *heap, const double[:, ::1] figures, Py_ssize_t length) noexcept nogil:
    """Bring the best of `length` entries to the last position and mend the heap of the others."""
    cdef Py_ssize_t i = 0, child
    swap(heap, 0, length - 1)
    while True:
        # The former last entry has sunk to i; the heap is in order but for it and its children.
        child = 2 * i + 1
        if child >= length - 1:
            return
        # The earlier of the two children is the only one that may stand above the other.
        if child + 1 < length - 1 and comes_first(heap[child + 1].node, heap[child].node, figures):
            child += 1
        if not comes_first(heap[child].node, heap[i].node, figures):
            return
        swap(heap, i, child)
        i = child


def draw_bootstrap(rng, uint16_t[::1] in_bag):
    """Draw as many rows as there are, with replacement, and count how often each is drawn."""
    cdef bitgen_t *bits = bits_of(rng)
    cdef Py_ssize_t rows = in_bag.shape[0], _
    with nogil:
        for _ in range(rows):
            in_bag[<Py_ssize_t>(bits.next_double(bits.state) * rows)] += 1


def take_sample(const uint16_t[::1] in_bag, const uint16_t[::1] labels, const double[::1] weights, Sample sample):
    """Fill the sample with the rows drawn, their classes, and their weights times how often they were drawn."""
    cdef Py_ssize_t filled = 0, row
    with nogil:
        for row in range(in_bag.shape[0]):
            # Rows come in ascending order, each once: a row drawn twice has twice the weight.
            if in_bag[row]:
                sample.rows[filled] = <uint32_t>row
                sample.classes[filled] = labels[row]
                if sample.whole:
                    sample.counts[filled] = in_bag[row]
                else:
                    sample.weights[filled] = in_bag[row] * weights[row]
                filled += 1


cdef inline bint goes_left(uint8_t b, Test test, const uint8_t[:, ::1] subsets) noexcept nogil:
    """Whether bin `b` goes to the left child of a node."""
    if test.kind & NOMINAL:
        return (subsets[test.cut, b >> 3] >> (b & 7)) & 1
    return (b <= test.cut) | ((b == MISSING) & (test.kind & MISSING_LEFT))


cdef Py_ssize_t count_left(
    const uint8_t *column, Sample sample, Place place, Test test, const uint8_t[:, ::1] subsets
) noexcept nogil:
    """How many of the node's rows go left."""
    cdef const uint32_t *rows = &sample.rows[0]
    cdef Py_ssize_t left = 0, i
    for i in range(place.start, place.stop):
        left += goes_left(column[rows[i]], test, subsets)
    return left


cdef void partition(
    const uint8_t *column,
    Sample sample,
    Weight *weights,
    Place place,
    Test test,
    const uint8_t[:, ::1] subsets,
    bint left_first,
    Sample scratch,
    Weight *spare_weights,
) noexcept nogil:
    """Move the rows of one child to the front, each child in the old order; the other child passes through `scratch`."""
    cdef uint32_t *rows = &sample.rows[0]
    cdef uint16_t *classes = &sample.classes[0]
    cdef uint32_t *spare_rows = &scratch.rows[0]
    cdef uint16_t *spare_classes = &scratch.classes[0]
    cdef Py_ssize_t front = place.start, spared = 0, i
    cdef uint32_t row
    cdef uint16_t label
    cdef Weight weight
    cdef bint stays
    for i in range(place.start, place.stop):
        # Rows of the front child stand from `start` to `front`, those of the other in `scratch`, `spared` of them; front <= i.
        row = rows[i]
        label = classes[i]
        weight = weights[i]
        rows[front] = row  # both are written, one is kept: cheaper than a branch that cannot be predicted
        classes[front] = label
        weights[front] = weight
        spare_rows[spared] = row
        spare_classes[spared] = label
        spare_weights[spared] = weight
        stays = goes_left(column[row], test, subsets) == left_first
        front += stays
        spared += 1 - stays
    # The other child follows the front one, in its old order.
    for i in range(spared):
        rows[front + i] = spare_rows[i]
        classes[front + i] = spare_classes[i]
        weights[front + i] = spare_weights[i]


cdef bint may_split(Rules rules, Py_ssize_t depth, Span *node, Workspace space) noexcept nogil:
    """Whether the stop rule lets a node be split at all."""
    cdef double largest = 0.0
    cdef Py_ssize_t k
    for k in range(node.classes):
        largest = max(largest, space.node[0, k])
    # where the other classes' weights vanish by rounding the node is as good as pure
    return largest < node.n and depth < rules.max_depth and node.stop - node.start >= 2 * rules.min_samples_leaf


cdef void write_split(
    uint32_t node, Split split, bint nominal, Workspace space, Room room, Py_ssize_t subset
) noexcept nogil:
    """Write the test of an inner node; that of a nominal feature takes the subset of categories with number `subset`."""
    cdef Py_ssize_t byte
    room.figures[node, GAIN] = max(split.gain, 0.0)
    room.nodes[node, FEATURE] = <uint32_t>split.feature
    room.nodes[node, CUT] = <uint32_t>split.cut
    room.nodes[node, KIND] = MISSING_LEFT if split.missing_left else 0
    if nominal:
        for byte in range(SUBSET_BYTES):
            room.subsets[subset, byte] = space.subset[byte]
        room.nodes[node, CUT] = <uint32_t>subset
        room.nodes[node, KIND] |= NOMINAL


cdef void write_leaf(uint32_t node, Py_ssize_t leaf, Py_ssize_t classes, Workspace space, Room room) noexcept nogil:
    """Write a leaf: its number, its classes in ascending order, and their weights, after those of the leaf before it."""
    cdef Py_ssize_t first = room.leaf_starts[leaf], k, j
    cdef uint32_t label
    for k in range(classes):
        # The first k classes are sorted; the next one moves down to its position among them.
        label = space.present[k]
        j = first + k - 1
        while j >= first and room.leaf_classes[j] > label:
            room.leaf_classes[j + 1] = room.leaf_classes[j]
            room.leaf_weights[j + 1] = room.leaf_weights[j]
            j -= 1
        room.leaf_classes[j + 1] = label
        room.leaf_weights[j + 1] = space.node[0, k]
    room.leaf_starts[leaf + 1] = <uint32_t>(first + classes)
    room.nodes[node, FEATURE] = UINT32_MAX
    room.nodes[node, CHILD] = <uint32_t>leaf
    room.figures[node, GAIN] = 0.0


cdef void part_node(
    BinnedRows columns, Sample sample, Sample scratch, Room room, Place place, Py_ssize_t used, Place *fresh
) noexcept nogil:
    """Part the rows of a node that waited; its children become nodes `used` and `used` + 1, described in `fresh`."""
    cdef uint32_t *fields = &room.nodes[place.node, 0]
    cdef Test test = Test(fields[FEATURE], fields[CUT], fields[KIND])
    cdef const uint8_t *column = &columns.bins[test.feature, 0]
    # The larger child goes to the front, so that at most half of the rows pass through the scratch arrays.
    cdef Py_ssize_t left = count_left(column, sample, place, test, room.subsets), middle, child
    cdef bint left_first = 2 * left >= place.stop - place.start, is_front
    if sample.whole:
        partition(
            column, sample, &sample.counts[0], place, test, room.subsets, left_first, scratch, &scratch.counts[0]
        )
    else:
        partition(
            column, sample, &sample.weights[0], place, test, room.subsets, left_first, scratch, &scratch.weights[0]
        )
    middle = place.start + left if left_first else place.stop - left
    fields[CHILD] = <uint32_t>used
    for child in range(2):
        is_front = left_first == (child == 0)
        fresh[child].node = <uint32_t>(used + child)
        fresh[child].start = place.start if is_front else <uint32_t>middle
        fresh[child].stop = <uint32_t>middle if is_front else place.stop
        fresh[child].depth = place.depth + 1


cdef Used grow_nodes(
    BinnedRows columns,
    Sample sample,
    Sample scratch,
    Rules rules,
    OwnGain own,
    Workspace space,
    Room room,
    bitgen_t *rng,
) noexcept nogil:
    """Grow one tree: each new node is weighed at once, and those with a split wait for it; see `grow`."""
    cdef Place *frontier = <Place *>&room.frontier[0, 0]
    cdef Place fresh[2]  # the nodes to be weighed
    cdef Place place
    cdef Span span
    cdef Split split
    cdef Py_ssize_t born = 1, used = 1, waiting = 0, leaves = 0, used_subsets = 0, child
    cdef bint best_first = rules.max_leaf_nodes < UNLIMITED, closing = False, nominal
    cdef double root_weight = 0.0
    fresh[0] = Place(0, 0, <uint32_t>sample.rows.shape[0], 0)
    while not own.failed:
        # Weigh the fresh nodes. The rows of each stand side by side in the sample, from start to stop.
        for child in range(born):
            place = fresh[child]
            span.start = place.start
            span.stop = place.stop
            if sample.whole:
                count_classes(sample, &sample.counts[0], space, &span)
            else:
                count_classes(sample, &sample.weights[0], space, &span)
            if place.node == 0:
                root_weight = span.n
            span.least_weight = rules.min_weight_share * root_weight
            room.figures[place.node, WEIGHT] = span.n
            room.figures[place.node, ROWS] = span.stop - span.start
            split.gain = -INFINITY
            split.feature = -1
            if not closing and may_split(rules, place.depth, &span, space):
                split = best_split(columns, sample, &span, rules, own, space, rng)
            if split.feature >= 0 and max(split.gain, 0.0) * span.n >= rules.min_gain * root_weight:
                # A split worth making: the node joins those that wait.
                nominal = columns.nominal[split.feature] != 0
                write_split(place.node, split, nominal, space, room, used_subsets)
                used_subsets += nominal
                frontier[waiting] = place
                waiting += 1
                if best_first:
                    push_best(frontier, room.figures, waiting)
            else:
                write_leaf(place.node, leaves, span.classes, space, room)
                leaves += 1
            forget_classes(span.classes, space)
        if waiting == 0:
            break
        # Take the next node: the last one, or the best one, which is brought to the last position.
        closing = closing or leaves + waiting >= rules.max_leaf_nodes
        if best_first:
            pop_best(frontier, room.figures, waiting)
        waiting -= 1
        if closing:
            # There is room for no further leaf: what waits is weighed once more, and becomes a leaf.
            fresh[0] = frontier[waiting]
            born = 1
        else:
            part_node(columns, sample, scratch, room, frontier[waiting], used, fresh)
            used += 2
            born = 2
    return Used(used, used_subsets, leaves)


def grow(BinnedRows columns, Sample sample, Rules rules, own, Workspace space, Room room, rng):
    """Grow one tree on the sample (whose arrays are reordered) into `room`, top down (TDIDT).

    Nodes with a split wait; the last one is split next, or with max_leaf_nodes the one with the largest gain.
    `own` is the function or the address of a criterion of the user's own, else None; what it raises is raised here.
    Return how many nodes, subsets and leaves of the room the tree takes.
    """
    cdef OwnGain own_gain = OwnGain(own)
    cdef bitgen_t *bits = bits_of(rng)
    cdef Py_ssize_t half = sample.rows.shape[0] // 2 + 1  # the smaller child of any node
    cdef Sample scratch = Sample(
        np.empty(half, np.uint32),
        np.empty(half, np.uint16),
        None if sample.whole else np.empty(half),
        np.empty(half, np.uint16) if sample.whole else None,
    )
    cdef Used used
    with nogil:
        used = grow_nodes(columns, sample, scratch, rules, own_gain, space, room, bits)
    if own_gain.failed:
        raise own_gain.error
    return used.nodes, used.subsets, used.leaves
