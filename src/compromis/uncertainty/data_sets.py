"""Several models on several data sets: Friedman's test, and Nemenyi's for every pair of models (Demsar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from compromis._typing import Floats
from compromis.errors import InputError
from compromis.uncertainty.intervals import Interval, read_confidence, student_interval


@dataclass(frozen=True, eq=False, kw_only=True)
class DataSetComparison:
    """Models ranked over data sets, by `compare_over_data_sets`; ``str()`` is the report."""

    models: tuple[str, ...]
    """The models, best mean rank first."""
    mean_ranks: Floats
    """Their mean ranks; 1 is best, ties share the mean of their ranks."""
    statistic: float
    p_value: float
    """Friedman's chi-square and its p-value."""
    f_statistic: float
    f_p_value: float
    """Iman and Davenport's F, less conservative, and its p-value."""
    critical_difference: float
    """Mean ranks that differ by less are not told apart (Nemenyi)."""
    pairs: tuple[ModelPair, ...]
    """Every pair of models, the better one first."""
    confidence: float
    """1 minus the level of the tests."""
    data_sets: int
    """The number of data sets."""

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest groups of models whose mean ranks differ by less than the critical difference."""
        ends = np.searchsorted(self.mean_ranks, self.mean_ranks + self.critical_difference, side="left")
        spans = [(start, int(end)) for start, end in enumerate(ends) if end - start > 1]
        largest = [span for before, span in zip([(0, 0), *spans], spans, strict=False) if span[1] > before[1]]
        return tuple(self.models[start:end] for start, end in largest)

    @cached_property
    def sentence(self) -> str:
        """The verdict in words."""
        tested = f"over {self.data_sets} data sets (Friedman p = {self.p_value:.3g}"
        if not self.p_value < 1 - self.confidence:
            return f"the {len(self.models)} models are not told apart {tested})"
        best = self.models[0]
        worse = [repr(pair.worse) for pair in self.pairs if pair.better == best and pair.apart]
        apart = f"; it is told apart from {', '.join(worse)}" if worse else ", but no other model is told apart from it"
        return f"{best!r} ranks first {tested}, critical difference {self.critical_difference:.2f}){apart}"

    def __str__(self) -> str:
        width = max(len(name) for name in self.models)
        lines = [f"{'Model':<{width}}  Mean rank"]
        lines += [f"{name:<{width}}  {rank:9.3f}" for name, rank in zip(self.models, self.mean_ranks, strict=True)]
        lines += ["", *(str(pair) for pair in self.pairs), "", f"Verdict: {self.sentence}."]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPair:
    """Two models over data sets: the differences of their mean ranks and of their values."""

    better: str
    worse: str
    rank_difference: float
    p_value: float
    """Nemenyi's, adjusted for all pairs."""
    apart: bool
    """Whether the ranks differ by at least the critical difference."""
    difference: Interval
    """The mean of better minus worse over data sets, with the interval of Student's t."""

    def __str__(self) -> str:
        told = "told apart" if self.apart else "not told apart"
        return (
            f"{self.better!r} against {self.worse!r}: {told} (p = {self.p_value:.3g}); mean difference "
            f"{self.difference.value:+.4f} ({self.difference.low:+.4f} to {self.difference.high:+.4f})"
        )


def compare_over_data_sets(
    values: Mapping[str, Sequence[float]], *, lower_is_better: bool = True, confidence: float = 0.95
) -> DataSetComparison:
    """Compare models by their values on several data sets.

    Parameters
    ----------
    values : mapping of model to sequence of float
        One value per data set, in the same order for every model; losses, or anything else.
    lower_is_better : bool
        True for losses.
    confidence : float
        1 minus the level of the tests.

    Notes
    -----
    Friedman's chi-square is corrected for ties. Nemenyi: q sqrt(k (k + 1) / (6 N)), q the quantile of the studentised range for k models
    and infinite degrees of freedom over sqrt(2).

    Examples
    --------
    >>> import compromis as cp
    >>> losses = {"forest": [0.10, 0.21, 0.30, 0.12, 0.05], "tree": [0.20, 0.25, 0.38, 0.22, 0.11], "naive": [0.5, 0.4, 0.6, 0.5, 0.3]}
    >>> result = cp.uncertainty.compare_over_data_sets(losses)
    >>> result.models
    ('forest', 'tree', 'naive')
    >>> round(result.critical_difference, 3)
    1.482
    >>> print(result.pairs[0])
    'forest' against 'tree': not told apart (p = 0.254); mean difference -0.0760 (-0.1084 to -0.0436)
    """
    from scipy.stats import rankdata, studentized_range

    level, table = read_confidence(confidence), _read_values(values)
    names = list(values)
    ranks = np.asarray(rankdata(table if lower_is_better else -table, axis=1), dtype=np.float64)
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    critical = critical_difference(len(names), len(table), level)
    statistic, p_value, f_statistic, f_p_value = _friedman(ranks)
    scale = math.sqrt(len(names) * (len(names) + 1) / (12 * len(table)))
    pairs = []
    for better, worse in combinations(order.tolist(), 2):
        apart = float(means[worse] - means[better])
        pairs.append(
            ModelPair(
                better=names[better],
                worse=names[worse],
                rank_difference=apart,
                p_value=float(studentized_range.sf(apart / scale, len(names), np.inf)),
                apart=apart >= critical,
                difference=student_interval(table[:, better] - table[:, worse], level),
            )
        )
    return DataSetComparison(
        models=tuple(names[k] for k in order),
        mean_ranks=means[order],
        statistic=statistic,
        p_value=p_value,
        f_statistic=f_statistic,
        f_p_value=f_p_value,
        critical_difference=critical,
        pairs=tuple(pairs),
        confidence=level,
        data_sets=len(table),
    )


def critical_difference(models: int, data_sets: int, confidence: float = 0.95) -> float:
    """Return by how much mean ranks must differ to be told apart (Nemenyi)."""
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(confidence, models, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(models * (models + 1) / (6 * data_sets))


def _read_values(values: Mapping[str, Any]) -> Floats:
    if len(values) < 2:
        raise InputError(f"there is nothing to compare: give at least two models, got {len(values)}")
    lengths = {name: len(column) for name, column in values.items()}
    first, expected = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != expected:
            raise InputError(
                f"{name!r} has values on {length} data sets, {first!r} on {expected}; compare models on the same data sets"
            )
    if expected < 2:
        raise InputError(f"comparing over data sets needs at least two of them, got {expected}")
    table = np.column_stack([np.asarray(column, dtype=np.float64) for column in values.values()])
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"{list(values)[column]!r} has no finite value on data set {row}; leave that data set out")
    return table


def _friedman(ranks: Floats) -> tuple[float, float, float, float]:
    from scipy.stats import chi2, f

    sets, models = ranks.shape
    between = sets * float(((ranks.mean(axis=0) - (models + 1) / 2) ** 2).sum())
    within = float(((ranks - (models + 1) / 2) ** 2).sum()) / (sets * (models - 1))
    if within == 0:  # every model ties with every other on every data set
        return 0.0, 1.0, 0.0, 1.0
    statistic = between / within
    rest = sets * (models - 1) - statistic
    f_statistic = (sets - 1) * statistic / rest if rest > 1e-9 else math.inf
    free = (models - 1, (models - 1) * (sets - 1))
    return statistic, float(chi2.sf(statistic, models - 1)), f_statistic, float(f.sf(f_statistic, *free))
