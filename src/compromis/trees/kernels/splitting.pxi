# The best cut of one node over the features drawn for it, in a workspace that all nodes share.

cpdef enum:
    SUBSET_BYTES = 32
    TINY = 12  # rows up to which sorting the bins met beats looking through all bins

ABSENT = UINT32_MAX  # for Python: what `Workspace.local` holds between nodes


cdef class Rules:
    """Quality and stop rule of a tree as numbers; a limit that does not apply is the largest int."""

    cdef int criterion
    cdef Py_ssize_t max_features
    cdef Py_ssize_t max_depth
    cdef Py_ssize_t min_samples_leaf
    cdef double min_weight_share
    cdef double min_gain
    cdef Py_ssize_t max_leaf_nodes

    def __init__(
        self, criterion, max_features, max_depth, min_samples_leaf, min_weight_share, min_gain, max_leaf_nodes
    ):
        self.criterion = criterion
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_share = min_weight_share
        self.min_gain = min_gain
        self.max_leaf_nodes = max_leaf_nodes


cdef class Workspace:
    """Arrays that every node of a tree uses anew; class arrays hold the classes present in the node first."""

    cdef const double[:, ::1] class_terms  # importance, recall weight and prior of all classes
    cdef uint32_t[::1] present  # the classes present in the node
    cdef uint32_t[::1] local  # the number of each class among them, or ABSENT
    cdef double[:, ::1] node  # their weights and terms
    cdef uint32_t[::1] features  # a permutation, from which features are drawn
    cdef double[::1] histogram  # weight by bin and present class
    cdef uint32_t[::1] bin_rows  # rows by bin
    cdef uint8_t[::1] seen  # marks bins that have rows
    cdef uint32_t[::1] order  # those bins in the order of the cuts
    cdef double[::1] shares  # share of a class by bin, to sort categories
    cdef Cuts cuts
    cdef uint8_t[::1] subset  # categories that go left, as bits

    def __init__(
        self, class_terms, present, local, node, features, histogram, bin_rows, seen, order, shares, cuts, subset
    ):
        self.class_terms = class_terms
        self.present = present
        self.local = local
        self.node = node
        self.features = features
        self.histogram = histogram
        self.bin_rows = bin_rows
        self.seen = seen
        self.order = order
        self.shares = shares
        self.cuts = cuts
        self.subset = subset


cdef struct Span:
    # A node being weighed: where its rows stand in the sample, its number of classes, its weight, and the least weight of a child.
    Py_ssize_t start
    Py_ssize_t stop
    Py_ssize_t classes
    double n
    double least_weight


cdef struct Split:
    # A cut: bins up to `cut` (or in the workspace's subset, for a nominal feature) go left; feature -1: there is none.
    double gain
    Py_ssize_t feature
    Py_ssize_t cut
    bint missing_left


cdef struct bitgen_t:
    # What numpy's BitGenerator.capsule points to: part of numpy's stable binary interface (numpy/random/bitgen.h).
    void *state
    uint64_t (*next_uint64)(void *) noexcept nogil
    uint32_t (*next_uint32)(void *) noexcept nogil
    double (*next_double)(void *) noexcept nogil
    uint64_t (*next_raw)(void *) noexcept nogil


cdef bitgen_t *bits_of(generator) except NULL:
    """The source of a numpy Generator's numbers. No lock is taken: every tree has a generator of its own."""
    return <bitgen_t *>PyCapsule_GetPointer(generator.bit_generator.capsule, "BitGenerator")


cdef void count_classes(Sample sample, const Weight *weights, Workspace space, Span *span) noexcept nogil:
    """Sum class weights of the node's rows, for present classes only; write their number and the total weight."""
    cdef const uint16_t *labels = &sample.classes[0]
    cdef uint32_t *local = &space.local[0]
    cdef double *node = &space.node[0, 0]
    cdef Py_ssize_t classes = 0, i, term
    cdef uint16_t label
    cdef double n = 0.0
    for i in range(span.start, span.stop):
        label = labels[i]
        # A class met for the first time gets the next number in this node, and its terms beside its weight.
        if local[label] == UINT32_MAX:
            local[label] = <uint32_t>classes
            space.present[classes] = label
            node[classes] = 0.0
            for term in range(3):
                space.node[term + 1, classes] = space.class_terms[term, label]
            classes += 1
        node[local[label]] += weights[i]
        n += weights[i]
    span.classes = classes
    span.n = n


cdef void forget_classes(Py_ssize_t classes, Workspace space) noexcept nogil:
    """Undo the class numbering of `count_classes`, ready for the next node."""
    cdef Py_ssize_t k
    for k in range(classes):
        space.local[space.present[k]] = UINT32_MAX


cdef void forbid_small(
    Workspace space, Py_ssize_t cuts, Py_ssize_t count, Py_ssize_t rows, Py_ssize_t least
) noexcept nogil:
    """Set the gain of cuts with fewer than `least` rows in a child to -inf."""
    cdef Py_ssize_t left = 0, c
    for c in range(count):
        # From `cuts` on the same cuts come again, with missing values on the left.
        if c == cuts:
            left = space.bin_rows[MISSING]
        left += space.bin_rows[space.order[c - cuts if c >= cuts else c]]
        if left < least or rows - left < least:
            space.cuts.gains[c] = -INFINITY


cdef Py_ssize_t first_largest(Cuts cuts, Py_ssize_t count, double n, double least_weight) noexcept nogil:
    """The first cut of largest gain, both children having weight and at least `least_weight`; -1 if there is none."""
    cdef const double *gains = &cuts.gains[0]
    cdef const double *sizes = &cuts.sizes[0]
    cdef Py_ssize_t best = -1, c
    cdef double largest = -INFINITY
    for c in range(count):
        if gains[c] > largest and sizes[c] < n and min(sizes[c], n - sizes[c]) >= least_weight:
            largest = gains[c]
            best = c
    return best


cdef void write_subset(Workspace space, Py_ssize_t position, Py_ssize_t length, bint other_left) noexcept nogil:
    """Write the bins left of the cut as bits; bins the node does not have take the side `other_left`."""
    cdef Py_ssize_t byte, i
    cdef uint32_t b
    cdef uint8_t bit
    for byte in range(SUBSET_BYTES):
        space.subset[byte] = 255 if other_left else 0
    # Bins of the node override that, by their position in the order of the cut.
    for i in range(length):
        b = space.order[i]
        bit = <uint8_t>(1 << (b & 7))
        if i < position:
            space.subset[b >> 3] |= bit
        else:
            space.subset[b >> 3] &= ~bit


cdef inline Py_ssize_t draw_feature(uint32_t[::1] features, Py_ssize_t remaining, bitgen_t *rng) noexcept nogil:
    """Draw one of the first `remaining` features; it changes places with the last of them, so that it is not drawn again."""
    cdef Py_ssize_t drawn_at = <Py_ssize_t>(rng.next_double(rng.state) * remaining)
    cdef uint32_t feature = features[drawn_at]
    features[drawn_at] = features[remaining - 1]
    features[remaining - 1] = feature
    return feature


cdef Py_ssize_t fill_histogram(
    BinnedRows columns, Py_ssize_t feature, Sample sample, Span *node, Rules rules, Workspace space
) noexcept nogil:
    """Sum class weights by bin, list the bins that have rows, ascending, missing values last; return their number.

    The histogram is zero outside the bins of this node's rows.
    """
    cdef const uint8_t *column = &columns.bins[feature, 0]
    if sample.whole:
        fill_weights(column, sample, &sample.counts[0], node.start, node.stop, space, node.classes)
    else:
        fill_weights(column, sample, &sample.weights[0], node.start, node.stop, space, node.classes)
    if rules.min_samples_leaf > 1:
        fill_rows(column, sample, node.start, node.stop, space)
    if node.stop - node.start <= TINY:
        return list_met(column, sample, node.start, node.stop, space)
    return list_marked(columns.bin_counts[feature], space)


cdef void find_gains(Py_ssize_t count, Rules rules, OwnGain own, Workspace space, Span *node) noexcept nogil:
    """Write the gain of every cut: a sum over the classes, of which some criteria take a function at the end."""
    cdef double *gains = &space.cuts.gains[0]
    cdef const double *sizes = &space.cuts.sizes[0]
    cdef double *per_left = &space.cuts.inverses[0, 0]
    cdef double *per_right = &space.cuts.inverses[1, 0]
    cdef Py_ssize_t c
    for c in range(count):
        gains[c] = 0.0
    if rules.criterion == GINI:  # the only one that reads the inverses
        for c in range(count):
            per_left[c] = 1.0 / sizes[c]
            per_right[c] = 1.0 / (node.n - sizes[c])
    if rules.criterion == OWN:
        add_own_gains(own, space.cuts, count, space.node, node.classes, node.n)
    else:
        add_gains(rules.criterion, space.cuts, count, space.node, node.classes, node.n)
    if rules.criterion == GAIN_RATIO:
        divide_by_split_information(space.cuts, count, node.n)


cdef Split best_split(
    BinnedRows columns, Sample sample, Span *node, Rules rules, OwnGain own, Workspace space, bitgen_t *rng
) noexcept nogil:
    """Best cut of the node over randomly drawn features (all, in their order, where max_features is their number).

    As in Breiman's forests k features are drawn without replacement; features constant in the node count, but
    drawing goes on until one that is not constant was seen. A numeric feature is cut half-way, in bins, between
    two bins that have rows. The categories of a nominal one are ordered by the share of one class, for each class
    in turn (once if there are two, gini or entropy, and no limits, where that finds the best of all subsets:
    Breiman et al. 1984, theorem 4.5), and the best subset is left in the workspace. Gain -inf means that no cut is allowed.
    """
    cdef const uint32_t *order = &space.order[0]
    cdef const double *gains = &space.cuts.gains[0]
    cdef Py_ssize_t rows = node.stop - node.start, least = rules.min_samples_leaf
    cdef Py_ssize_t remaining = space.features.shape[0], drawn = 0, usable = 0
    cdef Py_ssize_t feature, met, length, cuts, count, orders, k, chosen, position, cut
    cdef bint draws = rules.max_features < remaining, nominal, has_missing, missing_left
    cdef bint concave = rules.criterion == GINI or rules.criterion == ENTROPY
    cdef bint one_order = node.classes == 2 and concave and least == 1 and node.least_weight <= 0.0
    cdef Split best = Split(-INFINITY, -1, 0, False)
    while remaining > 0 and (drawn < rules.max_features or usable == 0):
        feature = draw_feature(space.features, remaining, rng) if draws else drawn
        drawn += 1
        remaining -= 1
        met = fill_histogram(columns, feature, sample, node, rules, space)
        # Missing values, if any, come last and are in no order of their own.
        has_missing = order[met - 1] == MISSING
        length = met - 1 if has_missing else met
        nominal = columns.nominal[feature] != 0
        # One bin cannot be cut; numbers have one order, categories one for each class.
        orders = 0 if met < 2 else node.classes if nominal and length > 2 and not one_order else 1
        usable += min(orders, 1)
        for k in range(orders):
            if nominal:
                sort_by_share(k, length, node.classes, space)
            count = sum_lefts(length, node.classes, has_missing, space)
            cuts = length if has_missing else count
            find_gains(count, rules, own, space, node)
            if least > 1:
                forbid_small(space, cuts, count, rows, least)
            chosen = first_largest(space.cuts, count, node.n, node.least_weight)
            if chosen < 0 or gains[chosen] <= best.gain:
                continue
            # Cuts from `cuts` on are the same again with missing values left; without any, they go to the heavier side.
            position = (chosen - cuts if chosen >= cuts else chosen) + 1
            missing_left = chosen >= cuts if has_missing else 2.0 * space.cuts.sizes[chosen] >= node.n
            cut = LAST_BIN  # all known values against missing ones
            if nominal:
                write_subset(space, position, length, missing_left)
            elif position < length:
                cut = (order[position - 1] + order[position]) >> 1
            best = Split(gains[chosen], feature, cut, missing_left)
        # Back to zero for the next feature, at the cost of the bins met rather than of all.
        clear_bins(space, met, node.classes)
    return best
