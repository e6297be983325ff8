# The exact line search for one class's weight, and descents that take the classes in turn.
#
# With the other weights fixed, row i flips once from its best other class to k, at w_k = max_{j != k} w_j v_ij / v_ik.
#
# A cell, here and in every search, is a set of weights between which no decision changes: all of it is worth the same, and
# one try of each cell is a search of all weights. Along one weight a cell is the interval between two neighbouring flips;
# for three classes see ternary.pxi.

cdef struct Tried:
    bint changed  # whether the class got another weight
    double weight
    Py_ssize_t cells, entries  # cells tried, entries visited


cdef Py_ssize_t first_above(SearchState state, double level) noexcept nogil:
    """The position in `ranked` of the first row whose best score exceeds `level`."""
    cdef Py_ssize_t low = 0, high = state.ranked.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if state.first_score[state.ranked[middle]] > level:
            high = middle
        else:
            low = middle + 1
    return low


cdef inline Py_ssize_t take_flip(
    Patterns patterns, Objective objective, SearchState state, const Line* line, Py_ssize_t i, double value, Py_ssize_t count
) noexcept nogil:
    """Take row i, with that smoothed vote, away from the class and note where it flips to it, if that is within the bounds."""
    cdef Rival rival = rival_of(state, line, i)
    # a row without a vote or without another class never flips
    if value <= 0.0 or rival.k < 0 or rival.score <= line.low * value or rival.score >= line.high * value:
        return count
    if wins(line.weight * value, line.k, rival.score, rival.k):
        move_row(patterns, objective, state, i, line.k, rival.k)
    state.flip[count], state.flip_row[count], state.flip_other[count] = rival.score / value, <int>i, <int>rival.k
    return count + 1


cdef (Py_ssize_t, Py_ssize_t) take_flips(
    Patterns patterns, Objective objective, SearchState state, Py_ssize_t k, (double, double) bounds
) noexcept nogil:
    """Take every row that flips within `bounds` of class k's weight away from it, and note where it flips to it.

    Rows with a vote for k come first in the scratch arrays, those that only the background can flip after them, by rising
    flip; the numbers of both are returned.
    """
    cdef Line line = line_of(patterns, state, k)
    cdef Py_ssize_t e, i, voted, begin = 0, count = 0
    cdef double smoothing = patterns.table.smoothing
    line.low, line.high = bounds[0], bounds[1]
    if patterns.table.is_dense:
        for i in range(line.end):
            count = take_flip(patterns, objective, state, &line, i, dense_vote(patterns.table, i, k) + smoothing, count)
        return count, count
    for e in range(line.begin, line.end):
        i = patterns.table.class_row[e]
        if line.has_background:
            state.stamp[i] = <int>k
        count = take_flip(patterns, objective, state, &line, i, patterns.table.class_value[e] + smoothing, count)
    voted = count
    # A row without a vote for k flips at its best other score / smoothing. `ranked` has the rows by that score, so those
    # that flip within the bounds stand next to each other; below the background's score all have the background's flip.
    if line.has_background and line.background_score < line.high * smoothing:
        if line.background_score <= line.low * smoothing:
            begin = first_above(state, line.low * smoothing)
        for e in range(begin, first_above(state, line.high * smoothing)):
            i = state.ranked[e]
            if state.stamp[i] != k:  # else it has had its turn
                count = take_flip(patterns, objective, state, &line, i, smoothing, count)
    return voted, count


cdef void keep_order(Patterns patterns, SearchState state, Py_ssize_t k, int* order, Py_ssize_t count) noexcept nogil:
    """Put the votes for class k in the order of their flips: the next search finds them nearly sorted, and branches predictable."""
    cdef Py_ssize_t e, begin, end
    begin, end = span_of(patterns, k)
    if count != end - begin:  # bounds left some of them out
        return
    # by way of scratch: sorting is done, and no cells are noted yet
    for e in range(count):
        state.bucket[e] = patterns.table.class_row[begin + e]
        state.cell_low[e] = patterns.table.class_value[begin + e]
    for e in range(count):
        patterns.table.class_row[begin + e] = state.bucket[order[e]]
        patterns.table.class_value[begin + e] = state.cell_low[order[e]]


cdef void sort_flips(Patterns patterns, SearchState state, Py_ssize_t k, Py_ssize_t voted, Py_ssize_t count) noexcept nogil:
    """Write the scratch entries by rising flip: those with votes are sorted and merged with the others, which are in order."""
    cdef Py_ssize_t e, a = 0, b = voted
    cdef int* order = &state.order[0] if voted == count else &state.spare[0]
    write_order(&state.flip[0], voted, order, &state.bucket[0], &state.start[0])
    if not patterns.table.is_dense:
        keep_order(patterns, state, k, order, voted)
    if voted == count:
        return
    for e in range(count):
        if b == count or (a < voted and state.flip[order[a]] <= state.flip[b]):
            state.order[e] = order[a]
            a += 1
        else:
            state.order[e] = <int>b
            b += 1


cdef inline double sum_of(double[::1] values) noexcept nogil:
    """The sum, from the first to the last."""
    cdef double total = 0.0
    cdef Py_ssize_t k
    for k in range(values.shape[0]):
        total += values[k]
    return total


cdef (double, double) value_of(Objective objective, SearchState state) noexcept nogil:
    """Shortfall and loss of the state."""
    cdef double shortfall = sum_of(state.shortfall) if objective.constrained else 0.0
    return shortfall, state.cost[0] if objective.costly else sum_of(state.loss)


cdef Py_ssize_t walk_flips(
    Patterns patterns, Objective objective, SearchState state, Py_ssize_t k, Py_ssize_t count, (double, double) bounds
) noexcept nogil:
    """Write down every cell of class k's weight within `bounds`, from weight 0 upwards; return how many there are."""
    cdef Py_ssize_t other, entry, taken = 0, cells = 0
    cdef double now_shortfall, now_loss, coming, low, high, changed, position = 0.0
    cdef bint constrained = objective.constrained, costly = objective.costly
    now_shortfall, now_loss = value_of(objective, state)
    while count > 0:
        # the cell between the last flip taken and the coming one; counts, losses and shortfalls are those within it
        coming = state.flip[state.order[taken]] if taken < count else INFINITY
        low = max(position if position > 0.0 else 0.25 * coming, bounds[0])
        high = min(coming if taken < count else 4.0 * position, bounds[1])
        if high > low * (1.0 + merged_flips):
            if constrained:
                now_shortfall = sum_of(state.shortfall)
            state.cell_shortfall[cells], state.cell_loss[cells] = now_shortfall, now_loss
            state.cell_low[cells], state.cell_high[cells], state.cell_taken[cells] = low, high, <int>taken
            cells += 1
        if taken == count:
            break
        # take every flip that rounding may have moved apart; each changes what its other class adds
        position = coming
        while taken < count and state.flip[state.order[taken]] <= position * (1.0 + merged_flips):
            entry = state.order[taken]
            position = state.flip[entry]
            other = state.flip_other[entry]
            move_row(patterns, objective, state, state.flip_row[entry], other, k)
            taken += 1
            if not costly:
                changed = class_loss(objective, other, state.hits[other], state.predicted[other])
                now_loss += changed - state.loss[other]
                state.loss[other] = changed
            if constrained:
                state.shortfall[other] = class_shortfall(objective, other, state.hits[other], state.predicted[other])
        # class k changed with each of them, and is worked out once
        if costly:
            now_loss = state.cost[0]
        else:
            changed = class_loss(objective, k, state.hits[k], state.predicted[k])
            now_loss += changed - state.loss[k]
            state.loss[k] = changed
        if constrained:
            state.shortfall[k] = class_shortfall(objective, k, state.hits[k], state.predicted[k])
        if objective.failed:
            break
    return cells


cdef Py_ssize_t best_cell(SearchState state, Py_ssize_t cells) noexcept nogil:
    """The cell with the smallest shortfall, then loss; of equal ones the widest."""
    cdef Py_ssize_t cell, best = -1
    cdef double width, best_shortfall = INFINITY, best_loss = INFINITY, best_width = 0.0
    for cell in range(cells):
        if is_better(best_shortfall, best_loss, state.cell_shortfall[cell], state.cell_loss[cell]):
            continue
        width = state.cell_high[cell] / state.cell_low[cell]
        if width > best_width or is_better(state.cell_shortfall[cell], state.cell_loss[cell], best_shortfall, best_loss):
            best, best_width = cell, width
            best_shortfall, best_loss = state.cell_shortfall[cell], state.cell_loss[cell]
    return best


cdef Py_ssize_t drawn_cell(SearchState state, Py_ssize_t cells, double temperature, double chance) noexcept nogil:
    """A cell drawn with probability in proportion to exp(-(shortfall + loss) / temperature)."""
    cdef Py_ssize_t cell, last = -1
    cdef double rise, mark, total = 0.0, lowest = INFINITY
    for cell in range(cells):
        lowest = min(lowest, state.cell_shortfall[cell] + state.cell_loss[cell])
    # beyond a rise of 30 a cell has less than 1e-13 of the weight of the lowest
    for cell in range(cells):
        rise = (state.cell_shortfall[cell] + state.cell_loss[cell] - lowest) / temperature
        if rise < 30.0:
            total += exp(-rise)
    # walk until the drawn part of the total is used up; rounding may leave a rest, then the last cell is taken
    mark = chance * total
    for cell in range(cells):
        rise = (state.cell_shortfall[cell] + state.cell_loss[cell] - lowest) / temperature
        if rise < 30.0:
            last = cell
            mark -= exp(-rise)
            if mark < 0.0:
                break
    return last


cdef void replay(
    Patterns patterns, Objective objective, SearchState state, Py_ssize_t k, Py_ssize_t taken
) noexcept nogil:
    """From class k at weight 0, take the first flips in `order`."""
    cdef Py_ssize_t e, entry
    for e in range(taken):
        entry = state.order[e]
        move_row(patterns, objective, state, state.flip_row[entry], state.flip_other[entry], k)
    refresh_losses(objective, state)


cpdef Tried line_search(
    Patterns patterns,
    Objective objective,
    SearchState state,
    Py_ssize_t k,
    (double, double) bounds,
    (double, double) heat,
) noexcept nogil:
    """Give class k the best weight within `bounds` if it improves; return whether it did, that weight, cells tried, entries visited.

    With a temperature above 0 in `heat`, a weight is drawn instead, by the chance beside it.
    """
    cdef double shortfall, loss
    cdef Py_ssize_t voted, cell
    cdef Tried tried
    # saved[0]: as it was; saved[1]: with class k at the lower bound, from where the flips are walked and replayed
    set_aside(state, 0)
    shortfall, loss = value_of(objective, state)
    voted, tried.entries = take_flips(patterns, objective, state, k, bounds)
    sort_flips(patterns, state, k, voted, tried.entries)
    refresh_losses(objective, state)
    set_aside(state, 1)
    tried.cells = walk_flips(patterns, objective, state, k, tried.entries, bounds)
    cell = best_cell(state, tried.cells) if heat[0] <= 0.0 else drawn_cell(state, tried.cells, heat[0], heat[1])
    tried.weight = state.weight[k]
    tried.changed = cell >= 0 and (
        heat[0] > 0.0 or is_better(state.cell_shortfall[cell], state.cell_loss[cell], shortfall, loss)
    )
    if tried.changed:
        # the geometric middle of the cell; its flips are counted again, as walking further has changed the counts
        tried.weight = sqrt(state.cell_low[cell]) * sqrt(state.cell_high[cell])
        take_back(state, 1)
        replay(patterns, objective, state, k, state.cell_taken[cell])
        set_weight(patterns, state, k, tried.weight)
    else:
        take_back(state, 0)
    return tried


cpdef (double, double) weight_bounds(SearchState state, Py_ssize_t k, double max_ratio) noexcept nogil:
    """The range in which class k's weight keeps every ratio of weights within `max_ratio`."""
    cdef Py_ssize_t j
    cdef double smallest = INFINITY, largest = 0.0
    for j in range(state.weight.shape[0]):
        if j != k:
            smallest, largest = min(smallest, state.weight[j]), max(largest, state.weight[j])
    return largest / max_ratio, smallest * max_ratio


cdef (double, double) near_bounds(SearchState state, Py_ssize_t k, double max_ratio, double window) noexcept nogil:
    """The part of `weight_bounds` within a factor `window` of class k's weight."""
    cdef double low, high
    low, high = weight_bounds(state, k, max_ratio)
    return max(low, state.weight[k] / window), min(high, state.weight[k] * window)


def total_value(Objective objective, SearchState state):
    """Return shortfall and loss of the state."""
    return value_of(objective, state)


def gather_flips(Patterns patterns, Objective objective, SearchState state, Py_ssize_t k, double low, double high):
    """Take every row that flips within two bounds of class k's weight away from it, and sort the flips; return how many there are."""
    cdef Py_ssize_t voted, count
    with nogil:
        voted, count = take_flips(patterns, objective, state, k, (low, high))
        sort_flips(patterns, state, k, voted, count)
    return count


def descend(
    Patterns patterns,
    Objective objective,
    SearchState state,
    const long long[::1] turns,
    long long[::1] progress,
    double max_ratio,
    double window,
    Py_ssize_t quota,
):
    """Take the classes in turn until none improves; return cells tried and entries visited.

    `progress` holds the turn at hand and how many classes in a row did not improve; as many as there are classes means
    done. `window` is the largest factor of one search, `quota` the entries visited after which to pause.
    """
    cdef Py_ssize_t k, cells = 0, entries = 0, classes = turns.shape[0]
    cdef Tried tried
    with nogil:
        while progress[1] < classes and entries < quota and not objective.failed:
            k = turns[progress[0] % classes]
            tried = line_search(patterns, objective, state, k, near_bounds(state, k, max_ratio, window), (0.0, 0.0))
            progress[0] += 1
            progress[1] = 0 if tried.changed else progress[1] + 1
            cells += tried.cells
            entries += tried.entries
    objective.raise_error()
    return cells, entries


def search_line(Patterns patterns, Objective objective, SearchState state, Py_ssize_t k, double low, double high):
    """Return the best weight of class k from `low` to `high`, with the others as they are, and whether it improves."""
    cdef Tried tried
    with nogil:
        tried = line_search(patterns, objective, state, k, (low, high), (0.0, 0.0))
    objective.raise_error()
    return tried.changed, tried.weight


def one_against_rest(
    Patterns patterns, Objective objective, SearchState state, double max_ratio, double[::1] best
):
    """Write each class's best weight while all others keep theirs; return cells tried and entries visited."""
    cdef Py_ssize_t k, cells = 0, entries = 0
    cdef Tried tried
    with nogil:
        for k in range(state.weight.shape[0]):
            best[k] = state.weight[k]
            tried = line_search(patterns, objective, state, k, weight_bounds(state, k, max_ratio), (0.0, 0.0))
            if tried.changed:  # note it, and go back: saved[0] still holds what was before this search
                set_weight(patterns, state, k, best[k])
                take_back(state, 0)
                best[k] = tried.weight
            cells += tried.cells
            entries += tried.entries
            if objective.failed:
                break
    objective.raise_error()
    return cells, entries


def draw_in_turn(
    Patterns patterns,
    Objective objective,
    SearchState state,
    const long long[::1] chosen,
    const double[::1] chance,
    double temperature,
    double max_ratio,
    double window,
):
    """Draw a weight from its line for each drawn (class, chance), within a factor `window`; return cells tried and entries visited."""
    cdef Py_ssize_t turn, k, cells = 0, entries = 0
    cdef Tried tried
    with nogil:
        for turn in range(chosen.shape[0]):
            k = chosen[turn]
            tried = line_search(
                patterns, objective, state, k, near_bounds(state, k, max_ratio, window), (temperature, chance[turn])
            )
            cells += tried.cells
            entries += tried.entries
            if objective.failed:
                break
    objective.raise_error()
    return cells, entries


cdef inline void narrow(SearchState state, const Line* line, Py_ssize_t i, double value, (double, double)* cell) noexcept nogil:
    """Let a cell end at the flip of row i, if that is nearer than where it ends."""
    cdef Rival rival = rival_of(state, line, i)
    if value <= 0.0 or rival.k < 0 or rival.score <= 0.0:
        return
    # a row of class k has its flip below the weight, any other above it
    if wins(line.weight * value, line.k, rival.score, rival.k):
        cell[0][0] = max(cell[0][0], rival.score / value)
    else:
        cell[0][1] = min(cell[0][1], rival.score / value)


cpdef (double, double) cell_of(Patterns patterns, SearchState state, Py_ssize_t k) noexcept nogil:
    """The range of class k's weight in which no decision changes; 0 and infinity where there is no flip."""
    cdef Line line = line_of(patterns, state, k)
    cdef (double, double) cell = (0.0, INFINITY)
    cdef Py_ssize_t e, i
    cdef double smoothing = patterns.table.smoothing
    for e in range(line.begin, line.end):
        if patterns.table.is_dense:
            narrow(state, &line, e, dense_vote(patterns.table, e, k) + smoothing, &cell)
        else:
            state.stamp[patterns.table.class_row[e]] = <int>k
            narrow(state, &line, patterns.table.class_row[e], patterns.table.class_value[e] + smoothing, &cell)
    if line.has_background:  # rows without a vote for k
        for i in range(state.first.shape[0]):
            if state.stamp[i] != k:
                narrow(state, &line, i, smoothing, &cell)
    return cell


def centre(Patterns patterns, SearchState state, double max_ratio):
    """Move each weight in turn to the geometric middle of its cell, so that rounding changes no decision.

    A cell without an end is taken to end a factor 4 beyond its other end: the weight then lies a factor 2 beyond it.
    """
    cdef Py_ssize_t k
    cdef double below, above, low, high
    with nogil:
        for k in range(state.weight.shape[0]):
            below, above = cell_of(patterns, state, k)
            if below == 0.0 and above == INFINITY:
                continue
            low, high = weight_bounds(state, k, max_ratio)
            low = max(low, below if below > 0.0 else 0.25 * above)
            high = min(high, above if above < INFINITY else 4.0 * below)
            if high > low:
                set_weight(patterns, state, k, sqrt(low) * sqrt(high))
