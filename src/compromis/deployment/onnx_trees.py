"""The probabilities of a PragmaForestClassifier as an ONNX model."""

from __future__ import annotations

from typing import Any

import numpy as np

from compromis._text import shown
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.trees._kernels.growing import CHILD, CUT, FEATURE, KIND, LEAF, MISSING_LEFT
from compromis.trees._kernels.histograms import LAST_BIN

ML_OPSET = 3
PROBABILITIES = "probabilities"


def forest_model(onnx: Any, forest: Any, double: bool, opset: int) -> Any:
    """Return an ONNX model of a fitted forest: rows ``X`` in, mean class shares of the trees' leaves out, as float64.

    Runtimes add up in float32 and divide here: hard votes are whole numbers, so that their shares are right to the last bit.
    """
    nominal = [column.name for column in forest.columns_ if column.is_nominal]
    if nominal:
        raise InputError(
            f"ONNX takes rows of numbers, but {shown(nominal)} of the forest are nominal; encode them first"
        )
    helper, kind = onnx.helper, onnx.TensorProto
    element = kind.DOUBLE if double else kind.FLOAT
    classes, trees = len(forest.classes_), np.array(float(len(forest.trees_)))
    nodes = [
        helper.make_node(
            "TreeEnsembleClassifier",
            ["X"],
            ["place", "sums"],
            domain="ai.onnx.ml",
            **_attributes(onnx, forest, double),
        ),
        helper.make_node("Cast", ["sums"], ["sums_double"], to=kind.DOUBLE),
        helper.make_node("Div", ["sums_double", "trees"], [PROBABILITIES]),
    ]
    graph = helper.make_graph(
        nodes,
        "forest",
        [helper.make_tensor_value_info("X", element, [None, forest.n_features_in_])],
        [helper.make_tensor_value_info(PROBABILITIES, kind.DOUBLE, [None, classes])],
        [onnx.numpy_helper.from_array(trees, "trees")],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    return helper.make_model(graph, opset_imports=opsets)


def _attributes(onnx: Any, forest: Any, double: bool) -> dict[str, Any]:
    """Return the trees as the attributes of TreeEnsembleClassifier; nodes of a tree are numbered from its root."""
    trees = forest.trees_
    starts = trees.roots
    tree = np.repeat(np.arange(len(starts)), np.diff([*starts, len(trees.nodes)]))
    own = np.arange(len(tree)) - starts[tree]
    is_leaf = trees.nodes[:, FEATURE] == LEAF
    left = np.where(is_leaf, 0, trees.nodes[:, CHILD].astype(np.int64) - starts[tree])
    node_of_leaf = np.zeros(trees.n_leaves, dtype=np.int64)
    node_of_leaf[trees.nodes[is_leaf, CHILD]] = np.flatnonzero(is_leaf)
    # Every class is named once with weight 0: a runtime takes two classes of which one never occurs for a single score.
    classes = np.arange(len(forest.classes_))
    nodes = np.concatenate(
        [np.repeat(node_of_leaf, np.diff(trees.leaf_starts)), np.full(len(classes), node_of_leaf[0])]
    )
    shares = np.concatenate([trees.leaf_shares, np.zeros(len(classes))])
    thresholds = _thresholds(forest, is_leaf)
    values: dict[str, Any] = {"nodes_values": _rounded_down(thresholds), "class_weights": shares.astype(np.float32)}
    if double:
        values = {
            f"{name}_as_tensor": onnx.numpy_helper.from_array(numbers, name)
            for name, numbers in (("nodes_values", thresholds), ("class_weights", shares))
        }
    return values | {
        "nodes_treeids": tree,
        "nodes_nodeids": own,
        "nodes_featureids": np.where(is_leaf, 0, trees.nodes[:, FEATURE]).astype(np.int64),
        "nodes_modes": ["LEAF" if leaf else "BRANCH_LEQ" for leaf in is_leaf],
        "nodes_truenodeids": left,
        "nodes_falsenodeids": np.where(is_leaf, 0, left + 1),
        "nodes_missing_value_tracks_true": ((trees.nodes[:, KIND] & MISSING_LEFT != 0) & ~is_leaf).astype(np.int64),
        "class_treeids": tree[nodes],
        "class_nodeids": own[nodes],
        "class_ids": np.concatenate([trees.leaf_classes.astype(np.int64), classes]),
        "classlabels_int64s": classes,
        "post_transform": "NONE",
    }


def _thresholds(forest: Any, is_leaf: Any) -> Floats:
    """Return the largest value that goes left at each node: infinite where only missing values go right."""
    thresholds = np.zeros(len(is_leaf))
    for node in np.flatnonzero(~is_leaf):
        feature, cut = forest.trees_.nodes[node, [FEATURE, CUT]]
        thresholds[node] = np.inf if cut >= LAST_BIN else forest.binning_.thresholds[feature][cut]
    return thresholds


def _rounded_down(thresholds: Floats) -> Any:
    """Return the largest float32 not above each threshold: a float32 goes left of both or of neither."""
    rounded = thresholds.astype(np.float32)
    return np.where(rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)
