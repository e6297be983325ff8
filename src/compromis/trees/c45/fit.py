"""C4.5 from examples to tree: grow, collapse, prune."""

from __future__ import annotations

from dataclasses import dataclass

from compromis.trees.c45.grow import grow
from compromis.trees.c45.prune import collapse, prune
from compromis.trees.c45.table import Examples
from compromis.trees.c45.tree import Tree


@dataclass(frozen=True, slots=True)
class Rules:
    """How far a tree grows and how much of it stays."""

    confidence: float = 0.25
    min_leaf: int = 2
    pruned: bool = True
    subtree_raising: bool = True


def fit_tree(examples: Examples, rules: Rules) -> Tree:
    """The C4.5 tree of the examples.

    Notes
    -----
    An unpruned tree is still collapsed, as in Weka: subtrees that make no fewer training errors go.
    """
    tree, samples = grow(examples, rules.min_leaf)
    collapse(tree)
    if rules.pruned:
        prune(tree, examples, samples, rules.confidence, rules.subtree_raising)
    return tree.compact()
