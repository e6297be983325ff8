# The running state of a search for weights: the two best scores of each row, and the counts they lead to.
#
# With smoothing, classes without a vote in a row share one background value; of these only the class with the largest weight
# can win, so the state keeps scores of voted classes alone and compares with the best background class.

cdef enum:
    NOT_VISITED = -1
    MOVED = -2  # a stamp that is no class


cdef class Patterns:
    """What is searched: votes, true classes and multiplicities, and the amounts of the rows where costs depend on them."""

    cdef readonly VoteTable table
    cdef const long long[::1] truth
    cdef const double[::1] multiplicity, amount

    def __init__(self, VoteTable table, const long long[::1] truth, const double[::1] multiplicity, amount=None):
        self.table, self.truth, self.multiplicity = table, truth, multiplicity
        self.amount = multiplicity if amount is None else amount

    def __len__(self):
        return self.truth.shape[0]


cdef class SearchState:
    """Weights, the two best voted classes of each row, and what the decisions add up to.

    n rows flip at most n times, between n + 1 cells.
    """

    cdef readonly double[::1] weight
    cdef readonly int[::1] first, second
    cdef readonly double[::1] first_score, second_score
    cdef readonly double[::1] hits, predicted, loss, shortfall
    cdef readonly double[::1] cost  # one cell: the scaled cost of all rows
    cdef readonly int[::1] ranked  # rows by rising first score; kept only with a background
    # Scratch: where each entry of the class at hand flips, with row and other class beside it, and their order.
    cdef readonly double[::1] flip
    cdef readonly int[::1] flip_row, flip_other, order
    # Scratch: shortfall, loss, ends and flips before each cell that a line search tried.
    cdef double[::1] cell_loss, cell_shortfall, cell_low, cell_high
    cdef int[::1] cell_taken
    cdef int[::1] stamp  # scratch: the class for which each row was visited last
    cdef int[::1] spare, bucket, start  # scratch of whoever sorts or reorders
    cdef double[:, :, ::1] saved  # scratch: hits, predicted, loss, shortfall and cost set aside, twice

    def __init__(self, Py_ssize_t rows, Py_ssize_t classes):
        self.weight = np.ones(classes)
        self.first, self.second = np.zeros(rows, dtype=np.intc), np.zeros(rows, dtype=np.intc)
        self.first_score, self.second_score = np.zeros(rows), np.zeros(rows)
        self.hits, self.predicted, self.loss, self.shortfall = np.zeros((4, classes))
        self.cost = np.zeros(1)
        self.ranked = np.zeros(rows, dtype=np.intc)
        self.flip, self.flip_row, self.flip_other = np.empty(rows), np.empty(rows, dtype=np.intc), np.empty(rows, dtype=np.intc)
        self.cell_loss, self.cell_shortfall = np.empty(rows + 1), np.empty(rows + 1)
        self.cell_low, self.cell_high = np.empty(rows + 1), np.empty(rows + 1)
        self.cell_taken = np.empty(rows + 1, dtype=np.intc)
        self.stamp = np.full(rows, NOT_VISITED, dtype=np.intc)
        self.order, self.spare = np.empty(rows, dtype=np.intc), np.empty(rows, dtype=np.intc)
        self.bucket, self.start = np.empty(rows, dtype=np.intc), np.empty(rows + 1, dtype=np.intc)
        self.saved = np.zeros((2, 4, classes + 1))


cdef (Py_ssize_t, double) best_background(Patterns patterns, SearchState state, Py_ssize_t without) noexcept nogil:
    """The class with the best background score, `without` left aside, and the score; (-1, 0) if there is none."""
    cdef Py_ssize_t k, best = -1
    cdef double score, best_score = 0.0
    if not patterns.table.has_background:
        return best, best_score
    for k in range(state.weight.shape[0]):
        score = state.weight[k] * patterns.table.smoothing
        if k != without and score > best_score:
            best, best_score = k, score
    return best, best_score


cdef inline bint wins(double score, Py_ssize_t k, double other_score, Py_ssize_t other) noexcept nogil:
    """Whether class k beats another: the larger score, at a tie the first class."""
    return score > other_score or (score == other_score and k < other)


cdef void find_best_two(Patterns patterns, SearchState state, Py_ssize_t i) noexcept nogil:
    """Write the two best voted classes of row i with their scores, -1 and 0 where there is none."""
    cdef Py_ssize_t e, k, begin = 0, end = state.weight.shape[0], first = -1, second = -1
    cdef double score, value, first_score = 0.0, second_score = 0.0, smoothing = patterns.table.smoothing
    cdef bint is_dense = patterns.table.is_dense
    if not is_dense:
        begin, end = patterns.table.row_start[i], patterns.table.row_start[i + 1]
    for e in range(begin, end):
        if is_dense:
            k, value = e, dense_vote(patterns.table, i, e)
        else:
            k, value = patterns.table.row_class[e], patterns.table.row_value[e]
        score = state.weight[k] * (value + smoothing)
        if score > first_score:  # classes come in order, so a tie stays with the first
            second, second_score = first, first_score
            first, first_score = k, score
        elif score > second_score:
            second, second_score = k, score
    state.first[i], state.first_score[i] = <int>first, first_score
    state.second[i], state.second_score[i] = <int>second, second_score


cdef (Py_ssize_t, Py_ssize_t) span_of(Patterns patterns, Py_ssize_t k) noexcept nogil:
    """Where the votes for class k begin and end; dense votes have one per row."""
    if patterns.table.is_dense:
        return 0, patterns.truth.shape[0]
    return patterns.table.class_start[k], patterns.table.class_start[k + 1]


cdef struct Line:
    Py_ssize_t k  # the class whose weight moves
    double weight
    Py_ssize_t begin, end  # its votes; dense ones have one per row
    bint has_background
    Py_ssize_t background  # the best class of the background, and its score, k left aside
    double background_score
    double low, high  # bounds of the weight


cdef struct Rival:
    Py_ssize_t k
    double score


cdef Line line_of(Patterns patterns, SearchState state, Py_ssize_t k) noexcept nogil:
    """What a walk along class k's weight needs to know."""
    cdef Line line
    line.k, line.weight, line.has_background = k, state.weight[k], patterns.table.has_background
    line.begin, line.end = span_of(patterns, k)
    line.low, line.high = 0.0, INFINITY
    line.background, line.background_score = best_background(patterns, state, k)
    return line


cdef inline Rival rival_of(SearchState state, const Line* line, Py_ssize_t i) noexcept nogil:
    """The best class of row i but for the line's, and its score; -1 where there is none."""
    cdef Rival rival
    rival.k, rival.score = state.first[i], state.first_score[i]
    if rival.k == line.k:
        rival.k, rival.score = state.second[i], state.second_score[i]
    if line.background >= 0 and (rival.k < 0 or wins(line.background_score, line.background, rival.score, rival.k)):
        rival.k, rival.score = line.background, line.background_score
    return rival


cdef void refresh_losses(Objective objective, SearchState state) noexcept nogil:
    """Work out what each class adds to loss and shortfall."""
    cdef Py_ssize_t k
    for k in range(state.hits.shape[0]):
        state.loss[k] = class_loss(objective, k, state.hits[k], state.predicted[k])
        if objective.constrained:
            state.shortfall[k] = class_shortfall(objective, k, state.hits[k], state.predicted[k])


cdef inline void move_row(
    Patterns patterns, Objective objective, SearchState state, Py_ssize_t i, Py_ssize_t source, Py_ssize_t target
) noexcept nogil:
    """Predict row i as `target` instead of `source`: counts and cost follow, losses are the caller's business."""
    cdef Py_ssize_t truth = patterns.truth[i]
    cdef double size = patterns.multiplicity[i]
    state.predicted[source] -= size
    state.predicted[target] += size
    if truth == source:
        state.hits[source] -= size
    elif truth == target:
        state.hits[target] += size
    if objective.costly:
        state.cost[0] += price(objective, truth, target, size, patterns.amount[i])
        state.cost[0] -= price(objective, truth, source, size, patterns.amount[i])


cdef void count_all(Patterns patterns, Objective objective, SearchState state) noexcept nogil:
    """Bring everything in `state` in line with its weights."""
    cdef Py_ssize_t i, k, background, rows = patterns.truth.shape[0]
    cdef double background_score, total_cost = 0.0
    for k in range(state.hits.shape[0]):
        state.hits[k], state.predicted[k] = 0.0, 0.0
    background, background_score = best_background(patterns, state, -1)
    for i in range(rows):
        find_best_two(patterns, state, i)
        # the decision: the best voted class, unless the background beats it; a row without either counts nowhere
        k = state.first[i]
        if background >= 0 and wins(background_score, background, state.first_score[i], k):
            k = background
        if k < 0:
            continue
        state.predicted[k] += patterns.multiplicity[i]
        if patterns.truth[i] == k:
            state.hits[k] += patterns.multiplicity[i]
        if objective.costly:
            total_cost += price(objective, patterns.truth[i], k, patterns.multiplicity[i], patterns.amount[i])
    state.cost[0] = total_cost
    refresh_losses(objective, state)
    if background >= 0:
        write_order(&state.first_score[0], rows, &state.ranked[0], &state.bucket[0], &state.start[0])


cpdef void set_weight(Patterns patterns, SearchState state, Py_ssize_t k, double new) noexcept nogil:
    """Give class k a new weight and bring the two best of the rows with votes for it in line; counts are the caller's business."""
    cdef Py_ssize_t e, i, begin, end, moved = 0
    cdef double own, score, before, smoothing = patterns.table.smoothing
    cdef bint is_dense = patterns.table.is_dense, has_background = patterns.table.has_background
    state.weight[k] = new
    begin, end = span_of(patterns, k)
    for e in range(begin, end):
        if is_dense:
            i, own = e, dense_vote(patterns.table, e, k) + smoothing
        else:
            i, own = patterns.table.class_row[e], patterns.table.class_value[e] + smoothing
        if own <= 0.0:
            continue
        score = new * own
        before = state.first_score[i]
        # k was first, second or neither. Where it was among the two and falls, a third class may come up: look at the
        # whole row again. Otherwise comparing with the two is enough.
        if state.first[i] == k:
            if wins(score, k, state.second_score[i], state.second[i]):
                state.first_score[i] = score
            else:
                find_best_two(patterns, state, i)
        elif wins(score, k, before, state.first[i]):
            state.second[i], state.second_score[i] = state.first[i], before
            state.first[i], state.first_score[i] = <int>k, score
        elif state.second[i] == k:
            if score >= state.second_score[i]:
                state.second_score[i] = score
            else:
                find_best_two(patterns, state, i)
        elif wins(score, k, state.second_score[i], state.second[i]):
            state.second[i], state.second_score[i] = <int>k, score
        if has_background and state.first_score[i] != before:
            state.flip_row[moved] = <int>i
            state.flip[moved] = state.first_score[i]
            moved += 1
    if moved > 0:
        rank_moved(state, moved)


cdef void rank_moved(SearchState state, Py_ssize_t moved) noexcept nogil:
    """Put the rows whose first score changed back into `ranked`; scratch holds them and their scores."""
    cdef Py_ssize_t r, e, a = 0, b = 0, count = 0, rows = state.ranked.shape[0]
    write_order(&state.flip[0], moved, &state.order[0], &state.bucket[0], &state.start[0])
    # the rows that did not move are still in order
    for e in range(moved):
        state.stamp[state.flip_row[e]] = MOVED
    for r in range(rows):
        if state.stamp[state.ranked[r]] != MOVED:
            state.spare[count] = state.ranked[r]
            count += 1
    for e in range(moved):
        state.stamp[state.flip_row[e]] = NOT_VISITED
    # merge the two ordered lists; at a tie the rows that did not move come first
    for r in range(rows):
        e = state.order[b] if b < moved else 0
        if b == moved or (a < count and state.first_score[state.spare[a]] <= state.flip[e]):
            state.ranked[r] = state.spare[a]
            a += 1
        else:
            state.ranked[r] = state.flip_row[e]
            b += 1


cdef void set_aside(SearchState state, Py_ssize_t slot) noexcept nogil:
    """Copy what the decisions add up to."""
    cdef Py_ssize_t k, classes = state.hits.shape[0]
    for k in range(classes):
        state.saved[slot, 0, k], state.saved[slot, 1, k] = state.hits[k], state.predicted[k]
        state.saved[slot, 2, k], state.saved[slot, 3, k] = state.loss[k], state.shortfall[k]
    state.saved[slot, 0, classes] = state.cost[0]


cdef void take_back(SearchState state, Py_ssize_t slot) noexcept nogil:
    """Restore what `set_aside` copied."""
    cdef Py_ssize_t k, classes = state.hits.shape[0]
    for k in range(classes):
        state.hits[k], state.predicted[k] = state.saved[slot, 0, k], state.saved[slot, 1, k]
        state.loss[k], state.shortfall[k] = state.saved[slot, 2, k], state.saved[slot, 3, k]
    state.cost[0] = state.saved[slot, 0, classes]


def prepare(Patterns patterns, Objective objective, SearchState state):
    """Bring everything in `state` in line with its weights."""
    with nogil:
        count_all(patterns, objective, state)
    objective.raise_error()
