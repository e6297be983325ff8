"""The tests of C4.5 in plain Python, for comparison with the kernels: lists of (row, weight), no arrays to fill.

By the same hand as the kernels: it checks the compiled loops, not the reading of C4.5, which Weka does
(tests/differential). Sums go through the instances in their order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from compromis.trees.c45 import Examples, Table

SMALL = 1e-6
Sample = list[tuple[int, float]]


def value_of(table: Table, a: int, row: int) -> float | None:
    """A number, a code as a number, or None."""
    nominal = table.columns[a].is_nominal
    slot = sum(attribute.is_nominal == nominal for attribute in table.columns[:a])
    value = float((table.nominal if nominal else table.numeric)[slot, row])
    return None if (value < 0 if nominal else math.isnan(value)) else value


def n_branches(table: Table, a: int) -> int:
    values = table.columns[a].categories
    return 2 if values is None else max(1, len(values))


def times_log2(x: float) -> float:
    return 0.0 if x < SMALL else x * math.log(x) / math.log(2)


def entropy(parts: list[float], whole: float) -> float:
    total = 0.0
    for part in parts:
        total += times_log2(part)
    return times_log2(whole) - total


def quicksort(keys: list[float], places: list[int], low: int, high: int) -> None:
    """Quicksort with the median of three, recursive; ranges of up to three by exchanges."""

    def ordered(i: int, j: int) -> None:
        if keys[places[i]] > keys[places[j]]:
            places[i], places[j] = places[j], places[i]

    if high - low == 1:
        ordered(low, high)
    if high - low == 2:
        ordered(low, low + 1), ordered(low, high), ordered(low + 1, high)
    if high - low < 3:
        return
    centre = (low + high) // 2
    ordered(low, centre), ordered(low, high), ordered(centre, high)
    places[centre], places[high - 1] = places[high - 1], places[centre]
    pivot, i, j = keys[places[high - 1]], low, high - 1
    while True:
        i = next(k for k in range(i + 1, high) if not keys[places[k]] < pivot)
        j = next(k for k in range(j - 1, low - 1, -1) if not keys[places[k]] > pivot)
        if i >= j:
            break
        places[i], places[j] = places[j], places[i]
    places[i], places[high - 1] = places[high - 1], places[i]
    quicksort(keys, places, low, i - 1)
    quicksort(keys, places, i + 1, high)


def data_threshold(values: list[float], cut: float) -> float:
    """The scan: replace the candidate by a value larger by more than the tolerance and not above the cut."""
    found = -math.inf
    for value in values:
        if not math.isnan(value) and value - found > SMALL and (value - cut < SMALL or value <= cut):
            found = value
    return found


@dataclass
class Distribution:
    """Weights per branch and class, with their margins kept apart, because their rounding differs."""

    n_branches: int
    n_classes: int
    total: float = 0.0
    per_class: list[float] = field(default_factory=list)
    per_branch: list[float] = field(default_factory=list)
    cells: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.per_class = [0.0] * self.n_classes
        self.per_branch = [0.0] * self.n_branches
        self.cells = [[0.0] * self.n_classes for _ in range(self.n_branches)]

    def add(self, branch: int, one_class: int, weight: float) -> None:
        self.cells[branch][one_class] += weight
        self.per_branch[branch] += weight
        self.per_class[one_class] += weight
        self.total += weight

    def add_unknown(self, examples: Examples, a: int, sample: Sample) -> None:
        even = abs(self.total) < SMALL
        share = [1.0 / self.n_branches if even else part / self.total for part in self.per_branch]
        for row, weight in sample:
            if value_of(examples.table, a, row) is None:
                one_class = int(examples.classes[row])
                self.per_class[one_class] += weight
                self.total += weight
                for b in range(self.n_branches):
                    self.cells[b][one_class] += share[b] * weight
                    self.per_branch[b] += share[b] * weight

    def heaviest(self) -> int:
        best, most = 0, 0.0
        for c, weight in enumerate(self.per_class):
            if weight - most > SMALL:
                best, most = c, weight
        return best

    @property
    def errors(self) -> float:
        return self.total - self.per_class[self.heaviest()]


@dataclass
class Test:
    """A test found for an attribute."""

    gain: float
    ratio: float
    cut: float
    known: Distribution


def gain_of(known: Distribution, node_weight: float, before: float) -> float:
    after = 0.0
    for b in range(known.n_branches):
        for c in range(known.n_classes):
            after += times_log2(known.cells[b][c])
        after -= times_log2(known.per_branch[b])
    scaled = (1.0 - (node_weight - known.total) / node_weight) * (before + after)
    return 0.0 if abs(scaled) < SMALL else scaled / known.total


def ratio_of(gain: float, known: Distribution, node_weight: float) -> float:
    split = 0.0
    if known.total > SMALL:
        for part in [*known.per_branch, node_weight - known.total]:
            split -= times_log2(part)
        split += times_log2(node_weight)
    return 0.0 if abs(split) < SMALL else gain / (split / node_weight)


def judge_nominal(examples: Examples, a: int, sample: Sample, node_weight: float, min_leaf: int) -> Test | None:
    known = Distribution(n_branches(examples.table, a), examples.n_classes)
    for row, weight in sample:
        value = value_of(examples.table, a, row)
        if value is not None:
            known.add(int(value), int(examples.classes[row]), weight)
    if sum(min_leaf - weight < SMALL for weight in known.per_branch) < 2:
        return None
    gain = gain_of(known, node_weight, entropy(known.per_class, known.total))
    return Test(gain, ratio_of(gain, known, node_weight), 0.0, known)


def judge_numeric(examples: Examples, a: int, sample: Sample, node_weight: float, min_leaf: int) -> Test | None:
    """Every admissible cut in turn; `sample` is in ascending order, missing values last."""
    known = [(value, row, weight) for row, weight in sample if (value := value_of(examples.table, a, row)) is not None]
    moving = Distribution(2, examples.n_classes)
    for _, row, weight in known:
        moving.add(1, int(examples.classes[row]), weight)
    least = 0.1 * moving.total / examples.n_classes
    least = float(min_leaf) if least - min_leaf < SMALL else min(least, 25.0) if least - 25 > SMALL else least
    if 2 * least - len(known) > SMALL:
        return None
    before, best, at, n_cuts = entropy(moving.per_class, moving.total), 0.0, -1, 0
    for i, (value, row, weight) in enumerate(known[:-1]):
        one_class = int(examples.classes[row])
        moving.cells[1][one_class] -= weight
        moving.cells[0][one_class] += weight
        moving.per_branch[1] -= weight
        moving.per_branch[0] += weight
        if not value + 1e-5 < known[i + 1][0] or min(moving.per_branch) - least <= -SMALL:
            continue
        n_cuts += 1
        gain = gain_of(moving, node_weight, before)
        if gain - best > SMALL:
            best, at = gain, i
    if n_cuts == 0 or best - math.log(n_cuts) / math.log(2) / node_weight < SMALL:
        return None
    best -= math.log(n_cuts) / math.log(2) / node_weight
    parted = Distribution(2, examples.n_classes)
    sums = [0.0, 0.0]
    for i, (_, row, weight) in enumerate(known):
        side = int(i > at)
        parted.cells[side][int(examples.classes[row])] += weight
        parted.per_class[int(examples.classes[row])] += weight
        sums[side] += weight
    parted.per_branch, parted.total = sums, sums[0] + sums[1]
    middle = (known[at][0] + known[at + 1][0]) / 2
    cut = known[at][0] if middle == known[at + 1][0] else middle
    return Test(best, ratio_of(best, parted, node_weight), cut, parted)


def sort_sample(table: Table, a: int, sample: Sample) -> Sample:
    values = [value_of(table, a, row) for row, _ in sample]
    keys = [1.7976931348623157e308 if value is None else value for value in values]
    places = list(range(len(sample)))
    quicksort(keys, places, 0, len(sample) - 1)
    return [sample[place] for place in places]


def choose(examples: Examples, sample: Sample, min_leaf: int) -> tuple[int, Test | None, Sample]:
    """The attribute tested (-1: none), the test, and the instances in the order the search leaves them."""
    table = examples.table
    node_weight = plain(examples, sample).total
    tests: dict[int, Test] = {}
    for a, attribute in enumerate(table.columns):
        if attribute.is_nominal:
            found = judge_nominal(examples, a, sample, node_weight, min_leaf)
        else:
            sample = sort_sample(table, a, sample)
            found = judge_numeric(examples, a, sample, node_weight, min_leaf)
        if found is not None:
            tests[a] = found
    few = [
        not attribute.is_nominal or 0.3 * table.n_rows - n_branches(table, a) > SMALL
        for a, attribute in enumerate(table.columns)
    ]
    counted = [test.gain for a, test in tests.items() if few[a] or not any(few)]
    best, most = -1, 0.0
    for a, test in tests.items():
        if counted and test.gain >= sum(counted) / len(counted) - 1e-3 and test.ratio - most > SMALL:
            best, most = a, test.ratio
    return best, tests.get(best), sample


def plain(examples: Examples, sample: Sample) -> Distribution:
    found = Distribution(1, examples.n_classes)
    for row, weight in sample:
        found.add(0, int(examples.classes[row]), weight)
    return found
