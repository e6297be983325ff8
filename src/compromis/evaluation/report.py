"""report: one HTML page about an evaluation, from the evaluation itself or from votes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis.deployment.decision import Decision
from compromis.errors import InputError, shown
from compromis.evaluation.evaluate import evaluate, evaluate_counts
from compromis.evidence.votes import Votes, read_class_weights
from compromis.preferences import Preferences
from compromis.reporting.evaluation import Evaluation
from compromis.reporting.report import Report, make_report


def report(
    evaluation_or_data: Evaluation | Votes,
    path: str | os.PathLike[str] | None = None,
    *,
    preferences: Preferences | None = None,
    votes: Votes | None = None,
    weights: ArrayLike | None = None,
    smoothing: float = 0.0,
    confidence: float | None = None,
    title: str | None = None,
    command: str | None = None,
    random_state: int = 0,
) -> Report:
    """Make the report of an evaluation: one HTML page with knobs to turn, which needs neither a server nor the network.

    Parameters
    ----------
    evaluation_or_data : Evaluation or Votes
        What `evaluate` or `cross_evaluate` returned; or votes with their true classes, which are decided by `weights`.
    path : path, optional
        Where to write the page, whole or not at all.
    preferences : Preferences, optional
        What matters, where votes are given; an evaluation has its own.
    votes : Votes, optional
        The votes behind an evaluation that was made of decisions alone. One made with ``y_proba=`` has them.
    weights : array-like of shape (K,), optional
        The weights of the decision. Without them the page starts from the weights that serve the preferences best on these
        votes, found by a search.
    smoothing : float
        What is added to every vote.
    confidence : float, optional
        Adds confidence intervals, where votes are given; an evaluation has its own.
    title, command : str, optional
        What stands on top, and what to run to make the report again.
    random_state : int
        The seed of the search.

    Returns
    -------
    Report
        ``.html`` is the page, ``.save(path)`` writes it; in a notebook it shows itself.

    Examples
    --------
    >>> import compromis as cp
    >>> arrays = cp.Preferences.prioritise(["bad"], metric="f")
    >>> result = cp.evaluate(["bad", "good", "good"], y_proba=[[0.4, 0.6], [0.1, 0.9], [0.3, 0.7]], preferences=arrays)
    >>> page = cp.report(result, "report.html")
    >>> page.weights.round(3).tolist()
    [1.368, 0.731]
    """
    if isinstance(evaluation_or_data, Votes):
        votes = evaluation_or_data
        used = np.ones(len(votes.classes)) if weights is None else read_class_weights(weights, len(votes.classes))
        counts = votes.counts(used, smoothing=smoothing)
        evaluation = evaluate_counts(counts, preferences=preferences, confidence=confidence)
    elif isinstance(evaluation_or_data, Evaluation):
        evaluation = evaluation_or_data
        _refuse(preferences=preferences, confidence=confidence)
    else:
        raise InputError(
            f"a report is made of an Evaluation or of Votes, got {type(evaluation_or_data).__name__}; "
            f"call compromis.evaluate first"
        )
    made = make_report(
        evaluation, votes=votes, weights=weights, smoothing=smoothing, title=title, command=command, random_state=random_state
    )  # fmt: skip
    made.save(path)
    return made


def report_of_columns(
    y_true: Any,
    y_pred: Any,
    votes: Any,
    *,
    labels: Sequence[Any] | None,
    weights_file: str | os.PathLike[str] | None,
    preferences: Preferences | None,
    sample_weight: ArrayLike | None,
    confidence: float | None,
    title: str,
    command: str | None,
    random_state: int,
) -> Report:
    """Return the report of columns of labels and, optionally, votes; what was not predicted is decided by the weights in a file, if any."""
    decision = None if weights_file is None else Decision.from_json(weights_file)
    if decision is not None and (votes is None or tuple(labels or ()) != decision.classes):
        raise InputError(
            f"the weights are for {shown(decision.classes)}, the scores for {shown(labels or ())}; give scores of the same classes"
        )
    predicted = decision.decide(votes) if decision is not None and y_pred is None else y_pred
    evaluation = evaluate(
        y_true,
        predicted,
        y_proba=votes,
        labels=labels,
        preferences=preferences,
        sample_weight=sample_weight,
        confidence=confidence,
    )
    patterns = None if votes is None else Votes.from_proba(y_true, votes, labels=labels, sample_weight=sample_weight)
    return make_report(
        evaluation,
        votes=patterns,
        weights=None if decision is None else decision.weights,
        smoothing=0.0 if decision is None else decision.smoothing,
        title=title,
        command=command,
        random_state=random_state,
    )


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"an evaluation has its own {name}; pass {name}= to compromis.evaluate")
