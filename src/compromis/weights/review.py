"""Review, the third answer: a person looks at the rows whose two best classes are nearest, under a cap that holds on new rows.

A row goes to review where best / second weighted vote < ratio. The ratio is an order statistic of honest votes: with m of n rows
reviewed, the share of new rows nearer than row m + 1 is Beta(m + 1, n - m) over deployments at most (ties make it less), so the
number among a day's rows is beta-binomial. Weights come first: a reviewed row counts as right, so no recall and no precision
falls by a review, and what a guarantee says of all rows stays true whether somebody looks or not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from compromis._results import Result
from compromis._text import Table, count, fixed
from compromis._typing import Flags, Floats
from compromis.errors import FewRowsWarning, InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_whole
from compromis.evidence.votes import Votes
from compromis.measures.pragma import missed_constraints, pragma, shortfall
from compromis.measures.rates import precision, recall
from compromis.preferences import PreferenceArrays, Preferences, read_preferences
from compromis.weights.decision import Decision
from compromis.weights.guarantee import CALIBRATIONS
from compromis.weights.predictor import CHUNK, best_and_second, needs_review, weighted

DAYS = 0.99
"""The part of days on which a number of rows a day holds, where no confidence is named."""
_ROUNDING = 1e-11
"""Relative: ratios nearer than this are one."""
_GRID, _LEVELS = 33, 3
"""Shares tried for a cost of asking, each time between the neighbours of the best one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """How much a person may look at: a cap, never a quota; a quiet day sends fewer rows.

    Parameters
    ----------
    max_share : float, optional
        The largest share of rows. With `confidence`, in so many of all deployments the long-run share is at most that; without it, on
        the average over deployments.
    at_most, per : int, optional
        At most so many of so many rows, such as 200 of a day's 20,000.
    confidence : float, optional
        For `at_most`: the share of days, over deployments, on which the cap holds; 0.99 if it is not given.
    cost : float, optional
        What asking about a row costs, in units of the loss (or of the costs): rows are reviewed as long as that pays, within the cap if
        there is one.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.Review(at_most=200, per=20_000)
    Review(at_most=200, per=20000)
    >>> cp.Review(max_share=0.01, confidence=0.95).rows_allowed(5000)
    38
    """

    max_share: float | None = None
    at_most: int | None = None
    per: int | None = None
    confidence: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if self.max_share is not None and (self.at_most is not None or self.per is not None):
            raise InputError("max_share and at_most are two ways to give one cap; leave one of them out", "max_share")
        if (self.at_most is None) != (self.per is None):
            given, missing = ("at_most", "per") if self.per is None else ("per", "at_most")
            raise InputError(f"{given} needs {missing}: at_most=200, per=20_000 is 200 of 20,000 rows", given)
        if self.max_share is None and self.at_most is None:
            self._check_without_cap()
        self._check_numbers()

    def _check_without_cap(self) -> None:
        if self.cost is None:
            raise InputError(
                "a review needs a cap or a cost: max_share=0.01, or at_most=200 with per=20_000, or cost=", "max_share"
            )
        if self.confidence is not None:
            raise InputError("confidence is that of a cap; give max_share, or at_most and per, beside it", "confidence")

    def _check_numbers(self) -> None:
        for name in ("max_share", "confidence"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and 0 < value < 1):
                how = "for 1 % write 0.01, for 200 of 20,000 rows at_most=200, per=20_000"
                raise InputError(
                    f"{name} is a share between 0 and 1, got {value!r}; {how if name == 'max_share' else 'for 99 % write 0.99'}",
                    name,
                )
        for name in ("at_most", "per"):
            value = getattr(self, name)
            if value is not None:
                read_whole(value, name, 1)
        if self.at_most is not None and self.per is not None and self.at_most >= self.per:
            raise InputError(
                f"at_most is below per, got {self.at_most:,} of {self.per:,} rows: who can look at every row needs no cap",
                "at_most",
            )
        if self.cost is not None and not (_is_number(self.cost) and 0 < self.cost < np.inf):
            raise InputError(f"cost is a number above 0, got {self.cost!r}", "cost")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in asdict(self).items() if value is not None)
        return f"Review({given})"

    def __str__(self) -> str:
        asked = []
        if self.at_most is not None and self.per is not None:
            asked = [f"at most {self.at_most:,} of {self.per:,} rows, on {100 * (self.confidence or DAYS):g} % of days"]
        if self.max_share is not None:
            where = "on the average" if self.confidence is None else f"in {100 * self.confidence:g} % of deployments"
            asked = [f"at most {100 * self.max_share:g} % of rows, {where}"]
        return ", ".join(asked + ([f"a cost of {self.cost:g} a row"] if self.cost is not None else []))

    def rows_allowed(self, rows: int) -> int:
        """Return how many of so many honest rows may be reviewed for the cap to hold on new rows; -1 where not even none."""
        if self.max_share is None and self.at_most is None:
            return rows
        low, high = -1, rows - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._holds(middle, rows) else (low, middle - 1)
        return low

    def rows_needed(self) -> int:
        """Return from how many honest rows on any row can be reviewed, be it only the one that is nearest."""
        high = 2
        while self.rows_allowed(high) < 1:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.rows_allowed(middle) >= 1 else (middle, high)
        return high

    def _holds(self, reviewed: int, rows: int) -> bool:
        """Whether the cap holds with so many of the honest rows reviewed."""
        from scipy.stats import beta, betabinom  # half of the time that the studio takes to start, and seldom needed

        above, below = reviewed + 1, rows - reviewed
        if self.at_most is not None and self.per is not None:
            return float(betabinom.cdf(self.at_most, self.per, above, below)) >= self.confidence_of_days
        share = self.max_share or 0.0
        if self.confidence is None:
            return above <= share * (rows + 1) * (1 + _ROUNDING)
        return float(beta.sf(share, above, below)) <= 1 - self.confidence

    @property
    def is_sure(self) -> bool:
        """Whether the cap is to hold with a confidence."""
        return self.at_most is not None or self.confidence is not None

    @property
    def share(self) -> float | None:
        """The largest share of rows, whichever way it was given; None without a cap."""
        return self.max_share if self.at_most is None or self.per is None else self.at_most / self.per

    @property
    def confidence_of_days(self) -> float:
        """The share of days on which `at_most` holds."""
        return DAYS if self.confidence is None else self.confidence


def check_review(review: object) -> None:
    """Raise for anything but a `Review`."""
    if not isinstance(review, Review):
        raise InputError(
            f"review is a compromis.Review, got {review!r}; write compromis.Review(max_share=0.01)", "review"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False, kw_only=True)
class Reviewed(Result):
    """What a review comes to on honest rows: what is decided alone, what a person looks at, and the rates with and without.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["fraud", "ok"], [250, 4750])
    >>> share = 1 / (1 + np.exp(-rng.normal(np.where(y == "fraud", 1.0, -1.5))))
    >>> search = cp.search_weights(y, share, pos_label="fraud", review=cp.Review(at_most=200, per=20_000))
    >>> bool(search.review.share <= 0.01), search.review.allowed
    (True, 32)
    >>> search.review.loss < search.loss
    True
    >>> label, flagged = search.decision.decide([[0.5, 0.5], [0.01, 0.99]], return_review=True)
    """

    review: Review | None
    """The cap that was asked for; None where a decision was applied as it is."""
    ratio: float | None
    """A row is reviewed where best / second weighted vote is below it, and where there are no votes. None: no row is."""
    alone: Counts
    """The rows that are decided alone."""
    asked: Counts
    """The rows that a person looks at, by true class and by what would have been predicted."""
    arrays: PreferenceArrays
    """What matters."""
    unvoted: int = 0
    """Rows without any vote, which stand in no counts."""
    unvoted_asked: int = 0
    """How many of these a person looks at: all or none."""
    allowed: int | None = None
    """How many of these rows may be reviewed for the cap to hold on new rows; -1 where not even none."""
    share_needed: float | None = None
    """Where a constraint is missed with the reviewer too: the share of these rows that would have to be reviewed."""
    calibration: str = "given"
    """Where the votes come from, as of a `Guarantee`: only those of a model that has not seen the rows make a confidence exact."""

    schema = "compromis/review"

    @property
    def share(self) -> float:
        """The share of these rows that a person looks at."""
        asked = self.asked.total + self.unvoted_asked
        return float(asked / (self.asked.total + self.alone.total + self.unvoted))

    @property
    def rows(self) -> int:
        """The rows that the plan rests on."""
        return self.alone.rows + self.asked.rows + self.unvoted

    @cached_property
    def before(self) -> Counts:
        """What is decided where nobody looks."""
        return self.alone + self.asked

    @cached_property
    def counts(self) -> Counts:
        """What is decided with the reviewer, whose rows are counted as right; `compromis.evaluate` takes it."""
        return self.alone + as_right(self.asked)

    @property
    def loss(self) -> float:
        """The loss (or average cost) with the reviewer, without the cost of asking."""
        return pragma(self.counts, self.arrays).total

    @property
    def summary(self) -> dict[str, float]:
        """The share reviewed, and the loss with the reviewer and without."""
        return {"share": self.share, "loss": self.loss, "loss_before": pragma(self.before, self.arrays).total}

    def columns(self) -> dict[str, list[Any]]:
        """Return the rows decided alone and reviewed, and the rates without and with the reviewer, by true class."""
        return {
            "label": list(self.alone.classes),
            "alone": self.alone.support.tolist(),
            "reviewed": self.asked.support.tolist(),
            "recall_before": recall(self.before).tolist(),
            "recall": recall(self.counts).tolist(),
            "precision_before": precision(self.before).tolist(),
            "precision": precision(self.counts).tolist(),
        }

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        columns = self.columns()
        return {
            **self.heading(),
            "review": None
            if self.review is None
            else {name: value for name, value in asdict(self.review).items() if value is not None},
            "ratio": self.ratio,
            "rows": self.rows,
            "unvoted": self.unvoted,
            "calibration": self.calibration,
            "summary": self.summary,
            "classes": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }

    def sentences(self) -> list[str]:
        """Return how much is reviewed, what it is worth, and what the user should know."""
        loss, measure = self.summary, "loss" if self.arrays.cost is None else "average cost"
        rule = (
            "no row"
            if self.ratio is None
            else f"rows whose best weighted vote is below {self.ratio:.4g} times the second"
        )
        planned = "" if self.review is None else f"; planned for {self.review}"
        weighted = " by their weights" * (self.counts.matrix.dtype.kind == "f")
        return [
            f"to review: {rule}, {100 * self.share:.3g} % of these {count(self.rows)}{weighted}{planned}",
            f"{measure} {loss['loss']:.4f} with the reviewer, {loss['loss_before']:.4f} without",
            *self._notes(),
        ]

    def _notes(self) -> list[str]:
        notes = [self.too_few()] if self.allowed is not None and self.allowed < 1 else []
        if self.review is not None and self.review.is_sure and self.calibration.startswith("out-of"):
            notes.append(f"the confidence is {CALIBRATIONS[self.calibration]}")
        missed = missed_constraints(self.counts, self.arrays)
        if missed and self.share_needed is not None:
            cure = f"it takes a review of {100 * self.share_needed:.3g} % of these rows; raise the cap, or lower the constraint"
            notes.append(f"with the reviewer {missed[0]}: {cure}")
        return notes

    def too_few(self) -> str:
        """Return that no row of so few can be reviewed under the cap, and how many would do."""
        needed = (
            "" if self.review is None else f"; from {count(self.review.rows_needed())} rows on some can be reviewed"
        )
        return f"{count(self.rows)} rows are too few to plan a review of {self.review}{needed}"

    def tables(self) -> list[Table]:
        """Return for each class what is decided alone and reviewed, and the rates without and with the reviewer."""
        header = ["Class", "Alone", "Reviewed", "Recall", "with review", "Precision", "with review"]
        rows = [
            [str(label), count(alone), count(asked), *map(fixed, rates)]
            for label, alone, asked, *rates in zip(*self.columns().values(), strict=True)
        ]
        return [Table("Review", header, rows)]


def as_right(counts: Counts) -> Counts:
    """Return the counts as they are once a person has looked at every row: on the diagonal."""

    def right(cells: Any) -> Any:
        return None if cells is None else np.diag(cells.sum(axis=1))

    amounts, squares = right(counts.amounts), right(counts.amount_squares)
    return replace(
        counts, matrix=right(counts.matrix), squares=right(counts.squares), amounts=amounts, amount_squares=squares
    )


def plan_review(
    votes: Votes, arrays: PreferenceArrays, weights: Floats, smoothing: float, review: Review, *, unvoted: int
) -> Reviewed:
    """Return the review that keeps its cap on new rows like these, of which so many have no vote at all.

    A cap with a confidence counts rows that were drawn one by one, so weighted ones are refused.
    """
    weighted_rows = votes.multiplicity.dtype.kind == "f"
    if weighted_rows and review.is_sure:
        raise InputError(
            "a cap that is to hold with a confidence counts rows that were drawn one by one, which weighted rows and those of a planned "
            "sample were not; leave these out, or give max_share without confidence",
            "review",
        )
    path = _Path.of(votes, weights, smoothing, unvoted)
    allowed = None if weighted_rows else review.rows_allowed(int(path.total))
    most = path.total * (review.max_share or 1.0) if allowed is None else float(allowed)

    def reviewed(rows: float) -> Reviewed:
        flagged, ratio = path.flagged(rows)
        alone, asked = _parts(votes, weights, smoothing, flagged)
        without = _unvoted(unvoted, weights, smoothing, ratio)
        return Reviewed(review=review, ratio=ratio, alone=alone, asked=asked, arrays=arrays, **without, allowed=allowed)

    found = reviewed(most) if review.cost is None else _cheapest(reviewed, most, review.cost)
    if allowed is not None and allowed < 1:
        warnings.warn(found.too_few(), FewRowsWarning, stacklevel=3)
    if shortfall(found.counts, arrays):
        found = replace(found, share_needed=_share_needed(reviewed, most, path.total, arrays))
    return found


def review_on(decision: Decision, y_true: Any, y_proba: Any, *, preferences: Any, pos_label: Any) -> Reviewed:
    """Return what a decision's review comes to on the rows given; `Decision.review_on` explains the parameters."""
    votes = y_true
    if not isinstance(votes, Votes):
        votes = Votes.from_proba(y_true, y_proba, labels=decision.classes, pos_label=pos_label)
    decision = decision.for_classes(votes.classes)
    weights, smoothing, ratio = decision.weights, decision.smoothing, decision.review
    flagged = np.zeros(len(votes), dtype=bool)
    if ratio is not None:
        flagged = needs_review(*_two_best(votes, weights, smoothing), ratio)
    arrays = (read_preferences(preferences) or Preferences()).on(votes.classes)
    alone, asked = _parts(votes, weights, smoothing, flagged)
    without = _unvoted(votes.left_out, weights, smoothing, ratio)
    return Reviewed(review=None, ratio=ratio, alone=alone, asked=asked, arrays=arrays, **without)


def _unvoted(rows: int, weights: Floats, smoothing: float, ratio: float | None) -> dict[str, Any]:
    """Return the rows without votes, and how many of them a person looks at."""
    asked = ratio is not None and _unvoted_ratio(weights, smoothing) < ratio
    return {"unvoted": rows, "unvoted_asked": rows if asked else 0}


def _unvoted_ratio(weights: Floats, smoothing: float) -> float:
    """Return best / second of a row without votes: what smoothing makes of it, else 0, as nothing is nearer."""
    second, best = np.sort((np.zeros(len(weights)) + smoothing) * weights)[-2:].tolist()
    return float(best / second) if best else 0.0


def _parts(votes: Votes, weights: Floats, smoothing: float, flagged: Flags) -> list[Counts]:
    """Return the counts of the rows decided alone, and of those that a person looks at."""
    parts = []
    for chosen in (~flagged, flagged):
        size = np.where(chosen, votes.multiplicity, 0)
        rows = int(np.count_nonzero(size)) if size.dtype.kind == "f" else int(size.sum())
        parts.append(replace(votes.with_rows(size), rows=rows).counts(weights, smoothing=smoothing))
    return parts


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """Rows from the nearest call to the clearest, along which a review takes more and more of them."""

    best: Floats
    second: Floats
    ratio: Floats
    """Best / second vote of each pattern; infinite where there is no second."""
    edges: Floats
    """The distinct ratios, rising; 0 stands for rows without votes."""
    sizes: Floats
    """The rows up to each of them."""
    total: float

    @classmethod
    def of(cls, votes: Votes, weights: Floats, smoothing: float, unvoted: int) -> _Path:
        best, second = _two_best(votes, weights, smoothing)
        ratio = np.divide(best, second, out=np.full(len(best), np.inf), where=second > 0)
        ratio[best == 0] = 0.0
        size = votes.multiplicity
        counted = size > 0
        own, rows = ratio[counted], size[counted]
        if unvoted:
            own, rows = np.append(own, _unvoted_ratio(weights, smoothing)), np.append(rows, unvoted)
        order = np.argsort(own, kind="stable")
        edges = own[order]
        with np.errstate(invalid="ignore"):
            last = np.append(edges[1:] > edges[:-1] * (1 + _ROUNDING), True)
        sums = np.cumsum(rows[order])
        # a run of ratios that are one begins at its first, which bounds the cell before it
        first = np.append(0, np.flatnonzero(last)[:-1] + 1)
        return cls(best, second, ratio, edges[first], sums[last], float(sums[-1]))

    def flagged(self, rows: float) -> tuple[Flags, float | None]:
        """Return the patterns to review, at most so many rows, and the ratio; rows whose ratio is one go together or stay together."""
        finite = np.isfinite(self.edges)
        last = int(np.searchsorted(self.sizes, rows * (1 + 1e-12), side="right")) - 1
        last = min(last, int(np.count_nonzero(finite)) - 1)
        while last >= 0:
            ratio = self._between(last)
            flagged = needs_review(self.best, self.second, ratio)
            if self.ratio[flagged].max(initial=0.0) < self._next(last):
                return flagged, ratio
            last -= 1  # a cell narrower than rounding
        return np.zeros(len(self.ratio), dtype=bool), None

    def _next(self, last: int) -> float:
        return float(self.edges[last + 1]) if last + 1 < len(self.edges) else math.inf

    def _between(self, last: int) -> float:
        """Return a ratio in the middle between an edge's rows and the next; rows without votes need no ratio above 1."""
        low, high = float(self.edges[last]), self._next(last)
        within = self.ratio[(self.ratio >= low) & (self.ratio < high)]
        low = max(float(within.max(initial=low)), 1.0)
        return 2.0 * low if math.isinf(high) else max(math.sqrt(low) * math.sqrt(high), 1.0)


def _two_best(votes: Votes, weights: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Return the best and the second weighted vote of each pattern, some rows at a time."""
    best, second = np.empty(len(votes)), np.empty(len(votes))
    for start in range(0, len(votes), CHUNK):
        part = votes.votes[start : start + CHUNK]
        dense = part if isinstance(part, np.ndarray) else part.toarray()
        for rows, score in weighted(dense, weights, smoothing):
            _, best[start : start + CHUNK][rows], second[start : start + CHUNK][rows] = best_and_second(score)
    return best, second


def _cheapest(reviewed: Callable[[float], Reviewed], most: float, cost: float) -> Reviewed:
    """Return the review of the lowest loss and cost together, up to `most` rows, found on finer and finer grids."""
    low, high = 0.0, max(most, 0.0)
    for _ in range(_LEVELS):
        grid = np.linspace(low, high, _GRID)
        found = [reviewed(rows) for rows in grid]
        place = int(np.argmin([one.loss + cost * one.share for one in found]))
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, _GRID - 1)]
    return found[place]


def _share_needed(
    reviewed: Callable[[float], Reviewed], low: float, high: float, arrays: PreferenceArrays
) -> float | None:
    """Return the least share of the rows whose review meets the constraints; None where only a review of all would."""
    if shortfall(reviewed(high).counts, arrays):
        return None
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if shortfall(reviewed(middle).counts, arrays) else (low, middle)
    return reviewed(high).share
