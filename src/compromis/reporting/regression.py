"""The evaluation of predicted numbers: sums of errors in, every number of the report out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from compromis.evidence.residuals import ErrorSums
from compromis.measures import regression
from compromis.measures.naive_prediction import RegressionVerdict, judge_predictions
from compromis.uncertainty.regression import Bounds, RegressionIntervals


@dataclass(frozen=True, slots=True)
class RegressionSummary:
    """The numbers of the whole; NaN where a number is undefined. Relative errors are against the reference."""

    rows: int
    total: float
    """The sum of the weights; the number of rows where there are none."""
    mean_error: float
    mean_squared_error: float
    root_mean_squared_error: float
    mean_absolute_error: float
    root_mean_squared_log_error: float
    relative_squared_error: float
    relative_absolute_error: float
    root_relative_squared_error: float
    r2: float
    pinball_error: float
    correlation: float


@dataclass(frozen=True, slots=True)
class BaselineSummary:
    """What predictions without a model reach on the same rows, and the model relative to them."""

    name: str
    root_mean_squared_error: float
    mean_absolute_error: float
    relative_absolute_error: float
    root_relative_squared_error: float
    r2: float


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of the report, with its interval where there is one."""

    name: str
    value: float
    low: float | None
    high: float | None
    additive: bool
    """Whether it follows from sums over rows, so that it can be had from parts."""


@dataclass(frozen=True, eq=False)
class RegressionEvaluation:
    """The evaluation of predicted numbers, made by `compromis.evaluate_regression`.

    ``str(evaluation)`` is the report in Weka's layout for numeric classes, followed by the further errors.

    Attributes
    ----------
    sums : ErrorSums
        The sums of errors; its first baseline is the reference of the relative errors.
    quantiles : mapping of float to float
        The absolute error that each share of the rows does not exceed; empty where only sums are known.
    pinball : tuple of float
        The weights of under- and of over-prediction.
    intervals : RegressionIntervals or None
        Lower and upper bounds.
    notes : tuple of str
        What is undefined and why, and what a number is relative to.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate_regression([10.0, 20.0, 30.0], [12.0, 18.0, 30.0], y_train=20.0)
    >>> round(result.summary.mean_absolute_error, 3), round(result.summary.root_mean_squared_error, 3)
    (1.333, 1.633)
    """

    sums: ErrorSums
    quantiles: Mapping[float, float]
    pinball: tuple[float, float]
    intervals: RegressionIntervals | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def summary(self) -> RegressionSummary:
        """The numbers of the whole."""
        measures = regression.reference_measures(self.sums, *self.pinball)
        return RegressionSummary(
            self.sums.rows, float(self.sums.weight), **{name: float(value) for name, value in measures.items()}
        )

    @cached_property
    def within(self) -> Mapping[str, float]:
        """The share of predictions within each tolerance, by its name: ``"1 %"`` is relative, ``"0.5"`` absolute."""
        shares = regression.share_within(self.sums).tolist()
        return MappingProxyType(dict(zip(map(str, self.sums.tolerances), shares, strict=True)))

    @cached_property
    def baselines(self) -> Mapping[str, BaselineSummary]:
        """What predictions without a model reach, by name; the first is the reference."""
        sums = self.sums
        columns = (
            (sums.baseline_squared / sums.weight) ** 0.5,
            sums.baseline_absolute / sums.weight,
            regression.relative_absolute_error(sums),
            regression.root_relative_squared_error(sums),
            regression.r2(sums),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return MappingProxyType(
            {name: BaselineSummary(name, *row) for name, row in zip(sums.baselines, rows, strict=True)}
        )

    @cached_property
    def verdict(self) -> RegressionVerdict:
        """Whether the predictions are better than those without a model."""
        return judge_predictions(self.sums)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Every number with its interval, in the order of the report."""
        numbers, bounds = asdict(self.summary), self.intervals
        named = {} if bounds is None else bounds.measures
        main = [self._measure(name, numbers[name], named.get(name)) for name in list(numbers)[2:]]
        inside = _zip_bounds(self.within, None if bounds is None else bounds.within)
        spread = _zip_bounds(self.quantiles, None if bounds is None else bounds.quantiles)
        against = _zip_bounds(
            {name: one.r2 for name, one in self.baselines.items()}, None if bounds is None else bounds.r2
        )
        return (
            *main,
            *(self._measure(f"share within {name}", value, limits) for name, value, limits in inside),
            *(self._measure(_quantile_name(share), value, limits, additive=False) for share, value, limits in spread),
            *(self._measure(f"r2 against {name}", value, limits) for name, value, limits in against[1:]),
        )

    @staticmethod
    def _measure(name: str, value: float, limits: Bounds | None, *, additive: bool = True) -> Measure:
        low, high = limits or (None, None)
        return Measure(name, value, low, high, additive)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per number: name, value, bounds, and whether it adds up.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Without it: pandas if it is installed, else polars, else pyarrow.
        """
        from compromis.frames import make_frame

        rows = [asdict(one) for one in self.measures]
        return make_frame({name: [row[name] for row in rows] for name in rows[0]}, backend)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the evaluation as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        from compromis.reporting.regression_json import to_json

        return to_json(self, path)

    def __str__(self) -> str:
        from compromis.reporting.regression_text import to_text

        return to_text(self)

    def __repr__(self) -> str:
        return f"<RegressionEvaluation of {self.sums.rows:,} rows, root mean squared error {self.summary.root_mean_squared_error:.4g}>"

    def _repr_html_(self) -> str:
        from compromis.reporting.regression_html import to_fragment

        return to_fragment(self)


def _zip_bounds(
    values: Mapping[Any, float], bounds: tuple[Bounds, ...] | None
) -> list[tuple[Any, float, Bounds | None]]:
    limits = [None] * len(values) if bounds is None else list(bounds)
    return [(name, value, limit) for (name, value), limit in zip(values.items(), limits, strict=True)]


def _quantile_name(share: float) -> str:
    return "median_absolute_error" if share == 0.5 else f"quantile {share:g} of absolute errors"
