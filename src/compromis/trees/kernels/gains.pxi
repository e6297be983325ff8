# The family of split criteria: what each class adds to the gain of a cut.
#
# The gain of a cut is a sum over the classes present in the node. A criterion is the summand, a function of numbers:
#
#     left, node              weight of the class in the left child and in the node
#     n_left, n               weight of all classes there
#     importance              importance theta of the class
#     recall_weight           recall weight l of the class: 0 = precision alone, 1 = recall alone
#     prior                   share of the class among all training rows
#
# To add one: write its function, give it a number, a name in `CRITERIA`, and two lines in `class_gain`.
# No divisor can be zero, since both children and at least two classes have weight; where weights span so many
# orders of magnitude that one rounds to zero, the gain is infinite or not a number, and the cut is passed over.

cpdef enum:
    OWN = -1
    GINI = 0
    ENTROPY = 1
    GAIN_RATIO = 2
    HELLINGER = 3
    OFF_CENTRED = 4
    PRAGMA_LINEAR = 5
    PRAGMA_F = 6
    PRAGMA_PHI2 = 7
    PRAGMA_STEADY = 8

CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "gain_ratio": GAIN_RATIO,
    "hellinger": HELLINGER,
    "off_centred": OFF_CENTRED,
    "pragma_linear": PRAGMA_LINEAR,
    "pragma_f": PRAGMA_F,
    "pragma_phi2": PRAGMA_PHI2,
    "pragma_steady": PRAGMA_STEADY,
}


cdef inline double gini(double left, double node, double per_left, double per_right, double n) noexcept nogil:
    """Decrease of the Gini impurity 1 - sum p_k^2 (Breiman et al. 1984), from 1 / n_left and 1 / n_right."""
    cdef double right = node - left
    cdef double squares = left * left * per_left + right * right * per_right
    return (squares - node * node / n) * (1.0 / n)


cdef inline double weighted_log(double part, double whole) noexcept nogil:
    """Return x log2(x / whole), and 0 where x is 0."""
    if part <= 0.0:
        return 0.0
    return part * log2(part / whole)


cdef inline double entropy(double left, double node, double n_left, double n) noexcept nogil:
    """Decrease of Shannon's entropy in bits: the information gain."""
    cdef double children = weighted_log(left, n_left) + weighted_log(node - left, n - n_left)
    return (children - weighted_log(node, n)) / n


cdef inline double root_of_share(double part, double whole) noexcept nogil:
    """sqrt(part / whole), and 0 for a part that is only the rounding error of a difference."""
    cdef double share = part / whole
    return sqrt(share) if share > 1e-12 else 0.0


cdef inline double hellinger(double left, double node, double n_left, double n) noexcept nogil:
    """Hellinger distance between a class and the rest over the two children (Cieslak and Chawla 2008).

    d_k^2 = sum over children S of (sqrt(n_kS / n_k) - sqrt((n_S - n_kS) / (n - n_k)))^2; the gain is the sum of d_k.
    """
    cdef double on_left = root_of_share(left, node) - root_of_share(n_left - left, n - node)
    cdef double on_right = root_of_share(node - left, node) - root_of_share(n - n_left - (node - left), n - node)
    return sqrt(on_left * on_left + on_right * on_right)


cdef inline double off_centred_entropy(double share, double prior) noexcept nogil:
    """One class's term p (1 - p) / ((1 - 2 w) p + w^2): largest, 1, where p equals the prior w."""
    return share * (1.0 - share) / ((1.0 - 2.0 * prior) * share + prior * prior)


cdef inline double off_centred(double left, double node, double n_left, double n, double prior) noexcept nogil:
    """Decrease of the asymmetric entropy centred on the training shares (Marcellin, Zighed, Ritschard 2006)."""
    cdef double n_right = n - n_left
    cdef double on_left = n_left * off_centred_entropy(left / n_left, prior)
    cdef double on_right = n_right * off_centred_entropy((node - left) / n_right, prior)
    return off_centred_entropy(node / n, prior) - (on_left + on_right) * (1.0 / n)


cdef inline double surplus(double left, double node, double n_left, double n) noexcept nogil:
    """D = n_kL - n_k n_L / n: what the left child has of a class beyond a random group of its size."""
    return left - node * n_left * (1.0 / n)


cdef inline double pragma_linear(
    double left, double node, double n_left, double n, double importance, double recall_weight
) noexcept nogil:
    """theta_k D (l_k / n_k + (1 - l_k) / n_S): PRAGMA's plane over chance on the side S enriched in the class."""
    cdef double beyond = surplus(left, node, n_left, n)
    cdef double side = n_left if beyond > 0.0 else n - n_left
    cdef double per_row = recall_weight * (1.0 / node) + (1.0 - recall_weight) / side
    return importance * fabs(beyond) * per_row


cdef inline double pragma_f(
    double left, double node, double n_left, double n, double importance, double recall_weight
) noexcept nogil:
    """theta_k D / (l_k n_k + (1 - l_k) n_S): the weighted F metric over chance on the enriched side S."""
    cdef double beyond = surplus(left, node, n_left, n)
    cdef double side = n_left if beyond > 0.0 else n - n_left
    return importance * (fabs(beyond) / (recall_weight * node + (1.0 - recall_weight) * side))


cdef inline double pragma_phi2(double left, double node, double n_left, double n, double importance) noexcept nogil:
    """theta_k D^2 n^2 / (n_L n_R n_k (n - n_k)): the squared correlation of 'is left' and 'is of the class'."""
    cdef double beyond = surplus(left, node, n_left, n)
    cdef double scale = importance * n * n / (node * (n - node))
    return scale * (beyond * beyond / (n_left * (n - n_left)))


cdef inline double pragma_steady(
    double left, double node, double n_left, double n, double importance, double recall_weight
) noexcept nogil:
    """The F gain of the class times its correlation with the cut, theta_k F_k |phi_k|.

    phi_k is D in units of its spread over random cuts, so it asks how sure the surplus is; F_k asks what it is worth at
    the recall weight. On noise fewer of its best cuts are end cuts than gini's for l >= 0.1 (at l = 0 most are).
    """
    cdef double squared = pragma_phi2(left, node, n_left, n, 1.0)
    return pragma_f(left, node, n_left, n, importance, recall_weight) * sqrt(squared)


cdef inline double class_gain(
    int criterion,
    double left,
    double node,
    double n_left,
    double n,
    double importance,
    double recall_weight,
    double prior,
) noexcept nogil:
    """What one class adds to the gain of a cut, by the criterion of this number."""
    if criterion == HELLINGER:
        return hellinger(left, node, n_left, n)
    if criterion == OFF_CENTRED:
        return off_centred(left, node, n_left, n, prior)
    if criterion == PRAGMA_STEADY:
        return pragma_steady(left, node, n_left, n, importance, recall_weight)
    return entropy(left, node, n_left, n)  # also of gain_ratio, which is a quotient of it


cdef class Cuts:
    """The cuts of one order of bins, in arrays that every order uses anew.

    `lefts` has the weights of each class in turn left of the cuts, `sizes` those of all classes, and the rows of
    `inverses` their inverses and the inverses of the weights on the right; `gains` is what each cut gains.
    """

    cdef double[::1] lefts
    cdef double[::1] sizes
    cdef double[:, ::1] inverses
    cdef double[::1] gains

    def __init__(self, lefts, sizes, inverses, gains):
        self.lefts = lefts
        self.sizes = sizes
        self.inverses = inverses
        self.gains = gains


cdef void add_gains(
    int criterion, Cuts cuts, Py_ssize_t count, const double[:, ::1] node, Py_ssize_t classes, double n
) noexcept nogil:
    """Add to the gains what each of the node's classes is worth at each of `count` cuts.

    The rows of `node` are the weights of the classes in the node, their importances, recall weights and priors.
    The criteria that forests use most have a loop of their own, which is vectorised.
    """
    cdef double *gains = &cuts.gains[0]
    cdef const double *sizes = &cuts.sizes[0]
    cdef const double *per_left = &cuts.inverses[0, 0]
    cdef const double *per_right = &cuts.inverses[1, 0]
    cdef const double *lefts
    cdef double weight, theta, l, prior
    cdef Py_ssize_t k, c
    for k in range(classes):
        lefts = &cuts.lefts[k * count]
        weight = node[0, k]
        theta = node[1, k]
        l = node[2, k]
        prior = node[3, k]
        # One branch per class, outside the loop over cuts: what is inside has no branch and becomes vector instructions.
        if criterion == GINI:
            for c in range(count):
                gains[c] += gini(lefts[c], weight, per_left[c], per_right[c], n)
        elif criterion == PRAGMA_LINEAR:
            for c in range(count):
                gains[c] += pragma_linear(lefts[c], weight, sizes[c], n, theta, l)
        elif criterion == PRAGMA_F:
            for c in range(count):
                gains[c] += pragma_f(lefts[c], weight, sizes[c], n, theta, l)
        elif criterion == PRAGMA_PHI2:
            for c in range(count):
                gains[c] += pragma_phi2(lefts[c], weight, sizes[c], n, theta)
        else:
            for c in range(count):
                gains[c] += class_gain(criterion, lefts[c], weight, sizes[c], n, theta, l, prior)


cdef void divide_by_split_information(Cuts cuts, Py_ssize_t count, double n) noexcept nogil:
    """Turn information gains into gain ratios: divide by the entropy of the two children's sizes (Quinlan 1993)."""
    cdef Py_ssize_t c
    cdef double information
    for c in range(count):
        information = -(weighted_log(cuts.sizes[c], n) + weighted_log(n - cuts.sizes[c], n))
        cuts.gains[c] *= n / information


ctypedef double (*Gain)(double, double, double, double, double, double, double) noexcept nogil


cdef class OwnGain:
    """A criterion of the user's own in one tree: a C function's address, or a Python function, called with the GIL.

    The first exception of a Python function is kept, the tree stops growing, and `grow` raises it.
    """

    cdef Gain compiled
    cdef object function
    cdef object error
    cdef bint failed

    def __init__(self, own):
        self.failed = False
        if isinstance(own, int):
            self.compiled = <Gain><uintptr_t>own
        else:
            self.compiled = NULL
            self.function = own


cdef void add_own_gains(
    OwnGain own, Cuts cuts, Py_ssize_t count, const double[:, ::1] node, Py_ssize_t classes, double n
) noexcept nogil:
    """`add_gains` by a criterion of the user's own."""
    cdef double *gains = &cuts.gains[0]
    cdef Py_ssize_t k, c
    if own.failed:  # the tree is given up: what the gains are does not matter
        return
    if own.compiled != NULL:
        for k in range(classes):
            for c in range(count):
                gains[c] += own.compiled(
                    cuts.lefts[k * count + c], node[0, k], cuts.sizes[c], n, node[1, k], node[2, k], node[3, k]
                )
        return
    with gil:
        try:
            for k in range(classes):
                for c in range(count):
                    gains[c] += own.function(
                        cuts.lefts[k * count + c], node[0, k], cuts.sizes[c], n, node[1, k], node[2, k], node[3, k]
                    )
        except BaseException as error:  # also Ctrl-C: it ends the tree, and is raised where the tree was asked for
            own.error = error
            own.failed = True


def address_in(capsule):
    """Return the address of the C function in a capsule, whatever the capsule's name."""
    return <uintptr_t>PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


def gains_of_cuts(int criterion, Cuts cuts, const double[:, ::1] node, double n):
    """Return the gains of all cuts of a node whose classes all have weight."""
    cdef Py_ssize_t count = cuts.gains.shape[0]
    with nogil:
        cuts.gains[:] = 0.0
        add_gains(criterion, cuts, count, node, node.shape[1], n)
        if criterion == GAIN_RATIO:
            divide_by_split_information(cuts, count, n)
    return np.asarray(cuts.gains)
