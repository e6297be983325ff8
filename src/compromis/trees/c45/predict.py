"""Class shares of a table's rows under a C4.5 tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.kernels.c45_shares import class_shares
from compromis.trees.c45.table import Table
from compromis.trees.c45.tree import Tree


def shares(tree: Tree, table: Table) -> NDArray[np.float64]:
    """Share of each class per row, as J48 gives them: where branches are empty they may fall short of 1."""
    out = np.zeros((table.n_rows, tree.class_total.shape[1]))
    class_shares(table.columns(), tree.nodes(), table.n_rows, tree.depth + 1, out)
    return out
