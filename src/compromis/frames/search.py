"""Search weights for votes in data of any size: fetch every pattern, or a sample and then the rows near the best weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, or_
from typing import Any, cast

import narwhals as nw
import numpy as np

from compromis._text import WIDTH, Finding, paragraph
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.votes import Votes
from compromis.frames.adding import laid_out
from compromis.frames.query import (
    ARGUMENT,
    BEST,
    ROWS,
    SECOND,
    TRUTH,
    Frame,
    Rows,
    add_decision,
    add_ranking,
    count_groups,
    refuse_missing,
    row_total,
    usable_votes,
)
from compromis.frames.tables import TooMany
from compromis.frames.votes import (
    MOST_PATTERNS,
    are_continuous,
    name_votes,
    open_votes,
    patterns_of_rows,
    true_classes,
    vote_names,
)
from compromis.labels import encode
from compromis.preferences import Preferences, read_preferences, refuse_idle_amount
from compromis.weights.guarantee import demands_of
from compromis.weights.problem import Progress, SearchProblem, normalised
from compromis.weights.search import WeightSearch
from compromis.weights.search import search_weights as search_votes

Reporter = Callable[[], AbstractContextManager[Progress | None]]
"""Opens the progress of one search in memory; passes over the data belong to the engine, which reports none."""

_ROUNDS = 4
"""How often rows are fetched around the best weights so far before the search settles for what it has."""
_WIDEST = 4.0
"""The largest ratio of weights around the best ones within which rows are fetched."""
_FEW = 20_000
"""Patterns up to which three classes are searched exactly."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FrameSearch:
    """The weights found in data of any size, exact counts, and how often the data was read.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"good": [9, 7, 6, 2], "bad": [1, 3, 4, 8], "true": ["good", "good", "bad", "bad"]})
    >>> found = cp.frames.search_weights(frame, truth="true", proba=["good", "bad"])
    >>> found.before.matrix.tolist(), found.search.counts.matrix.tolist()
    ([[2, 0], [1, 1]], [[2, 0], [0, 2]])
    """

    search: WeightSearch
    """Weights, loss, counts, verdict; the counts are of all rows, by the engine."""
    before: Counts
    """What equal weights decide on the same rows."""
    passes: int
    """How many queries read the data."""
    box: float | None
    """None: every pattern was searched. Else the ratio of weights, around where the last search began, within which every row that could
    be predicted otherwise was searched; beyond it a sample was. 1: the sample only, because someone stopped the search."""
    sampled: int
    """The rows of that sample."""

    def to_text(self, *, width: int = WIDTH, colour: bool = False) -> str:
        """Return the search for people, and how the data was read; the arguments are those of a result."""
        how = "every pattern of votes was searched"
        if self.box == 1:
            how = f"a sample of {self.sampled:,} rows was searched, and all rows were counted"
        elif self.box is not None:
            how = (
                f"a sample of {self.sampled:,} rows showed where, then every row that weights within a factor of {self.box:.3g} "
                f"could decide otherwise was searched"
            )
        read = f"{self.passes} {'pass' if self.passes == 1 else 'passes'} over the data: {how}"
        return (
            self.search.to_text(width=width, colour=colour)
            + paragraph(Finding(read, "small"), width, colour=colour)
            + "\n"
        )

    def __str__(self) -> str:
        return self.to_text()


def search_weights(
    frame: Any,
    *,
    truth: str,
    proba: Sequence[str] | Mapping[str, Any],
    preferences: Preferences | Mapping[Any, Any] | None = None,
    labels: Sequence[Any] | None = None,
    weight: str | None = None,
    amount: str | None = None,
    method: str = "auto",
    smoothing: float = 0.0,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    sample: int = 200_000,
    random_state: int = 0,
    reporter: Reporter = nullcontext,
) -> FrameSearch:
    """Find the weights that meet the preferences best, for the votes in a data frame of any engine and size.

    Parameters
    ----------
    frame, truth, proba, labels, weight, amount
        As in `Votes.from_frame`; with amounts every pattern of votes must come back.
    preferences, method, smoothing, max_seconds, max_evaluations, random_state
        As in `compromis.search_weights`; the limits are those of each search in memory, of which there are two to five.
    sample : int
        How many rows are fetched first where nearly every row has votes of its own.
    reporter : callable, optional
        Returns a context manager that is entered for each search in memory and gives its `progress`, as in `compromis.search_weights`.
        A search that is told to stop is the last one: a pass that counts all rows under its weights may follow.

    Returns
    -------
    FrameSearch
        Where few rows differ, one pass fetches the patterns and the result is that of `compromis.search_weights`. Otherwise one pass
        counts the classes, one fetches a sample balanced over them, some fetch the rows that weights near the best ones could
        decide otherwise, and a last one counts all rows under the weights found.

    Examples
    --------
    >>> import compromis as cp, pandas
    >>> frame = pandas.DataFrame({"good": [9, 7, 6, 6, 2], "bad": [1, 3, 4, 4, 8], "true": ["good", "good", "bad", "bad", "bad"]})
    >>> arrays = cp.Preferences.prioritise(["bad"])
    >>> found = cp.frames.search_weights(frame, truth="true", proba=["good", "bad"], preferences=arrays)
    >>> found.search.counts.matrix.tolist(), found.passes
    ([[2, 0], [0, 3]], 1)
    """
    wanted = read_preferences(preferences)
    limits = {"max_seconds": max_seconds, "max_evaluations": max_evaluations}
    settings = {"preferences": wanted, **limits, "random_state": random_state}
    task = _Task(settings=settings, smoothing=smoothing, method=method, reporter=reporter)
    refuse_idle_amount(wanted, amount)
    columns, classes = name_votes(frame, proba, labels)
    opened = open_votes(frame, truth, columns, weight)
    if not are_continuous(opened, vote_names(len(columns))):
        try:
            patterns = Votes.from_frame(frame, truth=truth, proba=proba, labels=labels, weight=weight, amount=amount)
        except TooMany:
            pass  # the first rows were no fair sample of the others
        else:
            before = patterns.counts(np.ones(len(patterns.classes)))
            return FrameSearch(search=task.search(patterns, smoothing), before=before, passes=1, box=None, sampled=0)
    if amount is not None:
        raise InputError(
            "nearly every row has votes of its own, and a search in passes carries no amounts; read the rows, or round the votes",
            "amount",
        )
    source = VoteSource.read(opened, columns, classes)
    if demands_of((wanted or Preferences()).on(source.classes)):
        raise InputError(
            "nearly every row has votes of its own, and a guarantee needs all of them at once; round the votes so that they become "
            "patterns, alike where rows are decided, read the rows into memory, or leave confidence out",
            "preferences",
        )
    return _by_passes(source, task, sample)


@dataclass(slots=True, eq=False, kw_only=True)
class _Task:
    """The settings of every search in memory, and whether its caller stopped one."""

    settings: dict[str, Any]
    smoothing: float
    method: str
    reporter: Reporter
    stopped: bool = False

    def search(self, patterns: Votes, smoothing: float, max_ratio: float | None = None) -> WeightSearch:
        """Search patterns in memory."""
        method = (
            "sweep" if self.method == "auto" and len(patterns.classes) == 3 and len(patterns) > _FEW else self.method
        )
        with self.reporter() as progress:
            return search_votes(
                patterns,
                smoothing=smoothing,
                method=method,
                max_ratio=max_ratio,
                progress=None if progress is None else self._noting(progress),
                **self.settings,
            )

    def _noting(self, progress: Progress) -> Progress:
        def note(done: float, loss: float) -> bool:
            self.stopped = bool(progress(done, loss)) or self.stopped
            return self.stopped

        return note

    def problem(self, patterns: Votes) -> SearchProblem:
        """Return what is minimised."""
        return SearchProblem.read(patterns, self.settings["preferences"], smoothing=self.smoothing, max_ratio=None)


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
        found,
        weights=weights,
        counts=counts,
        before=before,
        loss=loss,
        feasible=shortfall == 0,
        optimal=False,
        smoothing=task.smoothing,
        left_out=source.left_out,
        never_voted=(),
    )
    return FrameSearch(search=exact, before=before, passes=passes + 1, box=box, sampled=int(sampled.rows))


MOST_NEAR = 500_000
"""Rows near a weighting that are fetched at most."""
_STATE = "state"
_VOTES, _EMPTY, _WRONG = 0.0, 1.0, 2.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VoteSource:
    """Votes in a frame, and what one pass counted of their true classes."""

    opened: Frame
    """Truth and votes, under our names."""
    columns: list[str]
    """The user's names of the columns of votes."""
    classes: tuple[Label, ...]
    """The class of each column."""
    raw_classes: tuple[Any, ...]
    """The same as the frame holds them."""
    support: dict[Any, int]
    """The rows with votes of each true class, as the frame holds it."""
    left_out: int
    """The rows without any vote."""

    @classmethod
    def read(cls, opened: Frame, columns: list[str], classes: tuple[Label, ...] | None) -> VoteSource:
        """Count the true classes, and refuse rows whose votes cannot be used."""
        names = vote_names(len(columns))
        opened = opened.as_floats(names)
        state = nw.when(usable_votes(names)).then(nw.lit(_VOTES)).otherwise(nw.lit(_WRONG)).alias(_STATE)
        lazy = opened.lazy.with_columns(state, row_total(names).alias("total"))
        empty = (nw.col(_STATE) == _VOTES) & (nw.col("total") == 0)
        lazy = lazy.with_columns(nw.when(empty).then(nw.lit(_EMPTY)).otherwise(nw.col(_STATE)).alias(_STATE))
        rows = count_groups(opened.with_lazy(lazy), [TRUTH, _STATE], MOST_PATTERNS, what="true classes")
        refuse_missing(opened, rows, [TRUTH])
        _refuse_wrong(rows)
        positions, order = true_classes(opened, rows, columns, classes)
        raw: dict[int, Any] = dict(zip(positions.tolist(), rows.values(TRUTH), strict=True))
        state_of, counts = rows.floats(_STATE), rows.counts(ROWS)
        support: dict[Any, int] = {}
        for value, kind, count in zip(rows.values(TRUTH), state_of, counts, strict=True):
            if kind == _VOTES:
                support[value] = support.get(value, 0) + int(count)
        return cls(
            opened=opened,
            columns=columns,
            classes=order,
            raw_classes=tuple(raw.get(position, label) for position, label in enumerate(order)),
            support=support,
            left_out=int(counts[state_of == _EMPTY].sum()),
        )

    @property
    def names(self) -> list[str]:
        """Our names of the columns of votes."""
        return vote_names(len(self.columns))

    def voting(self) -> nw.LazyFrame[Any]:
        """Return the rows that have a vote."""
        return self.opened.lazy.filter(reduce(or_, [nw.col(name) > 0 for name in self.names]))

    def patterns(self, lazy: nw.LazyFrame[Any]) -> Votes:
        """Fetch rows as patterns."""
        rows = count_groups(self.opened.with_lazy(lazy), [TRUTH, *self.names], MOST_PATTERNS, what="rows")
        return patterns_of_rows(self.opened, rows, self.columns, self.classes)

    def box_around(self, sampled: Votes, weights: Floats, smoothing: float, widest: float) -> float:
        """Return the largest ratio of weights within which no more rows than can be fetched may be predicted otherwise."""
        scores = np.sort(weights * (np.asarray(sampled.votes) + smoothing), axis=1)
        with np.errstate(divide="ignore"):
            ratio = scores[:, -1] / scores[:, -2]
        order = np.argsort(ratio)
        rows = sum(self.support.values()) / float(sampled.multiplicity.sum())
        within = np.cumsum(sampled.multiplicity[order]) * rows
        last = int(np.searchsorted(within, 0.8 * MOST_NEAR))  # the sample errs
        return widest if last >= len(order) else float(np.clip(ratio[order[last]], 1 + 1e-9, widest))

    def near(self, weights: Floats, smoothing: float, box: float) -> Votes:
        """Return all rows for a search within `box` around the weights, votes weighted.

        Rows that the search may decide otherwise come as they are, all others as whole votes for their class.
        """
        lazy = add_ranking(self.voting(), self.names, weights, smoothing)
        open_rows = nw.col(SECOND) * box >= nw.col(BEST)
        lazy = lazy.with_columns(nw.when(open_rows).then(nw.lit(-1.0)).otherwise(nw.col(ARGUMENT)).alias(ARGUMENT))
        votes = [
            nw.when(nw.col(ARGUMENT) < 0).then(nw.col(name)).otherwise(nw.lit(0.0)).alias(name) for name in self.names
        ]
        keys = [TRUTH, ARGUMENT, *self.names]
        near = self.opened.select(lazy.with_columns(*votes), keys)
        rows = count_groups(near, keys, MOST_PATTERNS, what="rows near the weights")
        return self._relative(rows, weights, smoothing)

    def _relative(self, rows: Rows, weights: Floats, smoothing: float) -> Votes:
        truth = self._truth(rows)
        chosen = rows.floats(ARGUMENT).astype(np.int64)
        matrix = weights * (np.column_stack([rows.floats(name) for name in self.names]) + smoothing)
        sure = chosen >= 0
        matrix[sure] = 0.0
        matrix[np.flatnonzero(sure), chosen[sure]] = 1.0
        order = np.lexsort([truth, *matrix.T[::-1]])  # engines hand groups over in any order
        return Votes(
            votes=np.ascontiguousarray(matrix[order]),
            truth=truth[order],
            multiplicity=self.opened.sizes(rows)[order],
            classes=self.classes,
            rows=int(rows.counts(ROWS).sum()),
            left_out=0,
            merged=True,
        )

    def count(self, weightings: Sequence[Floats], smoothings: Sequence[float]) -> list[Counts]:
        """Return the counts under several weightings, by one query."""
        lazy = self.voting()
        positions = [float(position) for position in range(len(self.classes))]
        keys = [f"decision{number}" for number in range(len(weightings))]
        for key, weights, smoothing in zip(keys, weightings, smoothings, strict=True):
            lazy = add_decision(lazy, self.names, weights, smoothing, positions, key)
        predicted = self.opened.select(lazy, [TRUTH, *keys])
        rows = count_groups(predicted, [TRUTH, *keys], MOST_PATTERNS, what="decisions")
        truth, counted, size = self._truth(rows), int(rows.counts(ROWS).sum()), len(self.classes)
        sizes, squares = self.opened.sizes(rows), self.opened.squares(rows)
        found = []
        for key in keys:
            pairs = (truth, rows.floats(key).astype(np.int64))
            of_weights = None if squares is None else laid_out(pairs, squares, size)
            found.append(Counts(laid_out(pairs, sizes, size), self.classes, counted, of_weights))
        return found

    def _truth(self, rows: Rows) -> Ints:
        (truth,), _ = encode(self.opened.labels(rows, TRUTH), labels=self.classes)
        return truth


def _refuse_wrong(rows: Rows) -> None:
    wrong = int(rows.counts(ROWS)[rows.floats(_STATE) == _WRONG].sum())
    if wrong:
        raise InputError(f"{wrong:,} rows have a vote that is missing, negative or not finite; filter them out first")
    if not (rows.floats(_STATE) == _VOTES).any():
        raise InputError("no row has a vote for any class; there is nothing to decide")


_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def sample_patterns(source: VoteSource, rows: int) -> Votes:
    """Return about `rows` rows, as many of each true class as there are or as its part of them, weighted back to all.

    Engines draw random numbers of their own kinds, if at all; here a row's number comes from its votes, by arithmetic that
    all engines round alike: the fractional part of a sum of the votes' shares times large irrational factors.
    """
    shares = _shares_drawn(source, rows)
    lazy = source.voting().with_columns(row_total(source.names).alias("total"))
    parts = [nw.col(name) / nw.col("total") * _factor(number) for number, name in enumerate(source.names)]
    lazy = lazy.with_columns(reduce(add, parts).alias("mix"))
    lazy = lazy.with_columns((nw.col("mix") - nw.col("mix").floor()).alias("mix"), nw.lit(0.0).alias("share"))
    for label, share in shares.items():
        drawn = nw.when(nw.col(TRUTH) == nw.lit(cast("Any", label))).then(nw.lit(share)).otherwise(nw.col("share"))
        lazy = lazy.with_columns(drawn.alias("share"))
    patterns = source.patterns(lazy.filter(nw.col("mix") < nw.col("share")))
    factors = np.array([1 / shares.get(label, 1.0) for label in source.raw_classes])
    weighted = patterns.multiplicity * factors[patterns.truth]
    return replace(patterns, multiplicity=weighted, left_out=source.left_out)


def _shares_drawn(source: VoteSource, rows: int) -> dict[Any, float]:
    """Return the share of each true class's rows to draw: small classes whole, the others an equal part of the rest."""
    shares: dict[Any, float] = {}
    left, waiting = rows, sorted(source.support.items(), key=lambda item: item[1])
    for number, (label, size) in enumerate(waiting):
        part = left / (len(waiting) - number)
        taken = min(float(size), part)
        shares[label] = 2.0 if taken >= size else taken / size  # 2: the fractional part is always below
        left -= int(taken)
    return shares


def _factor(number: int) -> float:
    return float(1e4 * np.sqrt(_PRIMES[number % len(_PRIMES)]) * (1 + number // len(_PRIMES)))
