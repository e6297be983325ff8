"""Guarantees: weights whose constraints hold on new rows with a stated confidence, by exact binomial bounds.

One constraint of recall is held by an order statistic: row i of the class is predicted as it from the weight at which it flips
on, so the weight above all but m of the flips misses m rows, and m rows of n are few enough where a share of misses of
1 - level would give that few with a probability of 1 - confidence at most. The other weights come from the rows of the other
classes alone, so that the rows of the class are asked once (Tong, Feng and Li 2018, for two classes).

Precisions, and several constraints, are held by Learn then Test (Angelopoulos et al. 2021): one half of the rows gives a path
of weights from cautious to bold; along it the other half tests every constraint, and the first failure ends the path.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import beta, binom, nbinom

from compromis._results import Result, Table, columns_of
from compromis._text import count, fixed
from compromis._typing import Floats, Ints, Label
from compromis.errors import GuaranteeWarning, InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import WIDEST
from compromis.evidence.scores import Matrix, is_csr
from compromis.measures.rates import outcomes, precision, recall
from compromis.preferences import PreferenceArrays
from compromis.weights._kernels import prepare, search_line
from compromis.weights.decision import normalised
from compromis.weights.descent import Descent, tie_weights
from compromis.weights.meter import Meter
from compromis.weights.problem import SearchProblem
from compromis.weights.sweep import Sweep

_SLACKS = (0.0, 0.03, 0.07, 0.13, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
"""The parts of what a constraint allows that the weights of the path may use, from cautious to bold."""
_ROUNDING = 1e-11
"""Relative: flips nearer than this are one."""
_MOST_ROWS = 10**9
"""numpy draws hypergeometric numbers below it."""

Searching = Callable[[SearchProblem], Floats]
"""The search of the user's choice: a problem in, its best weights out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guaranteed:
    """One constraint, and what the calibration rows say of it."""

    label: Label
    rate: str
    """recall or precision."""
    asked: float
    confidence: float
    rows: int
    """The calibration rows it rests on: of the class for recall, predicted as the class for precision."""
    allowed: int
    """So many of them may be wrong; -1 where even none would be too many."""
    wrong: int
    """So many are."""
    level: float
    """What holds with the confidence: what was asked for, else the largest level that these rows give."""
    rows_missing: int | None
    """How many more such rows would do if as large a part of them is wrong, both halves of a path counted; None where no number
    would."""

    @property
    def given(self) -> bool:
        """Whether the constraint holds with its confidence."""
        return self.level >= self.asked

    def __str__(self) -> str:
        wish = f"{self.rate} of {self.label!r} at least {self.asked:g} on new rows, with a confidence of {100 * self.confidence:g} %"
        of = "of the class" if self.rate == "recall" else "predicted as it"
        if self.given:
            return (
                f"{wish}: {count(self.wrong)} of {count(self.rows)} rows {of} are wrong, {count(self.allowed)} may be"
            )
        missing = (
            "with so large a part wrong no number of rows would do; ask for less, or improve the model"
            if self.rows_missing is None
            else f"label {count(self.rows_missing)} more row{'s' * (self.rows_missing != 1)} {of}, or ask for less"
        )
        return f"not given: {wish}; {count(self.rows)} rows {of} with {count(self.wrong)} wrong give {self.level:.3f}; {missing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The rates of a class without and with the guarantee, on all rows."""

    label: Label
    recall_before: float
    recall_after: float
    precision_before: float
    precision_after: float


@dataclass(frozen=True, kw_only=True)
class Guarantee(Result):
    """What holds on new rows that are drawn like the calibration rows, with which confidence, and what it costs.

    Recall is a share of its class, so a guarantee of recall holds where the classes become rarer or more frequent; precision does
    not. Neither holds where the rows within a class change.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["fraud", "ok"], [150, 2850])
    >>> share = 1 / (1 + np.exp(-rng.normal(np.where(y == "fraud", 1.0, -1.5))))
    >>> preferences = {"fraud": cp.Preference(10, 0.1, 0.9, min_recall=0.95, confidence=0.95)}
    >>> search = cp.search_weights(y, share, preferences=preferences, pos_label="fraud")
    >>> print(search.guarantee.items[0])
    recall of 'fraud' at least 0.95 on new rows, with a confidence of 95 %: 0 of 150 rows of the class are wrong, 2 may be
    """

    items: tuple[Guaranteed, ...]
    price: tuple[Price, ...]
    method: str
    """order statistic, or path."""
    left_out: int = 0
    """Rows without any vote, which nothing here speaks of: the guarantee is of new rows with votes."""

    schema = "compromis/guarantee"

    @property
    def given(self) -> bool:
        """Whether everything that was asked for holds."""
        return all(item.given for item in self.items)

    @property
    def rows_missing(self) -> int | None:
        """How many more rows of one class would do at most; None where no number would."""
        missing = [item.rows_missing for item in self.items]
        return None if None in missing else max(rows for rows in missing if rows is not None)

    @property
    def summary(self) -> dict[str, float]:
        """Whether it is given (1 or 0), and the level of each constraint."""
        return {"given": float(self.given), **{f"{item.rate} of {item.label}": item.level for item in self.items}}

    def sentences(self) -> list[str]:
        """Return each constraint in a sentence, and what is not covered."""
        return [*map(str, self.items), *self._uncovered()]

    def doubts(self) -> list[str]:
        """Return the constraints that are not given, and what is not covered."""
        return [*(str(item) for item in self.items if not item.given), *self._uncovered()]

    def _uncovered(self) -> list[str]:
        rows = f"{count(self.left_out)} row{'s' * (self.left_out != 1)} without any vote"
        return [f"the guarantee is of rows with votes: it leaves out {rows}"] if self.left_out else []

    def columns(self) -> dict[str, list[Any]]:
        """Return the constraints, column by column."""
        return columns_of(self.items, Guaranteed)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        return {
            **self.heading(),
            "given": self.given,
            "method": self.method,
            "left_out": self.left_out,
            "items": [{**asdict(item), "given": item.given} for item in self.items],
            "price": [asdict(line) for line in self.price],
        }

    def tables(self) -> list[Table]:
        """Return the price: recall and precision of each class without and with the guarantee."""
        header = ["Class", "Recall", "with it", "Precision", "with it"]
        rows = [
            [
                str(line.label),
                *map(fixed, (line.recall_before, line.recall_after, line.precision_before, line.precision_after)),
            ]
            for line in self.price
        ]
        return [Table("Price of the guarantee", header, rows)]


@dataclass(frozen=True, slots=True)
class Demand:
    """A constraint to guarantee: the position of its class, the rate, its least value, and how surely."""

    position: int
    rate: str
    level: float
    confidence: float

    @property
    def risk(self) -> float:
        """The probability with which it may fail."""
        return 1 - self.confidence


def misses_allowed(rows: int, level: float, confidence: float) -> int:
    """Return how many of the rows may be wrong, so that a rate below `level` would give as few with 1 - confidence at most.

    Examples
    --------
    >>> [misses_allowed(rows, 0.95, 0.95) for rows in (58, 59, 93, 3000)]
    [-1, 0, 1, 130]
    """
    if rows == 0:
        return -1
    most = int(binom.ppf(1 - confidence, rows, 1 - level)) + 1  # at the quantile the probability is already reached
    while most >= 0 and binom.cdf(most, rows, 1 - level) > 1 - confidence:
        most -= 1
    return most


def held_level(rows: int, wrong: int, confidence: float) -> float:
    """Return the largest rate that `wrong` of the rows leave sure: the lower end of Clopper and Pearson's interval."""
    return 0.0 if wrong >= rows else float(beta.ppf(1 - confidence, rows - wrong, wrong + 1))


def rows_needed(share_wrong: float, level: float, confidence: float, *, beyond: int = 0) -> int | None:
    """Return how many rows, more than `beyond`, would do if that part of them is wrong; None where no number does."""
    if share_wrong >= 1 - level:
        return None

    def rows_for(wrong: int) -> int:  # so many trials show one more than `wrong` with the confidence
        return max(wrong + 1 + int(nbinom.ppf(confidence, wrong + 1, 1 - level)), beyond + 1)

    low, high = -1, 0
    while share_wrong * rows_for(high) > high * (1 + _ROUNDING):
        low, high = high, 2 * high + 1
        if high > 2**40:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = share_wrong * rows_for(middle) <= middle * (1 + _ROUNDING)
        low, high = (low, middle) if enough else (middle, high)
    return rows_for(high)


def demands_of(arrays: PreferenceArrays) -> list[Demand]:
    """Return the constraints that are to hold with a confidence."""
    return [
        Demand(k, rate, float(least[k]), float(arrays.confidence[k]))
        for rate, least in (("recall", arrays.min_recall), ("precision", arrays.min_precision))
        for k in np.flatnonzero((arrays.confidence > 0) & (least > 0)).tolist()
    ]


def with_guarantee(
    problem: SearchProblem, demands: list[Demand], before: Counts, search: Searching, generator: np.random.Generator
) -> tuple[Floats, Guarantee]:
    """Return weights that hold the demands on new rows as far as the votes allow, and what holds; `before` is the result without."""
    votes = problem.votes
    if votes.strata is not None:
        raise InputError(
            "a guarantee counts rows that all had the same chance to be drawn, which rows of a stratified sample had not; leave "
            "confidence out of the preferences, and judge what is decided on labels drawn afterwards: compromis.check says what is "
            "surely met",
            "preferences",
        )
    if votes.multiplicity.dtype.kind == "f":
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
    judged = problem
    if len(demands) == 1 and demands[0].rate == "recall":
        found, method, parts = _by_order_statistic(problem, demands[0], search), "order statistic", 1
    else:
        tuning, judged = _halves(problem, generator)
        found, method, parts = _by_path(tuning, judged, demands, search), "path", 2
    weights = normalised(found)
    items = tuple(_judged(judged.counts(weights), demand, parts) for demand in demands)
    price = _price(before, problem.counts(weights))
    return weights, Guarantee(items=items, price=price, method=method, left_out=votes.left_out)


def warn_if_not_given(guarantee: Guarantee | None) -> None:
    """Warn of the constraints that these rows do not give, and of rows that no guarantee covers."""
    for doubt in () if guarantee is None else guarantee.doubts():
        warnings.warn(doubt, GuaranteeWarning, stacklevel=3)


def _by_order_statistic(problem: SearchProblem, demand: Demand, search: Searching) -> Floats:
    """Return the weights of the other classes from their rows, and the best weight of the class above all but the allowed misses.

    Recall grows with the weight, so every weight above that order statistic holds what it holds: the line search takes the one
    of the lowest loss. The other weights stay as they are, to the last bit: they must not know the rows of the class.
    """
    k, rows = demand.position, int(problem.votes.support[demand.position])
    allowed = max(misses_allowed(rows, demand.level, demand.confidence), 0)
    weights = np.insert(_weights_of_others(problem, k, search), k, 1.0) * tie_weights(problem.classes)
    weights[k] = least = least_weight(problem, k, weights, allowed)
    descent = Descent(problem)
    descent.weight[:] = weights
    prepare(descent.patterns, descent.objective, descent.state)
    better, weight = search_line(descent.patterns, descent.objective, descent.state, k, least, least * WIDEST)
    if better:
        weights[k] = weight
        if _rows_and_wrong(problem.counts(weights), demand)[1] > allowed:  # a cell narrower than rounding
            weights[k] = least
    return weights


def least_weight(problem: SearchProblem, k: int, weights: Floats, allowed: int) -> float:
    """Return the least weight of class k that leaves at most `allowed` of its rows to other classes, in the middle of its open cell.

    Rows without a vote for the class cannot be won; where they are more than allowed, every other row is.
    """
    votes, weights = problem.votes, weights.copy()
    smoothed = votes.dense() + problem.smoothing
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        flips = np.delete(smoothed * weights, k, axis=1).max(axis=1) / smoothed[:, k]
    counted = (votes.multiplicity > 0) & np.isfinite(flips)
    own = counted & (votes.truth == k)
    order = np.argsort(flips[own], kind="stable")
    lost = votes.support[k] - np.append(0, np.cumsum(votes.multiplicity[own][order]))
    allowed = max(allowed, int(lost[-1]))
    edge = np.append(0.0, flips[own][order])[np.argmax(lost <= allowed)]
    ends = np.unique(np.append(flips[counted], edge))
    ends = ends[ends >= edge]
    while True:
        edge, ends = ends[0], ends[ends > ends[0] * (1 + _ROUNDING)]
        if not len(ends):
            return 2.0 * edge or 1.0
        weights[k] = float(np.sqrt(edge) * np.sqrt(ends[0])) if edge > 0 else float(ends[0]) / 2
        if (
            votes.support[k] - problem.counts(weights).matrix[k, k] <= allowed
        ):  # else the cell is narrower than rounding
            return float(weights[k])


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
    return search(replace(problem, votes=part, arrays=arrays.in_order(others)))


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


def _halves(problem: SearchProblem, generator: np.random.Generator) -> tuple[SearchProblem, SearchProblem]:
    """Return the problem on a random half of each class's rows, and on the other half."""
    votes = problem.votes
    taken = np.zeros_like(votes.multiplicity)
    for k in range(problem.classes):
        own = np.flatnonzero(votes.truth == k)
        size, total = votes.multiplicity[own], int(votes.multiplicity[own].sum())
        if total >= _MOST_ROWS:
            taken[own] = generator.binomial(size, 0.5)
        elif total:
            half = total // 2 + int(generator.integers(2)) * (total % 2)
            taken[own] = generator.multivariate_hypergeometric(size, half, method="marginals")
    first = replace(votes.with_rows(taken), rows=int(taken.sum()))
    second = replace(votes.with_rows(votes.multiplicity - taken), rows=votes.rows - int(taken.sum()))
    return replace(problem, votes=first), replace(problem, votes=second)


def _by_path(tuning: SearchProblem, judged: SearchProblem, demands: list[Demand], search: Searching) -> Floats:
    """Return the boldest weights of the path up to its first failure on the other half; the most cautious where that fails at once."""
    path = _path(tuning, demands, search)
    chosen = path[0]
    for weights in path:
        counts = judged.counts(weights)
        if any(_p_value(counts, demand) > demand.risk for demand in demands):
            break
        chosen = weights
    return chosen


def _path(tuning: SearchProblem, demands: list[Demand], search: Searching) -> list[Floats]:
    """Return weights from cautious to bold, as the tuning half sees them: searches under constraints tightened more and less."""
    found: list[Floats] = [search(tuning)]
    for slack in reversed(_SLACKS[:-1]):
        quick = Sweep(rounds=0, start=tuple(found[-1].tolist()))
        found.append(
            quick.search(
                _tightened(tuning, demands, slack), np.random.default_rng(0), Meter(None, None, None)
            ).candidates[0]
        )
    risk = [max(_p_value(tuning.counts(weights), demand) / demand.risk for demand in demands) for weights in found]
    return [found[i] for i in np.argsort(risk, kind="stable")]


def _p_value(counts: Counts, demand: Demand) -> float:
    """Return how probable so few wrong rows are where the rate is only as large as was asked for at most."""
    rows, wrong = _rows_and_wrong(counts, demand)
    return 1.0 if rows == 0 else float(binom.cdf(wrong, rows, 1 - demand.level))


def _rows_and_wrong(counts: Counts, demand: Demand) -> tuple[int, int]:
    k, matrix = demand.position, counts.matrix
    rows = int((matrix[k] if demand.rate == "recall" else matrix[:, k]).sum())
    return rows, rows - int(matrix[k, k])


def _judged(counts: Counts, demand: Demand, parts: int) -> Guaranteed:
    """Return what the counts of one of so many parts of the rows say of a demand."""
    rows, wrong = _rows_and_wrong(counts, demand)
    allowed = misses_allowed(rows, demand.level, demand.confidence)
    given = wrong <= allowed
    level = held_level(rows, wrong, demand.confidence)
    if (
        parts == 1 and wrong
    ):  # as many have no vote for the class: that number, and the flips of the others, have half the risk each
        half = (1 + demand.confidence) / 2
        level = held_level(rows, wrong, half) * held_level(rows - wrong, 0, half)
    needed = rows_needed(wrong / max(rows, 1), demand.level, demand.confidence, beyond=rows)
    return Guaranteed(
        label=counts.classes[demand.position],
        rate=demand.rate,
        asked=demand.level,
        confidence=demand.confidence,
        rows=rows,
        allowed=allowed,
        wrong=wrong,
        level=demand.level if given else level,
        rows_missing=0 if given else None if needed is None else parts * (needed - rows),
    )


def _price(before: Counts, after: Counts) -> tuple[Price, ...]:
    rates = [recall(outcomes(before)), recall(outcomes(after)), precision(outcomes(before)), precision(outcomes(after))]
    return tuple(
        Price(label=label, recall_before=a, recall_after=b, precision_before=c, precision_after=d)
        for label, a, b, c, d in zip(before.classes, *(part.tolist() for part in rates), strict=True)
    )
