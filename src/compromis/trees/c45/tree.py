"""A C4.5 tree as flat arrays, while it grows and when it is done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats
from compromis.kernels.c45 import LEAF
from compromis.kernels.c45_deal import Nodes


@dataclass(slots=True, eq=False)
class Tree:
    """Node 0 is the root; the children of node i are `n_children[i]` nodes from `first_child[i]` on.

    See `compromis.kernels.c45_deal.Nodes` for the distributions.
    """

    attribute: NDArray[np.int64]
    threshold: Floats
    first_child: NDArray[np.int64]
    n_children: NDArray[np.int64]
    is_empty: NDArray[np.bool_]
    total: Floats
    class_total: Floats
    branch_total: Floats
    branch_class: Floats

    def nodes(self) -> Nodes:
        """The same arrays for the kernels (shared, not copied)."""
        return Nodes(*(getattr(self, name) for name in Nodes._fields))

    def children(self, node: int) -> range:
        """Metrics of the node's children; none for a leaf."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def make_leaf(self, node: int) -> None:
        """Cut off all that is under the node; its distribution stays."""
        self.attribute[node] = LEAF
        self.n_children[node] = 0

    @property
    def size(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.attribute)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.n_children == 0).sum())

    @property
    def depth(self) -> int:
        """Tests on the longest path from the root."""
        depth = np.zeros(self.size, dtype=np.int64)
        for node in range(self.size):
            for child in self.children(node):
                depth[child] = depth[node] + 1
        return int(depth.max())

    def compact(self) -> Tree:
        """A copy of the nodes still reachable, in breadth-first order: parents come before their children."""
        kept = [0]
        for node in kept:
            kept.extend(self.children(node))
        first_child = np.zeros(len(kept), dtype=np.int64)
        following = 1
        for place, node in enumerate(kept):
            first_child[place] = following
            following += int(self.n_children[node])
        arrays = {name: getattr(self, name)[kept] for name in Nodes._fields}
        return Tree(**{**arrays, "first_child": first_child})
