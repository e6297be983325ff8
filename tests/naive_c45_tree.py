"""C4.5 trees in plain Python and by recursion: grown, collapsed, pruned, asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from compromis.trees.c45 import Examples, Rules, Table
from tests.naive_c45 import SMALL, Distribution, Sample, choose, data_threshold, plain, value_of


@dataclass
class Node:
    """A node with its test, its own distribution, its instances and its children."""

    sample: Sample
    counts: Distribution
    attribute: int = -1
    threshold: float = 0.0
    empty: bool = False
    children: list[Node] = field(default_factory=list)

    def branch(self, table: Table, row: int) -> int | None:
        value = value_of(table, self.attribute, row)
        if value is None or table.columns[self.attribute].is_nominal:
            return None if value is None else int(value)
        return 0 if value - self.threshold < SMALL or value <= self.threshold else 1

    def deal(self, table: Table, sample: Sample, counts: Distribution) -> list[Sample]:
        parts: list[Sample] = [[] for _ in self.children or range(counts.n_branches)]
        for row, weight in sample:
            branch = self.branch(table, row)
            if branch is not None:
                parts[branch].append((row, weight))
            elif counts.total != 0:
                for b, part in enumerate(parts):
                    share = counts.per_branch[b] / counts.total
                    if share > SMALL:
                        part.append((row, share * weight))
        return parts

    def counted(self, examples: Examples, sample: Sample) -> Distribution:
        found = Distribution(len(self.children), examples.n_classes)
        for row, weight in sample:
            branch = self.branch(examples.table, row)
            if branch is not None:
                found.add(branch, int(examples.classes[row]), weight)
        found.add_unknown(examples, self.attribute, sample)
        return found


def grow(examples: Examples, sample: Sample, min_leaf: int) -> Node:
    counts = plain(examples, sample)
    leaf = Node(sample, counts, empty=abs(counts.total) < SMALL)
    if 2 * min_leaf - counts.total > SMALL or abs(counts.errors) < SMALL:
        return leaf
    attribute, test, ordered = choose(examples, sample, min_leaf)
    if test is None:
        return leaf
    test.known.add_unknown(examples, attribute, ordered)
    node = Node(ordered, test.known, attribute)
    if not examples.table.columns[attribute].is_nominal:
        column = [value_of(examples.table, attribute, row) for row in range(examples.table.n_rows)]
        node.threshold = data_threshold([math.nan if value is None else value for value in column], test.cut)
    parts = node.deal(examples.table, ordered, test.known)
    if max(len(part) for part in parts) == len(sample):
        return leaf
    node.children = [grow(examples, part, min_leaf) for part in parts]
    return node


def training_errors(node: Node) -> float:
    return sum((training_errors(child) for child in node.children), 0.0) if node.children else node.counts.errors


def collapse(node: Node) -> None:
    if node.children and training_errors(node) >= node.counts.errors - 1e-3:
        node.children = []
    for child in node.children:
        collapse(child)


def added_errors(total: float, errors: float, confidence: float, deviate: float) -> float:
    if confidence > 0.5:
        return 0.0
    if errors < 1:
        base = total * (1 - confidence ** (1 / total))
        return base if errors == 0 else base + errors * (added_errors(total, 1.0, confidence, deviate) - base)
    if errors + 0.5 >= total:
        return max(total - errors, 0.0)
    z, f = deviate, (errors + 0.5) / total
    root = math.sqrt(f / total - f * f / total + z * z / (4 * total * total))
    return (f + z * z / (2 * total) + z * root) / (1 + z * z / total) * total - errors


@dataclass
class Pruner:
    """Error-based pruning of a naive tree."""

    examples: Examples
    confidence: float
    deviate: float
    raising: bool

    def leaf_errors(self, counts: Distribution) -> float:
        if abs(counts.total) < SMALL:
            return 0.0
        return counts.errors + added_errors(counts.total, counts.errors, self.confidence, self.deviate)

    def errors(self, node: Node) -> float:
        if not node.children:
            return self.leaf_errors(node.counts)
        return sum((self.errors(child) for child in node.children), 0.0)

    def branch_errors(self, node: Node, sample: Sample) -> float:
        if not node.children:
            return self.leaf_errors(plain(self.examples, sample))
        parts = node.deal(self.examples.table, sample, node.counted(self.examples, sample))
        return sum((self.branch_errors(*pair) for pair in zip(node.children, parts, strict=True)), 0.0)

    def refill(self, node: Node, sample: Sample) -> None:
        node.sample = sample
        if not node.children:
            node.counts = plain(self.examples, sample)
            node.empty = node.empty and abs(node.counts.total) < SMALL
            return
        node.counts = node.counted(self.examples, sample)
        for child, part in zip(node.children, node.deal(self.examples.table, sample, node.counts), strict=True):
            self.refill(child, part)

    def prune(self, node: Node) -> None:
        for child in node.children:
            self.prune(child)
        if not node.children:
            return
        largest, most = 0, 0.0
        for b, weight in enumerate(node.counts.per_branch):
            if most - weight < SMALL:
                largest, most = b, weight
        branch = node.children[largest]
        as_branch = self.branch_errors(branch, node.sample) if self.raising else math.inf
        as_leaf, as_tree = self.leaf_errors(node.counts), self.errors(node)
        if as_leaf - (as_tree + 0.1) < SMALL and as_leaf - (as_branch + 0.1) < SMALL:
            node.children = []
        elif as_branch - (as_tree + 0.1) < SMALL:
            node.attribute, node.threshold, node.children = branch.attribute, branch.threshold, branch.children
            self.refill(node, node.sample)
            self.prune(node)


def fit(examples: Examples, rules: Rules, deviate: float) -> Node:
    root = grow(examples, [(row, float(examples.weights[row])) for row in range(examples.table.n_rows)], rules.min_leaf)
    collapse(root)
    if rules.pruned:
        Pruner(examples, rules.confidence, deviate, rules.subtree_raising).prune(root)
    return root


def shares(node: Node, table: Table, row: int, weight: float = 1.0) -> list[float]:
    """Class shares of one row, nested sums."""
    n_classes = node.counts.n_classes
    if not node.children:
        return given(node.counts.per_class, node.counts.total, weight)
    branch = node.branch(table, row)
    if branch is not None:
        if not node.children[branch].empty:
            return shares(node.children[branch], table, row, weight)
        if node.counts.per_branch[branch] > SMALL:
            return given(node.counts.cells[branch], node.counts.per_branch[branch], weight)
        return given(node.counts.per_class, node.counts.total, weight)
    total = [0.0] * n_classes
    for b, child in enumerate(node.children):
        if not child.empty:
            part = shares(child, table, row, node.counts.per_branch[b] / node.counts.total * weight)
            total = [x + y for x, y in zip(total, part, strict=True)]
    return total


def given(per_class: list[float], total: float, weight: float) -> list[float]:
    return [0.0 if abs(total) < SMALL else weight * (x / total) for x in per_class]
