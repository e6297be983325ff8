"""Votes: the evidence behind every search for weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import nearest, shown
from compromis._typing import Flags, Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.answers import AnswerCounts, AnswerMapping, read_answers
from compromis.evidence.count_bounds import CountBounds
from compromis.evidence.counts import Counts, check_drawn, check_room, ratio, refuse_sample, refuse_weighted_amounts
from compromis.evidence.readers import prevalence_factors, read_class_weights, read_smoothing, read_weights
from compromis.evidence.scores import (
    Matrix,
    as_dense,
    check_order_is_said,
    check_scores,
    column_labels,
    is_csr,
    read_scores,
)
from compromis.evidence.strata import Sample, Strata, read_sample
from compromis.labels import (
    LabelColumn,
    check_row_order,
    encode,
    plain_label,
    read_classes,
    read_labels,
    without_prefix,
)

if TYPE_CHECKING:
    from compromis.evidence.points import OperatingPoints

_SAMPLE = 8192
"""Rows looked at to see whether merging pays."""
_PAYS = 0.9
"""The fraction of distinct rows up to which it does."""
ROUNDING = 1e-9
"""Relative: weighted votes nearer than this may go either way, and shares such as 0.35 must not fall into the lower of two bins."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Votes:
    """Distinct (votes, true class) with multiplicities; where few rows are alike, the rows themselves.

    Attributes
    ----------
    votes : ndarray of shape (m, K) or scipy CSR
        The votes of each pattern: hard votes, probabilities or any scores of at least 0.
    truth : ndarray of int64
        The position of each pattern's true class; -1 where it is not known, of answers read without `y_true`.
    multiplicity : ndarray
        The rows of each pattern, int64; their weights, float64, where there are sample weights. 0 for rows without votes.
    classes : tuple
        The labels of the columns.
    rows : int
        The rows counted.
    left_out : int
        The rows without any vote, which nothing can decide.
    merged : bool
        Whether equal rows were merged.
    width : float
        How far a vote may lie from the one stored: half a bin where votes were binned, else 0.
    squares : ndarray of shape (patterns,), optional
        The sums of the squares of the rows' weights, where there are sample weights: intervals and verdicts count effective rows by them.
    amount, amount_squares : ndarray of shape (patterns,), optional
        The sums of the rows' amounts (times their weights) and of their squares, where decisions cost the amount of a row.
    answers : AnswerCounts, optional
        How answers in words were read, where the votes come from some.
    strata, stratum, labelled : Strata and ndarrays of int64 of shape (patterns,), optional
        Where the rows are a stratified sample: the strata of the population, the position of each pattern's stratum, and its
        labelled rows. The multiplicity is then the rows of the population that they stand for.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["a", "a", "b", "b"], [[3, 1], [3, 1], [0, 4], [0, 0]])
    >>> votes.votes.tolist(), votes.multiplicity.tolist(), votes.left_out
    ([[3.0, 1.0], [0.0, 4.0]], [2, 1], 1)
    >>> votes.counts([1.0, 5.0]).matrix.tolist()
    [[0, 2], [0, 1]]
    """

    votes: Matrix
    truth: Ints
    multiplicity: NDArray[Any]
    classes: tuple[Label, ...]
    rows: int
    left_out: int = 0
    merged: bool = False
    width: float = 0.0
    squares: Floats | None = None
    amount: Floats | None = None
    amount_squares: Floats | None = None
    answers: AnswerCounts | None = None
    strata: Strata | None = None
    stratum: Ints | None = None
    labelled: Ints | None = None

    def __repr__(self) -> str:
        return f"<Votes of {self.rows:,.12g} rows in {len(self):,} patterns, {len(self.classes)} classes>"

    @classmethod
    def from_proba(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        labels: Sequence[Any] | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        amount: ArrayLike | None = None,
        sample: Sample | None = None,
        merge: bool | str = "auto",
    ) -> Votes:
        """Read votes and true classes.

        Parameters
        ----------
        y_true : labels
            The true class of each row.
        y_proba : array, frame or scipy CSR of shape (n, K)
            Probabilities, votes or shares of votes, at least 0 each; a column per class. One column alone is the share of
            the positive one of two classes.
        labels : sequence, optional
            The classes in the order of the columns. Without it: a frame's column names, else the classes of y_true, sorted; needed
            where y_true has categories in another order.
        pos_label : label, optional
            The class of one column alone; needed unless the classes are 0 and 1, -1 and 1, or False and True.
        sample_weight : array-like, optional
            A weight of at least 0 per row.
        amount : array-like, optional
            A number of at least 0 per row, where decisions cost the amount of a row; see `Preferences`.
        sample : Sample, optional
            Of which stratum each row was drawn, as `compromis.model_selection.plan_labels` says it.
        merge : bool or "auto"
            Whether equal rows are merged; "auto" looks at a sample to see whether that pays.
        """
        column = read_labels(y_true, "y_true")
        if len(column) == 0:
            raise InputError("y_true is empty; there are no rows")
        (truth,), classes = _encoded(column, y_proba, labels)
        matrix = read_scores(y_proba, classes, len(truth), pos_label=pos_label)
        check_order_is_said(y_proba, classes, labels)
        check_row_order(y_true, y_proba=y_proba, sample_weight=sample_weight, amount=amount)
        drawn: dict[str, Any] = {}
        if sample is not None:
            sample = read_sample(sample, len(truth), sample_weight=sample_weight, amount=amount)
            drawn = {
                "strata": sample.strata,
                "stratum": sample.stratum,
                "labelled": np.ones(len(truth), dtype=np.int64),
            }
            sample_weight = sample.weight
        weight, amounts = read_weights(sample_weight, len(truth)), read_weights(amount, len(truth), name="amount")
        empty = _check_and_find_empty(matrix)
        if drawn and empty.any():
            raise InputError(
                f"row {int(empty.argmax())} of the sample has no vote for any class; plan among rows with votes"
            )
        if merge not in (True, False, "auto"):
            raise InputError(f"merge is True, False or 'auto', got {merge!r}")
        votes = cls.from_checked(matrix, truth, classes, empty, weight=weight, amount=amounts, **drawn)
        if merge is True or (merge == "auto" and _merging_pays(matrix, truth)):
            merged = votes.merge()
            if merge is True or len(merged) < _PAYS * len(truth):
                return merged
        return votes

    @classmethod
    def from_answers(
        cls,
        answers: Any,
        *,
        labels: Any,
        y_true: Any = None,
        mapping: AnswerMapping | None = None,
        log_proba: bool = False,
        unanswered: str = "left out",
        sample_weight: ArrayLike | None = None,
        amount: ArrayLike | None = None,
        sample: Sample | None = None,
    ) -> Votes:
        """Count answers in words as votes: several samples, prompts or models that each name a class for the row.

        The votes of a row are the shares of its answers, among those that name a class.

        Parameters
        ----------
        answers : rows of answers, or columns of them by name
            A list, array or series with the answers of each row, which may be fewer for some, or a frame or mapping with a column
            for each prompt or model. None, NaN and empty text are refused answers.
        labels : sequence
            The classes.
        y_true : labels, optional
            The true class of each row. Without it the votes keep the order of the rows: to decide them, or to choose which to label.
        mapping : mapping of text to class, or function of an answer, optional
            What texts mean; None is a refusal. What a table does not know, and what a function returns, is read as without it: as
            the class of that name, upper and lower case alike, without white space, quotes, brackets, ``*`` and ``_`` around it and
            marks such as a full stop after it. Nothing else is guessed: texts that come near, or fit two classes, name none.
        log_proba : bool
            Whether an answer is log-probabilities: one for each class in the order of `labels`, or a mapping of texts to them. They become
            probabilities that sum to 1; -inf is a probability of 0.
        unanswered : {"left out", "even"}
            What a row is without any answer that names a class: left out of every count, and counted as such, or one with equal
            votes, which the weights decide, in the tuning as later.
        sample_weight, amount, sample
            As in `from_proba`.

        Examples
        --------
        >>> import compromis as cp
        >>> answers = [["bug", "Bug."], ["**feature**", "BUG"], ["As an AI, I cannot", None]]
        >>> votes = cp.Votes.from_answers(answers, labels=["bug", "feature"])
        >>> votes.votes.tolist(), votes.left_out
        ([[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]], 1)
        >>> print(votes.answers.sentences()[1])
        no class: 'As an AI, I cannot' (1)
        """
        classes = read_classes(labels)
        matrix, read = read_answers(answers, classes, mapping, log_proba=log_proba)
        if unanswered not in ("left out", "even"):
            raise InputError(f"unanswered is 'left out' or 'even', got {unanswered!r}", "unanswered")
        if not matrix.any():
            raise InputError(f"no answer names a class: {'; '.join(read.sentences())}", "answers")
        if unanswered == "even":
            matrix[~matrix.any(axis=1)] = 1.0
        matrix /= np.maximum(matrix.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        if y_true is not None:
            if (rows := len(read_labels(y_true, "y_true"))) != len(matrix):
                raise InputError(
                    f"y_true has {rows:,} rows, answers {len(matrix):,}; they must describe the same rows", "y_true"
                )
            of_rows: dict[str, Any] = {"sample_weight": sample_weight, "amount": amount, "sample": sample}
            return replace(cls.from_proba(y_true, matrix, labels=classes, **of_rows), answers=read)
        if any(given is not None for given in (sample_weight, amount, sample)):
            raise InputError(
                "sample_weight, amount and sample are of rows whose true class is known; pass y_true", "y_true"
            )
        return cls.from_checked(matrix, np.full(len(matrix), -1), classes, ~matrix.any(axis=1), answers=read)

    @classmethod
    def from_checked(
        cls,
        matrix: Matrix,
        truth: Ints,
        classes: tuple[Label, ...],
        empty: Any,
        *,
        weight: NDArray[Any] | None = None,
        amount: Floats | None = None,
        **others: Any,
    ) -> Votes:
        """Return checked rows, of which `empty` have no vote and are left out; whole weights say how many equal rows each stands for."""
        counted = np.ones(len(truth), dtype=np.int64) if weight is None else weight
        counted = np.where(empty, counted.dtype.type(0), counted)
        left_out, sums = int(empty.sum()), None if amount is None else amount * counted
        weighted = counted.dtype.kind == "f" and "strata" not in others  # a sample is judged by its design
        return cls(
            votes=matrix,
            truth=truth,
            multiplicity=counted,
            classes=classes,
            rows=len(truth) - left_out,
            left_out=left_out,
            squares=counted**2 if weighted else None,
            amount=sums,
            amount_squares=None if sums is None else sums**2,
            **others,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        truth: str,
        proba: Sequence[str] | Mapping[str, Any],
        labels: Sequence[Any] | None = None,
        weight: str | None = None,
        amount: str | None = None,
        bins: int | None = None,
    ) -> Votes:
        """Group the rows of a data frame by their votes in its own engine; only the patterns come back.

        Parameters
        ----------
        frame, truth, weight, amount
            As in `Counts.from_frame`; amounts of rows with equal votes count as equal in intervals.
        proba : sequence of str, or mapping
            The columns of votes or probabilities; a mapping gives the class of each column, or the column of each class.
        labels : sequence, optional
            The class of each column of votes; without it the columns are named as the classes, but for a common prefix.
        bins : int, optional
            Votes become shares of the row's votes, rounded to steps of 1 / bins; `bounds` says what that can change.

        Examples
        --------
        >>> import compromis as cp, pandas
        >>> frame = pandas.DataFrame({"a": [3, 3, 0], "b": [1, 1, 4], "true": ["a", "a", "b"]})
        >>> cp.Votes.from_frame(frame, truth="true", proba=["a", "b"]).multiplicity.tolist()
        [1, 2]
        """
        from compromis.frames.votes import patterns_of_frame

        columns: dict[str, Any] = {"truth": truth, "proba": proba, "labels": labels, "bins": bins}
        votes = patterns_of_frame(frame, **columns, weight=weight)
        if amount is None:
            return votes
        refuse_weighted_amounts(weight)
        amounts = patterns_of_frame(frame, **columns, weight=amount).multiplicity
        return replace(votes, amount=amounts, amount_squares=amounts**2 / votes.multiplicity)

    def check_labelled(self) -> None:
        """Raise if the true class of a row is not known."""
        if (self.truth < 0).any():
            raise InputError(
                "these votes have no true classes, which a count needs; pass y_true when the answers are read", "y_true"
            )

    def decide(self, weights: ArrayLike, *, smoothing: float = 0.0) -> NDArray[np.int64]:
        """Return the position of the class with the largest weight x (votes + smoothing) for each pattern; ties go to the first."""
        return decide_votes(self.votes, read_class_weights(weights, self.classes), read_smoothing(smoothing))

    def counts(self, weights: ArrayLike, *, smoothing: float = 0.0) -> Counts:
        """Return the confusion counts that the weights lead to; rows without votes are left out."""
        return self.counted(self.decide(weights, smoothing=smoothing))

    def counted(self, predicted: Ints) -> Counts:
        """Return the confusion counts of predictions, the position of a class for each pattern."""
        from compromis.evidence._kernels import count_decisions

        self.check_labelled()
        if self.strata is not None and self.stratum is not None and self.labelled is not None:
            tables = np.zeros((len(self.strata), len(self.classes), len(self.classes)), dtype=np.int64)
            np.add.at(tables, (self.stratum, self.truth, predicted), self.labelled)
            return Counts.from_tables(self.strata, tables, self.classes)
        dtype = np.float64 if self.multiplicity.dtype.kind == "f" else np.int64
        matrix = np.zeros((len(self.classes), len(self.classes)), dtype=dtype)
        truth, size = np.ascontiguousarray(self.truth, np.int64), np.ascontiguousarray(self.multiplicity, dtype)
        count_decisions(truth, predicted, size, matrix)
        sums = {name: np.zeros(matrix.shape) for name in self._sums()}
        for name, part in self._sums().items():
            count_decisions(truth, predicted, np.ascontiguousarray(part, np.float64), sums[name])
        of_amounts = sums.get("amount"), sums.get("amount_squares")
        return Counts(matrix, self.classes, self.rows, sums.get("squares"), *of_amounts)

    def merge(self) -> Votes:
        """Return the same votes with equal rows merged, and without rows that have no votes."""
        if self.merged:
            return self
        alike = self.truth if self.stratum is None else self.truth + len(self.classes) * self.stratum
        group, first = _grouped(self.votes, alike, 1)
        total = np.zeros(len(first), dtype=self.multiplicity.dtype)
        np.add.at(total, group, self.multiplicity)
        voted = _total(_scaled(self.votes)[first]) > 0
        parts: dict[str, Any] = {
            name: np.bincount(group, part, len(voted))[voted] for name, part in self._sums().items()
        }
        first, total = first[voted], total[voted]
        if self.stratum is not None and self.labelled is not None:
            labelled = np.bincount(group, self.labelled, len(voted))[voted].astype(np.int64)
            parts |= {"stratum": self.stratum[first], "labelled": labelled}
        return replace(self, votes=self.votes[first], truth=self.truth[first], multiplicity=total, merged=True, **parts)

    def with_rows(self, multiplicity: NDArray[Any], chosen: Ints | slice = slice(None)) -> Votes:
        """Return the `chosen` patterns with other numbers of their rows; squares and amounts go with them, strata do not."""
        share = np.divide(multiplicity, self.multiplicity, out=np.zeros(len(self)), where=self.multiplicity > 0)
        sums: dict[str, Any] = {name: (part * share)[chosen] for name, part in self._sums().items()}
        sums |= {"strata": None, "stratum": None, "labelled": None}
        return replace(
            self, votes=self.votes[chosen], truth=self.truth[chosen], multiplicity=multiplicity[chosen], **sums
        )

    def with_patterns(self, chosen: Ints) -> Votes:
        """Return the `chosen` patterns of a stratified sample, each of which stands for more rows then."""
        assert self.strata is not None
        assert self.stratum is not None
        assert self.labelled is not None
        labelled, stratum = self.labelled[chosen], self.stratum[chosen]
        weight = self.strata.weights(np.bincount(stratum, labelled, len(self.strata)))
        parts: dict[str, Any] = {"labelled": labelled, "stratum": stratum, "multiplicity": labelled * weight[stratum]}
        return replace(self, votes=self.votes[chosen], truth=self.truth[chosen], rows=int(labelled.sum()), **parts)

    def random_rows(self, short: float) -> Votes:
        """Return some rows of a stratified sample that are a random sample of the population, each row counted once.

        Which ones follows from the strata, so that nobody can choose among samples; see `Strata.draw_random`.
        """
        assert self.strata is not None
        assert self.stratum is not None
        assert self.labelled is not None
        drawn = np.bincount(self.stratum, self.labelled, len(self.strata)).astype(np.int64)
        taken = np.zeros_like(self.labelled)
        generator = self.strata.generator()
        for number, rows in enumerate(self.strata.draw_random(drawn, short, generator).tolist()):
            own = np.flatnonzero(self.stratum == number)
            taken[own] = generator.multivariate_hypergeometric(self.labelled[own], rows)
        return replace(self.with_rows(taken), rows=int(taken.sum()))

    def _sums(self) -> dict[str, Floats]:
        """Return the sums over the rows of each pattern that there are beside the multiplicity."""
        named = {"squares": self.squares, "amount": self.amount, "amount_squares": self.amount_squares}
        return {name: part for name, part in named.items() if part is not None}

    def dense(self) -> Floats:
        """Return the votes as an array of float64."""
        return as_dense(self.votes)

    def bounds(self, weights: ArrayLike, *, smoothing: float = 0.0) -> CountBounds:
        """Return between which numbers the counts lie where votes were binned; low and high are the same where they are exact."""
        if is_csr(self.votes):
            raise InputError("bounds are for binned votes, which are dense; sparse votes are exact, use counts")
        possible = _possible(self.dense(), self.width, read_class_weights(weights, self.classes), smoothing)
        sure = possible & (possible.sum(axis=1, keepdims=True) == 1)
        low, high = np.zeros((2, len(self.classes), len(self.classes)), dtype=self.multiplicity.dtype)
        for cells, reached in ((low, sure), (high, possible)):
            np.add.at(cells, self.truth, np.where(reached, self.multiplicity[:, np.newaxis], 0))
        return CountBounds(low=low, high=high, support=self.support, classes=self.classes)

    @property
    def pattern_rows(self) -> Ints:
        """The rows of each pattern; of weighted rows the effective number (Kish), at least one."""
        if self.labelled is not None:
            return self.labelled
        if self.multiplicity.dtype.kind == "i":
            return self.multiplicity
        rows = np.asarray(self.multiplicity > 0, dtype=np.int64)
        if self.squares is None:
            return rows
        return np.maximum(rows, np.rint(np.nan_to_num(ratio(self.multiplicity**2, self.squares))).astype(np.int64))

    @property
    def support(self) -> NDArray[Any]:
        """The rows (or weights) of each true class."""
        self.check_labelled()
        total = np.zeros(len(self.classes), dtype=self.multiplicity.dtype)
        np.add.at(total, self.truth, self.multiplicity)
        return total

    def points(
        self, labels: Sequence[Any] | None = None, *, weights: ArrayLike | None = None, smoothing: float = 0.0
    ) -> dict[Label, OperatingPoints]:
        """Return the operating points of classes against the rest, by class.

        Parameters
        ----------
        labels : sequence, optional
            The classes wanted; without it all of them.
        weights : array-like of shape (K,), optional
            Without them a row's score is its share of votes for the class. With them it is the weighted vote for the class as a
            share of that and of the best other class's, so that each threshold is a decision with another weight for the class.
        smoothing : float
            What is added to every vote, where there are weights.

        Examples
        --------
        >>> import compromis as cp
        >>> votes = cp.Votes.from_proba(["a", "a", "b"], [[3, 1], [2, 2], [0, 4]])
        >>> votes.points(["a"])["a"].recall.tolist()
        [0.0, 0.5, 1.0, 1.0]
        """
        from compromis.evidence.points import OperatingPoints

        self.check_labelled()
        chosen = [known_label(self, label) for label in (self.classes if labels is None else labels)]
        counted = self.multiplicity > 0
        truth, size = self.truth[counted], self.multiplicity[counted].astype(np.float64)
        squares = self.multiplicity if self.squares is None else self.squares  # n equal rows weigh n, squared too
        score_of = _share_against_best(self, weights, smoothing) if weights is not None else partial(shares_for, self)
        return {
            label: OperatingPoints.from_flags(truth == k, score_of(k)[counted], label, size, squares[counted])
            for label, k in ((label, self.classes.index(label)) for label in chosen)
        }

    def with_prevalence(self, shares: Mapping[Any, float] | Sequence[float]) -> Votes:
        """Return the evidence of a population with other class shares, everything else being equal (pure prior shift).

        Parameters
        ----------
        shares : mapping by class, or sequence in the order of ``classes``
            The new shares; they are scaled to sum to 1.

        Examples
        --------
        >>> import compromis as cp
        >>> votes = cp.Votes.from_proba(["a", "a", "b"], [[3, 1], [2, 2], [0, 4]])
        >>> votes.with_prevalence({"a": 0.5, "b": 0.5}).support.tolist()
        [1.5, 1.5]
        """
        refuse_sample(self.strata, "with_prevalence")
        factor = prevalence_factors(shares, self.classes, self.support)[self.truth]
        squares = self.multiplicity if self.squares is None else self.squares
        of_amounts = None if self.amount_squares is None else self.amount_squares * factor**2
        weighed = self.with_rows(self.multiplicity * factor)
        return replace(weighed, squares=squares * factor**2, amount_squares=of_amounts)

    def __len__(self) -> int:
        return len(self.truth)

    def __add__(self, other: Votes) -> Votes:
        if not isinstance(other, Votes):
            return NotImplemented
        if self.classes != other.classes:
            raise InputError(
                f"patterns add up over the same classes, got {shown(self.classes)} and {shown(other.classes)}; "
                f"pass labels= when they are read"
            )
        check_room(self.multiplicity.sum().item() + other.multiplicity.sum().item())
        both = replace(
            self,
            votes=_stacked(self.votes, other.votes),
            truth=np.concatenate([self.truth, other.truth]),
            rows=self.rows + other.rows,
            left_out=self.left_out + other.left_out,
            merged=False,
            width=max(self.width, other.width),
            answers=_sum_of(self.answers, other.answers),
            **_joined_sums(self, other),
            **{"multiplicity": np.concatenate([self.multiplicity, other.multiplicity]), **_joined_strata(self, other)},
        )
        return both.merge() if self.merged and other.merged else both


def _sum_of(first: AnswerCounts | None, second: AnswerCounts | None) -> AnswerCounts | None:
    return first + second if first is not None and second is not None else first or second


def _joined_sums(*votes: Votes) -> dict[str, Any]:
    if len({part.amount is None for part in votes}) > 1:
        raise InputError("votes with amounts and votes without do not add up; read both with amount=", "amount")
    sums = [part._sums() for part in votes]  # noqa: SLF001 (a class of this file)
    if any("squares" in part for part in sums):  # an unweighted row weighs 1, squared too
        sums = [{"squares": part.multiplicity, **of} for part, of in zip(votes, sums, strict=True)]
    return {name: np.concatenate([of[name] for of in sums]) for name in sums[0]}


def _joined_strata(first: Votes, second: Votes) -> dict[str, Any]:
    """Return strata and multiplicities of both together: the more rows of a stratum are labelled, the fewer each stands for."""
    if first.strata is None and second.strata is None:
        return {}
    if first.strata is None or second.strata is None:
        raise InputError("votes of a stratified sample and other votes do not add up; read both with sample=", "sample")
    strata, *places = first.strata.join(second.strata)
    stratum = np.concatenate([place[part.stratum] for place, part in zip(places, (first, second), strict=True)])
    labelled = np.concatenate([first.labelled, second.labelled])
    drawn = np.bincount(stratum, labelled, len(strata)).astype(np.int64)
    check_drawn(strata, drawn)
    multiplicity = labelled * strata.weights(drawn)[stratum]
    return {"strata": strata, "stratum": stratum, "labelled": labelled, "multiplicity": multiplicity}


def decide_votes(votes: Matrix, weights: Floats, smoothing: float = 0.0) -> Ints:
    """Return the position of the class with the largest weight x (votes + smoothing) of each row; ties go to the first.

    `votes` comes from `compromis.evidence.scores.read_scores`; a row without votes goes to the first class or,
    with smoothing, to the class of the largest weight.
    """
    from compromis.evidence._kernels import decide_dense, decide_sparse

    decision = np.empty(votes.shape[0], dtype=np.int64)
    if is_csr(votes):
        decide_sparse(*sparse_parts(votes), weights, smoothing, decision)
    else:
        dtype = np.float32 if votes.dtype == np.float32 else np.float64
        decide_dense(np.ascontiguousarray(votes, dtype), weights, smoothing, decision)
    return decision


def sparse_parts(votes: Any) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Return start, class and value of a CSR matrix in the types that kernels are compiled for."""
    value = votes.data.astype(np.float64, copy=False)
    return votes.indptr.astype(np.int64), votes.indices.astype(np.int32, copy=False), value


def _encoded(column: LabelColumn, votes: Any, labels: Sequence[Any] | None) -> tuple[list[Ints], tuple[Label, ...]]:
    """Encode true classes; a frame's column names, but for a common prefix, are the classes when they are of the same kind."""
    named = column_labels(votes)
    if labels is not None or named is None or column.categories is not None:
        return encode(column, labels=labels)
    if any(type(name).__name__ != column.kind for name in named):
        return encode(column)
    try:
        return encode(column, labels=named)
    except InputError:
        stripped = without_prefix(named, encode(column)[1])
        if stripped == named:
            raise
        return encode(column, labels=stripped)


def _check_and_find_empty(matrix: Matrix) -> Flags:
    from compromis.evidence._kernels import scan_dense

    if is_csr(matrix):  # its values were checked when it was read
        empty = np.diff(matrix.indptr) == 0
    else:
        empty = np.empty(matrix.shape[0], dtype=np.bool_)
        if scan_dense(matrix, empty.view(np.uint8)) >= 0:
            check_scores(matrix)
    if empty.all():
        raise InputError(f"none of the {len(empty):,} rows has a vote for any class; there is nothing to decide")
    return empty


def _grouped(matrix: Matrix, truth: Ints, step: int) -> tuple[Ints, Ints]:
    """Return the group of every `step`-th row, and the first row of each group."""
    from compromis.evidence._kernels import group_rows

    group, truth = np.empty(-(-len(truth) // step), dtype=np.int64), np.ascontiguousarray(truth, np.int64)
    if is_csr(matrix):
        start, column, value = sparse_parts(matrix)
        return group, group_rows(None, (start, column, value.view(np.int64)), truth, step, group)
    bits = matrix.view(np.int64 if matrix.dtype == np.float64 else np.int32)
    return group, group_rows(bits, None, truth, step, group)


def _merging_pays(matrix: Matrix, truth: Ints) -> bool:
    if len(truth) <= 4 * _SAMPLE:
        return True
    group, first = _grouped(matrix, truth, len(truth) // _SAMPLE)
    return len(first) < _PAYS * len(group)


def _total(matrix: Matrix) -> Floats:
    """Return the votes of each row."""
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).reshape(-1)


def _scaled(matrix: Matrix) -> Matrix:
    """Return the votes, or a part of them where they could not be added up; shares and signs are the same."""
    largest = matrix.max() if 0 not in matrix.shape else 0.0
    return matrix * matrix.dtype.type(2.0**-64) if largest > np.finfo(matrix.dtype).max * 2.0**-32 else matrix


def _possible(votes: Floats, width: float, weight: Floats, smoothing: float) -> Flags:
    """Return which classes each row may be predicted as: those whose highest vote reaches every other's lowest."""
    lowest = weight * (np.maximum(votes - width, 0.0) + smoothing)
    highest = weight * (votes + width + smoothing)
    if width == 0:  # exact votes: the first of the largest
        return np.asarray(np.arange(votes.shape[1]) == lowest.argmax(axis=1)[:, np.newaxis])
    reach: Flags = highest >= lowest.max(axis=1, keepdims=True) * (1 - ROUNDING)
    return reach


def _stacked(first: Matrix, second: Matrix) -> Matrix:
    if not is_csr(first) and not is_csr(second):
        return np.concatenate([first, second])
    import scipy.sparse

    both = scipy.sparse.vstack([scipy.sparse.csr_array(first), scipy.sparse.csr_array(second)], format="csr")
    both.data = both.data.astype(np.float64, copy=False)
    return both


def _share_against_best(votes: Votes, weights: ArrayLike, smoothing: float) -> Callable[[int], Floats]:
    """Return the function from a class to each pattern's weighted vote for it as a share of that and of the best other one."""
    scores = (votes.dense() + smoothing) * read_class_weights(weights, votes.classes)
    rows = np.arange(len(votes))
    first = scores.argmax(axis=1)
    best = scores[rows, first]
    rest = scores.copy()
    rest[rows, first] = -1.0
    second = rest.max(axis=1)

    def share(k: int) -> Floats:
        own = scores[:, k]
        both = own + np.where(first == k, second, best)
        return np.divide(own, both, out=np.zeros_like(own), where=both > 0)

    return share


def shares_for(votes: Votes, k: int) -> Floats:
    """Return each pattern's share of votes for class k; 0 for rows without any vote, which have no multiplicity."""
    matrix = _scaled(votes.votes)
    column, total = as_dense(matrix[:, [k]]), _total(matrix)
    return np.divide(column[:, 0], total, out=np.zeros(len(total)), where=total > 0)


def known_label(votes: Votes, label: Any) -> Label:
    """Return the label as the classes write it; raise if it is not among them."""
    chosen, known = plain_label(label), votes.classes
    if chosen not in known:
        raise InputError(
            f"there is no class {chosen!r}{nearest(chosen, known, aside=True)}; the classes are {shown(known)}"
        )
    return chosen
