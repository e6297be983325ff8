"""C4.5 from examples to tree: grow, collapse, prune."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from compromis.trees.c45._kernels import (
    SMALL,
    Pile,
    branch_errors,
    deal,
    distribution_at_test,
    estimated_errors,
    heaviest_class,
    leaf_distribution,
)
from compromis.trees.c45.growth import Sample, Samples, grow
from compromis.trees.c45.tree import Examples, Tree


@dataclass(frozen=True, slots=True)
class Rules:
    """How far a tree grows and how much of it stays."""

    confidence: float = 0.25
    min_leaf: int = 2
    pruned: bool = True
    subtree_raising: bool = True


def fit_tree(examples: Examples, rules: Rules) -> Tree:
    """Return the C4.5 tree of the examples.

    Notes
    -----
    An unpruned tree is still collapsed, as in Weka: subtrees that make no fewer training errors go.
    """
    tree, samples = grow(examples, rules.min_leaf)
    collapse(tree)
    if rules.pruned:
        prune(tree, examples, samples, rules.confidence, rules.subtree_raising)
    return tree.compact()


WORTH_IT = 0.1  # a simpler tree may have this many more estimated errors
NO_BETTER = 1e-3


def collapse(tree: Tree) -> None:
    """Make leaves of the nodes whose subtree makes no fewer errors on the training data."""
    at_node = _training_errors(tree)
    under_node = at_node.copy()
    for node in range(tree.size - 1, -1, -1):
        if tree.n_children[node] > 0:
            under_node[node] = sum(float(under_node[child]) for child in tree.children(node))
    pending = [0]
    while pending:
        node = pending.pop()
        if tree.n_children[node] > 0 and under_node[node] >= at_node[node] - NO_BETTER:
            tree.make_leaf(node)
        pending.extend(tree.children(node))


def _training_errors(tree: Tree) -> NDArray[np.float64]:
    """Return the weight not of the heaviest class, for each node as if it were a leaf."""
    heaviest = [heaviest_class(row) for row in tree.class_total]
    return tree.total - tree.class_total[np.arange(tree.size), heaviest]


def prune(tree: Tree, examples: Examples, samples: Samples, confidence: float, subtree_raising: bool) -> None:
    """Replace subtrees by leaves, or by their largest branch, where that is estimated to be no worse."""
    _Pruning(tree, examples, samples, confidence, subtree_raising).run()


class _Pruning:
    """One pass from the leaves to the root; a raised subtree is pruned anew."""

    def __init__(
        self, tree: Tree, examples: Examples, samples: Samples, confidence: float, subtree_raising: bool
    ) -> None:
        self._tree = tree
        self._nodes = tree.nodes()
        self._pile = Pile(tree.size, int(tree.n_children.max()), examples.n_classes) if subtree_raising else None
        self._columns = examples.table.arrays()
        self._classes = examples.classes
        self._n_classes = examples.n_classes
        self._samples = samples
        self._moved: dict[int, Sample] = {}
        # Weka keeps the confidence in single precision.
        single = np.float32(confidence)
        self._confidence = float(single)
        self._deviate = float(ndtri(float(np.float32(1.0) - single)))
        self._subtree_raising = subtree_raising
        self._errors = np.zeros(tree.size)

    def run(self) -> None:
        """Prune the whole tree."""
        pending = [(0, False)]
        while pending:
            node, children_done = pending.pop()
            if self._tree.n_children[node] == 0:
                self._errors[node] = self._errors_as_leaf(node)
            elif not children_done:
                pending.append((node, True))
                pending.extend((child, False) for child in reversed(self._tree.children(node)))
            elif self._settle(node):
                pending.append((node, False))

    def _settle(self, node: int) -> bool:
        """Keep the node, make it a leaf, or raise its largest branch; return whether it was raised and is to be pruned again."""
        children = self._tree.children(node)
        largest = self._largest_branch(children)
        as_branch = self._errors_as_branch(node, largest) if self._subtree_raising else np.inf
        as_leaf = self._errors_as_leaf(node)
        as_tree = sum(float(self._errors[child]) for child in children)
        if _at_most(as_leaf, as_tree + WORTH_IT) and _at_most(as_leaf, as_branch + WORTH_IT):
            self._tree.make_leaf(node)
            self._errors[node] = as_leaf
            return False
        self._errors[node] = as_tree
        if not _at_most(as_branch, as_tree + WORTH_IT):
            return False
        self._raise(node, largest)
        return True

    def _largest_branch(self, children: range) -> int:
        """Return the heaviest child; among equals the last."""
        largest, most = children[0], 0.0
        for child in children:
            weight = float(self._tree.branch_total[child])
            if _at_most(most, weight):
                largest, most = child, weight
        return largest

    def _sample(self, node: int) -> Sample:
        return self._moved[node] if node in self._moved else self._samples.at(node)

    def _errors_as_leaf(self, node: int) -> float:
        tree = self._tree
        return estimated_errors(float(tree.total[node]), tree.class_total[node], self._confidence, self._deviate)

    def _errors_as_branch(self, node: int, branch: int) -> float:
        rows, weights = self._sample(node)
        at_leaf = (self._confidence, self._deviate)
        return branch_errors(self._columns, self._classes, self._nodes, branch, rows, weights, at_leaf, self._pile)

    def _raise(self, node: int, branch: int) -> None:
        """Put the branch where the node is, and send all the node's instances down it."""
        for array in (self._tree.attribute, self._tree.threshold, self._tree.first_child, self._tree.n_children):
            array[node] = array[branch]
        pending = [(node, self._sample(node))]
        while pending:
            below, sample = pending.pop()
            self._moved[below] = sample
            if self._tree.n_children[below] > 0:
                pending.extend(self._redistribute(below, sample))
            else:
                self._refill_leaf(below, sample)

    def _redistribute(self, node: int, sample: Sample) -> list[tuple[int, Sample]]:
        """Renew the distribution of a test; return the instances each child gets."""
        tree, children = self._tree, self._tree.children(node)
        attribute, threshold = int(tree.attribute[node]), float(tree.threshold[node])
        n_sizes = (len(children), self._n_classes)
        distribution = distribution_at_test(self._columns, self._classes, attribute, threshold, *sample, n_sizes)
        own = slice(children.start, children.stop)
        tree.total[node], tree.class_total[node], tree.branch_total[own], tree.branch_class[own] = distribution
        total, _, branch_total, _ = distribution
        begin, rows, weights = deal(self._columns, attribute, threshold, *sample, branch_total, total)
        shares = [slice(begin[branch], begin[branch + 1]) for branch in range(len(children))]
        return [(child, (rows[share], weights[share])) for child, share in zip(children, shares, strict=True)]

    def _refill_leaf(self, leaf: int, sample: Sample) -> None:
        total, class_total = leaf_distribution(self._classes, *sample, self._n_classes)
        self._tree.total[leaf], self._tree.class_total[leaf] = total, class_total
        if not abs(total) < SMALL:
            self._tree.is_empty[leaf] = False


def _at_most(a: float, b: float) -> bool:
    return a - b < SMALL or a <= b
