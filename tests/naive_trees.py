"""Trees in plain Python, from definitions: slow, and nothing shared with the kernels."""

from __future__ import annotations

import math

MISSING = None


def class_sums(rows, labels, weights, n_classes):
    sums = [0.0] * n_classes
    for row in rows:
        sums[labels[row]] += weights[row]
    return sums


def impurity_decrease(impurity, left, right):
    n_left, n_right = sum(left), sum(right)
    n = n_left + n_right
    node = [a + b for a, b in zip(left, right, strict=True)]
    return impurity(node) - n_left / n * impurity(left) - n_right / n * impurity(right)


def gini(left, right, preferences):
    return impurity_decrease(lambda sums: 1 - sum((x / sum(sums)) ** 2 for x in sums), left, right)


def entropy_of(sums):
    return -sum(x / sum(sums) * math.log2(x / sum(sums)) for x in sums if x > 0)


def entropy(left, right, preferences):
    return impurity_decrease(entropy_of, left, right)


def gain_ratio(left, right, preferences):
    return entropy(left, right, preferences) / entropy_of([sum(left), sum(right)])


def hellinger(left, right, preferences):
    total = 0.0
    for k in range(len(left)):
        in_class, rest = left[k] + right[k], sum(left) + sum(right) - left[k] - right[k]
        if in_class > 0:
            total += math.sqrt(
                sum(
                    (math.sqrt(side[k] / in_class) - math.sqrt(max(sum(side) - side[k], 0) / rest)) ** 2
                    for side in (left, right)
                )
            )
    return total


def off_centred(left, right, preferences):
    def impurity(sums):
        total = 0.0
        for x, w, present in zip(sums, preferences["prior"], preferences["present"], strict=True):
            if present:
                p = x / sum(sums)
                total += p * (1 - p) / ((1 - 2 * w) * p + w * w)
        return total

    present = [a + b > 0 for a, b in zip(left, right, strict=True)]
    preferences = preferences | {"present": present}
    return impurity_decrease(impurity, left, right)


def enriched(left, right, k):
    """The side with more of class k than chance, as (of the class there, all there, of the class, all)."""
    n = sum(left) + sum(right)
    in_class = left[k] + right[k]
    side = left if left[k] / sum(left) > in_class / n else right
    return side[k], sum(side), in_class, n


def over_classes(value):
    def gain(left, right, preferences):
        return sum(
            preferences["importance"][k] * value(*enriched(left, right, k), preferences["recall_weight"][k])
            for k in range(len(left))
            if left[k] + right[k] > 0
        )

    return gain


def linear_value(hits, side, in_class, n, l):
    """Plane of recall and precision, minus the same for a random group as large."""
    return l * (hits / in_class - side / n) + (1 - l) * (hits / side - in_class / n)


def f_value(hits, side, in_class, n, l):
    recall, precision = hits / in_class, hits / side
    by_chance = 1 / (l * n / side + (1 - l) * n / in_class)
    return (1 / (l / recall + (1 - l) / precision) if hits > 0 else 0.0) - by_chance


def phi2_value(hits, side, in_class, n, l):
    """Squared correlation of two indicators, from their means."""
    covariance = hits / n - side / n * in_class / n
    return covariance**2 / (side / n * (1 - side / n) * in_class / n * (1 - in_class / n))


def steady_value(*arguments):
    return f_value(*arguments) * math.sqrt(phi2_value(*arguments))


GAINS = {
    "gini": gini,
    "entropy": entropy,
    "gain_ratio": gain_ratio,
    "hellinger": hellinger,
    "off_centred": off_centred,
    "pragma_linear": over_classes(linear_value),
    "pragma_f": over_classes(f_value),
    "pragma_phi2": over_classes(phi2_value),
    "pragma_steady": over_classes(steady_value),
}


def orders_of(column, rows, labels, weights, nominal, n_classes):
    """Orders of the values present in the node that are cut; nominal ones by the share of each class in turn."""
    values = sorted({column[row] for row in rows if column[row] is not MISSING})
    if not nominal:
        return [values]
    by_value = {v: class_sums([r for r in rows if column[r] == v], labels, weights, n_classes) for v in values}
    present = [k for k, x in enumerate(class_sums(rows, labels, weights, n_classes)) if x > 0]
    return [sorted(values, key=lambda v: (by_value[v][k] / sum(by_value[v]), v)) for k in present]


def all_tests(column, rows, labels, weights, nominal, n_classes):
    """Every way to send the node's rows left: sets of rows."""
    missing = {row for row in rows if column[row] is MISSING}
    for order in orders_of(column, rows, labels, weights, nominal, n_classes):
        for cut in range(1, len(order) + 1):
            left = {row for row in rows if column[row] is not MISSING and column[row] in order[:cut]}
            yield left
            if missing:
                yield left | missing


def best_tests(table, nominal, rows, labels, weights, criterion, preferences, min_samples_leaf=1):
    """The largest gain, and the (feature, left rows) that have it; None where no test is allowed."""
    n_classes = len(preferences["importance"])
    found = []
    for feature, column in enumerate(table):
        for left in all_tests(column, rows, labels, weights, nominal[feature], n_classes):
            if min_samples_leaf <= len(left) <= len(rows) - min_samples_leaf and 0 < len(left) < len(rows):
                right = [row for row in rows if row not in left]
                sums = [class_sums(side, labels, weights, n_classes) for side in (left, right)]
                found.append((GAINS[criterion](*sums, preferences), feature, frozenset(left)))
    if not found:
        return None
    best = max(gain for gain, _, _ in found)
    return best, [(feature, left) for gain, feature, left in found if gain >= best - 1e-9 * max(1.0, abs(best))]


def all_subsets_best_gini(column, rows, labels, weights, n_classes):
    """The largest Gini gain over all subsets of categories."""
    values = sorted({column[row] for row in rows})
    best = -math.inf
    for code in range(1, 2 ** (len(values) - 1)):
        chosen = {value for place, value in enumerate(values) if code >> place & 1}
        sums = [
            class_sums([row for row in rows if (column[row] in chosen) == side], labels, weights, n_classes)
            for side in (True, False)
        ]
        best = max(best, gini(*sums, None))
    return best


def grow(
    table, nominal, labels, weights, criterion, preferences, max_depth=10**9, max_leaf_nodes=10**9, min_samples_leaf=1
):
    """Leaves (sets of rows) of the tree grown best first; meant for data without ties."""
    total = sum(weights)

    def weighed(rows, depth):
        sums = class_sums(rows, labels, weights, len(preferences["importance"]))
        found = None
        if sum(x > 0 for x in sums) > 1 and depth < max_depth and len(rows) >= 2 * min_samples_leaf:
            found = best_tests(table, nominal, rows, labels, weights, criterion, preferences, min_samples_leaf)
        return rows, depth, found

    waiting, leaves = [weighed(list(range(len(labels))), 0)], []
    while waiting:
        split = [node for node in waiting if node[2] is not None]
        if not split or len(leaves) + len(waiting) >= max_leaf_nodes:
            leaves += [frozenset(node[0]) for node in waiting]
            break
        leaves += [frozenset(node[0]) for node in waiting if node[2] is None]
        best = max(split, key=lambda node: node[2][0] * sum(weights[row] for row in node[0]) / total)
        left = best[2][1][0][1]
        sides = [[row for row in best[0] if (row in left) == side] for side in (True, False)]
        waiting = [node for node in split if node is not best] + [weighed(side, best[1] + 1) for side in sides]
    return set(leaves)


def bin_of(value, thresholds):
    return 255 if value != value else sum(threshold < value for threshold in thresholds)


def goes_left(b, cut, missing_left, subset):
    if subset is not None:
        return bool(subset[b >> 3] >> (b & 7) & 1)
    return missing_left if b == 255 else b <= cut


def leaf_of(bins, nodes, subsets, root):
    """Walk one row's bins down a tree."""
    node = root
    while nodes[node][0] != 2**32 - 1:
        feature, cut, child, kind = (int(x) for x in nodes[node])
        subset = subsets[cut] if kind & 2 else None
        node = child + (0 if goes_left(int(bins[feature]), cut, bool(kind & 1), subset) else 1)
    return int(nodes[node][2])
