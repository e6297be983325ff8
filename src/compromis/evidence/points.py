"""Operating points: what each cut of a score decides for one class against the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis.errors import InputError, shown
from compromis.evidence.labels import read_labels
from compromis.evidence.weights import read_weights
from compromis.preferences import Label
from compromis.preferences.preferences import plain_label

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoints:
    """The distinct cuts of a score for one class against the rest, from 'nothing is decided positive' to 'everything is'.

    A row is decided positive when its score is at least the threshold; rows of equal score stay together.

    Attributes
    ----------
    threshold : ndarray
        The cuts, falling; the first is infinite: nothing is decided positive.
    true_positives, false_positives : ndarray
        The rows (or weights) at or above each cut.
    positives, negatives : float
        All rows (or weights) of either kind.
    positive : label
        Which class is positive.

    Examples
    --------
    The six rows of the course's ROC example:

    >>> import compromis as cp
    >>> points = cp.OperatingPoints.from_predictions([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.3, 0.1], pos_label=1)
    >>> (points.tpr * 3).round().astype(int).tolist()
    [0, 1, 1, 2, 3, 3, 3]
    """

    threshold: Floats
    true_positives: NDArray[Any]
    false_positives: NDArray[Any]
    positives: float
    negatives: float
    positive: Label

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
    ) -> OperatingPoints:
        """Return all distinct cuts of `y_score` for the class `pos_label` against the rest.

        Parameters
        ----------
        y_true : labels
            The true classes.
        y_score : array-like
            One finite number per row, higher for the positive class.
        pos_label : label, optional
            The positive class; needed unless the classes are 0 and 1, -1 and 1, or False and True.
        sample_weight : array-like, optional
            A weight of at least 0 per row.
        """
        flags, positive = _read_flags(y_true, pos_label)
        score = _read_scores(y_score, len(flags))
        return cls.from_flags(flags, score, positive, read_weights(sample_weight, len(flags)))

    @classmethod
    def from_flags(
        cls, flags: NDArray[np.bool_], score: Floats, positive: Label, weight: Floats | None = None
    ) -> OperatingPoints:
        """Return the cuts of checked scores; `flags` says which rows are positive."""
        threshold, above = _count_cuts(flags, score) if weight is None else _weigh_cuts(flags, score, weight)
        totals = above[:, -1]
        return cls(threshold, above[0], above[1], totals[0].item(), totals[1].item(), positive)

    @property
    def tpr(self) -> Floats:
        """True positive rate of each cut: the share of the positives at or above it."""
        return _share(self.true_positives, self.positives)

    @property
    def recall(self) -> Floats:
        """Recall of each cut; the same as the true positive rate."""
        return self.tpr

    @property
    def fpr(self) -> Floats:
        """False positive rate of each cut: the share of the negatives at or above it."""
        return _share(self.false_positives, self.negatives)

    @property
    def precision(self) -> Floats:
        """Precision of each cut; NaN where nothing is decided positive."""
        decided = np.asarray(self.true_positives + self.false_positives, dtype=np.float64)
        rate: Floats = np.divide(self.true_positives, decided, out=np.full(len(decided), np.nan), where=decided > 0)
        return rate

    def __len__(self) -> int:
        return len(self.threshold)


def _share(part: NDArray[Any], whole: float) -> Floats:
    share: Floats = np.true_divide(part, whole or math.nan)
    return share


def _count_cuts(flags: NDArray[np.bool_], score: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Sort positives and negatives apart and merge them: two plain sorts are much faster than one that moves indices."""
    from compromis.kernels.ranking import count_cuts

    threshold, above = np.empty(len(score) + 1), np.zeros((2, len(score) + 1), dtype=np.int64)
    threshold[0] = np.inf
    cuts = count_cuts(np.sort(score[flags]), np.sort(score[~flags]), threshold[1:], above[:, 1:])
    return threshold[: cuts + 1], above[:, : cuts + 1]


def _weigh_cuts(flags: NDArray[np.bool_], score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(score) - 1)
    above = np.cumsum([np.where(flags, weight, 0.0)[order], np.where(flags, 0.0, weight)[order]], axis=1)[:, last]
    return np.insert(ordered[last], 0, np.inf), np.insert(above, 0, 0.0, axis=1)


def _read_flags(y_true: Any, pos_label: Any) -> tuple[NDArray[np.bool_], Label]:
    column = read_labels(y_true, "y_true")
    if len(column) == 0:
        raise InputError("y_true is empty; there is nothing to rank")
    labels = np.concatenate([np.array(chunk, dtype=object) for chunk in column.lists()])
    found = set(labels.tolist())
    if column.kind == "bool":
        labels, found = labels.astype(bool), {bool(label) for label in found}
    if pos_label is None:
        if not (found <= {0, 1} or found <= {-1, 1}):
            raise InputError(f"which class is positive? pass pos_label, one of {shown(sorted(found, key=str))}")
        return labels == 1, True if column.kind == "bool" else 1
    positive = plain_label(pos_label)
    if positive not in found and len(found) > 1:
        raise InputError(
            f"pos_label is {positive!r}, which y_true does not have; it has {shown(sorted(found, key=str))}"
        )
    return labels == positive, positive


def _read_scores(y_score: ArrayLike, rows: int) -> Floats:
    score = np.asarray(y_score)
    if score.dtype.kind not in "iufb" or score.shape != (rows,):
        raise InputError(
            f"y_score must be one number per row, {rows:,} in all, got shape {score.shape} of {score.dtype}"
        )
    score = score.astype(np.float64)
    if not np.isfinite(score).all():
        row = int((~np.isfinite(score)).argmax())
        raise InputError(f"y_score must be finite, got {score[row]} in row {row}; drop such rows or give them a score")
    return score
