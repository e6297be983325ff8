"""Guarantees: what holds on new rows with a stated confidence, by exact binomial bounds; `guarded` finds the weights."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from compromis._results import Result, columns_of
from compromis._text import Table, count, fixed
from compromis._typing import Label
from compromis.errors import GuaranteeWarning
from compromis.evidence.counts import Counts
from compromis.measures.rates import outcomes, precision, recall, rows_and_wrong
from compromis.preferences import PreferenceArrays, Preferences

_ROUNDING = 1e-11
"""Relative: shares nearer than this are one."""
CALIBRATIONS = {
    "given": "exact for votes of a model that has not seen these rows",
    "held-out": "exact: the model has not seen these rows",
    "out-of-bag": "measured, not proven: out-of-bag votes come from fewer trees than those of new rows",
    "out-of-fold": "measured, not proven: out-of-fold votes come from other fits than those of new rows",
}
"""Where the votes of the calibration rows come from, and what that makes of the confidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guaranteed:
    """One constraint, and what the calibration rows say of it."""

    label: Label
    rate: str
    """recall or precision."""
    asked: float
    confidence: float
    """How surely it holds, in every group where there are groups."""
    rows: int
    """The calibration rows it rests on: of the class for recall, predicted as the class for precision."""
    allowed: int
    """So many of them may be wrong; -1 where even none would be too many."""
    wrong: int
    """So many are."""
    level: float
    """What holds with the confidence: what was asked for, else the largest level that these rows give."""
    most: float
    """The largest level that so many rows can give: without one that is wrong."""
    rows_missing: int | None
    """How many more such rows would do if as large a part of them is wrong, both halves of a path counted; None where no number
    would."""
    group: Label | None = None
    """The group that it is of, where the constraint must hold in each."""

    @property
    def given(self) -> bool:
        """Whether the constraint holds with its confidence."""
        return self.level >= self.asked

    def __str__(self) -> str:
        where = "new rows" if self.group is None else f"new rows of group {self.group!r}"
        asked = f"{self.rate} of {self.label!r} at least {self.asked:g} on {where}, with a confidence of {100 * self.confidence:g} %"
        of = "of the class" if self.rate == "recall" else "predicted as it"
        if self.given:
            rows = f"row {of} is" if self.rows == 1 else f"rows {of} are"
            wrong = f"{count(self.wrong)} of {count(self.rows)} {rows} wrong, {count(self.allowed)} may be"
            return f"{asked}: {wrong}; with none wrong they would give {self.most:.3f}"
        missing = (
            "with so large a part wrong no number of rows would do; ask for less, or improve the model"
            if self.rows_missing is None
            else f"label {count(self.rows_missing)} more row{'s' * (self.rows_missing != 1)} {of}, or ask for less"
        )
        rows = f"{count(self.rows)} row{'s' * (self.rows != 1)} {of} with {count(self.wrong)} wrong"
        return f"not given: {asked}; {rows} give{'s' * (self.rows == 1)} {self.level:.3f}; {missing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The rates of a class without and with the guarantee, on all rows."""

    label: Label
    recall_before: float
    recall_after: float
    precision_before: float
    precision_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The labels of a stratified sample that are a random sample of the population: rows that all had the same chance to be drawn."""

    rows: int
    of: int
    """The labels of the sample."""

    def __str__(self) -> str:
        if self.rows == 0:
            return f"none of the {count(self.of)} labels counts: strata with few or none leave no random sample of the population"
        return (
            f"rows are counted, and missing, among {count(self.rows)} of the {count(self.of)} labels: those that are a random sample of "
            f"the population"
        )


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
    recall of 'fraud' at least 0.95 on new rows, with a confidence of 95 %: 0 of 150 rows of the class are wrong, 2 may be;
    with none wrong they would give 0.980
    """

    items: tuple[Guaranteed, ...]
    price: tuple[Price, ...]
    method: str
    """order statistic, or path."""
    before: tuple[float, ...]
    """The weights without the guarantee, which the price is beside."""
    calibration: str = "given"
    """Where the votes of the rows come from: given, held-out, out-of-bag or out-of-fold."""
    half: int | None = None
    """The seed by which a path's rows were halved."""
    drawn: Drawn | None = None
    """Of a stratified sample: the labels that count."""
    left_out: int = 0
    """Rows without any vote, which nothing here speaks of: the guarantee is of new rows with votes."""
    step: float = 0.0
    """What the votes are rounded to multiples of; 0 where they are not. It holds for new rows whose votes are rounded alike."""

    schema = "compromis/guarantee"

    @property
    def given(self) -> bool:
        """Whether everything that was asked for holds."""
        return all(item.given for item in self.items)

    @property
    def exact(self) -> bool:
        """Whether the confidence is proven, not measured; rows given to a search are taken to be rows that its model has not seen."""
        return self.calibration in ("given", "held-out")

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
        return [
            *map(str, self.items),
            *self._counted(),
            f"the confidence is {CALIBRATIONS[self.calibration]}",
            *self._uncovered(),
        ]

    def doubts(self) -> list[str]:
        """Return the constraints that are not given, and what is not covered."""
        return [*(f"guarantee {item}" for item in self.items if not item.given), *self._uncovered()]

    def conditions(self) -> list[str]:
        """Return which rows are counted and how votes are rounded, where that is not said by the items."""
        return [*self._counted(), *self._rounded()]

    def _counted(self) -> list[str]:
        return [] if self.drawn is None else [str(self.drawn)]

    def _uncovered(self) -> list[str]:
        lines = []
        if self.left_out:
            rows = f"{count(self.left_out)} row{'s' * (self.left_out != 1)} without any vote"
            lines = [f"the guarantee is of rows with votes: it leaves out {rows}"]
        return [*lines, *self._rounded()]

    def _rounded(self) -> list[str]:
        votes = f"votes rounded to multiples of {self.step:.4g}"
        return [f"the guarantee is of {votes}: round those of new rows alike before they are decided"] * (self.step > 0)

    def columns(self) -> dict[str, list[Any]]:
        """Return the constraints, column by column."""
        return columns_of(self.items, Guaranteed)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        return {
            **self.heading(),
            "given": self.given,
            "method": self.method,
            "calibration": self.calibration,
            "exact": self.exact,
            "half": self.half,
            "before": list(self.before),
            "left_out": self.left_out,
            **({"step": self.step} if self.step else {}),
            **({"drawn": asdict(self.drawn)} if self.drawn else {}),
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
    parts: int = 1
    """The groups whose order statistics share the risk; the tests along a path need not share it."""
    short: float = 0.0
    """The part of the risk that a stratified sample has too few labels in some stratum."""

    @property
    def risk(self) -> float:
        """The probability with which it may fail in one group."""
        return (1 - self.confidence - self.short) / self.parts


def misses_allowed(rows: int, level: float, confidence: float) -> int:
    """Return how many of the rows may be wrong, so that a rate below `level` would give as few with 1 - confidence at most.

    Examples
    --------
    >>> [misses_allowed(rows, 0.95, 0.95) for rows in (58, 59, 93, 3000)]
    [-1, 0, 1, 130]
    """
    from scipy.stats import binom  # here and below: half of the time that the studio takes to start, and seldom needed

    if rows == 0:
        return -1
    most = int(binom.ppf(1 - confidence, rows, 1 - level)) + 1  # at the quantile the probability is already reached
    while most >= 0 and binom.cdf(most, rows, 1 - level) > 1 - confidence:
        most -= 1
    return most


def held_level(rows: int, wrong: int, confidence: float) -> float:
    """Return the largest rate that `wrong` of the rows leave sure: the lower end of Clopper and Pearson's interval."""
    from scipy.stats import beta

    return 0.0 if wrong >= rows else float(beta.ppf(1 - confidence, rows - wrong, wrong + 1))


def rows_needed(share_wrong: float, level: float, confidence: float, *, beyond: int = 0) -> int | None:
    """Return how many rows, more than `beyond`, would do if that part of them is wrong; None where no number does."""
    if share_wrong >= 1 - level:
        return None
    from scipy.stats import nbinom

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


def demands_of(arrays: PreferenceArrays, groups: int = 1) -> list[Demand]:
    """Return the constraints that are to hold with a confidence, in each of so many groups."""
    demands = [
        Demand(k, rate, least, float(arrays.confidence[k]))
        for rate, k, least in arrays.minima
        if arrays.confidence[k] > 0
    ]
    return [replace(demands[0], parts=groups)] if by_order_statistic(demands) else demands


def by_order_statistic(demands: list[Demand]) -> bool:
    """Whether one recall is asked for, which an order statistic holds; all else takes a path."""
    return len(demands) == 1 and demands[0].rate == "recall"


def warn_if_not_given(guarantee: Guarantee, weights: str = "") -> None:
    """Warn of the constraints that these rows do not give, and of rows that no guarantee covers; `weights` are of which group alone."""
    for doubt in guarantee.doubts():
        warnings.warn(f"{weights}{doubt}", GuaranteeWarning, stacklevel=_level_of_caller())


def warn_of_idle_confidence(preferences: Preferences | None, classes: Iterable[Any], without: str) -> None:
    """Warn if a minimum is to hold with a confidence where no votes are searched."""
    if preferences is not None and any(preferences.of(label).confidence for label in classes):
        warnings.warn(
            f"nothing is guaranteed: a confidence holds for weights of a search, and {without} have none; let the weights be searched, or "
            f"leave confidence out",
            GuaranteeWarning,
            stacklevel=_level_of_caller(),
        )


def _level_of_caller() -> int:
    """Return the stack level, seen from the function that warns, of the line that called the package: searches lie at several depths."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("compromis."):
        frame, level = frame.f_back, level + 1
    return level


def p_value(counts: Counts, demand: Demand) -> float:
    """Return how probable so few wrong rows are where the rate is only as large as was asked for at most."""
    from scipy.stats import binom

    rows, wrong = rows_and_wrong(counts, demand.rate, demand.position)
    return 1.0 if rows == 0 else float(binom.cdf(wrong, rows, 1 - demand.level))


def judged(counts: Counts, demand: Demand, *, halved: bool, group: Label | None = None) -> Guaranteed:
    """Return what counts of all rows, or of one half of them, say of a demand."""
    rows, wrong = rows_and_wrong(counts, demand.rate, demand.position)
    sure = 1 - demand.risk
    allowed = misses_allowed(rows, demand.level, sure)
    level = demand.level  # as it is given
    needed: int | None = rows
    if wrong > allowed:
        level = held_level(rows, wrong, sure)
        if not halved and wrong:
            # as many have no vote for the class: that number, and the flips of the others, have half the risk each
            level = held_level(rows, wrong, (1 + sure) / 2) * held_level(rows - wrong, 0, (1 + sure) / 2)
        needed = rows_needed(wrong / max(rows, 1), demand.level, sure, beyond=rows)
    return Guaranteed(
        label=counts.classes[demand.position],
        rate=demand.rate,
        asked=demand.level,
        confidence=demand.confidence,
        rows=rows,
        allowed=allowed,
        wrong=wrong,
        level=level,
        most=held_level(rows, 0, sure),
        rows_missing=None if needed is None else (1 + halved) * (needed - rows),
        group=group,
    )


def price_of(before: Counts, after: Counts) -> tuple[Price, ...]:
    """Return the rates of each class before and after."""
    rates = [recall(outcomes(before)), recall(outcomes(after)), precision(outcomes(before)), precision(outcomes(after))]
    return tuple(
        Price(label=label, recall_before=a, recall_after=b, precision_before=c, precision_after=d)
        for label, a, b, c, d in zip(before.classes, *(part.tolist() for part in rates), strict=True)
    )
