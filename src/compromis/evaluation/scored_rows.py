"""Rows with their true classes, and with distributions over the classes: how they are read, their counts, ROC areas and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.paired import PairedCounts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.readers import read_weights
from compromis.evidence.scores import check_order_is_said, read_distributions
from compromis.evidence.strata import Sample, read_sample
from compromis.evidence.votes import Votes
from compromis.labels import check_row_order, encode_classes, positions_in, read_groups, read_labels
from compromis.measures.by_group import ByGroup
from compromis.measures.ranking import roc_area
from compromis.measures.rates import Evidence
from compromis.uncertainty.area_intervals import clustered_variance, roc_area_interval
from compromis.uncertainty.intervals import Interval


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrueRows:
    """True classes (as positions), with weights and groups where there are some."""

    truth: Ints
    classes: tuple[Label, ...]
    weight: NDArray[Any] | None = None
    """Sample weights; whole numbers say how many equal rows each row stands for."""
    group: Ints | None = None
    squares: Floats | None = None
    """What `weight` is squared, where a row stands for several."""
    amount: Floats | None = None
    """The amounts of the rows, where decisions cost them."""
    sample: Sample | None = None
    """Of which stratum each row was drawn, where they are a stratified sample; `weight` is then what each stands for."""

    @classmethod
    def read(
        cls,
        truth: Ints,
        classes: tuple[Label, ...],
        *,
        sample_weight: Any = None,
        groups: Any = None,
        amount: Any = None,
        sample: Any = None,
    ) -> TrueRows:
        """Read what is given beside the true classes, a value for each row."""
        if sample is not None:
            sample = read_sample(sample, len(truth), sample_weight=sample_weight, amount=amount, groups=groups)
        return cls(
            truth=truth,
            classes=classes,
            weight=read_weights(sample_weight, len(truth)) if sample is None else sample.weight,
            group=None if groups is None else read_groups(groups, len(truth)),
            amount=read_weights(amount, len(truth), name="amount"),
            sample=sample,
        )

    def take(self, rows: Ints) -> TrueRows:
        """Return some of the rows."""
        parts = {name: getattr(self, name) for name in ("weight", "squares", "group", "amount")}
        taken = {name: None if part is None else part[rows] for name, part in parts.items()}
        return TrueRows(truth=self.truth[rows], classes=self.classes, **taken)

    def count(self, predicted: Ints) -> Evidence:
        """Count true against predicted classes; by group or stratum where there are some."""
        if self.sample is not None:
            tables = self.sample.tabulate(self.truth, predicted, len(self.classes))
            return Counts.from_tables(self.sample.strata, tables, self.classes)
        counts = Counts.from_positions(self.truth, predicted, self.classes, self.weight)
        if self.amount is not None:
            priced = self.amount if self.weight is None else self.amount * self.weight
            counts = counts.with_amounts(Counts.from_positions(self.truth, predicted, self.classes, priced))
        if self.group is None:
            return counts
        return GroupedCounts.from_positions(self.truth, predicted, self.group, counts, self.weight)

    def pair(self, first: Ints, second: Ints) -> PairedCounts:
        """Count true classes against the predictions of two models."""
        parts: dict[str, Any] = {"weight": self.weight, "group": self.group, "sample": self.sample}
        return PairedCounts.from_positions(self.truth, first, second, self.classes, **parts)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows with a distribution over the classes each."""

    rows: TrueRows
    shares: Floats

    def votes(self) -> Votes:
        """Return the distributions as votes; rows without any are left out."""
        rows, empty = self.rows, ~self.shares.any(axis=1)
        return Votes.from_checked(self.shares, rows.truth, rows.classes, empty, weight=rows.weight, amount=rows.amount)

    def roc_areas(self) -> Floats:
        """Return the area under each class's ROC curve."""
        return np.array([roc_area(points) for points in self._points()])

    def roc_area_intervals(self, confidence: float, repeats: float = 1.0) -> dict[Label, Interval]:
        """Return the area under each class's ROC curve with its interval; rows occur `repeats` times on average."""
        return {
            points.pos_label: roc_area_interval(
                points,
                confidence=confidence,
                sizes=(points.sizes[0] / repeats, points.sizes[1] / repeats),
                variance=self._variance(k, points),
            )
            for k, points in enumerate(self._points())
        }

    def _points(self) -> Iterator[OperatingPoints]:
        weight, squares = self.rows.weight, self.rows.squares
        if weight is not None and weight.dtype.kind == "i":  # n equal rows weigh n, squared too
            weight, squares = weight.astype(np.float64), weight.astype(np.float64)
        for k, label in enumerate(self.rows.classes):
            yield OperatingPoints.from_flags(self.rows.truth == k, self.shares[:, k], label, weight, squares)

    def _variance(self, k: int, points: OperatingPoints) -> float | None:
        rows = self.rows
        if rows.group is None:
            return None
        return clustered_variance(points, rows.truth == k, self.shares[:, k], rows.group, rows.weight)


def with_reviewer(
    y_true: Any, y_pred: Any, needs_review: ArrayLike, labels: Sequence[Any] | None
) -> tuple[list[Label], tuple[Label, ...]]:
    """Return the predictions with those that a person looks at right, and the classes."""
    flags = np.asarray(needs_review)
    if y_pred is None or flags.dtype != bool:
        raise InputError(
            f"needs_review is a truth value for each row of y_pred, got {'no y_pred' if y_pred is None else flags.dtype}",
            "needs_review",
        )
    (truth, predicted), classes = encode_classes(
        read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred"), labels=labels
    )
    if not len(truth) == len(predicted) == len(flags):
        raise InputError(
            f"needs_review has {len(flags):,} rows, y_true {len(truth):,}; they must describe the same rows",
            "needs_review",
        )
    return [classes[code] for code in np.where(flags, truth, predicted).tolist()], classes


def read_scored_rows(
    y_true: Any,
    y_pred: Any,
    y_proba: Any,
    *,
    labels: Sequence[Any] | None,
    pos_label: Any,
    **beside: Any,
) -> tuple[Evidence, ScoredRows]:
    """Read and count rows with distributions; `beside` is what `TrueRows.read` takes."""
    columns = [] if y_pred is None else [read_labels(y_pred, "y_pred")]
    (truth, *predicted), classes = encode_classes(read_labels(y_true, "y_true"), *columns, labels=labels)
    shares = read_distributions(y_proba, len(truth), classes, pos_label=pos_label)
    check_order_is_said(y_proba, classes, labels)
    rows = TrueRows.read(truth, classes, **beside)
    return rows.count(predicted[0] if predicted else shares.argmax(axis=1)), ScoredRows(rows, shares)


def rows_of_votes(votes: Votes) -> tuple[Counts, ScoredRows | None]:
    """Predict by votes of equal weights; return the distributions too, unless votes were binned."""
    counts = votes.counts(np.ones(len(votes.classes)))
    used = np.flatnonzero(votes.multiplicity)
    if votes.width > 0 or not used.size:
        return counts, None
    shares = read_distributions(votes.votes[used], len(used), votes.classes)
    squares = None if votes.squares is None else votes.squares[used]
    rows = TrueRows(truth=votes.truth[used], classes=votes.classes, weight=votes.multiplicity[used], squares=squares)
    return counts, ScoredRows(rows, shares)


def counts_by_group(
    by: Any, labels: tuple[Any, Any], scored: ScoredRows | None, classes: tuple[Label, ...], sample_weight: Any
) -> dict[Label, Counts]:
    """Return the counts of each group of rows that were read before."""
    check_row_order(labels[0], by=by)
    truth = positions_in(labels[0], classes, "y_true")
    if labels[1] is None:
        assert scored is not None
        predicted = scored.shares.argmax(axis=1)
    else:
        predicted = positions_in(labels[1], classes, "y_pred")
    weight = read_weights(sample_weight, len(truth))
    size = np.ones(len(truth), dtype=np.int64) if weight is None else weight
    return ByGroup.read(by, len(truth)).counts(truth, predicted, classes, size)


def refuse_unlabelled_strata(counts: Counts) -> None:
    """Raise if strata of the population have no label: nothing is known of them."""
    assert counts.strata is not None
    assert counts.tables is not None
    unknown = (counts.tables.sum(axis=(1, 2)) == 0) & (counts.strata.sizes > 0)
    if unknown.any():
        raise InputError(
            f"{int(unknown.sum())} of {len(unknown)} strata have no label ({int(counts.strata.sizes[unknown].sum()):,} rows); where labels "
            "were planned in several phases, add up the counts of all of them",
            "sample",
        )
