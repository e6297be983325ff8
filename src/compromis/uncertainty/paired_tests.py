"""Two models on the same rows or folds: differences with their intervals, McNemar's test, the corrected t-test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from compromis._text import unknown_name
from compromis._typing import Floats, Ints, ReadOnly
from compromis.errors import InputError
from compromis.evidence.counts import ratio
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.paired import PairedCounts
from compromis.measures.pragma import losses
from compromis.measures.rates import Cells, Outcomes, class_rates, lower_is_better, summaries
from compromis.preferences import PreferenceArrays
from compromis.uncertainty.draws import CELLS_AT_ONCE, DRAWS, PRIOR, SEED, added_columns, as_few, draw_sample, row_scale
from compromis.uncertainty.intervals import Interval, from_draws, normal_quantile, read_confidence, student_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """McNemar's test on the rows that only one of two models predicts rightly."""

    only_first: float
    only_second: float
    """The rows that only the first, only the second model predicts rightly."""
    exact: float = math.nan
    """The two-sided p-value of the binomial test; conservative. NaN where rows have weights or groups."""
    mid_p: float = math.nan
    """The same with half the probability of what was seen; closest to the nominal level (Fagerland et al. 2013)."""


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """Test whether both models are right equally often.

    Notes
    -----
    Under the hypothesis the rows that only the first predicts rightly are Binomial(n, 1/2) among the n on which exactly one is right.
    """
    from scipy.special import bdtr

    rows, fewer = only_first + only_second, min(only_first, only_second)
    upto, before = float(bdtr(fewer, rows, 0.5)), float(bdtr(fewer - 1, rows, 0.5)) if fewer else 0.0
    exact, mid_p = (min(1.0, 2 * upto), min(1.0, upto + before)) if rows else (1.0, 1.0)
    return McNemar(only_first=only_first, only_second=only_second, exact=exact, mid_p=mid_p)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A measure of two models on the same rows, and the first minus the second with its interval."""

    measure: str
    first: float
    second: float
    difference: Interval

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return not math.isnan(self.difference.value) and 0.0 not in self.difference

    def p_value(self, confidence: float) -> float:
        """Return the two-sided p-value of no difference, the interval's bound on the side of 0 taken for that of a normal distribution."""
        from scipy.special import ndtr

        value = self.difference.value
        reach = value - self.difference.low if value > 0 else self.difference.high - value
        if math.isnan(reach) or not value:
            return 1.0
        return float(2 * ndtr(-normal_quantile(confidence) * abs(value) / reach)) if reach else 0.0

    @property
    def favours_first(self) -> bool:
        """Whether the first model's value is the better one."""
        return (self.difference.value < 0) == lower_is_better(self.measure)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedComparison:
    """Two models on the same rows: every measure's difference with its interval, McNemar's test, and a verdict."""

    first: str
    second: str
    measure: str
    """The measure that decides."""
    differences: Mapping[str, Difference]
    mcnemar: McNemar
    confidence: float
    alike: bool
    """Whether the two predict every row alike."""

    @property
    def difference(self) -> Difference:
        """The difference of the measure that decides."""
        return self.differences[self.measure]

    @cached_property
    def sentence(self) -> str:
        """The verdict, with the size of the difference."""
        decisive, name = self.difference, self.measure.replace("_", " ")
        interval = decisive.difference
        if math.isnan(interval.value):
            return f"the {name} of {self.first!r} or {self.second!r} is undefined on these rows"
        if self.alike:
            return f"{self.first!r} and {self.second!r} decide every row alike ({name} {decisive.first:.4f})"
        level = f"{100 * self.confidence:g} % interval"
        if not decisive.clear:
            return (
                f"these rows do not tell {self.first!r} ({name} {decisive.first:.4f}) and {self.second!r} ({decisive.second:.4f}) "
                f"apart: difference {interval.value:+.4f} ({level} {interval.low:+.4f} to {interval.high:+.4f})"
            )
        (better, best), (worse, other) = sorted(
            [(self.first, decisive.first), (self.second, decisive.second)],
            key=lambda model: (model[0] == self.first) != decisive.favours_first,
        )
        low, high = sorted((abs(interval.low), abs(interval.high)))
        return (
            f"{better!r} ({name} {best:.4f}) is better than {worse!r} ({other:.4f}), "
            f"by {abs(interval.value):.4f} ({level} {low:.4f} to {high:.4f})"
        )

    def __str__(self) -> str:
        return self.sentence


def compare_paired(
    paired: PairedCounts,
    *,
    arrays: PreferenceArrays | None = None,
    measure: str | None = None,
    names: tuple[str, str] = ("first", "second"),
    confidence: float = 0.95,
    draws: int = DRAWS,
    random_state: int = SEED,
) -> PairedComparison:
    """Compare two models by every measure; `measure` names the one that decides: the cost, else the loss, else balanced accuracy."""
    level = read_confidence(confidence)
    observed = [_numbers(counts.matrix, arrays) for counts in (paired.first, paired.second)]
    decisive = _decisive(measure, observed[0])
    parts = [[_numbers(matrix, arrays) for matrix in pair] for pair in draw_pairs(paired, draws, random_state)]
    differences = {}
    for name in observed[0]:
        first, second = (float(numbers[name]) for numbers in observed)
        drawn = np.concatenate([part[0][name] - part[1][name] for part in parts])
        interval = from_draws(first - second, drawn, level)[0]
        differences[name] = Difference(measure=name, first=first, second=second, difference=interval)
    only_first, only_second = paired.discordant
    dependent = (
        paired.squares is not None or paired.tables is not None
    )  # neither sums of weights nor rows of a group are binomial
    untested = McNemar(only_first=only_first, only_second=only_second)
    return PairedComparison(
        first=names[0],
        second=names[1],
        measure=decisive,
        differences=ReadOnly(differences),
        mcnemar=untested if dependent else mcnemar(only_first, only_second),
        confidence=level,
        alike=bool((paired.cells[:, 1] == paired.cells[:, 2]).all()),
    )


def draw_pairs(paired: PairedCounts, draws: int, random_state: int) -> list[tuple[Floats, Floats]]:
    """Return stacks of drawn matrices of the two models, drawn together, so that what they share cancels.

    Notes
    -----
    Dirichlet draws on the cells of truth x first x second. The pseudo-rows give either model the prior of `draw_counts`: half of
    it where the two agree, half where they do not (for two classes 0.35 in each of the eight cells, near Agresti and Min's 1/2).
    Weights and groups count as in `draw_counts`: a row, and a pseudo-row, of a class weighs what its effective rows do.
    """
    rng = np.random.default_rng(random_state)
    cells, of_rows, pseudo = _cells_with_prior(paired)
    size = len(paired.classes)
    first, second = (cells[:, 0] * size + cells[:, column] for column in (1, 2))
    if paired.strata is not None:
        labelled, prior = _sample_with_prior(paired, cells, of_rows, pseudo)
        parts = draw_sample(paired.strata, labelled, prior, draws, random_state)
        return [(_margin(drawn, first, size), _margin(drawn, second, size)) for drawn in parts]
    tables = np.zeros((1 if paired.tables is None else len(paired.tables), len(cells)))
    tables[:, of_rows] = paired.counts if paired.tables is None else paired.tables
    models = [_margin(tables, index, size) for index in (first, second)]
    scale = _row_scale(paired, models)[cells[:, 0]]
    if paired.times is None and paired.squares is not None:
        scale[of_rows] = np.fmax(scale[of_rows], ratio(paired.squares, paired.counts))
    draw = (
        _drawn_rows(tables[0], scale, pseudo)
        if paired.times is None
        else _drawn_groups(tables, paired.times, scale, pseudo)
    )
    stacks = []
    at_once = max(1, CELLS_AT_ONCE // len(cells))
    for start in range(0, draws, at_once):
        drawn = draw(rng, min(at_once, draws - start))
        stacks.append((_margin(drawn, first, size), _margin(drawn, second, size)))
    return stacks


def _sample_with_prior(paired: PairedCounts, cells: Ints, of_rows: Ints, pseudo: Floats) -> tuple[Ints, Floats]:
    """Return the labelled rows of each stratum and cell, and the pseudo-rows, evenly over the strata in which a pair is predicted."""
    assert paired.tables is not None
    tables = np.zeros((len(paired.tables), len(cells)), dtype=np.int64)
    tables[:, of_rows] = paired.tables
    _, pair = np.unique(cells[:, 1] * len(paired.classes) + cells[:, 2], return_inverse=True)
    there = added_columns(tables.astype(np.float64), pair, int(pair.max()) + 1) > 0
    of_pair = there / np.maximum(there.sum(axis=0), 1)
    return tables, of_pair[:, pair] * pseudo


def _cells_with_prior(paired: PairedCounts) -> tuple[Ints, Ints, Floats]:
    """Return the cells that rows or pseudo-rows lie in, the index of each filled cell among them, and the pseudo-rows of each."""
    size = len(paired.classes)
    present = np.flatnonzero(paired.first.support > 0)
    truth, other = (grid.ravel() for grid in np.meshgrid(present, np.arange(size), indexing="ij"))
    wrong = truth != other
    truth, other = truth[wrong], other[wrong]
    right = np.stack([present] * 3, axis=1)
    mixed = [np.stack(parts, axis=1) for parts in ((truth, truth, other), (truth, other, truth), (truth, other, other))]
    prior = np.concatenate([right, *mixed])
    mass = np.full(len(prior), PRIOR / 2 / max(size - 1, 1))
    mass[: len(right)] = PRIOR / 2
    cells, index = np.unique(np.concatenate([paired.cells, prior]), axis=0, return_inverse=True)
    of_rows, of_prior = np.split(index.ravel(), [len(paired.cells)])
    pseudo = np.zeros(len(cells))
    pseudo[of_prior] = mass
    return cells, of_rows, pseudo


Draw = Callable[[np.random.Generator, int], Floats]
"""From a generator and a number of draws to rows of drawn cells."""


def _row_scale(paired: PairedCounts, models: list[Floats]) -> Floats:
    """Return the weight of an effective row of each true class; in groups the mean of what either model makes of it."""
    if paired.times is None:
        return row_scale(paired.first)[:, 0]
    grouped = zip(models, (paired.first, paired.second), strict=True)
    scales = [row_scale(GroupedCounts(tables, paired.times, counts)) for tables, counts in grouped]
    scale: Floats = np.mean(scales, axis=0)[:, 0]
    return scale


def _drawn_rows(counts: Floats, scale: Floats, pseudo: Floats) -> Draw:
    shape = counts / scale + pseudo
    return lambda rng, draws: rng.standard_gamma(shape, size=(draws, len(shape))) * scale


def _drawn_groups(tables: Floats, times: Ints, scale: Floats, pseudo: Floats) -> Draw:
    fewer = as_few(int(times.sum()))

    def draw(rng: np.random.Generator, draws: int) -> Floats:
        groups: Floats = rng.standard_gamma(times * fewer, size=(draws, len(times))) / fewer @ tables
        return groups + rng.standard_gamma(pseudo, size=groups.shape) * scale

    return draw


def _margin(drawn: Floats, index: Ints, size: int) -> Floats:
    """Add up drawn cells into the matrices of a model, whose flat cell is `index`."""
    return added_columns(drawn, index, size * size).reshape(len(drawn), size, size)


def _numbers(matrix: Cells, arrays: PreferenceArrays | None) -> dict[str, Floats]:
    cells = Outcomes(matrix)
    judged = {}
    if arrays is not None:
        judged["loss"] = losses(cells, arrays)[1].sum(axis=-1)
        if arrays.cost is not None:
            judged["average_cost"] = judged["loss"]
    return judged | summaries(cells, class_rates(cells))


def _decisive(measure: str | None, known: Mapping[str, Floats]) -> str:
    if measure is None:
        return next(name for name in ("average_cost", "loss", "balanced_accuracy") if name in known)
    if measure == "loss" and "loss" not in known:
        raise InputError("the measure 'loss' needs preferences; give preferences or choose another measure")
    if measure not in known:
        raise InputError(unknown_name("measure", measure, known))
    return measure


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldMean:
    """The mean of a number over folds, its spread, and a corrected interval."""

    mean: Interval
    deviation: float
    """The standard deviation over folds."""
    p_value: float
    """Two-sided, of the hypothesis that the mean is 0; meant for differences of two models."""
    folds: int
    """The folds in which the number is defined."""

    def __str__(self) -> str:
        return f"{self.mean}, deviation {self.deviation:.3f}"


def fold_mean(values: Sequence[float], test_share: float, *, confidence: float = 0.95) -> FoldMean:
    """Return the mean over folds with the interval of the corrected resampled t-test; folds in which `values` are NaN are left out.

    `test_share` is test rows over training rows of a fold: 1/9 in ten-fold cross-validation.

    Notes
    -----
    Nadeau and Bengio (2003): the variance of the mean of J folds is (1/J + n_test/n_train) s^2, with J - 1 degrees of freedom. The second
    term makes up for training rows that folds share; without it the t-test rejects far too often.
    """
    from scipy.stats import t

    level = read_confidence(confidence)
    if not test_share > 0:
        raise InputError(
            f"test_share is test rows over training rows, above 0, got {test_share:g}; for ten folds write 1/9"
        )
    known = np.array([value for value in values if not math.isnan(value)], dtype=np.float64)
    mean = float(known.mean()) if known.size else math.nan
    if known.size < 2:
        unknown = Interval(mean, math.nan, math.nan)
        return FoldMean(mean=unknown, deviation=math.nan, p_value=math.nan, folds=known.size)
    deviation = float(known.std(ddof=1))
    error = deviation * math.sqrt(1 / known.size + test_share)
    p_value = float(2 * t.sf(abs(mean) / error, known.size - 1)) if error > 0 else float(mean == 0)
    interval = student_interval(known, level, test_share)
    return FoldMean(mean=interval, deviation=deviation, p_value=p_value, folds=known.size)
