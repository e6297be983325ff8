"""Exact search: every cut between two classes, every cell of the weights of three."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evidence.readers import WIDEST
from compromis.evidence.scores import as_dense, is_csr
from compromis.weights._kernels import (
    MERGED,
    BestCell,
    Boxes,
    Objective,
    TernaryRows,
    is_better,
    search_boxes,
    sweep_cuts,
)
from compromis.weights.descent import Descent
from compromis.weights.problem import Found, Meter, SearchProblem
from compromis.weights.sweep import MANY, Sweep, votes_per_pass

_DEPTH = 512
_QUOTA = 10_000_000
"""Cells tried before the clock is read again: about a quarter of a second."""
_SMALLEST = 24
"""The smallest number of votes in a row, in whole votes, up to which shares are recognised as such."""
_EDGE = 1 + 1e-9
"""How far beyond `max_ratio` to look: a tie at the bound itself may stand in no cell within it, but stands in one beyond."""
_BEYOND = np.log(4.0)
"""How far boxes reach beyond the last line, so that every cell is in."""


@dataclass(frozen=True, slots=True)
class Exact:
    """Every reachable decision of two or three classes; what it returns is proven to be the best unless a limit ends it.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = [[9, 1], [8, 2], [7, 3], [6, 4], [6, 4], [2, 8]]  # ten trees, two classes
    >>> truth = ["sound", "sound", "sound", "faulty", "faulty", "faulty"]
    >>> cp.search_weights(truth, votes, labels=["sound", "faulty"], method=cp.weights.Exact()).optimal
    True
    """

    def search(self, problem: SearchProblem, generator: np.random.Generator, meter: Meter) -> Found:
        """Return the best weights, and whether it is proven that none are better."""
        if problem.classes == 2:
            return _search_two(problem, meter)
        if problem.classes == 3:
            return _search_three(problem, generator, meter)
        raise InputError(f"exact search is for two or three classes, got {problem.classes}; use method='sweep'")


def _search_two(problem: SearchProblem, meter: Meter) -> Found:
    objective = problem.objective()
    cuts, sizes, always, extras = _cuts(problem, objective)
    outside = any(part.size and (part[0] < 1 / WIDEST or part[-1] > WIDEST) for part in cuts)
    low, high, shortfall, loss, any_shortfall, any_loss, cells = sweep_cuts(
        objective, cuts, sizes, always, problem.max_ratio, extras
    )
    meter.note(cells, loss, 1.0)
    in_doubt = is_better(any_shortfall, any_loss, shortfall, loss)  # by a cell narrower than rounding
    if 1 < problem.max_ratio < WIDEST:
        *_, any_shortfall, any_loss, _ = sweep_cuts(objective, cuts, sizes, always, problem.max_ratio * _EDGE, extras)
        in_doubt = in_doubt or is_better(any_shortfall, any_loss, shortfall, loss)
    proven = not in_doubt and (not outside or problem.max_ratio < WIDEST)
    return Found((np.array([1.0, np.sqrt(low) * np.sqrt(high)]),), (shortfall, loss), proven)


_Extras = tuple[float, Floats, Floats]
"""What amounts cost where only `always` is second, and by how much each cut changes that."""


def _cuts(
    problem: SearchProblem, objective: Objective
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], tuple[float, float], _Extras | None]:
    """Return the sorted positive finite cuts v_1 / v_2 of the rows of either class, their sizes, what is always second, and extras."""
    given = problem.votes
    votes = given.votes.toarray() if is_csr(given.votes) else given.votes
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # smoothing is added in the type of the votes
        smoothed = votes[:, 0] + problem.smoothing, votes[:, 1] + problem.smoothing
        cut = np.true_divide(*smoothed, dtype=np.float64)
    multiplicity = given.multiplicity
    amount = problem.amount
    same = bool(
        amount is None and multiplicity.size and multiplicity[0] > 0 and (multiplicity == multiplicity[0]).all()
    )
    parts, sizes, always, start, extras = [], [], [], 0.0, []
    for k in range(2):
        own = (given.truth == k) if same else (given.truth == k) & (multiplicity > 0)
        part = cut[own]
        size = np.full(1, float(multiplicity[0])) if same else multiplicity[own].astype(np.float64)
        if amount is not None:
            each = amount[own][np.argsort(part, kind="stable")]
            kept, moved = objective.by_amount[k, 0], objective.by_amount[k, 1]
        part, size = _sorted(part, size)
        begin, end = np.searchsorted(part, 0.0, side="right"), np.searchsorted(part, np.inf, side="left")
        always.append(float(size[:begin].sum()) if not same else float(begin * size[0]))
        if amount is not None:
            start += float(kept * each[begin:].sum() + moved * each[:begin].sum())
            extras.append(np.append((moved - kept) * each[begin:end], 0.0))
        parts.append(part[begin:end])
        sizes.append(size if same else np.append(size[begin:end], [0.0, 0.0]))  # more than one number: a size per cut
    by_amount = None if amount is None else (start, extras[0], extras[1])
    return (parts[0], parts[1]), (sizes[0], sizes[1]), (always[0], always[1]), by_amount


def _sorted(part: Floats, size: Floats) -> tuple[Floats, Floats]:
    if size.size == 1 and part.size != 1:  # a plain sort is faster than one that moves indices
        return np.sort(part), size
    order = np.argsort(part, kind="stable")
    return part[order], size[order] if size.size == part.size else size


def _search_three(problem: SearchProblem, generator: np.random.Generator, meter: Meter) -> Found:
    descent = Descent(problem)
    # a start as good as it gets is worth its time only where there are so many cells that a limit may end the search
    start = Sweep() if votes_per_pass(descent) > MANY else Sweep(rounds=0, start=(1.0, 1.0, 1.0))
    weights, value = start.descend(descent, generator, meter, use_up=False)
    objective = descent.objective
    rows = _rows(problem)
    x, y = map(float, np.log(weights[1:] / weights[0]))
    best = BestCell(*value, x, y)
    proven = _go_through(rows, objective, problem.max_ratio, best, meter)
    value = best.shortfall, best.loss
    proven = proven and not (is_better(best.any_shortfall, best.any_loss, *value) and not _are_counts(problem))
    if proven and 1 < problem.max_ratio < WIDEST:
        beyond = BestCell(*value, best.x, best.y)
        proven = _go_through(rows, objective, problem.max_ratio * _EDGE, beyond, meter)
        proven = proven and not is_better(beyond.shortfall, beyond.loss, *value)
    if (best.x, best.y) != (x, y):  # else as they were: they may break a tie that logarithms would not
        weights = np.exp([0.0, best.x, best.y])
    return descent.found(weights, value, proven=proven)


def _go_through(rows: TernaryRows, objective: Objective, max_ratio: float, best: BestCell, meter: Meter) -> bool:
    """Go through the cells of three classes, and return whether every cell was seen or excluded."""
    boxes, limit, whole = _first_box(rows, max_ratio)
    while boxes.depth > 0 and not meter.exhausted:
        cells = search_boxes(rows, objective, boxes, limit, best, meter.left(_QUOTA))
        meter.note(cells, best.loss)
    return boxes.depth == 0 and whole


def _are_counts(problem: SearchProblem) -> bool:
    """Whether the votes of each row are small whole numbers times something, so that a cell narrower than rounding is none.

    The ends of a cell are sums of up to four logarithms of ratios within rows, so its width is ln(a / b) with whole
    numbers a and b of at most the fourth power of the votes: 0, or far more than what is taken for rounding.
    """
    votes = as_dense(problem.votes.votes)
    votes = votes[votes.any(axis=1)] + problem.smoothing
    votes /= np.min(votes, axis=1, where=votes > 0, initial=np.inf, keepdims=True)
    for smallest in range(1, _SMALLEST + 1):
        multiples = votes * smallest
        near = np.abs(multiples - np.rint(multiples)) <= 1e-13 * multiples
        votes = votes[~(near.all(axis=1) & (multiples.max(axis=1) ** 4 < 0.01 / MERGED))]
    return not len(votes)


def _rows(problem: SearchProblem) -> TernaryRows:
    given, votes = problem.votes, as_dense(problem.votes.votes)
    kept = given.multiplicity > 0
    parts = [votes[kept, k] + problem.smoothing for k in range(3)]
    x, y, d = _log_ratio(parts[0], parts[1]), _log_ratio(parts[0], parts[2]), _log_ratio(parts[1], parts[2])
    amount = None if problem.amount is None else problem.amount[kept]
    return TernaryRows(x, y, d, given.truth[kept], given.multiplicity[kept].astype(np.float64), amount)


def _log_ratio(above: Floats, below: Floats) -> Floats:
    """Return ln(above / below); the ratio is taken first, so that equal ratios of small counts stay equal."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = above / below
        extreme = ((ratio == 0) | np.isinf(ratio)) & (above > 0) & (below > 0)
        return np.where(extreme, np.log(above) - np.log(below), np.log(ratio))


def _first_box(rows: TernaryRows, max_ratio: float) -> tuple[Boxes, float, bool]:
    """Return a box that every cell reaches into, the largest difference of y and x, and whether no bound cuts cells off."""
    limit = float(np.log(max_ratio))
    x, y, d = (_range(np.asarray(line)) for line in (rows.x, rows.y, rows.d))
    left, right = min(x[0], y[0] - d[1]) - _BEYOND, max(x[1], y[1] - d[0]) + _BEYOND
    # beyond every y too, as left and right are beyond y - d
    bottom, top = left + d[0] - _BEYOND, right + d[1] + _BEYOND
    ends = np.clip([left, right, bottom, top], -limit, limit)
    lines = max(abs(end) for line in (x, y, d) for end in line)
    return Boxes(ends, len(rows), _DEPTH), limit, lines < limit or max_ratio < WIDEST


def _range(line: Floats) -> tuple[float, float]:
    finite = line[np.isfinite(line)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
