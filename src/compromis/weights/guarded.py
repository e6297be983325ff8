"""Weights that hold a guarantee, and weights that hold the minima in each group.

One constraint of recall is held by an order statistic: row i of the class is predicted as it from the weight at which it flips
on, so the weight above all but m of the flips misses m rows, and m rows of n are few enough where a share of misses of
1 - level would give that few with a probability of 1 - confidence at most. The other weights come from the rows of the other
classes alone, so that the rows of the class are asked once (Tong, Feng and Li 2018, for two classes).

Precisions, and several constraints, are held by Learn then Test (Angelopoulos et al. 2021): one half of the rows gives a path
of weights from cautious to bold; along it the other half tests every constraint, and the first failure ends the path.

Where a constraint must hold in each of several groups with the same weights, order statistics share the risk of failing, and the
weight lies above all of them; along a path the first failure in any group ends it, which needs no sharing.

Without a confidence, minima in each group are searched by constraints that are tightened for the groups behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import WIDEST
from compromis.evidence.scores import Matrix, is_csr
from compromis.evidence.strata import MOST_HYPERGEOMETRIC
from compromis.measures.by_group import shortfall_by_group
from compromis.measures.rates import precision, recall
from compromis.weights._kernels import prepare, search_line
from compromis.weights.descent import Descent, tie_weights
from compromis.weights.guarantee import (
    Demand,
    Drawn,
    Guarantee,
    by_order_statistic,
    judged,
    misses_allowed,
    p_value,
    price_of,
)
from compromis.weights.problem import SearchProblem, normalised
from compromis.weights.sweep import Sweep

_SLACKS = (0.0, 0.03, 0.07, 0.13, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
"""The parts of what a constraint allows that the weights of the path may use, from cautious to bold."""
_ROUNDING = 1e-11
"""Relative: flips nearer than this are one."""
_SHARE_SHORT = 0.02
"""The part of the risk that goes to strata with too few labels for a random sample."""
_ROUNDS = 12
"""Searches for groups; each tightens by what the worst group still misses."""

Searching = Callable[[SearchProblem], Floats]
"""The search of the user's choice: a problem in, its best weights out."""


def with_guarantee(
    problem: SearchProblem, demands: list[Demand], before: Floats, search: Searching, generator: np.random.Generator
) -> tuple[Floats, Guarantee]:
    """Return weights that hold the demands on new rows as far as the votes allow, and what holds; `before` are the weights without."""
    _check(problem, demands)
    rows, demands = random_rows(problem, demands)
    half = None if by_order_statistic(demands) else int(generator.integers(2**31))
    if half is None:
        found = _by_order_statistic(rows, demands[0], search, problem)
    else:
        tuning, other = halves(rows, demands, half)
        found = _by_path(tuning, other, demands, search) if tuning.votes.rows else np.ones(problem.classes)
    weights = normalised(found)
    return weights, what_holds(problem, demands, weights, before, half)


def random_rows(problem: SearchProblem, demands: list[Demand]) -> tuple[SearchProblem, list[Demand]]:
    """Return the problem on the rows of a stratified sample that are a random one, and demands with the risk that is left; else both."""
    if problem.votes.strata is None:
        return problem, demands
    short = _SHARE_SHORT * min(1 - demand.confidence for demand in demands)
    return replace(problem, votes=problem.votes.random_rows(short)), [replace(one, short=short) for one in demands]


def what_holds(
    problem: SearchProblem, demands: list[Demand], weights: Floats, before: Floats, half: int | None
) -> Guarantee:
    """Return what the rows, or the second of the halves by that seed, say of the demands: anybody with the evidence can say it again."""
    whole, demands = random_rows(problem, demands)
    rows = whole if half is None else halves(whole, demands, half)[1]
    return Guarantee(
        items=tuple(
            judged(counts, demand, halved=half is not None, group=name)
            for demand in demands
            for name, counts in _each(rows, weights)
        ),
        price=price_of(problem.counts(before), problem.counts(weights)),
        method="order statistic" if half is None else "path",
        before=tuple(before.tolist()),
        half=half,
        drawn=None if problem.votes.strata is None else Drawn(rows=whole.votes.rows, of=problem.votes.rows),
        left_out=problem.votes.left_out,
        step=2 * problem.votes.width,
    )


def _each(problem: SearchProblem, weights: Floats) -> list[tuple[Label | None, Counts]]:
    """Return the counts of each group by name; where there are no groups, those of all rows."""
    return [(None, problem.counts(weights))] if problem.by is None else list(problem.by_group(weights).items())


def _check(problem: SearchProblem, demands: list[Demand]) -> None:
    """Raise on what no guarantee can stand beside."""
    votes = problem.votes
    if votes.multiplicity.dtype.kind == "f" and votes.strata is None:
        raise InputError("a guarantee counts rows that were drawn one by one; leave sample weights out", "preferences")
    if problem.max_ratio < WIDEST:
        raise InputError("a guarantee needs whatever weights hold it; leave max_ratio out, or confidence", "max_ratio")
    for demand in demands:
        if not votes.support[demand.position]:
            raise InputError(
                f"there is no row of class {votes.classes[demand.position]!r} to guarantee its {demand.rate} from; label some, "
                f"or leave its confidence out",
                "preferences",
            )


def _by_order_statistic(problem: SearchProblem, demand: Demand, search: Searching, whole: SearchProblem) -> Floats:
    """Return the weights of the other classes from their rows, and the best weight of the class above all but the allowed misses.

    Recall grows with the weight, so every weight above that order statistic holds what it holds: the line search takes the one
    of the lowest loss on the `whole` of the rows. The other weights stay as they are, to the last bit: they must not know the rows
    of the class.
    """
    k = demand.position
    allowed = _allowed(problem, demand)
    weights = np.insert(_weights_of_others(problem, k, search), k, 1.0) * tie_weights(problem.classes)
    weights[k] = least = least_weight(problem, k, weights, allowed)
    most = _missed(problem, k, weights)  # where the allowed misses cannot be had
    descent = Descent(whole)
    descent.weight[:] = weights
    prepare(descent.patterns, descent.objective, descent.state)
    better, weight = search_line(descent.patterns, descent.objective, descent.state, k, least, least * WIDEST)
    if better:
        weights[k] = weight
        if (_missed(problem, k, weights) > np.maximum(most, allowed)).any():  # a cell narrower than rounding
            weights[k] = least
    return weights


def _allowed(problem: SearchProblem, demand: Demand) -> Ints:
    """Return how many rows of the class may be missed in each group."""
    rows = _rows_of_class(problem, demand.position)
    return np.array([max(misses_allowed(n, demand.level, 1 - demand.risk), 0) for n in rows.tolist()])


def _rows_of_class(problem: SearchProblem, k: int) -> Ints:
    own = np.where(problem.votes.truth == k, problem.votes.multiplicity, 0)
    if problem.by is None:
        return own.sum(keepdims=True)
    rows = np.zeros(len(problem.by.names), dtype=own.dtype)
    np.add.at(rows, problem.by.code, own)
    return rows


def _missed(problem: SearchProblem, k: int, weights: Floats) -> Ints:
    """Return the rows of class k that go to other classes, in each group."""
    return np.array([counts.support[k] - counts.matrix[k, k] for _, counts in _each(problem, weights)])


def least_weight(problem: SearchProblem, k: int, weights: Floats, allowed: Ints) -> float:
    """Return the least weight of class k that leaves at most `allowed` of its rows in each group to other classes, in its open cell.

    Rows without a vote for the class cannot be won; where they are more than allowed, every other row of the group is.
    """
    votes, weights = problem.votes, weights.copy()
    smoothed = votes.dense() + problem.smoothing
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        flips = np.delete(smoothed * weights, k, axis=1).max(axis=1) / smoothed[:, k]
    counted = (votes.multiplicity > 0) & np.isfinite(flips)
    rows, group = _rows_of_class(problem, k), np.zeros(len(votes), int) if problem.by is None else problem.by.code
    edge, most = 0.0, allowed.copy()
    for number in range(len(rows)):
        own = counted & (votes.truth == k) & (group == number)
        order = np.argsort(flips[own], kind="stable")
        lost = rows[number] - np.append(0, np.cumsum(votes.multiplicity[own][order]))
        most[number] = max(most[number], int(lost[-1]))
        edge = max(edge, np.append(0.0, flips[own][order])[np.argmax(lost <= most[number])])
    above = flips[counted & (flips > edge)]
    while True:
        above = above[above > edge * (1 + _ROUNDING)]
        if not len(above):
            return 2.0 * edge or 1.0
        end = float(above.min())
        weights[k] = float(np.sqrt(edge) * np.sqrt(end)) if edge > 0 else end / 2
        if (_missed(problem, k, weights) <= most).all():  # else the cell is narrower than rounding
            return float(weights[k])
        edge = end


def _weights_of_others(problem: SearchProblem, k: int, search: Searching) -> Floats:
    """Return weights of the other classes, found on their rows alone."""
    others = np.delete(np.arange(problem.classes), k)
    if len(others) == 1:
        return np.ones(1)
    votes, arrays = problem.votes, problem.arrays
    own = (votes.truth != k) & (np.asarray(votes.votes[:, others].sum(axis=1)).ravel() > 0)
    if len(np.unique(votes.truth[own])) < 2 or not arrays.importance[np.unique(votes.truth[own])].any():
        return np.ones(len(others))
    classes = tuple(votes.classes[j] for j in others)
    part = votes.with_rows(votes.multiplicity, np.flatnonzero(own))
    part = replace(
        part,
        votes=_columns(part.votes, others),
        truth=np.searchsorted(others, part.truth),
        classes=classes,
        merged=False,
    )
    return search(replace(problem, votes=part, arrays=arrays.in_order(others), by=None))


def _columns(votes: Matrix, chosen: Ints) -> Matrix:
    part = votes[:, chosen]
    return part if is_csr(part) else np.ascontiguousarray(part)


def _tightened(problem: SearchProblem, demands: list[Demand], slack: float) -> SearchProblem:
    """Return the problem with constraints that leave only that part of what each demand leaves."""
    bounds = {"recall": problem.arrays.min_recall.copy(), "precision": problem.arrays.min_precision.copy()}
    for demand in demands:
        bounds[demand.rate][demand.position] = 1 - (1 - demand.level) * slack
    arrays = replace(problem.arrays, min_recall=bounds["recall"], min_precision=bounds["precision"])
    return replace(problem, arrays=arrays)


def halves(problem: SearchProblem, demands: list[Demand], seed: int) -> tuple[SearchProblem, SearchProblem]:
    """Return the problem on a random half of the rows, and on the other half; where recalls alone are asked for, on halves of each class.

    A recall is judged given how many rows its class has. A precision is not: halves of each class have the same rows of each, so
    that a class which is rare by chance in one half is rare in the other too, and what the one half chose the other confirmed.
    """
    votes, generator = problem.votes, np.random.default_rng(seed)
    taken = np.zeros_like(votes.multiplicity)
    of_each = all(demand.rate == "recall" for demand in demands)
    for k in range(problem.classes if of_each else 1):
        own = np.flatnonzero(votes.truth == k) if of_each else np.arange(len(votes))
        size, total = votes.multiplicity[own], int(votes.multiplicity[own].sum())
        if total >= MOST_HYPERGEOMETRIC:
            taken[own] = generator.binomial(size, 0.5)
        elif total:
            half = total // 2 + int(generator.integers(2)) * (total % 2)
            taken[own] = generator.multivariate_hypergeometric(size, half, method="marginals")
    first = replace(votes.with_rows(taken), rows=int(taken.sum()))
    second = replace(votes.with_rows(votes.multiplicity - taken), rows=votes.rows - int(taken.sum()))
    return replace(problem, votes=first), replace(problem, votes=second)


def _by_path(tuning: SearchProblem, other: SearchProblem, demands: list[Demand], search: Searching) -> Floats:
    """Return the boldest weights of the path up to its first failure on the other half; the most cautious where that fails at once."""
    path = _path(tuning, demands, search)
    chosen = path[0]
    for weights in path:
        if any(p_value(counts, demand) > demand.risk for demand in demands for _, counts in _each(other, weights)):
            break
        chosen = weights
    return chosen


def _path(tuning: SearchProblem, demands: list[Demand], search: Searching) -> list[Floats]:
    """Return weights from cautious to bold, as the tuning half sees them: searches under constraints tightened more and less."""
    found: list[Floats] = [search(tuning)]
    for slack in reversed(_SLACKS[:-1]):
        found.append(Sweep.from_weights(_tightened(tuning, demands, slack), found[-1]))
    risk = [
        max(p_value(counts, demand) / demand.risk for demand in demands for _, counts in _each(tuning, weights))
        for weights in found
    ]
    return [found[i] for i in np.argsort(risk, kind="stable")]


def held_in_each(problem: SearchProblem, first: Floats) -> Floats:
    """Return weights under which the groups together miss as little of the minima as was found, and then lose as little.

    A minimum that holds in each group holds in all rows together, so `first`, which is best for these, is best where it holds in each.
    """
    if not shortfall_by_group(problem.by_group(first), problem.arrays):
        return first
    found = [first, *_tightened_for_groups(problem, first)]
    found += [_raised(problem, weights) for weights in found]
    return min(found, key=lambda weights: _value(problem, weights))


def _value(problem: SearchProblem, weights: Floats) -> tuple[float, float]:
    shortfall, loss = problem.value(problem.counts(weights))
    return shortfall + shortfall_by_group(problem.by_group(weights), problem.arrays), loss


def _tightened_for_groups(problem: SearchProblem, weights: Floats) -> Iterator[Floats]:
    """Yield what searches find whose constraints rise by what the worst group lacks, until none lacks anything."""
    arrays = problem.arrays
    bounds: dict[str, Any] = {"min_recall": arrays.min_recall.copy(), "min_precision": arrays.min_precision.copy()}
    for _ in range(_ROUNDS):
        groups = list(problem.by_group(weights).values())
        for name, rate in (("min_recall", recall), ("min_precision", precision)):
            rates = [np.where(counts.support > 0, np.nan_to_num(rate(counts)), np.inf) for counts in groups]
            worst = np.min(rates, axis=0)
            lacking = np.where(getattr(arrays, name) > 0, np.maximum(getattr(arrays, name) - worst, 0.0), 0.0)
            bounds[name] = np.minimum(bounds[name] + lacking, 1.0)
        tight = replace(problem, arrays=replace(arrays, **bounds), by=None)
        weights = Sweep.from_weights(tight, weights)
        yield weights
        if not shortfall_by_group(problem.by_group(weights), arrays):
            return


def _raised(problem: SearchProblem, weights: Floats) -> Floats:
    """Return the weights with those of classes of a minimal recall raised to the least that holds it in each group."""
    weights = weights.copy()
    for k in np.flatnonzero(problem.arrays.min_recall).tolist():
        least = float(problem.arrays.min_recall[k])
        rows = np.array([counts.support[k] for counts in problem.by_group(weights).values()])
        allowed = np.floor((1 - least) * rows + 1e-9).astype(np.int64)
        weights[k] = max(weights[k], least_weight(problem, k, weights, allowed))
    return weights
