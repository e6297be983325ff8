"""A decision that can be carried elsewhere: classes, weights and smoothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis._files import VERSION, Head, decode_document, file_bytes
from compromis._results import face, written
from compromis._text import Table, per_thousand, shown, shown_label
from compromis._typing import Flags, Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_class_weights, read_smoothing
from compromis.evidence.scores import check_scores, is_csr, read_scores
from compromis.evidence.votes import decide_votes
from compromis.labels import plain_label, positive_class
from compromis.weights.predictor import CHUNK, decide_labels, decide_or_review

if TYPE_CHECKING:
    from compromis.measures.headline import ClassRows
    from compromis.weights.review import Reviewed

SCHEMA = "compromis/decision"


class Threshold(float):
    """The share of votes from which a row is predicted as one of two classes: a number that knows its class.

    Attributes
    ----------
    label : label
        The class.
    inclusive : bool
        Whether a share of exactly the threshold is predicted as it: a tie goes to the first class.
    """

    __slots__ = ("inclusive", "label")

    label: Label
    inclusive: bool

    def __new__(cls, value: float, label: Label, *, inclusive: bool) -> Self:
        """Make the number and keep its class."""
        made = super().__new__(cls, value)
        made.label, made.inclusive = label, inclusive
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Threshold, inclusive=self.inclusive), (float(self), self.label)

    @property
    def rule(self) -> str:
        """The rule in words."""
        value, number = float(self), f"{self:.4g}"
        shown = number if float(number) != 1 or value == 1 else repr(value)  # "above 1" would be never
        return f"{self.label!r} {'from' if self.inclusive else 'above'} {shown}{' on' if self.inclusive else ''}"


_NEAR = 1e-15
"""Shares this near to a threshold may be on its other side by rounding."""
MOST_WEIGHTS = 8
"""Weights that a line names."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """Votes in, labels out: the class of the largest weight x (votes + smoothing), the first class in a tie.

    The rule alone. A `WeightSearch` has it as ``decision``, with what the weights are worth; a tuned estimator as ``decision_``.

    Attributes
    ----------
    classes : tuple
        The labels, in the order of the votes' columns.
    weights : ndarray
        One positive weight per class.
    smoothing : float
        What is added to every vote.
    pos_label : label, optional
        Of two classes, the one whose threshold is told: the more important one, where a search or an estimator made the decision.
    review : float, optional
        The third answer: a person looks at a row whose best weighted vote is below `review` times the second, and at a row without
        votes. `compromis.Review` has it planned for a capacity. A row to review has a label too, which counts where nobody looks.

    Examples
    --------
    >>> import compromis as cp
    >>> decision = cp.Decision(("good", "bad"), [1.0, 3.0])
    >>> decision.decide([[0.7, 0.3], [0.8, 0.2]]).tolist()
    ['bad', 'good']
    >>> decision.threshold, decision.threshold.rule
    (0.25, "'bad' above 0.25")
    >>> labels, review = cp.Decision(("good", "bad"), [1.0, 3.0], review=1.4).decide([[0.7, 0.3], [0.8, 0.2]], return_review=True)
    >>> labels.tolist(), review.tolist()
    (['bad', 'good'], [True, True])
    """

    classes: tuple[Label, ...]
    weights: Floats
    smoothing: float = field(default=0.0, kw_only=True)
    pos_label: Label | None = field(default=None, kw_only=True)
    review: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        classes = tuple(plain_label(label) for label in self.classes)
        if len(set(classes)) < len(classes):
            raise InputError(f"each class stands once in a decision, got {shown(classes)}")
        object.__setattr__(self, "classes", classes)
        weights = read_class_weights(self.weights, classes).copy()
        weights.flags.writeable = False  # a decision is a value: its hash must stay
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "smoothing", read_smoothing(self.smoothing))
        if self.pos_label is not None:
            object.__setattr__(self, "pos_label", positive_class(classes, self.pos_label))
        if self.review is not None:
            object.__setattr__(self, "review", _read_ratio(self.review, classes))

    def _key(self) -> tuple[Any, ...]:
        return self.classes, tuple(self.weights.tolist()), self.smoothing, self.pos_label, self.review

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Decision) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        weights = ", ".join(f"{label!r}: {weight:.4g}" for label, weight in self._weighed()[:MOST_WEIGHTS])
        more = ", ..." if len(self.classes) > MOST_WEIGHTS else ""
        added = f", smoothing {self.smoothing:g}" if self.smoothing else ""
        return f"<Decision by weights {{{weights}{more}}}{added}{', with review' if self.review else ''}>"

    def _repr_html_(self) -> str:
        sentences = [f"Predicts {self.threshold.rule}"] if len(self.classes) == 2 else []
        sentences += ["The largest weight x (votes + smoothing) decides, the first class at a tie"]
        sentences += [f"{self.smoothing:g} is added to every vote"] if self.smoothing else []
        sentences += ["Some rows go to a person, who reviews them"] if self.review else []
        rows = [[str(label), f"{weight:.4g}"] for label, weight in self._weighed()]
        return face(sentences, Table("Weights", ["class", "weight"], rows))

    def _weighed(self) -> list[tuple[Label, float]]:
        return list(zip(self.classes, self.weights.tolist(), strict=True))

    @property
    def threshold(self) -> Threshold:
        """Of two classes: from which share of the votes (or probability) on a row is predicted as the positive one.

        The positive class is `pos_label`, else the second. More classes have no threshold (AttributeError).
        """
        if len(self.classes) != 2:
            raise AttributeError(f"two classes have a threshold, this decision is about {len(self.classes)}")
        k = 1 if self.pos_label is None else self.classes.index(self.pos_label)
        own, other, added = float(self.weights[k]), float(self.weights[1 - k]), self.smoothing
        value = (other * (1 + added) - own * added) / (own + other)

        def reached(share: float) -> bool:
            first, second = own * (share + added), other * (1 - share + added)
            return first > second or (k == 0 and first == second)

        # a product is rounded: the shares next to the value decide which of them is the threshold
        low, high = (min(max(value + step * (1 + added), 0.0), 1.0) for step in (-_NEAR, _NEAR))
        if reached(high) and not reached(low):
            while low < (middle := (low + high) / 2) < high:
                low, high = (low, middle) if reached(middle) else (middle, high)
            value = high if k == 0 else low
        return Threshold(value, self.classes[k], inclusive=k == 0)

    def decide(self, y_proba: Any, *, pos_label: Any = None, return_review: bool = False) -> Any:
        """Return the label of each row; rows without any vote get the class that smoothing and weights prefer, else the first.

        Parameters
        ----------
        y_proba : array, frame or scipy CSR of shape (n, K)
            Votes or probabilities, finite and at least 0; a frame's columns named after the classes may come in any order.
        pos_label : label, optional
            The class of one column alone; needed unless the classes are 0 and 1, -1 and 1, or False and True.
        return_review : bool
            Whether to return a second array too: which rows a person should look at.
        """
        matrix = read_scores(y_proba, self.classes, pos_label=pos_label)
        labels = np.array(list(self.classes))
        if is_csr(matrix):
            if return_review:
                return self._decide_sparse(matrix, labels)
            return labels[decide_votes(matrix, self.weights, self.smoothing)]
        try:
            if return_review:
                return decide_or_review(matrix, self.weights, self.smoothing, labels, self.review)
            return decide_labels(matrix, self.weights, self.smoothing, labels)
        except ValueError:
            check_scores(matrix)
            raise

    def _decide_sparse(self, matrix: Any, labels: NDArray[Any]) -> tuple[NDArray[Any], Flags]:
        """Return labels and whether to review, some rows at a time: a dense copy of all may not fit."""
        predicted, review = np.empty(matrix.shape[0], dtype=labels.dtype), np.empty(matrix.shape[0], dtype=bool)
        for start in range(0, matrix.shape[0], CHUNK):
            rows = slice(start, start + CHUNK)
            dense = matrix[rows].toarray()
            predicted[rows], review[rows] = decide_or_review(dense, self.weights, self.smoothing, labels, self.review)
        return predicted, review

    def review_on(
        self, y_true: Any, y_proba: Any = None, *, preferences: Any = None, pos_label: Any = None
    ) -> Reviewed:
        """Return what the review of this decision comes to on labelled rows: what is decided alone, what with a reviewer.

        Parameters
        ----------
        y_true : labels, or Votes
            The true class of each row; `Votes` hold both, and `y_proba` is then left out.
        y_proba : array, frame or scipy CSR of shape (n, K)
            The votes of the rows.
        preferences : Preferences or mapping by class, optional
            What matters.
        pos_label : label, optional
            The class of one column alone.

        Examples
        --------
        >>> import compromis as cp
        >>> decision = cp.Decision(("good", "bad"), [1.0, 3.0], review=1.4)
        >>> reviewed = decision.review_on(["good", "bad", "good"], [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
        >>> reviewed.asked.matrix.tolist(), cp.evaluate(reviewed.counts).summary.correct
        ([[0, 0], [0, 1]], 2)
        """
        from compromis.weights.review import review_on

        return review_on(self, y_true, y_proba, preferences=preferences, pos_label=pos_label)

    def to_sql(
        self,
        columns: Mapping[Any, str] | Sequence[str] | None = None,
        dialect: str = "ansi",
        *,
        checked: bool = True,
        review: bool = False,
    ) -> str:
        """Return the decision as a CASE expression of SQL.

        Parameters
        ----------
        columns : mapping of label to column name or the reverse, or column names, optional
            The columns of votes, named after the classes but for a common prefix, else in the order of ``classes``; without it the
            names of the classes.
        dialect : str
            The dialect of SQL: bigquery, clickhouse, databricks, duckdb, mysql, oracle, postgres, redshift, snowflake, spark, sqlite,
            trino or tsql; ansi takes only names and labels that all databases read alike.
        checked : bool
            Whether a row with anything but votes gives NULL. If False it gets one of the labels: quicker, for columns that are known
            to be finite and at least 0.
        review : bool
            Whether to return, in place of the label's expression, the one that tells whether a person should look at the row: a truth
            value (1 and 0 where the database has none), for a column of its own.

        Notes
        -----
        A row with a vote that is NULL, NaN, infinite or below 0 gives NULL, where `decide` raises. Names and labels are quoted, so
        that they cannot become code.

        Examples
        --------
        >>> import compromis as cp
        >>> import sqlite3
        >>> decide = cp.Decision(("good", "bad"), [1.0, 3.0]).to_sql(["p_good", "p_bad"], "sqlite")
        >>> rows = "(SELECT 0.7 AS p_good, 0.3 AS p_bad UNION ALL SELECT 0.8, 0.2 UNION ALL SELECT NULL, 1)"
        >>> base = sqlite3.connect(":memory:")
        >>> base.execute(f"SELECT {decide} FROM {rows}").fetchall()
        [('bad',), ('good',), (None,)]
        >>> base.close()
        """
        from compromis.deployment.sql import to_sql

        return to_sql(self, columns, dialect, checked=checked, review=review)

    def to_onnx(self, model: Any = None, X: Any = None, *, path: str | os.PathLike[str] | None = None) -> Any:
        """Return an ONNX model that decides: that of a fitted scikit-learn classifier, the decision appended.

        Parameters
        ----------
        model : fitted classifier, optional
            What skl2onnx can convert and has ``predict_proba``; without it, the ONNX model takes votes.
        X : array, optional
            A row or more as the model will get them: their number of columns and their type (float32 or float64).
        path : path, optional
            Where to write the ONNX model too, whole or not at all.

        Notes
        -----
        Outputs ``decision`` (the label), ``votes``, and ``needs_review`` where the decision has a review. Votes are weighed in float64;
        the classifier itself gives what skl2onnx makes of it, for most of them float32 probabilities. Needs the extra ``compromis[onnx]``.
        """
        from compromis.deployment.onnx import to_onnx

        return to_onnx(self, model, X, path=path)

    def record(self, evidence: Any, *, preferences: Any, search: Any = None, **facts: Any) -> Any:
        """Return the record of the decision: what was wanted, on which evidence, what holds, at what price, with which limits.

        Parameters
        ----------
        evidence : Votes
            The votes that were searched; a stranger who has them in a file (`compromis.evidence.write`) computes every number again.
        preferences : Preferences or mapping by class
            What matters.
        search : WeightSearch, optional
            The search that found the decision, with its guarantee; that of an estimator is ``tuning_.chosen``.
        **facts
            ``title``, ``collected`` (when and where the rows were), ``valid_until`` (a date), ``made`` (a date, without it today),
            and ``rows="new"`` where the evidence did not choose the weights.

        Returns
        -------
        compromis.evaluation.Record
            ``to_json`` writes what ``Record.verify`` and ``compromis record --verify`` read, ``to_html`` a page to sign.
        """
        from compromis.evaluation.record import record_of

        return record_of(self, evidence, preferences=preferences, search=search, **facts)

    def for_classes(self, classes: Any) -> Decision:
        """Return the same decision with the classes in the order of a model's; another set of classes is an error."""
        if classes is None:
            raise InputError("the model has no classes_; fit it, or give a classifier of scikit-learn's kind")
        wanted = tuple(plain_label(label) for label in classes)
        position = {label: k for k, label in enumerate(self.classes)}
        if set(wanted) != set(position):
            raise InputError(
                f"the classes of the model are {shown(wanted)}, those of the weights {shown(self.classes)}; "
                f"use the weights that were tuned for this model"
            )
        order = [position[label] for label in wanted]
        return replace(self, classes=wanted, weights=self.weights[order])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the decision as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        return written(msgspec.json.format(msgspec.json.encode(self.document()), indent=2).decode(), path, "\n")

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        classes: list[Any] = list(self.classes)
        optional = {"pos_label": self.pos_label, "review": self.review}
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "classes": classes,
            "weights": self.weights.tolist(),
            "smoothing": self.smoothing,
            **{name: value for name, value in optional.items() if value is not None},
        }

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Decision:
        """Read a decision from JSON text or from a file, that of a `WeightSearch` too, which holds its decision."""
        given = isinstance(source, str) and source.lstrip().startswith("{")
        name = "this" if given else os.fspath(source)
        data = str(source) if given else file_bytes(source)
        told = {"again": "write it again", "refusal": "is not a decision of compromis"}
        document = decode_document(data, name, _Document, schema=SCHEMA, **told)
        return cls(
            tuple(document.classes),
            np.array(document.weights),
            smoothing=document.smoothing,
            pos_label=document.pos_label,
            review=document.review,
        )


class _Document(Head):
    classes: list[bool | int | float | str]
    weights: list[float]
    smoothing: float = 0.0
    pos_label: bool | int | float | str | None = None
    review: float | None = None


def _read_ratio(review: Any, classes: Sequence[Label]) -> float:
    """Return a checked ratio of the best weighted vote to the second, below which a person looks at a row."""
    if isinstance(review, bool) or not (isinstance(review, Real) and 1 <= float(review) < np.inf):
        raise InputError(
            f"review is a ratio of the best weighted vote to the second, at least 1, got {review!r}; a search with "
            f"review=compromis.Review(...) finds the one that keeps a cap",
            "review",
        )
    if len(classes) < 2:
        raise InputError("a review is between classes, this decision has one; leave review out", "review")
    return float(review)


def more_important(classes: Sequence[Label], importance: Floats) -> Label | None:
    """Return the more important one of two classes; None where they are alike, and for more classes."""
    if len(classes) != 2 or importance[0] == importance[1]:
        return None
    return classes[int(importance.argmax())]


def threshold_sentence(decision: Decision, counts: Counts, told: Sequence[ClassRows]) -> list[str]:
    """Return the threshold of two classes, on the votes of the one that the headline tells of, and how many rows are predicted as it."""
    if len(decision.classes) != 2:
        return []
    threshold = (replace(decision, pos_label=told[0].label) if told else decision).threshold
    alerts = 1000 * float(counts.predicted[decision.classes.index(threshold.label)]) / counts.total
    return [
        f"threshold: {shown_label(threshold.rule)}; {per_thousand(alerts)} of 1,000 rows are predicted {threshold.label!r}"
    ]
