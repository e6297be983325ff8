"""The report: everything about one evaluation, as one HTML page that needs neither a server nor the network."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.votes import Votes, read_class_weights
from compromis.files import write_whole
from compromis.preferences import Preferences
from compromis.reporting.evaluation import Evaluation
from compromis.weights import Sweep, WeightSearch, search_weights


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
        from compromis.reporting.report_page import render_page

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
        return None, read_class_weights(given, places)
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
