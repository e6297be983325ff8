# What one class adds to a search's objective: scalar values of the metrics, losses and shortfalls.

cpdef enum:  # what an objective minimises: a metric, built-in or one's own, or a cost matrix
    OWN_METRIC
    KULCZYNSKI
    F
    FOWLKES_MALLOWS
    JACCARD
    COST

cdef extern from *:
    """
    #define MERGED_FLIPS 1e-11
    #define EQUAL_VALUES 1e-12
    """
    # Flip points closer than this, relatively, are one: equal ratios of votes differ by rounding.
    const double merged_flips "MERGED_FLIPS"
    # Shortfalls and losses closer than this are equal: sums of the same terms in another order differ by rounding.
    const double equal_values "EQUAL_VALUES"

MERGED = merged_flips


cdef class Objective:
    """What a search minimises: the sum of what is missed of the constraints first, then the loss.

    A `formula` is one's own metric, a Python function of precision, recall and recall weight; it is called where `code` is
    OWN_METRIC, and where a limit takes over only if it holds `everywhere`. `explained` makes of its error and these three numbers
    what is raised. `share` is the importance of each class, in shares
    of those that occur, 0 for the others; `cost` is that of (truth, decision), scaled so that the sum over rows lies within
    -1 and 1, one cell unless the objective is `costly`; `by_amount` is what is paid for each unit of a row's amount. Sums of weights up to `tiny` are 0 but for rounding.
    """

    cdef readonly int code
    cdef readonly bint constrained, costly, by_row
    cdef readonly double tiny, total
    cdef readonly const double[::1] share, recall_weight, support, min_precision, min_recall, max_share
    cdef readonly const double[:, ::1] cost, by_amount
    cdef object formula, explained, error
    cdef tuple failed_at
    cdef bint everywhere, failed

    def __init__(
        self,
        *,
        int code,
        formula,
        explained,
        bint everywhere,
        const double[::1] share,
        const double[::1] recall_weight,
        const double[::1] support,
        const double[::1] min_precision,
        const double[::1] min_recall,
        const double[::1] max_share,
        bint constrained,
        const double[:, ::1] cost,
        double tiny,
        by_amount=None,
    ):
        if not OWN_METRIC <= code <= COST:
            raise ValueError(f"there is no objective of code {code}")
        self.code, self.formula, self.explained, self.everywhere = code, formula, explained, everywhere
        self.share, self.recall_weight, self.support = share, recall_weight, support
        self.min_precision, self.min_recall, self.max_share = min_precision, min_recall, max_share
        self.constrained, self.total = constrained, np.sum(support)
        self.costly, self.cost, self.tiny = code == COST, cost, tiny
        self.by_row = by_amount is not None
        self.by_amount = by_amount if self.by_row else cost
        self.failed = False

    cdef int raise_error(self) except -1:
        """Raise the first error of the formula, if there was one; every door ends with it."""
        if self.failed:
            raise self.explained(self.error, *self.failed_at)
        return 0


cdef double own_metric(Objective objective, double precision, double recall, double recall_weight) noexcept nogil:
    """The value of one's own metric; after its first error it is called no more, and loops that see `failed` end."""
    cdef double value = 0.0
    with gil:
        if not objective.failed:
            try:
                value = objective.formula(precision, recall, recall_weight)
            except BaseException as error:  # an interrupt too: the door raises it
                objective.error, objective.failed_at = error, (precision, recall, recall_weight)
                objective.failed = True
    return value


cdef inline double metric_at(Objective objective, double precision, double recall, double recall_weight) noexcept nogil:
    """The value of the objective's metric; `compromis.metrics` has the formulas and their limits."""
    cdef int code = objective.code
    cdef double of_precision, of_recall, both
    if code == KULCZYNSKI:
        return (1.0 - recall_weight) * precision + recall_weight * recall
    if code == OWN_METRIC and objective.everywhere:
        return own_metric(objective, precision, recall, recall_weight)
    if recall_weight <= 0.0:
        return precision
    if recall_weight >= 1.0:
        return recall
    if precision <= 0.0 or recall <= 0.0:
        return 0.0
    if code == OWN_METRIC:
        return own_metric(objective, precision, recall, recall_weight)
    if code == F:
        return 1.0 / (recall_weight / recall + (1.0 - recall_weight) / precision)
    if code == FOWLKES_MALLOWS:
        return pow(precision, 1.0 - recall_weight) * pow(recall, recall_weight)
    # of the codes that the constructor admits, Jaccard is left
    of_precision, of_recall = min(2.0 * recall_weight, 1.0), min(2.0 - 2.0 * recall_weight, 1.0)
    both = 1.0 - fabs(1.0 - 2.0 * recall_weight)
    return precision * recall / (of_precision * precision + of_recall * recall - both * precision * recall)


cdef inline double class_loss(Objective objective, Py_ssize_t k, double hits, double predicted) noexcept nogil:
    """What class k adds to the loss: its share x (1 - metric), the whole share if it is never predicted."""
    cdef double share = objective.share[k]
    if share == 0.0:
        return 0.0
    if predicted <= objective.tiny:
        return share
    return share * (1.0 - metric_at(objective, hits / predicted, hits / objective.support[k], objective.recall_weight[k]))


cdef inline double price(Objective objective, Py_ssize_t truth, Py_ssize_t k, double size, double amount) noexcept nogil:
    """What predicting class k costs for rows of a true class, that many and of that amount together."""
    if objective.by_row:
        return size * objective.cost[truth, k] + amount * objective.by_amount[truth, k]
    return size * objective.cost[truth, k]


cdef inline double excess(Objective objective, Py_ssize_t k, double predicted) noexcept nogil:
    """By how much the share of rows predicted as class k exceeds its capacity."""
    return max(predicted / objective.total - objective.max_share[k], 0.0)


cdef inline double missed_minima(Objective objective, Py_ssize_t k, double hits, double predicted) noexcept nogil:
    """What class k misses of its minimal precision and recall."""
    cdef double precision, support = objective.support[k]
    if support == 0.0:
        return 0.0
    precision = hits / predicted if predicted > objective.tiny else 0.0
    return max(objective.min_precision[k] - precision, 0.0) + max(objective.min_recall[k] - hits / support, 0.0)


cdef inline double class_shortfall(Objective objective, Py_ssize_t k, double hits, double predicted) noexcept nogil:
    """What class k misses of its constraints."""
    return missed_minima(objective, k, hits, predicted) + excess(objective, k, predicted)


def metric_value(Objective objective, double precision, double recall, double recall_weight):
    """The value of the objective's metric, as the loops above work it out."""
    cdef double value = metric_at(objective, precision, recall, recall_weight)
    objective.raise_error()
    return value


cpdef inline bint is_better(double shortfall, double loss, double best_shortfall, double best_loss) noexcept nogil:
    """Whether the shortfall is smaller, or at an equal one the loss: the one comparison of results, in every method."""
    if shortfall < best_shortfall - equal_values:
        return True
    return shortfall <= best_shortfall + equal_values and loss < best_loss - equal_values
