"""Decisions without a model: always one class, at random at the classes' shares, and the best coin.

A coin predicts class k with probability q_k, whatever the row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compromis._typing import Flags, Floats, Label
from compromis.evidence.counts import Counts, ratio
from compromis.measures.pragma import losses_at, pragma
from compromis.measures.rates import outcomes, precision, recall
from compromis.metrics import FOWLKES_MALLOWS, JACCARD, KULCZYNSKI, F
from compromis.preferences import PreferenceArrays

HALVINGS = 36
"""Of the range of log nu: what is left of it (about 1e-9) is interpolated."""
SEGMENTS, PASSES = 32, 4
"""Of the numeric way: straight pieces per class, and how often they are laid anew around the best point."""
_ROUNDING = 1e-9
"""Limits that add up to 1 but for rounding can be met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a decision without a model reaches."""

    name: str
    label: Label | None
    """The class always predicted; None where there is no such class."""
    loss: float
    """Its PRAGMA loss; its average cost where results are judged by cost."""
    allowed: bool = True
    """Whether it meets every constraint as far as the result beside it does: only then it is a rival."""

    @property
    def told(self) -> str:
        """The name, and what speaks against it."""
        return self.name if self.allowed else f"{self.name} (misses your constraints)"


def naive_baselines(counts: Counts, arrays: PreferenceArrays) -> tuple[Baseline, ...]:
    """Return what predicting each class always reaches, and random predictions at the classes' shares (the course's baseline)."""
    shares = _class_shares(counts)
    losses = constant_losses(counts, arrays) if arrays.cost is None else shares @ arrays.cost
    *always, mixed = _allowed(np.vstack([np.eye(len(shares)), shares]), counts, arrays)
    constant = zip(counts.classes, losses.tolist(), always, strict=True)
    # expected counts: as for the trade-off paper's random group, the expected precision of a class is its share of the rows
    random = Counts(np.outer(counts.support, shares), counts.classes, counts.rows)
    loss = pragma(random, arrays).total
    return (
        *(
            Baseline(name=f"always predicting {label!r}", label=label, loss=least, allowed=rival)
            for label, least, rival in constant
        ),
        Baseline(name="random predictions at the classes' shares", label=None, loss=loss, allowed=mixed),
    )


def _allowed(chances: Floats, counts: Counts, arrays: PreferenceArrays) -> list[bool]:
    """Return whether coins meet every constraint as far as the counts do."""
    cells, shares = outcomes(counts), _class_shares(counts)
    limits = limits_as_met(shares, precision(counts), recall(counts), ratio(cells.predicted, cells.total), arrays)
    if limits is None:
        return [True] * len(chances)
    inside = (limits.low - _ROUNDING <= chances) & (chances <= limits.high + _ROUNDING)
    return [bool(row.all()) for row in inside]


def constant_losses(counts: Counts, arrays: PreferenceArrays) -> Floats:
    """Return the PRAGMA loss of always predicting each class (the trade-off paper's maximal group).

    The class predicted has recall 1 and its share of the rows for precision; every other class that occurs counts 1.
    """
    occurs = counts.support > 0
    importance = np.where(occurs, arrays.importance, 0.0)
    gain = 1 - losses_at(_class_shares(counts), np.ones(len(occurs)), arrays)
    with np.errstate(invalid="ignore"):  # importances may all be 0 among the classes that occur
        losses: Floats = 1 - importance * np.where(occurs, gain, 0.0) / importance.sum()
    return losses


def _class_shares(counts: Counts) -> Floats:
    shares: Floats = counts.support / max(counts.total, np.finfo(float).tiny)
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class Coin:
    """The best coin for each of a stack of class shares."""

    probability: Floats
    """Of shape (..., K): how often each class is predicted; the recalls, too. NaN where no coin meets the limits."""
    loss: Floats
    """Its expected PRAGMA loss or mean cost; where no coin meets the limits the worst there is: 1, or the dearest constant."""
    reached: Flags
    """Of shape (...): whether this coin has that loss. Else coins only come arbitrarily near it: a class whose metric jumps at a recall
    of 0 is predicted next to never."""
    feasible: Flags
    """Of shape (...): whether a coin meets the limits."""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """The least and the largest probability of each class that constraints leave a coin, of shape (..., K)."""

    low: Floats
    high: Floats

    @property
    def feasible(self) -> Flags:
        """Whether there are probabilities within the limits that add up to 1."""
        inside = (self.low <= self.high).all(axis=-1)
        return inside & (self.low.sum(axis=-1) <= 1 + _ROUNDING) & (self.high.sum(axis=-1) >= 1 - _ROUNDING)


def coin_limits(
    shares: Floats,
    min_precision: Floats | float = 0.0,
    min_recall: Floats | float = 0.0,
    max_share: Floats | float = 1.0,
) -> Limits:
    """Return the limits that constraints set to a coin.

    A coin's recall of a class is its probability, its precision the share of the class: where that is below the minimum the coin
    must not predict the class. A class that does not occur asks for nothing.
    """
    occurs = shares > 0
    low = np.where(occurs, min_recall, 0.0)
    barred = occurs & (shares < np.asarray(min_precision) * (1 - 1e-12))
    high = np.where(barred, 0.0, np.broadcast_to(max_share, shares.shape))
    return Limits(low, high)


def limits_as_met(
    shares: Floats, precision: Floats, recall: Floats, predicted: Floats, arrays: PreferenceArrays
) -> Limits | None:
    """Return the limits of a coin that meets each constraint as far as a result of these rates does; None without constraints."""
    if not arrays.constrained:
        return None
    wanted = arrays.min_precision
    return coin_limits(
        shares,
        min_precision=np.where(np.nan_to_num(precision) >= wanted * (1 - 1e-12), wanted, 0.0),
        min_recall=np.minimum(np.nan_to_num(recall), arrays.min_recall),
        max_share=np.maximum(np.nan_to_num(predicted), arrays.max_share),
    )


def best_coin(shares: Floats, arrays: PreferenceArrays, limits: Limits | None = None) -> Coin:
    """Return the coin with the least PRAGMA loss for class shares of shape (..., K).

    Notes
    -----
    A coin has recall q_k and precision pi_k, the share of class k, so that it maximises sum_k theta_k M(pi_k, q_k; l_k) over the
    probabilities. Each term is concave: q_k is where its slope is nu, cut at its limits, and nu is found by bisection on its
    logarithm. With Kulczynski's metric, or a recall weight of 0, a term jumps at q = 0 by theta (1 - l) pi: what counts is the
    supremum, which no coin need reach. One's own metric is solved piece by piece, to about 1e-5 where it is concave in recall.

    Examples
    --------
    With 5 % positives and answers (0.6, 0.6) the best coin predicts them in 16 % of the rows:

    >>> import numpy as np
    >>> import compromis as cp
    >>> from compromis.measures.baselines import best_coin
    >>> preferences = cp.Preferences({1: cp.Preference(5, 0.6, 0.6)}).on([0, 1])
    >>> coin = best_coin(np.array([0.95, 0.05]), preferences)
    >>> coin.probability.round(2).tolist(), round(float(coin.loss), 3)
    ([0.84, 0.16], 0.788)
    """
    problem = _Problem(np.asarray(shares, dtype=np.float64), arrays, limits)
    if arrays.metric is KULCZYNSKI:
        probability = problem.filled(problem.importance * problem.recall_weight)
    elif arrays.metric in (F, JACCARD, FOWLKES_MALLOWS):
        probability = _by_bisection(problem)
    else:
        probability = _by_pieces(problem)
    return problem.coin(probability)


def best_constant(shares: Floats, cost: Floats, limits: Limits | None = None) -> Coin:
    """Return the prediction without a model that costs least: a constant, or a coin where limits rule the constant out."""
    shares = np.asarray(shares, dtype=np.float64)
    box, expected = _Box(shares, limits), shares @ cost
    probability = box.filled(-expected)
    loss = np.where(box.feasible, (probability * expected).sum(axis=-1), expected.max(axis=-1))
    return Coin(box.known(probability), loss, box.feasible, box.feasible)


class _Box:
    """The limits of each probability, of shape (..., K)."""

    def __init__(self, shares: Floats, limits: Limits | None) -> None:
        given = coin_limits(shares) if limits is None else limits
        self.low, self.high = (
            np.broadcast_to(np.clip(bound, 0.0, 1.0), shares.shape) for bound in (given.low, given.high)
        )
        self.feasible = np.broadcast_to(given.feasible, shares.shape[:-1])

    def filled(self, slope: Floats) -> Floats:
        """Return the probabilities that are best where each class gains in proportion to its own."""
        return self.low + _filled(self.high - self.low, slope, 1 - self.low.sum(axis=-1, keepdims=True))

    def known(self, probability: Floats) -> Floats:
        return np.where(self.feasible[..., np.newaxis], probability, np.nan)


class _Problem(_Box):
    """Class shares, importances and limits laid out alike, of shape (..., K); a class that does not occur has importance 0."""

    def __init__(self, shares: Floats, arrays: PreferenceArrays, limits: Limits | None) -> None:
        super().__init__(shares, limits)
        self.shares, self.metric = shares, arrays.metric
        self.recall_weight = np.broadcast_to(arrays.recall_weight, shares.shape)
        self.importance = np.where(shares > 0, arrays.importance, 0.0)

    def gain(self, probability: Floats) -> Floats:
        """Return what each class adds to the value; one that must not be predicted adds nothing."""
        value = self.metric.value(self.shares, probability, self.recall_weight)
        return np.where((self.importance > 0) & (self.high > 0), self.importance * value, 0.0)

    def value(self, probability: Floats) -> Floats:
        return self.gain(probability).sum(axis=-1)

    def coin(self, probability: Floats) -> Coin:
        value = ratio(self.value(probability), self.importance.sum(axis=-1))
        jumps = (self.gain(np.zeros(self.shares.shape)) > 0) & (probability <= 0)
        loss = np.where(self.feasible | np.isnan(value), 1 - value, 1.0)
        return Coin(self.known(probability), loss, self.feasible & ~jumps.any(axis=-1), self.feasible)


def _filled(room: Floats, slope: Floats, amount: Floats) -> Floats:
    """Share `amount`, of shape (..., 1), out over straight pieces: the steepest first, each as far as it has room."""
    order = np.argsort(-slope, axis=-1, kind="stable")
    length = np.take_along_axis(room, order, axis=-1)
    filled = np.empty(slope.shape)
    left = amount - (np.cumsum(length, axis=-1) - length)
    np.put_along_axis(filled, order, np.clip(left, 0.0, length), axis=-1)
    return filled


def _by_bisection(problem: _Problem) -> Floats:
    """Return q with sum 1 and equal slopes theta dM/dq = nu, wherever the limits leave it.

    q falls in nu. A class that is linear in q (a recall weight of 1) jumps from one limit to the other at nu = theta; the line
    between the two ends of the last bracket shares out such a jump.
    """
    curve = (_Power if problem.metric is FOWLKES_MALLOWS else _Hyperbola)(problem)
    under, over = curve.range()
    for _ in range(HALVINGS):
        middle = (under + over) / 2
        enough = curve.at(middle).sum(axis=-1, keepdims=True) >= 1
        under, over = np.where(enough, middle, under), np.where(enough, over, middle)
    most, least = curve.at(under), curve.at(over)
    wide, narrow = (q.sum(axis=-1, keepdims=True) for q in (most, least))
    part = np.clip(ratio(1 - narrow, wide - narrow), 0.0, 1.0)
    probability = least + np.nan_to_num(part, nan=1.0) * (most - least)
    # what no class that matters wants goes to any class with room
    room = problem.high - probability
    spare = np.maximum(1 - probability.sum(axis=-1, keepdims=True), 0.0)
    return probability + np.nan_to_num(room * ratio(spare, room.sum(axis=-1, keepdims=True)))


class _Curve:
    """Where each class's slope is nu; a class that gains nothing from q stays at its lower limit."""

    def __init__(self, problem: _Problem) -> None:
        self.problem = problem
        self.free = (problem.importance > 0) & (problem.recall_weight > 0)
        self.log_importance = np.log(np.where(self.free, problem.importance, 1.0))
        self.shares = np.where(self.free, problem.shares, 0.5)
        self.weight = np.where(self.free, problem.recall_weight, 0.5)

    def range(self) -> tuple[Floats, Floats]:
        """Return a log nu at which every class is at its upper limit, and one at which each is at its lower limit."""
        least = np.where(self.free, self.log_slope(np.maximum(self.problem.high, 1e-12)), np.inf)
        most = np.where(self.free, self.log_slope(np.maximum(self.problem.low, 1e-12)), -np.inf)
        under, over = least.min(axis=-1, keepdims=True) - 1e-6, most.max(axis=-1, keepdims=True) + 1e-6
        none = ~np.isfinite(under)
        return np.where(none, 0.0, under), np.where(none, 1.0, over)

    def at(self, log_nu: Floats) -> Floats:
        q = np.where(self.free, self.inverse(log_nu - self.log_importance), 0.0)
        return np.clip(q, self.problem.low, self.problem.high)

    def log_slope(self, q: Floats) -> Floats:
        raise NotImplementedError

    def inverse(self, log_slope: Floats) -> Floats:
        raise NotImplementedError


class _Hyperbola(_Curve):
    """f and Jaccard: M = pi q / (a + b q), of slope pi a / (a + b q)^2."""

    def __init__(self, problem: _Problem) -> None:
        super().__init__(problem)
        share, weight = self.shares, self.weight
        if problem.metric is F:
            self.a, self.b = weight * share, 1 - weight
        else:
            self.a = np.minimum(2 * weight, 1.0) * share
            self.b = np.minimum(2 * (1 - weight), 1.0) - (1 - np.abs(1 - 2 * weight)) * share
        self.straight = self.b <= 0
        self.divisor = np.where(self.straight, 1.0, self.b)
        self.root = np.sqrt(share * self.a) / self.divisor
        self.start = self.a / self.divisor

    def log_slope(self, q: Floats) -> Floats:
        return self.log_importance + np.log(self.shares * self.a) - 2 * np.log(self.a + self.b * q)

    def inverse(self, log_slope: Floats) -> Floats:
        q = self.root * np.exp(-log_slope / 2) - self.start
        if not self.straight.any():
            return q
        return np.where(self.straight, (log_slope < np.log(self.shares / self.a)) * 1.0, q)


class _Power(_Curve):
    """Fowlkes-Mallows: M = pi^(1 - l) q^l, of slope l (pi / q)^(1 - l)."""

    def __init__(self, problem: _Problem) -> None:
        super().__init__(problem)
        self.straight = self.weight >= 1
        self.power = 1 / np.where(self.straight, 1.0, 1 - self.weight)
        self.log_weight, self.log_share = np.log(self.weight), np.log(self.shares)

    def log_slope(self, q: Floats) -> Floats:
        return self.log_importance + self.log_weight + (1 - self.weight) * (self.log_share - np.log(q))

    def inverse(self, log_slope: Floats) -> Floats:
        q = np.exp(np.minimum(self.log_share + (self.log_weight - log_slope) * self.power, 0.0))
        return np.where(self.straight, (log_slope < 0) * 1.0, q) if self.straight.any() else q


def _by_pieces(problem: _Problem) -> Floats:
    """Return the best coin for one's own metric: straight pieces, laid more finely around the best point in each pass.

    Where the metric is not concave in recall a constant prediction may be better than what this finds: the better one counts.
    """
    low, high = problem.low, problem.high
    fine = np.linspace(0.0, 1.0, SEGMENTS + 1) ** 3
    steps = np.unique(np.concatenate([fine, 1 - fine]))  # at 0 and 1 rare and frequent classes have their best point
    best = problem.filled(problem.importance)
    for _ in range(PASSES):
        grid = np.moveaxis(low + (high - low) * steps.reshape(-1, *[1] * low.ndim), 0, -1)
        found = low + _best_pieces(problem, grid)
        best = _better(problem, found, best)
        index = (grid <= found[..., np.newaxis]).sum(axis=-1, keepdims=True) - 1
        low, high = (
            np.take_along_axis(grid, np.clip(index + step, 0, len(steps) - 1), axis=-1)[..., 0] for step in (-1, 2)
        )
        steps = np.linspace(0.0, 1.0, SEGMENTS // 4 + 1)
    for k in range(problem.shares.shape[-1]):
        best = _better(problem, problem.filled(np.eye(problem.shares.shape[-1])[k] + np.zeros(best.shape)), best)
    return best


def _best_pieces(problem: _Problem, grid: Floats) -> Floats:
    """Return how far beyond the first point of its grid each class goes, on straight lines between the points."""
    gains = np.stack([problem.gain(grid[..., point]) for point in range(grid.shape[-1])], axis=-1)
    lengths = np.diff(grid, axis=-1)
    slopes = np.nan_to_num(ratio(np.diff(gains, axis=-1), lengths))
    flat = (*grid.shape[:-2], -1)
    amount = 1 - grid[..., 0].sum(axis=-1, keepdims=True)
    return _filled(lengths.reshape(flat), slopes.reshape(flat), amount).reshape(lengths.shape).sum(axis=-1)


def _better(problem: _Problem, one: Floats, other: Floats) -> Floats:
    return np.where((problem.value(one) > problem.value(other))[..., np.newaxis], one, other)
