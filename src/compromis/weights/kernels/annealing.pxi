# Simulated annealing over weights, after section 3 of the PRAGMA paper: only rows that change are counted again.

cdef inline void recount_row(
    Patterns patterns, Objective objective, SearchState state, const Line* line, Py_ssize_t i, double value, double new
) noexcept nogil:
    """Count row i anew if the new weight wins it for the line's class or loses it."""
    cdef Rival rival = rival_of(state, line, i)
    cdef bint before
    if value <= 0.0 or rival.k < 0:
        return
    before = wins(line.weight * value, line.k, rival.score, rival.k)
    if before == wins(new * value, line.k, rival.score, rival.k):
        return
    if before:
        move_row(patterns, objective, state, i, line.k, rival.k)
    else:
        move_row(patterns, objective, state, i, rival.k, line.k)


cpdef void recount(Patterns patterns, Objective objective, SearchState state, Py_ssize_t k, double new) noexcept nogil:
    """Bring counts and losses in line with a new weight of class k; weights and scores stay as they are."""
    cdef Line line = line_of(patterns, state, k)
    cdef Py_ssize_t e, i
    cdef double smoothing = patterns.table.smoothing
    if patterns.table.is_dense:
        for i in range(line.end):
            recount_row(patterns, objective, state, &line, i, dense_vote(patterns.table, i, k) + smoothing, new)
    else:
        for e in range(line.begin, line.end):
            i = patterns.table.class_row[e]
            if line.has_background:
                state.stamp[i] = <int>k
            recount_row(patterns, objective, state, &line, i, patterns.table.class_value[e] + smoothing, new)
    if line.has_background:  # rows without a vote for k
        for i in range(state.first.shape[0]):
            if state.stamp[i] != k:
                recount_row(patterns, objective, state, &line, i, smoothing, new)
    refresh_losses(objective, state)


def anneal(
    Patterns patterns,
    Objective objective,
    SearchState state,
    tuple drawn,
    const double[::1] temperature,
    tuple best,
    double[::1] history,
    double max_ratio,
    double steepness,
):
    """Make one step per drawn (class, logarithm of a factor, chance); keep the best value and weights in `best`, losses in `history`.

    A shortfall from the constraints weighs `steepness` times as much as a loss of the same size when steps are accepted; the
    best is kept by the shortfall first.
    """
    cdef const long long[::1] classes = drawn[0]
    cdef const double[::1] factors = drawn[1], chances = drawn[2]
    cdef double[::1] best_value = best[0], best_weight = best[1]
    cdef Py_ssize_t step, j, k
    cdef double shortfall, loss, new_shortfall, new_loss, low, high, new, rise
    with nogil:
        shortfall, loss = value_of(objective, state)
        for step in range(classes.shape[0]):
            # try a weight: counts first, scores only once it is accepted
            k = classes[step]
            low, high = weight_bounds(state, k, max_ratio)
            new = min(max(state.weight[k] * exp(factors[step]), low), high)
            set_aside(state, 0)
            recount(patterns, objective, state, k, new)
            new_shortfall, new_loss = value_of(objective, state)
            # accept what is no worse, and worse values by chance
            rise = steepness * (new_shortfall - shortfall) + new_loss - loss
            if rise <= 0.0 or chances[step] < exp(-rise / temperature[step]):
                shortfall, loss = new_shortfall, new_loss
                set_weight(patterns, state, k, new)
                if is_better(shortfall, loss, best_value[0], best_value[1]):
                    best_value[0], best_value[1] = shortfall, loss
                    for j in range(state.weight.shape[0]):
                        best_weight[j] = state.weight[j]
            else:
                take_back(state, 0)
            history[step] = loss
            if objective.failed:
                break
    objective.raise_error()
