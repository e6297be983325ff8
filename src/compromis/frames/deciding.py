"""Apply weights to votes inside the engine, as a further column, and evaluate what they predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from compromis._text import shown
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation
from compromis.evaluation.evaluate import evaluate as evaluate_counts
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_class_weights
from compromis.frames.query import BEST, SECOND, Frame, add_decision, lazy_frame, usable_votes
from compromis.frames.votes import name_votes
from compromis.labels import column_of_each_class, in_order_of
from compromis.preferences import Preferences, refuse_idle_amount
from compromis.weights.decision import Decision


def decide(
    frame: Any,
    *,
    proba: Sequence[str] | Mapping[str, Any],
    weights: ArrayLike | Decision | None = None,
    labels: Sequence[Any] | None = None,
    smoothing: float = 0.0,
    name: str = "decision",
    review: str = "needs_review",
) -> Any:
    """Return the frame with a column of decisions: the class of the largest weight x (vote + smoothing).

    Where the decision has a review, a second new column tells which rows a person should look at.

    Nothing is computed before the frame's engine is asked for rows.

    Parameters
    ----------
    frame, proba, labels
        As in `Votes.from_frame`.
    weights : array-like or Decision, optional
        One positive weight per column of votes; a `Decision` brings classes and smoothing too. Without it all are equal.
    smoothing : float
        Added to every vote.
    name : str
        What the new column is called.
    review : str
        What the column of truth values is called, where there is a review.

    Returns
    -------
    data frame
        Of the kind given, with one more column, or two. Ties go to the first class. A row of which a vote is missing, negative or
        not finite has no decision; a row of zeros gets the class that smoothing and weights prefer, else the first.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"good": [0.7, 0.8, 0.75], "bad": [0.3, 0.2, 0.25]})
    >>> cp.frames.decide(frame, proba=["good", "bad"], weights=[1, 3])["decision"].tolist()
    ['bad', 'good', 'good']
    """
    columns, rule = read_rule(frame, proba, weights, labels, smoothing)
    _check_labels(rule.classes)
    lazy = lazy_frame(frame)
    opened = Frame.open(frame, {column: column for column in columns})
    opened.check_numbers(columns)
    made = [name] if rule.review is None else [name, review]
    if len(set(made)) < len(made):
        raise InputError(f"name and review are two columns, both are called {name!r}", "review")
    kept = [column for column in lazy.collect_schema().names() if column not in made]
    lazy = add_decision(lazy, columns, rule.weights, rule.smoothing, rule.classes, name, second=rule.review is not None)
    usable = usable_votes(columns)
    predicted = [nw.when(usable).then(nw.col(name)).otherwise(nw.lit(None)).alias(name)]
    if rule.review is not None:
        near = (nw.col(BEST) < nw.col(SECOND) * rule.review) | (nw.col(BEST) == 0)
        predicted.append(nw.when(usable).then(near).otherwise(nw.lit(None)).alias(review))
    return _like(frame, lazy.with_columns(*predicted).select(*kept, *made))


def read_rule(
    frame: Any,
    proba: Sequence[str] | Mapping[Any, Any],
    weights: ArrayLike | Decision | None,
    labels: Sequence[Any] | None,
    smoothing: float = 0.0,
) -> tuple[list[str], Decision]:
    """Return the columns of votes in the order of a decision's classes, and the decision."""
    if not isinstance(weights, Decision):
        columns, classes = name_votes(frame, proba, labels)
        classes = classes or tuple(columns)
        given = np.ones(len(columns)) if weights is None else read_class_weights(weights, classes)
        return columns, Decision(classes, given, smoothing=smoothing)
    if not isinstance(proba, Mapping):
        return in_order_of(name_votes(frame, proba, weights.classes)[0], weights.classes), weights
    column_of = column_of_each_class(proba, classes=weights.classes)
    if column_of is None:
        raise InputError(
            f"proba gives columns for {shown(proba.values())}, the decision is about {shown(weights.classes)}; "
            "give the class of each column, or the column of each class"
        )
    return [column_of[label] for label in weights.classes], weights


def _check_labels(classes: Sequence[Label]) -> None:
    """Engines hold columns of one type, and know no others than these."""
    kinds = {type(label) for label in classes}
    if len(kinds) > 1 or not kinds <= {str, int, bool, float}:
        raise InputError(
            f"an engine's column holds labels of one type, text, whole numbers or truth values, got {shown(classes)}"
        )


def _like(frame: Any, lazy: nw.LazyFrame[Any]) -> Any:
    """Return an eager frame where one was given."""
    given = nw.from_native(frame)
    return lazy.collect().to_native() if isinstance(given, nw.DataFrame) else lazy.to_native()


_PREDICTED = "compromis decision"


def evaluate(
    frame: Any,
    *,
    truth: str,
    prediction: str | None = None,
    proba: Sequence[str] | Mapping[str, Any] | None = None,
    weights: ArrayLike | Decision | None = None,
    weight: str | None = None,
    amount: str | None = None,
    labels: Sequence[Any] | None = None,
    preferences: Preferences | None = None,
    priors: Mapping[Any, float] | Sequence[float] | None = None,
    confidence: float | None = None,
) -> Evaluation:
    """Evaluate decisions where the rows are: one query, and only counts come back.

    Parameters
    ----------
    frame, truth, weight, amount
        As in `Counts.from_frame`.
    prediction : str, optional
        The column of predicted classes; without it `proba` decides.
    proba, weights
        As in `decide`.
    labels : sequence, optional
        The classes in the order wanted; with `proba`, the class of each column.
    preferences, priors, confidence
        As in `evaluate`.

    Returns
    -------
    Evaluation
        What `evaluate` returns for the same decisions held in memory.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"true": ["bad", "good", "good"], "good": [0.3, 0.4, 0.9], "bad": [0.7, 0.6, 0.1]})
    >>> cp.frames.evaluate(frame, truth="true", proba=["good", "bad"]).summary.accuracy > 0.6
    True
    """
    if (prediction is None) == (proba is None):
        raise InputError("give prediction, the column of predicted classes, or proba, the columns that decide")
    if proba is not None:
        columns, rule = read_rule(frame, proba, weights, labels)
        frame = decide(frame, proba=columns, weights=rule, name=_PREDICTED)
        labels = labels if labels is not None else rule.classes
    elif weights is not None:
        raise InputError("weights are for votes; for row weights pass weight, the name of their column")
    refuse_idle_amount(preferences, amount)
    predicted = _PREDICTED if prediction is None else prediction
    counts = Counts.from_frame(frame, truth=truth, prediction=predicted, weight=weight, amount=amount, labels=labels)
    return evaluate_counts(counts, preferences=preferences, priors=priors, confidence=confidence)
