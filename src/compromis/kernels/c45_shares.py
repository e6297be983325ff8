"""Class shares of rows sent down a C4.5 tree, spread over the branches where a value is missing."""

from __future__ import annotations

import numpy as np

from compromis._typing import Floats
from compromis.kernels.c45 import Columns
from compromis.kernels.c45_deal import Nodes, branch_of, share_of
from compromis.kernels.c45_gain import SMALL
from compromis.kernels.jit import kernel


@kernel
def write_shares(total: float, class_total: Floats, weight: float, out: Floats) -> None:
    """Put weight x class share into `out`, zeros where there is no weight to share."""
    for c in range(len(out)):
        out[c] = 0.0 if abs(total) < SMALL else weight * (class_total[c] / total)


@kernel
def settle(columns: Columns, nodes: Nodes, row: int, node: int, weight: float, out: Floats) -> int:
    """Follow known values from `node`: return -1 with the shares in `out`, or the node whose value is missing."""
    while nodes.n_children[node] > 0:
        branch = branch_of(columns, nodes.attribute[node], nodes.threshold[node], row)
        if branch < 0:
            return node
        child = nodes.first_child[node] + branch
        if nodes.is_empty[child]:
            if nodes.branch_total[child] > SMALL:
                write_shares(nodes.branch_total[child], nodes.branch_class[child], weight, out)
            else:
                write_shares(nodes.total[node], nodes.class_total[node], weight, out)
            return -1
        node = child
    write_shares(nodes.total[node], nodes.class_total[node], weight, out)
    return -1


@kernel
def add_to(total: Floats, k: int, part: Floats) -> None:
    """Add `part` to row k of `total`."""
    for c in range(len(part)):
        total[k, c] += part[c]


@kernel
def class_shares(columns: Columns, nodes: Nodes, n_rows: int, depth: int, out: Floats) -> None:
    """Shares of the classes for each row; sums are nested as the tree is, child after child.

    `depth` is the depth of the tree: one frame per missing value on a path is kept.
    """
    n_classes = out.shape[1]
    frame_sum = np.zeros((depth + 1, n_classes))
    frame_node = np.zeros(depth + 1, dtype=np.int64)
    frame_weight = np.zeros(depth + 1)
    frame_next = np.zeros(depth + 1, dtype=np.int64)
    shares = np.zeros(n_classes)
    for row in range(n_rows):
        top = -1
        node = 0
        weight = 1.0
        resumed = True
        while resumed:
            missing_at = settle(columns, nodes, row, node, weight, shares)
            if missing_at >= 0:
                top += 1
                frame_node[top] = missing_at
                frame_weight[top] = weight
                frame_next[top] = 0
                for c in range(n_classes):
                    frame_sum[top, c] = 0.0
            elif top >= 0:
                add_to(frame_sum, top, shares)
            resumed = False
            while top >= 0 and not resumed:
                parent = frame_node[top]
                if frame_next[top] == nodes.n_children[parent]:
                    for c in range(n_classes):
                        shares[c] = frame_sum[top, c]
                    top -= 1
                    if top >= 0:
                        add_to(frame_sum, top, shares)
                    continue
                child = nodes.first_child[parent] + frame_next[top]
                frame_next[top] += 1
                if not nodes.is_empty[child]:
                    node = child
                    weight = share_of(nodes.branch_total[child], nodes.total[parent]) * frame_weight[top]
                    resumed = True
        for c in range(n_classes):
            out[row, c] = shares[c]
