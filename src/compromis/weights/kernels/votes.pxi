# Votes laid out for a search: dense as they are, or the non-zero ones by row and by class.

ctypedef fused vote_t:
    float
    double


cdef class VoteTable:
    """Votes laid out for kernels: `dense`, or the non-zero ones twice: start, class and value by row, start, row and value by class.

    A search reorders the rows of a class by their last flips.
    """

    cdef bint is_dense, is_single, has_background
    cdef const double[:, ::1] double_votes
    cdef const float[:, ::1] single_votes
    cdef const long long[::1] row_start, class_start
    cdef const int[::1] row_class
    cdef const double[::1] row_value
    cdef int[::1] class_row
    cdef double[::1] class_value
    cdef double smoothing
    cdef readonly Py_ssize_t size  # the votes that one pass over the classes visits

    def __init__(self, double smoothing, *, dense=None, tuple by_row=None, tuple by_class=None):
        self.smoothing = smoothing
        self.is_dense = dense is not None
        if self.is_dense:
            self.is_single = dense.dtype == np.float32
            if self.is_single:
                self.single_votes = dense
            else:
                self.double_votes = dense
            self.size = dense.size
        else:
            self.row_start, self.row_class, self.row_value = by_row
            self.class_start, self.class_row, self.class_value = by_class
            self.size = self.class_row.shape[0]
        # Classes without a vote in a row share one score there, the background's, and may win by it.
        self.has_background = smoothing > 0.0 and not self.is_dense


cdef inline double dense_vote(VoteTable table, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
    """The vote of row i for class k."""
    return table.single_votes[i, k] if table.is_single else table.double_votes[i, k]


def count_row_votes(const vote_t[:, ::1] votes, long long[::1] start):
    """Write where each row's non-zero votes would start."""
    cdef Py_ssize_t i, k, found
    with nogil:
        start[0] = 0
        for i in range(votes.shape[0]):
            found = 0
            for k in range(votes.shape[1]):
                if votes[i, k] > 0.0:
                    found += 1
            start[i + 1] = start[i] + found


def gather_row_votes(const vote_t[:, ::1] votes, int[::1] column, double[::1] value):
    """Write the non-zero votes row by row."""
    cdef Py_ssize_t i, k, e = 0
    with nogil:
        for i in range(votes.shape[0]):
            for k in range(votes.shape[1]):
                if votes[i, k] > 0.0:
                    column[e] = <int>k
                    value[e] = votes[i, k]
                    e += 1


def gather_class_votes(tuple by_row, tuple by_class, bint smoothed):
    """Write the non-zero votes class by class, rows in order, from start, class and value by row; return how many there are.

    Without smoothing, a row with votes for one class alone is passed over: no weights can decide it otherwise.
    """
    cdef const long long[::1] start = by_row[0]
    cdef const int[::1] column = by_row[1]
    cdef const double[::1] value = by_row[2]
    cdef long long[::1] class_start = by_class[0]
    cdef int[::1] class_row = by_class[1]
    cdef double[::1] class_value = by_class[2]
    cdef Py_ssize_t i, e, k, free, classes = class_start.shape[0] - 1, fewest = 1 if smoothed else 2
    with nogil:
        for k in range(classes + 1):
            class_start[k] = 0
        # count the votes of each class, shifted by one
        for i in range(start.shape[0] - 1):
            if start[i + 1] - start[i] >= fewest:
                for e in range(start[i], start[i + 1]):
                    class_start[column[e] + 1] += 1
        # sums of the counts are where each class starts
        for k in range(classes):
            class_start[k + 1] += class_start[k]
        # write each vote to the next free entry of its class, which ends up where the next class starts
        for i in range(start.shape[0] - 1):
            if start[i + 1] - start[i] >= fewest:
                for e in range(start[i], start[i + 1]):
                    k = column[e]
                    free = class_start[k]
                    class_row[free] = <int>i
                    class_value[free] = value[e]
                    class_start[k] += 1
        # so every start stands one class too early
        for k in range(classes, 0, -1):
            class_start[k] = class_start[k - 1]
        class_start[0] = 0
    return class_start[classes]
