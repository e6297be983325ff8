"""search_frame: weights for votes in data of any size, by a few passes over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis.engines.nearby import VoteSource
from compromis.engines.sampling import sample_patterns
from compromis.evidence import Counts
from compromis.evidence.counts_frame import Spell
from compromis.evidence.votes import Votes
from compromis.evidence.votes_frame import are_continuous, name_votes, open_votes, patterns_of_frame, vote_names
from compromis.preferences import Preferences
from compromis.queries.grouping import TooMany
from compromis.weights import WeightSearch, search_weights
from compromis.weights.budget import Budget, Progress
from compromis.weights.problem import SearchProblem
from compromis.weights.search import normalised

Reporter = Callable[[], AbstractContextManager[Progress | None]]
"""Opens the progress of one search in memory; passes over the data belong to the engine, which has no such thing."""

_ROUNDS = 4
"""How often rows are fetched around the best weights so far before the search settles for what it has."""
_WIDEST = 4.0
"""The largest ratio of weights around the best ones within which rows are fetched."""
_FEW = 20_000
"""Patterns up to which three classes are searched exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameSearch:
    """The weights found in data of any size, exact counts, and how often the data was read.

    Attributes
    ----------
    search : WeightSearch
        Weights, loss, counts, verdict; the counts are of all rows, by the engine.
    before : Counts
        What equal weights decide on the same rows.
    passes : int
        How many queries read the data.
    box : float or None
        None: every pattern was searched. Else the ratio of weights, around where the last search began, within which every row
        that could be predicted otherwise was searched; beyond it a sample was. 1: the sample only, because someone stopped the search.
    sampled : int
        The rows of that sample.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"good": [9, 7, 6, 2], "bad": [1, 3, 4, 8], "true": ["good", "good", "bad", "bad"]})
    >>> found = cp.search_frame(frame, truth="true", proba=["good", "bad"])
    >>> found.before.matrix.tolist(), found.search.counts.matrix.tolist()
    ([[2, 0], [1, 1]], [[2, 0], [0, 2]])
    """

    search: WeightSearch
    before: Counts
    passes: int
    box: float | None
    sampled: int

    def summary(self) -> str:
        """Return in sentences what was found, how, and what it is worth."""
        how = "every pattern of votes was searched"
        if self.box == 1:
            how = f"a sample of {self.sampled:,} rows was searched, and all rows were counted"
        elif self.box is not None:
            how = (
                f"a sample of {self.sampled:,} rows showed where, then every row that weights within a factor of {self.box:.3g} "
                f"could decide otherwise was searched"
            )
        return f"{self.search.summary()}\n{self.passes} {'pass' if self.passes == 1 else 'passes'} over the data: {how}"


def search_frame(
    frame: Any,
    *,
    truth: str,
    proba: Sequence[str] | Mapping[str, Any],
    preferences: Preferences | None = None,
    labels: Sequence[Any] | None = None,
    weight: str | None = None,
    method: str = "auto",
    smoothing: float = 0.0,
    cost: ArrayLike | None = None,
    budget: Budget | float | None = None,
    sample: int = 200_000,
    random_state: int = 0,
    spell: Spell | None = None,
    reporter: Reporter = nullcontext,
) -> FrameSearch:
    """Find the weights that meet the preferences best, for the votes in a data frame of any engine and size.

    Parameters
    ----------
    frame : data frame
        Of polars (eager or lazy), pandas, pyarrow, DuckDB, ibis, Dask or Spark; `compromis.scan` opens files.
    truth : str
        The column of true classes.
    proba : sequence of str, or mapping
        The columns of votes or probabilities; a mapping gives the class of each column.
    preferences, method, smoothing, cost, budget, random_state
        As in `search_weights`; the budget is that of each search in memory, of which there are two to five.
    labels : sequence, optional
        The class of each column of votes; without it the columns are named as the classes.
    weight : str, optional
        A column of row weights.
    sample : int
        How many rows are fetched first where nearly every row has votes of its own.
    spell : callable, optional
        How true classes are written out as text.
    reporter : callable, optional
        Returns a context manager that is entered for each search in memory and gives its `progress`, as in `search_weights`.
        A search that is told to stop is the last one: a pass that counts all rows under its weights may follow.

    Returns
    -------
    FrameSearch
        Where few rows differ, one pass fetches the patterns and the result is that of `search_weights`. Otherwise one pass
        counts the classes, one fetches a sample balanced over them, some fetch the rows that weights near the best ones could
        decide otherwise, and a last one counts all rows under the weights found.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"good": [9, 7, 6, 6, 2], "bad": [1, 3, 4, 4, 8], "true": ["good", "good", "bad", "bad", "bad"]})
    >>> arrays = cp.Preferences.prioritise(["bad"])
    >>> found = cp.search_frame(frame, truth="true", proba=["good", "bad"], preferences=arrays)
    >>> found.search.counts.matrix.tolist(), found.passes
    ([[2, 0], [0, 3]], 1)
    """
    task = _Task(preferences, cost, smoothing, method, budget, random_state, reporter)
    columns, classes = name_votes(proba, labels)
    opened = open_votes(frame, truth, columns, weight)
    if not are_continuous(opened, vote_names(len(columns))):
        try:
            patterns = patterns_of_frame(frame, truth=truth, proba=proba, labels=labels, weight=weight, spell=spell)
        except TooMany:
            pass  # the first rows were no fair sample of the others
        else:
            found = task.search(patterns, smoothing)
            return FrameSearch(found, _equal(patterns), 1, None, 0)
    source = VoteSource.read(opened, columns, classes, spell)
    return _by_passes(source, task, sample)


@dataclass(slots=True, eq=False)
class _Task:
    """What is wanted of the weights, and whether someone wanted no more."""

    preferences: Preferences | None
    cost: ArrayLike | None
    smoothing: float
    method: str
    budget: Budget | float | None
    random_state: int
    reporter: Reporter
    stopped: bool = False

    def search(self, patterns: Votes, smoothing: float, max_ratio: float | None = None) -> WeightSearch:
        """Search patterns in memory."""
        method = (
            "sweep" if self.method == "auto" and len(patterns.classes) == 3 and len(patterns) > _FEW else self.method
        )
        with self.reporter() as progress:
            return search_weights(
                patterns,
                preferences=self.preferences,
                cost=self.cost,
                smoothing=smoothing,
                method=method,
                max_ratio=max_ratio,
                budget=self.budget,
                progress=None if progress is None else self._noting(progress),
                random_state=self.random_state,
            )

    def _noting(self, progress: Progress) -> Progress:
        def note(done: float, loss: float) -> bool:
            self.stopped = bool(progress(done, loss)) or self.stopped
            return self.stopped

        return note

    def problem(self, patterns: Votes) -> SearchProblem:
        """Return what is minimised."""
        return SearchProblem.read(patterns, self.preferences, cost=self.cost, smoothing=self.smoothing, max_ratio=None)


def _equal(patterns: Votes) -> Counts:
    return patterns.counts(np.ones(len(patterns.classes)))


def _by_passes(source: VoteSource, task: _Task, sample: int) -> FrameSearch:
    """Search a sample, then all rows near what it says, and count."""
    sampled = sample_patterns(source, sample)
    first = task.search(sampled, task.smoothing)
    weights, found, passes, box = first.weights, first, 2, 1.0
    for _ in range(_ROUNDS):
        if task.stopped:
            break
        box = source.box_around(sampled, weights, task.smoothing, _WIDEST)
        near = source.near(weights, task.smoothing, box)
        passes += 1
        found = task.search(near, 0.0, max_ratio=box)
        weights = normalised(weights * found.weights)
        if found.weights.max() < found.weights.min() * np.sqrt(box):
            break  # well inside what was fetched; nearer to its border, the sample misled, and better ones may lie just beyond
    counts, before = source.count([weights, np.ones(len(weights))], [task.smoothing, 0.0])
    problem = task.problem(sampled)
    shortfall, loss = problem.value(counts)
    exact = replace(
        found, weights=weights, counts=counts, loss=loss, feasible=shortfall == 0, optimal=False,
        smoothing=task.smoothing, left_out=source.left_out, message=_message(source),
    )  # fmt: skip
    return FrameSearch(exact, before, passes + 1, box, int(sampled.rows))


def _message(source: VoteSource) -> str:
    return f"{source.left_out:,} rows without any vote are left out" if source.left_out else ""
