"""Evaluate the rows of a data frame of any engine, of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from compromis.deployment.decision import Decision
from compromis.engines.deciding import decide
from compromis.errors import InputError
from compromis.evaluation.evaluate import evaluate_counts
from compromis.evidence import Counts
from compromis.preferences import Preferences
from compromis.reporting.evaluation import Evaluation

_PREDICTED = "compromis decision"


def evaluate_frame(
    frame: Any,
    *,
    truth: str,
    prediction: str | None = None,
    proba: Sequence[str] | Mapping[str, Any] | None = None,
    weights: ArrayLike | Decision | None = None,
    weight: str | None = None,
    labels: Sequence[Any] | None = None,
    preferences: Preferences | None = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    cost: ArrayLike | None = None,
    confidence: float | None = None,
) -> Evaluation:
    """Evaluate decisions where the rows are: one query, and only counts come back.

    Parameters
    ----------
    frame : data frame
        Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark; `compromis.scan` opens files.
    truth : str
        The column of true classes.
    prediction : str, optional
        The column of predicted classes; without it `proba` decides.
    proba : sequence of str, or mapping, optional
        Columns of votes; a mapping gives the class of each column.
    weights : array-like or Decision, optional
        The weights of the votes; without it all are equal.
    weight : str, optional
        A column of row weights.
    labels : sequence, optional
        The classes in the order wanted; with `proba`, the class of each column.
    preferences, priors, cost, confidence
        As in `evaluate`.

    Returns
    -------
    Evaluation
        What `evaluate` returns for the same decisions held in memory.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"true": ["bad", "good", "good"], "good": [0.3, 0.4, 0.9], "bad": [0.7, 0.6, 0.1]})
    >>> cp.evaluate_frame(frame, truth="true", proba=["good", "bad"]).summary.accuracy > 0.6
    True
    """
    if (prediction is None) == (proba is None):
        raise InputError("give prediction, the column of predicted classes, or proba, the columns that decide")
    if proba is not None:
        frame = decide(frame, proba=proba, weights=weights, labels=labels, name=_PREDICTED)
        labels = labels if labels is not None else _classes(proba, weights)
    elif weights is not None:
        raise InputError("weights are for votes; for row weights pass weight, the name of their column")
    counts = Counts.from_frame(
        frame, truth=truth, prediction=_PREDICTED if prediction is None else prediction, weight=weight, labels=labels
    )
    return evaluate_counts(counts, preferences=preferences, priors=priors, cost=cost, confidence=confidence)


def _classes(votes: Sequence[str] | Mapping[str, Any], weights: Any) -> Sequence[Any]:
    if isinstance(weights, Decision):
        return weights.classes
    return list(votes.values()) if isinstance(votes, Mapping) else list(votes)
