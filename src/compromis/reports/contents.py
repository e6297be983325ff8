"""The report of an evaluation: what its page shows is computed here."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._text import count, shown_label
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation, evaluate
from compromis.evidence.readers import read_class_weights
from compromis.evidence.vote_distribution import vote_distribution
from compromis.evidence.votes import Votes
from compromis.preferences import Preferences
from compromis.reports.page import Report
from compromis.tradeoffs import TradeoffCurve
from compromis.weights import Decision, weight_sweep
from compromis.weights.search import can_be_tuned

MOST_PICTURES = 40
"""Classes with pictures of their own; of more, the important and the frequent ones."""
RATIOS = np.logspace(-2, 2, 41)
"""The factors of a weight sweep; the middle one is 1."""


def report(
    evaluation_or_data: Evaluation | Votes,
    path: str | os.PathLike[str] | None = None,
    *,
    preferences: Preferences | None = None,
    votes: Votes | None = None,
    weights: ArrayLike | None = None,
    smoothing: float = 0.0,
    review: float | None = None,
    confidence: float | None = None,
    title: str | None = None,
    command: str | None = None,
    decision: str | None = None,
    random_state: int = 0,
) -> Report:
    """Make the report of an evaluation: one interactive HTML page, which needs neither a server nor the network.

    Parameters
    ----------
    evaluation_or_data : Evaluation or Votes
        What `evaluate` or `cross_evaluate` returned; or votes with their true classes, predicted by `weights`.
    path : path, optional
        Where to write the page.
    preferences : Preferences, optional
        What matters, where votes are given; an evaluation has its own.
    votes : Votes, optional
        The votes behind an evaluation that was made of predictions alone. One made with ``y_proba=`` has them.
    weights : array-like of shape (K,), optional
        The weights of the decision. Without them it is the one that the evaluation is about; where that is the highest score, the page
        says what weights tuned on these rows would change.
    smoothing : float
        What is added to every vote.
    review : float, optional
        The ratio of a decision's review, beside its weights: the page then says what a person looks at, and what that is worth.
    confidence : float, optional
        Adds confidence intervals, where votes are given; an evaluation has its own.
    title, command : str, optional
        The heading, and what to run to make the report again.
    decision : str, optional
        Which decision is judged, in words: the name of a column or a file.
    random_state : int
        The seed that the page names.

    Returns
    -------
    Report
        ``.html`` is the page, ``.save(path)`` writes it; in a notebook it shows itself.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences.prioritise(["bad"], metric="f")
    >>> result = cp.evaluate(["bad", "good", "good"], y_proba=[[0.4, 0.6], [0.1, 0.9], [0.3, 0.7]], preferences=preferences)
    >>> page = cp.report(result, "report.html")
    >>> page.weights.tolist(), page.search.weights.round(3).tolist()
    ([1.0, 1.0], [1.368, 0.731])
    """
    if isinstance(evaluation_or_data, Votes):
        votes = evaluation_or_data
        plain = weights is None and smoothing == 0
        used = np.ones(len(votes.classes)) if weights is None else weights
        judged = votes if plain else votes.counts(used, smoothing=smoothing)
        evaluation = evaluate(judged, preferences=preferences, confidence=confidence)
    elif isinstance(evaluation_or_data, Evaluation):
        evaluation = evaluation_or_data
        for name, value in {"preferences": preferences, "confidence": confidence}.items():
            if value is not None:
                raise InputError(f"an evaluation has its own {name}; pass {name}= to compromis.evaluate")
        votes = evaluation.votes if votes is None else votes
    else:
        raise InputError(
            f"a report is made of an Evaluation or of Votes, got {type(evaluation_or_data).__name__}; "
            f"call compromis.evaluate first"
        )
    _check_votes(votes, evaluation, weights)
    reviewed = None
    if review is not None and votes is not None and weights is not None:
        rule = Decision(votes.classes, weights, smoothing=smoothing, review=review)  # type: ignore[arg-type]
        reviewed = rule.review_on(votes, preferences=evaluation.preferences)
    made = Report(
        evaluation=evaluation,
        title=title or _title(evaluation),
        decision=decision or _decision(votes, evaluation, weights),
        command=command,
        seed=random_state,
        smoothing=float(smoothing),
        reviewed=reviewed,
        **_from_votes(votes, evaluation, weights, float(smoothing)),
    )
    made.save(path)
    return made


def _title(evaluation: Evaluation) -> str:
    """Return what the page is about: the class that matters most, where one does."""
    rows = f"{count(evaluation.counts.rows)} rows"
    told = evaluation.headline
    if told.matters and len(told.classes) == 1:
        return f"{shown_label(told.classes[0].label)} in {rows}"
    return f"{len(evaluation.counts.classes)} classes in {rows}"


def _decision(votes: Votes | None, evaluation: Evaluation, weights: ArrayLike | None) -> str:
    """Return which decision the evaluation is about, in words."""
    if weights is not None:
        return "the largest weight x vote, with the weights given"
    if votes is None:
        return "the predictions given"
    equal = votes.counts(np.ones(len(votes.classes))).matrix
    return "the highest score" if np.array_equal(equal, evaluation.counts.matrix) else "the predictions given"


def _check_votes(votes: Votes | None, evaluation: Evaluation, weights: ArrayLike | None) -> None:
    if votes is None and weights is not None:
        raise InputError(
            "weights are given, but no votes that they would weigh; evaluate with y_proba=, or pass votes="
        )
    if votes is not None and votes.classes != evaluation.counts.classes:
        raise InputError(
            "votes and evaluation are of different classes, or in a different order; pass the same labels= to both"
        )


def _from_votes(
    votes: Votes | None, evaluation: Evaluation, given: ArrayLike | None, smoothing: float
) -> dict[str, Any]:
    """Return the fields of a report that its votes are needed for; none without votes."""
    if votes is None:
        return {}
    votes, wanted = votes.merge(), evaluation.preferences or Preferences()
    weights = np.ones(len(votes.classes)) if given is None else read_class_weights(given, votes.classes)
    counts = votes.counts(weights, smoothing=smoothing)
    by_importance = _by_importance(votes, wanted)
    shown = [label for label in votes.classes if label in by_importance[:MOST_PICTURES]]
    sweep = None
    if can_be_tuned(wanted, votes) and not wanted.costs_amounts:
        sweep = weight_sweep(
            votes,
            label=next(label for label in by_importance if votes.support[votes.classes.index(label)] > 0),
            preferences=wanted,
            ratios=RATIOS,
            weights=weights,
            smoothing=smoothing,
        )
    search = evaluation.offer if given is None else None
    points = votes.points(shown, weights=weights, smoothing=smoothing)
    return {
        "votes": votes,
        "weights": weights,
        "weighed": bool(np.array_equal(counts.matrix, evaluation.counts.matrix)),
        "search": search,
        "tuned": None if search is None else evaluate(search.counts, preferences=wanted),
        "distributions": tuple(vote_distribution(votes, label) for label in shown),
        "curves": tuple(TradeoffCurve(each, metric=wanted.metric) for each in points.values()),
        "sweep": sweep,
    }


def _by_importance(votes: Votes, preferences: Preferences) -> list[Label]:
    """Return the classes, the important first, then the frequent."""
    importance = preferences.on(votes.classes).importance
    order = np.lexsort([-np.asarray(votes.support, dtype=np.float64), -importance])
    return [votes.classes[k] for k in order]
