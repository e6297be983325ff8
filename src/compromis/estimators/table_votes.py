"""Honest votes for the rows of a table: a model is fitted on all folds but one, which it votes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from compromis._rows import choose_folds, take_rows
from compromis._text import unknown_name
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.estimators.c45 import C45Classifier
from compromis.estimators.model_file import describe_table, encode_table, make_classifier
from compromis.estimators.pragma_forest import PragmaForestClassifier
from compromis.evidence.scores import with_absent_classes
from compromis.evidence.votes import Votes
from compromis.trees.columns import Column

TABLE_MODELS = "pragma-forest", "logistic", "c45"
"""What `table_votes` can fit."""


def table_votes(
    texts: Mapping[str, Any],
    target: str,
    *,
    model: str = "pragma-forest",
    trees: int = 100,
    folds: int = 5,
    source: str = "the table",
    random_state: int = 0,
    progress: Callable[[float, str], object] = lambda *_: None,
) -> Votes:
    """Fit a model to a table fold by fold, and return its votes for the rows that it did not see.

    Parameters
    ----------
    texts : mapping of str to list
        The columns, None where a value is missing. Columns of numbers are numbers, all others are nominal.
    target : str
        The column of classes.
    model : {"pragma-forest", "logistic", "c45"}
        What is fitted.
    trees : int
        The trees of a forest.
    folds : int
        The folds, stratified; fewer where a class has fewer rows.
    source : str
        What messages call the table.
    random_state : int
        The same number gives the same votes.
    progress : callable
        Called before each fold with the share done and what is being done; what it raises ends the work.

    Examples
    --------
    >>> import compromis as cp
    >>> texts = {"x": [str(k % 7) for k in range(60)], "class": ["bad" if k % 7 > 4 else "good" for k in range(60)]}
    >>> votes = cp.estimators.table_votes(texts, "class", model="c45")
    >>> votes.counts([1.0, 1.0]).matrix.tolist()
    [[16, 0], [0, 44]]
    """
    names = [column for column in texts if column != target]
    if not names:
        raise InputError(f"{source} has no column besides {target!r} to learn from")
    y = np.array(texts[target], dtype=object)
    labels, codes = np.unique(y, return_inverse=True)
    classes = tuple(labels.tolist())
    rarest = int(np.bincount(codes).min())
    if len(classes) < 2 or rarest < 2:
        raise InputError(
            f"a model needs at least two classes of two rows each in column {target!r} of {source}; leave out rarer ones"
        )
    columns = describe_table(texts, names, source)
    rows = _rows(texts, columns, source, model)
    shares = np.zeros((len(y), len(classes)))
    chosen = choose_folds(min(folds, rarest), np.zeros((len(y), 1)), codes, classes=classes, random_state=random_state)
    for number, (train, test) in enumerate(chosen, start=1):
        progress((number - 1) / len(chosen), f"fitting part {number} of {len(chosen)}")
        fitted = _classifier(model, columns, trees, random_state).fit(take_rows(rows, train), y[train])
        shares[test] = with_absent_classes(fitted.predict_proba(take_rows(rows, test)), fitted.classes_, classes)
    return Votes.from_proba(y.tolist(), shares, labels=classes)


def _classifier(model: str, columns: tuple[Column, ...], trees: int, random_state: int) -> Any:
    if model == "pragma-forest":
        return PragmaForestClassifier(n_estimators=trees, random_state=random_state)
    return (
        C45Classifier()
        if model == "c45"
        else make_classifier("logistic", columns, trees=trees, random_state=random_state, n_jobs=None)
    )


def _rows(texts: Mapping[str, Any], columns: tuple[Column, ...], source: str, model: str) -> Any:
    """Return the columns as the model takes them: our trees a table with nominal columns, scikit-learn a matrix of codes."""
    if model not in TABLE_MODELS:
        raise InputError(unknown_name("model", model, TABLE_MODELS), "model")
    matrix: Floats = encode_table(texts, columns, source)
    if model == "logistic":
        return matrix
    import pyarrow as pa

    numbers = {column.name: pa.array(matrix[:, k], from_pandas=True) for k, column in enumerate(columns)}
    nominal = {
        column.name: pa.array(texts[column.name], pa.string()).dictionary_encode()
        for column in columns
        if column.is_nominal
    }
    return pa.table(numbers | nominal)
