"""All cuts between two classes: the ratio of their weights against the ratio of their votes."""

from __future__ import annotations

import numpy as np

from compromis._kernel import kernel
from compromis._typing import Floats
from compromis.weights._kernels.terms import COST, MERGED, Objective, class_loss, class_shortfall, is_better


@kernel
def value_of_two(objective: Objective, first_taken: float, second_taken: float) -> tuple[float, float]:
    """Return shortfall and loss when that much of the first and of the second class is predicted as the second."""
    first_left, second_left = objective.support[0] - first_taken, objective.support[1] - second_taken
    kept, taken = first_left + second_left, first_taken + second_taken
    shortfall = 0.0
    if objective.constrained:
        shortfall = class_shortfall(objective, 0, first_left, kept) + class_shortfall(objective, 1, second_taken, taken)
    if objective.code == COST:
        cost = objective.cost
        truly_first = first_left * cost[0, 0] + first_taken * cost[0, 1]
        return shortfall, truly_first + second_left * cost[1, 0] + second_taken * cost[1, 1]
    return shortfall, class_loss(objective, 0, first_left, kept) + class_loss(objective, 1, second_taken, taken)


@kernel
def sweep_cuts(
    objective: Objective,
    cuts: tuple[Floats, Floats],
    sizes: tuple[Floats, Floats],
    always: tuple[float, float],
    max_ratio: float,
) -> tuple[float, float, float, float, float, float, int]:
    """Try every cell of R = w_2 / w_1 within 1 / max_ratio and max_ratio.

    A row is predicted as the second class when R exceeds its cut, the ratio of its votes v_1 / v_2. `cuts` holds the
    positive finite cuts of the rows of either class, sorted upwards, `sizes` their multiplicities (one number: the
    same for all), `always` what is predicted as the second class at any R. Returned: the ends of the best cell, its
    shortfall and loss; the least shortfall and loss of any cell, those narrower than rounding included; the cells tried.
    """
    first, second = cuts
    first_size, second_size = sizes
    first_taken, second_taken = always
    best_low, best_high, best_shortfall, best_loss = 1.0, 1.0, np.inf, np.inf
    any_shortfall, any_loss = np.inf, np.inf
    i, j, cells, position = 0, 0, 0, 0.0
    while True:
        # the cell between the last cut and the coming one; an open end is taken to be a factor 4 away
        coming = np.inf
        if i < first.size:
            coming = first[i]
        if j < second.size:
            coming = min(coming, second[j])
        low = max(position if position > 0.0 else min(0.25 * coming, 0.25), 1.0 / max_ratio)
        high = min(coming if coming < np.inf else max(4.0 * position, 4.0 * low), max_ratio)
        if high > low:
            cells += 1
            shortfall, loss = value_of_two(objective, first_taken, second_taken)
            if is_better(shortfall, loss, any_shortfall, any_loss):
                any_shortfall, any_loss = shortfall, loss
            # the best cell is one that weights can be trusted to hit; of equal ones the widest
            if (
                high > low * (1.0 + MERGED)
                and not is_better(best_shortfall, best_loss, shortfall, loss)
                and (is_better(shortfall, loss, best_shortfall, best_loss) or high / low > best_high / best_low)
            ):
                best_low, best_high, best_shortfall, best_loss = low, high, shortfall, loss
        if coming == np.inf:
            break
        # rows of both classes cross together where their cuts are equal
        position = coming
        while i < first.size and first[i] == coming:
            first_taken += first_size[i] if first_size.size > 1 else first_size[0]
            i += 1
        while j < second.size and second[j] == coming:
            second_taken += second_size[j] if second_size.size > 1 else second_size[0]
            j += 1
    return best_low, best_high, best_shortfall, best_loss, any_shortfall, any_loss, cells
