"""How good one C4.5 test is: information gain and gain ratio, numeric cuts and nominal values.

The sums are taken in the order of the instances given, and every comparison has Weka's tolerance of 1e-6, so
that trees agree with J48 to the last bit wherever a tie is decided by rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats

SMALL = 1e-6
LEAST_GAP = 1e-5  # values closer than this are never separated
LARGEST_MIN_SPLIT = 25.0
LARGEST_SUMMAND = 8e307
LOG_2 = math.log(2.0)

Codes = NDArray[np.int32]


@kernel
def times_log2(x: float) -> float:
    """Return x log2(x), and 0 below the tolerance."""
    if x < 1e-6:
        return 0.0
    return x * math.log(x) / LOG_2


@kernel
def times_log2_table(size: int) -> Floats:
    """Return x log2(x) for the whole numbers below `size`."""
    table = np.empty(size)
    for i in range(size):
        table[i] = times_log2(float(i))
    return table


@kernel
def look_up_times_log2(x: float, table: Floats) -> float:
    """Return x log2(x), from the table where x is known to be a whole number; an empty table says that it is not."""
    if len(table) > 0 and x < len(table):
        return table[int(x)]
    return times_log2(x)


@kernel
def smallest_branch(known_weight: float, n_classes: int, min_leaf: int) -> float:
    """Weight that both sides of a numeric cut need: a tenth of a class's share, within min_leaf and 25."""
    least = 0.1 * known_weight / n_classes
    if least - min_leaf < SMALL:
        return float(min_leaf)
    if least - LARGEST_MIN_SPLIT > SMALL:
        return LARGEST_MIN_SPLIT
    return least


@kernel
def gain_ratio(gain: float, branch_total: Floats, known_weight: float, node_weight: float) -> float:
    """Gain over the entropy of the branches, the missing values counted as one more branch."""
    split_entropy = 0.0
    if known_weight > SMALL:
        for b in range(len(branch_total)):
            split_entropy -= times_log2(branch_total[b])
        split_entropy -= times_log2(node_weight - known_weight)
        split_entropy += times_log2(node_weight)
    if abs(split_entropy) < SMALL:
        return 0.0
    return gain / (split_entropy / node_weight)


@kernel
def gain_per_instance(less_entropy: float, known_weight: float, node_weight: float) -> float:
    """The fall of entropy per instance, scaled by the share of known values."""
    unknown_rate = (node_weight - known_weight) / node_weight
    scaled = (1.0 - unknown_rate) * less_entropy
    if abs(scaled) < SMALL:
        return 0.0
    return scaled / known_weight


@kernel
def judge_numeric(
    keys: Floats,
    classes: Codes,
    weights: Floats,
    n_known: int,
    node_weight: float,
    min_leaf: int,
    table: Floats,
    class_total: Floats,
    branch_total: Floats,
    branch_class: Floats,
) -> tuple[bool, float, float, float, float]:
    """The best cut of ascending keys: (is a test, gain, gain ratio, cut, known weight); fills the totals.

    Notes
    -----
    Gain is lowered by log2(number of admissible cuts) / node weight (Quinlan 1996, the MDL correction).
    """
    # Totals of the known values; too few of them for two branches of the least weight make no test.
    n_classes = len(class_total)
    class_total[:] = 0.0
    known = 0.0
    for i in range(n_known):
        class_total[classes[i]] += weights[i]
        known += weights[i]
    min_split = smallest_branch(known, n_classes, min_leaf)
    if 2.0 * min_split - n_known > SMALL:
        return False, 0.0, 0.0, 0.0, known
    # Start with all instances right of the cut, and the entropy before it.
    for c in range(n_classes):
        branch_class[0, c] = 0.0
        branch_class[1, c] = class_total[c]
    entropy = 0.0
    for c in range(n_classes):
        entropy += look_up_times_log2(class_total[c], table)
    entropy = look_up_times_log2(known, table) - entropy
    left = 0.0
    right = known
    best = 0.0
    last = -1
    moved = 0
    n_cuts = 0
    for i in range(1, n_known):
        # A cut between i - 1 and i, unless the values are as good as equal; all instances before i move to the left.
        if not keys[i - 1] + LEAST_GAP < keys[i]:
            continue
        for j in range(moved, i):
            branch_class[1, classes[j]] -= weights[j]
            branch_class[0, classes[j]] += weights[j]
            right -= weights[j]
            left += weights[j]
        moved = i
        if not (at_least(left, min_split) and at_least(right, min_split)):
            continue
        # What the cut leaves of the entropy, branch by branch; the first cut of largest gain wins.
        kept = 0.0
        for c in range(n_classes):
            kept += look_up_times_log2(branch_class[0, c], table)
        kept -= look_up_times_log2(left, table)
        for c in range(n_classes):
            kept += look_up_times_log2(branch_class[1, c], table)
        kept -= look_up_times_log2(right, table)
        gain = gain_per_instance(entropy + kept, known, node_weight)
        if gain - best > SMALL:
            best = gain
            last = i - 1
        n_cuts += 1
    if n_cuts == 0:
        return False, 0.0, 0.0, 0.0, known
    best -= (math.log(n_cuts) / LOG_2) / node_weight
    if best < SMALL or last < 0:
        return False, 0.0, 0.0, 0.0, known
    # Sums that were moved from right to left have rounding errors; Weka sums both branches afresh.
    known = sum_branches(classes, weights, last + 1, n_known, branch_total, branch_class)
    ratio = gain_ratio(best, branch_total, known, node_weight)
    return True, best, ratio, middle(keys[last], keys[last + 1]), known


@kernel
def at_least(a: float, b: float) -> bool:
    """Weka's a >= b with tolerance."""
    return b - a < SMALL or a >= b


@kernel
def middle(low: float, high: float) -> float:
    """The middle of two neighbouring values, or the lower one where no number lies between."""
    huge = max(abs(low), abs(high)) > LARGEST_SUMMAND  # their sum may be infinite, and halving them is exact
    cut = high / 2.0 + low / 2.0 if huge else (high + low) / 2.0
    return low if cut == high else cut


@kernel
def sum_branches(
    classes: Codes, weights: Floats, n_left: int, n_known: int, branch_total: Floats, branch_class: Floats
) -> float:
    """Totals left and right of a cut, each summed afresh; their sum is returned."""
    branch_class[:] = 0.0
    left = 0.0
    for i in range(n_left):
        left += weights[i]
        branch_class[0, classes[i]] += weights[i]
    right = 0.0
    for i in range(n_left, n_known):
        right += weights[i]
        branch_class[1, classes[i]] += weights[i]
    branch_total[0] = left
    branch_total[1] = right
    return left + right


@kernel
def judge_nominal(
    codes: Codes,
    rows: Codes,
    classes: Codes,
    weights: Floats,
    node_weight: float,
    min_leaf: int,
    table: Floats,
    class_total: Floats,
    branch_total: Floats,
    branch_class: Floats,
) -> tuple[bool, float, float, float]:
    """The test with one branch per value: (is a test, gain, gain ratio, known weight); fills the totals.

    `codes` and `classes` are whole columns read at `rows`; `weights` goes along with `rows`.
    """
    class_total[:] = 0.0
    branch_total[:] = 0.0
    branch_class[:] = 0.0
    known = 0.0
    # Totals by value and class; instances without a value are left out.
    for i in range(len(rows)):
        value = codes[rows[i]]
        if value < 0:
            continue
        weight = weights[i]
        label = classes[rows[i]]
        branch_class[value, label] += weight
        branch_total[value] += weight
        class_total[label] += weight
        known += weight
    # A test needs two branches of the least weight.
    n_large = 0
    for b in range(len(branch_total)):
        if at_least(branch_total[b], float(min_leaf)):
            n_large += 1
    if n_large < 2:
        return False, 0.0, 0.0, known
    entropy = 0.0
    for c in range(len(class_total)):
        entropy += look_up_times_log2(class_total[c], table)
    entropy = look_up_times_log2(known, table) - entropy
    # The entropy before the test, less what its branches leave of it.
    kept = 0.0
    for b in range(len(branch_total)):
        for c in range(len(class_total)):
            kept += look_up_times_log2(branch_class[b, c], table)
        kept -= look_up_times_log2(branch_total[b], table)
    gain = gain_per_instance(entropy + kept, known, node_weight)
    return True, gain, gain_ratio(gain, branch_total, known, node_weight), known
