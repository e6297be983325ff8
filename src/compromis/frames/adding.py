"""Evidence of a file, added up as its rows are read: no more of them are held than a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._files import CLASSES, UNPACKED
from compromis._text import nearest, shown
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.readers import check_weights_add_up
from compromis.evidence.votes import Votes
from compromis.frames.reading import OpenTable
from compromis.frames.tables import Missing, Table, Texts, TooMany
from compromis.labels import check_labels, encode_classes, read_labels, refuse_many_classes

MOST_PATTERNS = 4_000_000
"""Patterns of votes, or distinct scores, that are held."""
AUTO_BINS = 4096
Within = tuple[float, float]


class FileScan(OpenTable):
    r"""A file whose evidence is counted as it is read, once.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\na,a\nb,a\n,a\n")
    >>> with cp.frames.FileScan("sites.csv") as scan:
    ...     counts, dropped = scan.counts(truth="true", prediction="predicted", drop_missing=True)
    >>> counts.matrix.tolist(), dropped
    ([[1, 0], [1, 0]], 1)
    """

    _heaviest: float | None = None
    """The largest weight so far; None where there are none."""

    def counts(
        self,
        *,
        truth: str,
        prediction: str,
        weight: str | None = None,
        labels: Sequence[Any] | None = None,
        drop_missing: bool = False,
    ) -> tuple[Counts, int]:
        """Return the counts of a column of predictions, and the rows left out."""
        cells = _Cells(weighted=weight is not None)
        missing = Missing(self.source, [truth, prediction], drop=drop_missing)
        for table in self._labelled(missing, [weight]):
            cells.add(table[truth], table[prediction], self._weights(table, weight))
        return cells.counts(table[truth].labels, table[prediction].labels, labels), missing.dropped

    def votes(
        self,
        *,
        truth: str,
        proba: Sequence[str],
        weight: str | None = None,
        bins: int | None = None,
        drop_missing: bool = False,
    ) -> tuple[Votes, int]:
        """Return the vote patterns, and the rows left out."""
        class_of = self.pick_scores(proba, [truth, weight])
        classes = sorted(class_of.values())
        if bins is not None:
            from compromis.frames.votes import read_bins

            read_bins(bins, len(classes))
        missing = Missing(self.source, [truth], drop=drop_missing)
        what = f"distinct patterns of votes in {self.source}; round them with --bins, or let --engine search them in a few passes"
        found = EvidenceSum(min(MOST_PATTERNS, UNPACKED.most // (8 * len(classes))), what)
        unvoted = 0
        for table in self._labelled(missing, [*class_of, weight]):
            scores = table.scores(class_of, classes)
            weights = self._weights(table, weight)
            if not scores.any():  # nothing to add but the number of rows, unless all are so
                unvoted += len(table)
                continue
            rounded = scores if bins is None else _rounded(table, scores, bins)
            merge = "auto" if bins is None else True
            true = table[truth].array()
            weightless = weights is not None and not weights.any()  # other rows may have weights
            made = Votes.from_proba(
                true, rounded, labels=classes, sample_weight=None if weightless else weights, merge=merge
            )
            found.add(replace(made, multiplicity=np.zeros(len(made))) if weightless else made)
        if not found.parts:  # a block of such rows says so
            return Votes.from_proba(table[truth].array(), scores, labels=classes), missing.dropped
        votes = found.whole()
        if bins is not None:
            votes = replace(votes.merge(), votes=votes.votes / bins, width=0.5 / bins)
        return replace(votes, left_out=votes.left_out + unvoted), missing.dropped

    def points(
        self,
        *,
        truth: str,
        scores: Sequence[str],
        pos_label: str,
        weight: str | None = None,
        bins: int | None = None,
        within: Within | None = None,
        drop_missing: bool = False,
    ) -> tuple[dict[str, OperatingPoints], int]:
        """Return the operating points of each score, and the rows left out; too many distinct scores are counted in bins."""
        spreads = {}
        if bins is not None or within is not None:
            from compromis.frames.points import read_bins, read_within

            read_bins(bins)
            spreads = {} if within is None else dict.fromkeys(scores, read_within(within))
        asked: dict[str, Any] = {"scores": scores, "pos_label": pos_label, "weight": weight}
        missing, count = Missing(self.source, [truth], drop=drop_missing), bins or AUTO_BINS
        try:
            points = self._points(missing, count, spreads, **asked)
        except TooMany:
            if not self.content.size:  # a pipe
                raise
            with FileScan(self.source) as again:
                spreads = again._ranges(Missing(self.source, [truth], drop=drop_missing), scores)
            missing = Missing(self.source, [truth], drop=drop_missing)
            with FileScan(self.source) as again:
                return again._points(missing, count, spreads, **asked), missing.dropped
        if bins is not None and within is None:
            points = {name: _binned(one, bins, (one.threshold[-1], one.threshold[1])) for name, one in points.items()}
        return points, missing.dropped

    def _points(
        self,
        missing: Missing,
        bins: int,
        spreads: dict[str, Within],
        *,
        scores: Sequence[str],
        pos_label: str,
        weight: str | None,
    ) -> dict[str, OperatingPoints]:
        """Return every cut of a score, or those at the edges of bins where its range is given."""
        (truth,) = missing.columns
        what = f"distinct scores in {self.source}; count them in bins: --bins N --within LOW HIGH"
        found = {name: EvidenceSum(None if name in spreads else MOST_PATTERNS, what) for name in scores}
        for table in self._labelled(missing, [*scores, weight]):
            known = table[truth].labels
            flags = table[truth].codes == (known.index(pos_label) if pos_label in known else len(known))
            weights = self._weights(table, weight)
            if weights is not None and not weights.any():
                continue
            for name in scores:
                made = OperatingPoints.from_flags(flags, self._finite(table, name), pos_label, weights)
                found[name].add(_binned(made, bins, spreads[name], name) if name in spreads else made)
        if pos_label not in known and len(known) > 1:  # of one class, it may be that the positive one is lacking
            raise InputError(
                f"pos_label is {pos_label!r}, which column {truth!r} does not have{nearest(pos_label, known, aside=True)}; it has "
                f"{shown(sorted(known))}",
                parameter="pos_label",
            )
        return {name: total.whole() for name, total in found.items()}

    def _ranges(self, missing: Missing, scores: Sequence[str]) -> dict[str, Within]:
        """Return the lowest and the highest of each score."""
        spreads: dict[str, Within] = {}
        for table in self._labelled(missing, scores):
            for name in scores:
                values = self._finite(table, name)
                low, high = spreads.get(name, (np.inf, -np.inf))
                spreads[name] = min(low, float(values.min())), max(high, float(values.max()))
        return spreads

    def _labelled(self, missing: Missing, numbers: Sequence[str | None]) -> Iterator[Table]:
        """Yield the rows that have all labels; at the end refuse the others unless they may be left out, and no rows at all."""
        some, known = False, dict.fromkeys(missing.columns, 0)
        for table in self.tables(missing.columns, numbers):
            for name, checked in known.items():
                check_labels(islice(table[name].labels, checked, None))
                known[name] = len(table[name].labels)
            kept = missing.without(table)
            if len(kept):
                some = True
                yield kept
        dropped = missing.check()
        if not some:
            raise InputError(f"{self.source} has no rows{' with a class' if dropped else ''}; there is nothing to read")
        if self._heaviest == 0:
            raise InputError("sample_weight is zero for every row; nothing would count", parameter="sample_weight")

    def _weights(self, table: Table, name: str | None) -> Floats | None:
        weights = table.row_weights(name)
        if weights is None or (name is None and (weights == 1).all()):
            return None
        self._heaviest = max(self._heaviest or 0.0, float(weights.max(initial=0.0)))
        check_weights_add_up(np.array(self._heaviest), int(table.rows[-1]))
        return weights

    def _finite(self, table: Table, name: str) -> Floats:
        values = table.numbers(name)
        wrong = ~np.isfinite(values)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(
                f"column {name!r} of {self.source} must hold finite numbers, got {values[row]:g} in {table.named(row)}; "
                f"drop those rows"
            )
        return values


class _Cells:
    """The sizes of all pairs of true and predicted classes so far."""

    def __init__(self, *, weighted: bool) -> None:
        self._rows = np.zeros((8, 8), dtype=np.int64)
        self._sums: NDArray[np.float64] | None = np.zeros((2, 8, 8)) if weighted else None
        """Weights and squared weights, as soon as there are any."""

    def add(self, truth: Texts, prediction: Texts, weight: Floats | None) -> None:
        """Count some rows."""
        self._grow(len(truth.labels), len(prediction.labels))
        pairs = truth.codes.astype(np.int64) * self._rows.shape[1] + prediction.codes
        if weight is not None and self._sums is None:
            self._sums = np.stack([self._rows, self._rows]).astype(np.float64)  # a row without a weight weighs 1
        if self._rows.size <= 4 * len(pairs):
            self._rows += np.bincount(pairs, minlength=self._rows.size).reshape(self._rows.shape)
        else:
            np.add.at(self._rows.reshape(-1), pairs, 1)
        if self._sums is not None:
            weight = np.ones(len(pairs)) if weight is None else weight
            for sums, values in zip(self._sums, (weight, weight * weight), strict=True):
                np.add.at(sums.reshape(-1), pairs, values)  # one after the other, as the library adds them

    def counts(self, true: Sequence[str], predicted: Sequence[str], labels: Sequence[Any] | None) -> Counts:
        """Return the counts by class."""
        used = np.nonzero(self._rows)
        columns = [
            read_labels([names[code] for code in codes.tolist()], name)
            for names, codes, name in zip((true, predicted), used, ("y_true", "y_pred"), strict=True)
        ]
        cells, order = encode_classes(*columns, labels=labels)
        rows = int(self._rows.sum())
        if self._sums is None:
            return Counts(laid_out(cells, self._rows[used], len(order)), order, rows)
        weights, squares = (laid_out(cells, part[used], len(order)) for part in self._sums)
        return Counts(weights, order, rows, squares)

    def _grow(self, *wanted: int) -> None:
        for size in wanted:
            refuse_many_classes(size)
        before = self._rows.shape
        shape = tuple(
            size if size >= need else min(CLASSES.most, 2 * need) for size, need in zip(before, wanted, strict=True)
        )
        if shape != before:
            pad = [(0, new - old) for new, old in zip(shape, before, strict=True)]
            self._rows = np.pad(self._rows, pad)
            self._sums = None if self._sums is None else np.pad(self._sums, [(0, 0), *pad])


def laid_out(cells: Sequence[Any], values: NDArray[Any], classes: int) -> NDArray[Any]:
    """Return values as a matrix of true and predicted classes."""
    matrix = np.zeros((classes, classes), dtype=values.dtype)
    np.add.at(matrix, tuple(cells), values)
    return matrix


class EvidenceSum:
    """A sum of evidence; parts of like size are joined first, so that none is copied often.

    Examples
    --------
    >>> import compromis as cp
    >>> total = cp.frames.EvidenceSum()
    >>> for label in "aab":
    ...     total.add(cp.Counts.from_predictions(["a", label], ["a", "a"]))
    >>> total.whole().matrix.tolist()
    [[5, 0], [1, 0]]
    """

    def __init__(self, most: int | None = None, what: str = "") -> None:
        self._most = most
        self._what = what
        self.parts: list[Any] = []

    def add(self, part: Any) -> None:
        """Add a part."""
        self.parts.append(part)
        while len(self.parts) > 1 and _size(self.parts[-1]) >= _size(self.parts[-2]):
            self._join()
        if self._most is not None and _size(self.parts[0]) > self._most:
            raise TooMany(f"there are more than {self._most:,} {self._what}")

    def whole(self) -> Any:
        """Return the sum."""
        while len(self.parts) > 1:
            self._join()
        return self.parts[0]

    def _join(self) -> None:
        last = self.parts.pop()
        self.parts[-1] += last


def _size(evidence: Any) -> int:
    return 1 if isinstance(evidence, Counts) else len(evidence)


def _rounded(table: Table, scores: Floats, bins: int) -> Floats:
    """Return votes as shares of the row's votes, in whole steps of 1 / bins; a row without votes stays so."""
    with np.errstate(over="ignore"):
        total = reduce(add, scores.T)[:, np.newaxis]  # from the left, as engines add
    wide = ~np.isfinite(total[:, 0])
    if wide.any():
        where = table.named(int(wide.argmax()))
        raise InputError(f"the votes of {where} of {table.source} are too large to add up; scale them")
    return np.where(total > 0, np.floor(scores / np.where(total > 0, total, 1.0) * bins + 0.5), 0.0)


def _binned(points: OperatingPoints, bins: int, within: Within, name: str = "") -> OperatingPoints:
    """Return the same rows, counted in bins."""
    from compromis.frames.points import points_of_bins, sum_by_flag
    from compromis.frames.query import Bins

    low, high = within
    scores, layout = points.threshold[1:], Bins.over(low, high, bins)
    outside = (scores < low) | (scores > high)
    inside = np.diff(np.stack([points.true_positives, points.false_positives]), axis=1)
    if outside.any():
        rows = int(inside[:, outside].sum())
        raise InputError(f"column {name!r} has {rows:,} scores outside {low:g} to {high:g}; widen --within")
    step = np.clip(layout.places(scores), 0, layout.count - 1).astype(np.int64)
    flags = np.repeat([True, False], len(step))
    binned = points_of_bins(
        layout, sum_by_flag(flags, np.tile(step, 2), inside.reshape(-1), layout.count), points.pos_label
    )
    return replace(binned, squares=points.squares)
