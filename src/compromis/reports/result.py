"""The report: everything about one evaluation, as one HTML page that needs neither a server nor the network."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._files import write_whole
from compromis._text import shown
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evaluation.evaluate import Evaluation, evaluate
from compromis.evidence.inputs import read_class_weights
from compromis.evidence.votes import Votes
from compromis.preferences import Preferences
from compromis.weights import Sweep, WeightSearch, search_weights
from compromis.weights.decision import Decision


@dataclass(frozen=True, eq=False)
class Report:
    """An evaluation with its votes and weights, ready to be read; made by `compromis.report`.

    Attributes
    ----------
    evaluation : Evaluation
        The numbers.
    votes : Votes or None
        The vote evidence, equal patterns merged: with it there are curves, distributions and knobs to turn.
    weights : ndarray or None
        The weights that the knobs start from: those given, else those that a search found for the preferences on these votes.
    smoothing : float
        What is added to every vote.
    search : WeightSearch or None
        The search, where the weights were searched for here.
    title : str
        What stands on top.
    command : str or None
        What made the report, for those who want to make it again.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good", "good"], ["bad", "bad", "good"], preferences=cp.Preferences.prioritise(["bad"]))
    >>> page = cp.report(result, "report.html", title="Three parts")
    >>> "Three parts" in page.html
    True
    """

    evaluation: Evaluation
    votes: Votes | None
    weights: Floats | None
    smoothing: float
    search: WeightSearch | None
    title: str
    command: str | None
    seed: int

    @cached_property
    def html(self) -> str:
        """The page."""
        from compromis.reports.page import render_page

        return render_page(self)

    def save(self, path: str | os.PathLike[str] | None) -> str:
        """Return the page; with `path`, write it there, whole or not at all."""
        if path is not None:
            write_whole(path, self.html)
        return self.html

    @property
    def preferences(self) -> Preferences:
        """What matters; every class alike where nothing was said."""
        return self.evaluation.preferences or Preferences()

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="Report" '
            f'width="100%" height="760" frameborder="0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Report of {self.evaluation!r}, {len(self.html):,} characters>"


def make_report(
    evaluation: Evaluation,
    *,
    votes: Votes | None = None,
    weights: ArrayLike | None = None,
    smoothing: float = 0.0,
    title: str | None = None,
    command: str | None = None,
    random_state: int = 0,
) -> Report:
    """Return the report of an evaluation; `compromis.report` says what the parameters mean."""
    patterns = evaluation.votes if votes is None else votes
    if patterns is None:
        if weights is not None:
            raise InputError(
                "weights are given, but no votes that they would weigh; evaluate with y_proba=, or pass votes="
            )
    elif patterns.classes != evaluation.counts.classes:
        raise InputError(
            "votes and evaluation are of different classes, or in a different order; pass the same labels= to both"
        )
    merged = None if patterns is None else patterns.merge()
    search, used = None, None
    if merged is not None:
        search, used = starting_weights(merged, evaluation.preferences, weights, smoothing, random_state)
    name = title or f"Evaluation of {evaluation.counts.rows:,} rows, {len(evaluation.counts.classes)} classes"
    return Report(evaluation, merged, used, float(smoothing), search, name, command, random_state)


def starting_weights(
    patterns: Votes, preferences: Preferences | None, given: ArrayLike | None, smoothing: float, seed: int
) -> tuple[WeightSearch | None, Floats]:
    """Return the weights given; else those that a search finds for the preferences, with the search; else equal ones."""
    places = len(patterns.classes)
    if given is not None:
        return None, read_class_weights(given, patterns.classes)
    if preferences is None or not can_be_tuned(preferences, patterns):
        return None, np.ones(places)
    method = "exact" if places == 2 else Sweep(passes=1)
    search = search_weights(patterns, preferences=preferences, method=method, smoothing=smoothing, random_state=seed)
    return search, search.weights


def can_be_tuned(preferences: Preferences, patterns: Votes) -> bool:
    """Return whether a search would find anything: at least two classes occur, and one that matters among them."""
    present = patterns.support > 0
    return bool(present.sum() > 1 and preferences.on(patterns.classes).importance[present].any())


def weights_change(report: Report) -> list[dict[str, Any]]:
    """Return each class's weight, and its recall and precision with equal weights and with the report's."""
    from compromis.measures.rates import precision, recall

    assert report.votes is not None
    assert report.weights is not None
    equal = report.votes.counts(np.ones(len(report.weights)), smoothing=report.smoothing)
    after = report.votes.counts(report.weights, smoothing=report.smoothing)
    columns = (report.weights, recall(equal), recall(after), precision(equal), precision(after))
    names = ("weight", "recall_before", "recall_after", "precision_before", "precision_after")
    return [
        {"label": label, **dict(zip(names, map(float, row), strict=True))}
        for label, row in zip(report.votes.classes, zip(*columns, strict=True), strict=True)
    ]


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
        used = np.ones(len(votes.classes)) if weights is None else read_class_weights(weights, votes.classes)
        counts = votes.counts(used, smoothing=smoothing)
        evaluation = evaluate(counts, preferences=preferences, confidence=confidence)
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
