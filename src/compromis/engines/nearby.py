"""Votes in a frame: their classes, the rows near a weighting, and counts under several weightings at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.evidence.counts_frame import Spell, read_keys
from compromis.evidence.positions import read_positions
from compromis.evidence.votes import Votes
from compromis.evidence.votes_frame import MOST_PATTERNS, TRUTH, patterns_of_rows
from compromis.queries.deciding import ARGUMENT, BEST, SECOND, add_decision, add_ranking, usable_votes
from compromis.queries.frame import Frame
from compromis.queries.grouping import ROWS, WEIGHT, count_groups, refuse_missing
from compromis.queries.running import Rows

MOST_NEAR = 500_000
"""Rows near a weighting that are fetched."""
_STATE = "state"
_VOTES, _EMPTY, _WRONG = 0.0, 1.0, 2.0


@dataclass(frozen=True, slots=True, eq=False)
class VoteSource:
    """Votes in a frame, with what one pass told about their true classes.

    Attributes
    ----------
    opened : Frame
        Truth and votes, under our names.
    columns : list
        The user's names of the columns of votes.
    classes : tuple
        The class of each column.
    raw_classes : tuple
        The same as the frame holds them.
    support : dict
        The rows with votes of each true class, as the frame holds it.
    left_out : int
        The rows without any vote.
    """

    opened: Frame
    columns: list[str]
    classes: tuple[Label, ...]
    raw_classes: tuple[Any, ...]
    support: dict[Any, int]
    left_out: int
    spell: Spell | None

    @classmethod
    def read(
        cls, opened: Frame, columns: list[str], classes: tuple[Label, ...] | None, spell: Spell | None
    ) -> VoteSource:
        """Count the true classes, and refuse rows whose votes cannot be used."""
        names = _names(columns)
        opened = opened.as_floats(names)
        total = nw.col(names[0])
        for name in names[1:]:
            total = total + nw.col(name)
        state = nw.when(usable_votes(names)).then(nw.lit(_VOTES)).otherwise(nw.lit(_WRONG)).alias(_STATE)
        lazy = opened.lazy.with_columns(state, total.alias("total"))
        empty = (nw.col(_STATE) == _VOTES) & (nw.col("total") == 0)
        lazy = lazy.with_columns(nw.when(empty).then(nw.lit(_EMPTY)).otherwise(nw.col(_STATE)).alias(_STATE))
        rows = count_groups(opened.with_lazy(lazy), [TRUTH, _STATE], MOST_PATTERNS, what="true classes")
        refuse_missing(opened.named, rows, [TRUTH])
        _refuse_wrong(rows)
        return cls._of(opened, columns, classes, spell, rows)

    @classmethod
    def _of(
        cls, opened: Frame, columns: list[str], classes: tuple[Label, ...] | None, spell: Spell | None, rows: Rows
    ) -> VoteSource:
        column = read_keys(opened, rows, TRUTH, np.ones(len(rows), dtype=bool), spell)
        if classes is None and column.kind == "str":
            classes = tuple(columns)
        places, order = read_positions(column, classes)
        if len(order) != len(columns):
            raise InputError(f"there are {len(columns)} columns of votes, but {len(order)} classes; pass labels=")
        raw: dict[int, Any] = dict(zip(places.tolist(), rows.values(TRUTH), strict=True))
        state, counts = rows.floats(_STATE), rows.counts(ROWS)
        support: dict[Any, int] = {}
        for value, kind, count in zip(rows.values(TRUTH), state, counts, strict=True):
            if kind == _VOTES:
                support[value] = support.get(value, 0) + int(count)
        held = tuple(raw.get(place, label) for place, label in enumerate(order))
        return cls(opened, columns, order, held, support, int(counts[state == _EMPTY].sum()), spell)

    @property
    def names(self) -> list[str]:
        """Our names of the columns of votes."""
        return _names(self.columns)

    def voting(self) -> nw.LazyFrame[Any]:
        """Return the rows that have a vote."""
        some = nw.col(self.names[0]) > 0
        for name in self.names[1:]:
            some = some | (nw.col(name) > 0)
        return self.opened.lazy.filter(some)

    def patterns(self, lazy: nw.LazyFrame[Any]) -> Votes:
        """Fetch rows as patterns."""
        rows = count_groups(self.opened.with_lazy(lazy), [TRUTH, *self.names], MOST_PATTERNS, what="rows")
        return patterns_of_rows(self.opened, rows, self.columns, self.classes, self.spell)

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
        kept = [*keys, *([WEIGHT] if WEIGHT in self.opened.named else [])]
        rows = count_groups(
            self.opened.with_lazy(lazy.with_columns(*votes).select(*kept)),
            keys,
            MOST_PATTERNS,
            what="rows near the weights",
        )
        return self._relative(rows, weights, smoothing)

    def _relative(self, rows: Rows, weights: Floats, smoothing: float) -> Votes:
        column = read_keys(self.opened, rows, TRUTH, np.ones(len(rows), dtype=bool), self.spell)
        truth, _ = read_positions(column, self.classes)
        chosen = rows.floats(ARGUMENT).astype(np.int64)
        matrix = weights * (np.column_stack([rows.floats(name) for name in self.names]) + smoothing)
        sure = chosen >= 0
        matrix[sure] = 0.0
        matrix[np.flatnonzero(sure), chosen[sure]] = 1.0
        sizes = rows.floats(WEIGHT) if WEIGHT in self.opened.named else rows.counts(ROWS)
        order = np.lexsort([truth, *matrix.T[::-1]])  # engines hand groups over in any order
        counted = int(rows.counts(ROWS).sum())
        return Votes(np.ascontiguousarray(matrix[order]), truth[order], sizes[order], self.classes, counted, 0, True)

    def count(self, weightings: Sequence[Floats], smoothings: Sequence[float]) -> list[Counts]:
        """Return the counts under several weightings, by one query."""
        lazy = self.voting()
        places = [float(place) for place in range(len(self.classes))]
        keys = [f"decision{number}" for number in range(len(weightings))]
        for key, weights, smoothing in zip(keys, weightings, smoothings, strict=True):
            lazy = add_decision(lazy, self.names, weights, smoothing, places, key)
        kept = [TRUTH, *keys, *([WEIGHT] if WEIGHT in self.opened.named else [])]
        rows = count_groups(self.opened.with_lazy(lazy.select(*kept)), [TRUTH, *keys], MOST_PATTERNS, what="decisions")
        column = read_keys(self.opened, rows, TRUTH, np.ones(len(rows), dtype=bool), self.spell)
        truth, _ = read_positions(column, self.classes)
        sizes = rows.floats(WEIGHT) if WEIGHT in self.opened.named else rows.counts(ROWS)
        counted = int(rows.counts(ROWS).sum())
        return [
            Counts(_cells(truth, rows.floats(key), sizes, len(self.classes)), self.classes, counted) for key in keys
        ]


def _names(columns: Sequence[str]) -> list[str]:
    return [f"vote{place}" for place in range(len(columns))]


def _cells(truth: NDArray[np.int64], decision: Floats, sizes: NDArray[Any], classes: int) -> NDArray[Any]:
    matrix = np.zeros((classes, classes), dtype=sizes.dtype)
    np.add.at(matrix, (truth, decision.astype(np.int64)), sizes)
    return matrix


def _refuse_wrong(rows: Rows) -> None:
    wrong = int(rows.counts(ROWS)[rows.floats(_STATE) == _WRONG].sum())
    if wrong:
        raise InputError(f"{wrong:,} rows have a vote that is missing, negative or not finite; filter them out first")
    if not (rows.floats(_STATE) == _VOTES).any():
        raise InputError("no row has a vote for any class; there is nothing to decide")
