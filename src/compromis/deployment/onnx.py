"""Decisions, and forests of ours, as ONNX: (votes + smoothing) x weights, arg-max with ties to the first, label."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compromis._files import write_whole
from compromis._text import shown
from compromis._typing import Floats, Label
from compromis.errors import InputError, MissingExtra
from compromis.trees._kernels import CHILD, CUT, FEATURE, KIND, LAST_BIN, LEAF, MISSING_LEFT

if TYPE_CHECKING:
    from compromis.weights.decision import Decision

OPSET, IR_VERSION = 17, 8
"""Old enough for every onnxruntime in use; the operators below have not changed since."""
DECISION, VOTES, REVIEW = "decision", "votes", "needs_review"


def to_onnx(decision: Decision, model: Any = None, X: Any = None, *, path: str | os.PathLike[str] | None = None) -> Any:
    """Return an ONNX model that decides; `compromis.Decision.to_onnx` explains the parameters.

    Examples
    --------
    >>> import compromis as cp
    >>> decision = cp.Decision(("good", "bad"), [1, 3])
    >>> made = cp.deployment.to_onnx(decision)  # doctest: +SKIP
    >>> [output.name for output in made.graph.output]  # doctest: +SKIP
    ['decision']
    """
    if model is None:
        made = _decision_model(decision)
    else:
        made = _model_with_decision(decision.for_classes(getattr(model, "classes_", None)), model, X)
    if path is not None:
        write_whole(path, made.SerializeToString())
    return made


def _decision_model(decision: Decision) -> Any:
    """Return an ONNX model of the decision alone: float64 ``votes`` in, ``decision`` out."""
    onnx = _import("onnx")
    helper, kind = onnx.helper, onnx.TensorProto
    nodes, constants = _nodes(onnx, VOTES, decision)
    graph = helper.make_graph(
        nodes,
        "decision",
        [helper.make_tensor_value_info(VOTES, kind.DOUBLE, [None, len(decision.classes)])],
        _outputs(onnx, decision),
        constants,
    )
    return _finished(onnx, graph, [helper.make_opsetid("", OPSET)])


def _model_with_decision(decision: Decision, model: Any, X: Any) -> Any:
    """Return the ONNX model of a classifier with `decision` applied to its probabilities."""
    onnx = _import("onnx")
    made = _converted(model, X)
    graph = made.graph
    classes = decision.classes
    source = _probabilities(graph, len(classes))
    nodes, constants = _nodes(onnx, source, decision)
    graph.node.extend([*nodes, onnx.helper.make_node("Identity", [source], [VOTES])])
    graph.initializer.extend(constants)
    element = next(output for output in graph.output if output.name == source).type.tensor_type.elem_type
    del graph.output[:]
    graph.output.extend(
        [*_outputs(onnx, decision), onnx.helper.make_tensor_value_info(VOTES, element, [None, len(classes)])]
    )
    return _finished(onnx, graph, list(made.opset_import))


def _converted(model: Any, X: Any) -> Any:
    if not hasattr(model, "predict_proba"):
        raise InputError(f"the model needs predict_proba, which {type(model).__name__} has not; calibrate it first")
    if X is None:
        raise InputError("X is missing: give a row or more as the model will get them, for their columns and type")
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise InputError(
            f"X is a table of numbers, got {rows.dtype} of shape {rows.shape}; encode text inside the model"
        )
    double = rows.dtype == np.float64
    if hasattr(model, "trees_") and hasattr(model, "binning_"):
        return forest_model(_import("onnx"), model, double, OPSET)
    skl2onnx = _import("skl2onnx")
    types = skl2onnx.common.data_types
    kind = types.DoubleTensorType if double else types.FloatTensorType
    try:
        return skl2onnx.convert_sklearn(
            model,
            initial_types=[("X", kind([None, rows.shape[1]]))],
            options={id(model): {"zipmap": False}},
            target_opset=OPSET,
        )
    except Exception as error:  # converters of skl2onnx raise errors of any type
        cause = str(error).strip().splitlines()[0][:200]
        raise InputError(f"skl2onnx cannot convert {type(model).__name__}: {cause}") from error


def _probabilities(graph: Any, classes: int) -> str:
    """Return the name of the output with one column per class."""
    for output in graph.output:
        shape = output.type.tensor_type.shape.dim
        if len(shape) == 2 and output.name.lower().startswith(("prob", "output_prob")):
            return str(output.name)
    raise InputError(
        f"the converted model has no output of {classes} probabilities; its outputs are {shown(output.name for output in graph.output)}"
    )


def _nodes(onnx: Any, source: str, decision: Decision) -> tuple[list[Any], list[Any]]:
    """Return the nodes that decide from the values called `source`, and their constants."""
    node, constant = onnx.helper.make_node, onnx.numpy_helper.from_array
    nodes = [
        node("Cast", [source], ["decision_double"], to=onnx.TensorProto.DOUBLE),
        node("Add", ["decision_double", "decision_smoothing"], ["decision_added"]),
        node("Mul", ["decision_added", "decision_weights"], ["decision_score"]),
        node("ArgMax", ["decision_score"], ["decision_position"], axis=1, keepdims=0, select_last_index=0),
        node("Gather", ["decision_classes", "decision_position"], [DECISION]),
    ]
    constants = {
        "smoothing": np.array(decision.smoothing, dtype=np.float64),
        "weights": decision.weights,
        "classes": _label_array(decision.classes),
    }
    if decision.review is not None:
        nodes += _review_nodes(node)
        constants |= {"two": np.array([2]), "ratio": np.array([decision.review]), "none": np.array([0.0])}
        constants |= {"first": np.array([0]), "second": np.array([1])}
    return nodes, [constant(array, f"decision_{name}") for name, array in constants.items()]


def _review_nodes(node: Any) -> list[Any]:
    """Return the nodes that tell whether a person looks at a row: best < ratio x second, or no votes."""
    return [
        node("TopK", ["decision_score", "decision_two"], ["decision_top", "decision_top_positions"], axis=1),
        node("Gather", ["decision_top", "decision_first"], ["decision_best_column"], axis=1),
        node("Gather", ["decision_top", "decision_second"], ["decision_second_column"], axis=1),
        node("Mul", ["decision_second_column", "decision_ratio"], ["decision_needed"]),
        node("Less", ["decision_best_column", "decision_needed"], ["decision_near"]),
        node("Equal", ["decision_best_column", "decision_none"], ["decision_unvoted"]),
        node("Or", ["decision_near", "decision_unvoted"], ["decision_review_column"]),
        node("Squeeze", ["decision_review_column", "decision_second"], [REVIEW]),
    ]


def _label_array(classes: Sequence[Label]) -> NDArray[Any]:
    kinds: dict[type, Any] = {str: object, int: np.int64, bool: np.bool_, float: np.float64}
    types = {type(label) for label in classes}
    if len(types) > 1 or not types <= set(kinds):
        raise InputError(f"ONNX takes labels of one kind, text, whole numbers or true/false, got {shown(classes)}")
    return np.array(list(classes), dtype=kinds[types.pop()])


def _outputs(onnx: Any, decision: Decision) -> list[Any]:
    label = _label_output(onnx, decision.classes)
    review = onnx.helper.make_tensor_value_info(REVIEW, onnx.TensorProto.BOOL, [None])
    return [label] if decision.review is None else [label, review]


def _label_output(onnx: Any, classes: Sequence[Label]) -> Any:
    kind = onnx.TensorProto
    element = {"O": kind.STRING, "i": kind.INT64, "b": kind.BOOL, "f": kind.DOUBLE}[_label_array(classes).dtype.kind]
    return onnx.helper.make_tensor_value_info(DECISION, element, [None])


def _finished(onnx: Any, graph: Any, opsets: list[Any]) -> Any:
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="compromis")
    onnx.checker.check_model(model)
    return model


def _import(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"ONNX needs {name}; install it with: pip install 'compromis[onnx]'") from error


ML_OPSET = 3
PROBABILITIES = "probabilities"


def forest_model(onnx: Any, forest: Any, double: bool, opset: int) -> Any:
    """Return an ONNX model of a fitted forest: rows ``X`` in, its ``predict_proba`` out, as float64.

    Runtimes add up in float32 and divide here: hard votes are whole numbers, so that their shares are right to the last bit.
    """
    nominal = [column.name for column in forest.columns_ if column.is_nominal]
    if nominal:
        raise InputError(
            f"ONNX takes rows of numbers, but {shown(nominal)} of the forest are nominal; encode them first"
        )
    helper, kind = onnx.helper, onnx.TensorProto
    element = kind.DOUBLE if double else kind.FLOAT
    classes, factors = len(forest.classes_), getattr(forest, "class_factors_", None)
    numbers = {"trees": np.array(float(len(forest.trees_)))}
    shares = [helper.make_node("Div", ["sums_double", "trees"], [PROBABILITIES])]
    if factors is not None:  # classes were sampled: at the shares of the training rows again
        numbers = {"factors": factors, "axis": np.array([1])}
        shares = [
            helper.make_node("Mul", ["sums_double", "factors"], ["scaled"]),
            helper.make_node("ReduceSum", ["scaled", "axis"], ["total"], keepdims=1),
            helper.make_node("Div", ["scaled", "total"], [PROBABILITIES]),
        ]
    nodes = [
        helper.make_node(
            "TreeEnsembleClassifier",
            ["X"],
            ["place", "sums"],
            domain="ai.onnx.ml",
            **_attributes(onnx, forest, double),
        ),
        helper.make_node("Cast", ["sums"], ["sums_double"], to=kind.DOUBLE),
        *shares,
    ]
    graph = helper.make_graph(
        nodes,
        "forest",
        [helper.make_tensor_value_info("X", element, [None, forest.n_features_in_])],
        [helper.make_tensor_value_info(PROBABILITIES, kind.DOUBLE, [None, classes])],
        [onnx.numpy_helper.from_array(array, name) for name, array in numbers.items()],
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
