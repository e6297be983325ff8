"""The weight sweep: one class's weight against recall, precision, errors and loss (figure 4 of the PRAGMA paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_class_weights
from compromis.evidence.votes import known_label
from compromis.measures.pragma import pragma
from compromis.measures.rates import precision, recall
from compromis.preferences import Preferences
from compromis.weights._kernels import MERGED, gather_flips, prepare
from compromis.weights.descent import Descent
from compromis.weights.problem import SearchProblem
from compromis.weights.search import read_votes


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WeightSweep:
    """What happens as the weight of one class grows against the others.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]]  # ten trees, two classes
    >>> truth = ["sound", "sound", "sound", "faulty", "faulty", "faulty"]
    >>> sweep = cp.weights.weight_sweep(truth, votes, label="faulty", labels=["sound", "faulty"])
    >>> sweep.recall[:, 1].round(2).tolist()  # of faulty parts, as their weight grows
    [0.0, 0.33, 1.0, 1.0, 1.0, 1.0]
    >>> sweep.errors.tolist()
    [3.0, 2.0, 0.0, 1.0, 2.0, 3.0]
    """

    ratio: Floats
    """Of shape (points,): R: the class's weight is R times what it is in the given weights (1 without them), the others keep theirs."""
    recall: Floats
    precision: Floats
    """Of shape (points, K): the rates of every class; NaN where undefined."""
    loss_by_class: Floats
    """Of shape (points, K): f of every class."""
    loss: Floats
    """Of shape (points,): the PRAGMA loss."""
    errors: Floats
    """Of shape (points,): the rows (or weights) predicted wrongly."""
    label: Label
    """The class whose weight grows."""
    classes: tuple[Label, ...]
    """The labels of the columns."""
    exact: bool
    """Whether the points are all cells between two flips; otherwise they are the ratios asked for."""

    @property
    def best(self) -> float:
        """The ratio with the lowest loss."""
        return float(self.ratio[np.argmin(self.loss)])


def weight_sweep(
    y_true: Any,
    y_proba: Any = None,
    *,
    label: Any,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    ratios: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    smoothing: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> WeightSweep:
    """Let the weight of `label` grow from nothing, and follow every class's recall, precision and loss.

    Parameters
    ----------
    y_true, y_proba, preferences, labels, smoothing, sample_weight
        As for `search_weights`.
    label : label
        The class whose weight grows.
    ratios : array-like, optional
        The ratios R to look at. Without it: one in every cell between two flips, so that nothing is missed.
    weights : array-like of shape (K,), optional
        The weights that R = 1 stands for; equal ones without it.

    Examples
    --------
    >>> from compromis.weights import weight_sweep
    >>> sweep = weight_sweep(["good", "bad", "bad"], [[3, 1], [2, 2], [1, 3]], label="bad", labels=["good", "bad"])
    >>> sweep.ratio.round(3).tolist(), sweep.recall[:, 1].tolist(), sweep.errors.tolist()
    ([0.167, 0.577, 1.732, 6.0], [0.0, 0.5, 1.0, 1.0], [2.0, 1.0, 0.0, 1.0])
    """
    votes = read_votes(y_true, y_proba, labels, sample_weight)
    problem = SearchProblem.read(votes, preferences, smoothing=smoothing, max_ratio=None)
    if problem.arrays.by_amount is not None:
        raise InputError(
            "a weight sweep counts rows, not their amounts; give preferences without 'amount'", "preferences"
        )
    k = votes.classes.index(known_label(votes, label))
    base = np.ones(problem.classes) if weights is None else read_class_weights(weights, votes.classes)
    if ratios is None:
        return _as_sweep(problem, k, *_every_cell(problem, k, base), exact=True)
    grid = np.asarray(ratios, dtype=np.float64).reshape(-1)
    if not (grid.size and np.isfinite(grid).all() and (grid > 0).all()):
        raise InputError("ratios are finite numbers above 0, at least one")
    return _as_sweep(problem, k, grid, [_at_ratio(problem, k, base, ratio).matrix for ratio in grid], exact=False)


def _at_ratio(problem: SearchProblem, k: int, base: Floats, ratio: float) -> Counts:
    weights = base.copy()
    weights[k] *= ratio
    return problem.counts(weights)


def _every_cell(problem: SearchProblem, k: int, base: Floats) -> tuple[Floats, list[NDArray[Any]]]:
    """Return the middle of every cell of class k's weight as a ratio to `base`, and the counts there."""
    descent = Descent(problem)
    state = descent.state
    descent.weight[:] = base
    prepare(descent.patterns, descent.objective, state)
    count = gather_flips(descent.patterns, descent.objective, state, k, 0.0, np.inf)
    order = np.asarray(state.order)[:count]
    flips = np.asarray(state.flip)[order] / base[k]
    if count == 0:
        return np.ones(1), [problem.counts(base).matrix]
    begins = np.flatnonzero(np.append(True, flips[1:] > flips[:-1] * (1 + MERGED)))
    ends = np.append(begins[1:], count) - 1
    low, high = np.append(flips[0] / 4, flips[ends]), np.append(flips[begins], flips[-1] * 4)
    rows, others = np.asarray(state.flip_row)[order], np.asarray(state.flip_other)[order]
    ratio = np.sqrt(low) * np.sqrt(high)
    matrices = [_at_ratio(problem, k, base, ratio[0]).matrix]
    truth, size = problem.votes.truth, problem.votes.multiplicity
    for begin, end in zip(begins, ends, strict=True):
        matrix = matrices[-1].copy()
        for flip in range(begin, end + 1):
            matrix[truth[rows[flip]], others[flip]] -= size[rows[flip]]
            matrix[truth[rows[flip]], k] += size[rows[flip]]
        matrices.append(matrix)
    return ratio, matrices


def _as_sweep(
    problem: SearchProblem, k: int, ratio: Floats, matrices: list[NDArray[Any]], *, exact: bool
) -> WeightSweep:
    votes = problem.votes
    counts = [Counts(matrix, votes.classes, votes.rows) for matrix in matrices]
    losses = [pragma(point, problem.arrays) for point in counts]
    return WeightSweep(
        ratio=ratio,
        recall=np.array([recall(point) for point in counts]),
        precision=np.array([precision(point) for point in counts]),
        loss_by_class=np.array([loss.by_class for loss in losses]),
        loss=np.array([loss.total for loss in losses]),
        errors=np.array([point.total - point.matrix.trace() for point in counts], dtype=np.float64),
        label=votes.classes[k],
        classes=votes.classes,
        exact=exact,
    )
