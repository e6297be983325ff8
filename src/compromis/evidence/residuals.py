"""Numeric targets and predictions, and the additive sums of their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._text import shown
from compromis._typing import Flags, Floats, Ints
from compromis.errors import InputError
from compromis.labels import check_same_index, on_host

LARGEST = 1e150
"""The square of anything larger, summed over rows, could overflow."""


def read_targets(values: Any, name: str) -> Floats:
    """Return one finite float64 number per row; `name` is what messages call the values."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(f"{name} must be a list, array or series of numbers, got {type(values).__name__}")
    targets = _as_floats(values, name)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise InputError(
            f"{name} must hold one number per row, got shape {targets.shape}; evaluate each output of a model by itself"
        )
    _refuse_unusable(targets, name)
    return targets


def check_same_targets(y_true: Any, y_pred: Any, truth: Floats, prediction: Floats, name: str = "y_pred") -> None:
    """Refuse targets and predictions of different rows, or of none."""
    if len(truth) != len(prediction):
        raise InputError(
            f"y_true has {len(truth):,} rows, {name} has {len(prediction):,}; they must describe the same rows"
        )
    if len(truth) == 0:
        raise InputError(f"y_true and {name} are empty; there is nothing to evaluate")
    check_same_index(y_true, y_pred, "y_true", name)


def mean_of(targets: Floats, weight: Floats | None = None) -> float:
    """Return the mean, exactly the value itself where all are equal: deviations from a constant must be 0, not rounding."""
    return float(targets[0] + np.average(targets - targets[0], weights=weight))


def _as_floats(values: Any, name: str) -> Floats:
    try:
        array = np.asarray(on_host(values))
        no_numbers = array.dtype.kind in "bcmMSU" or (
            array.dtype == object and any(isinstance(value, (str, bool)) for value in array.flat)
        )
        floats = None if no_numbers else np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, one per row; found something else") from None
    if floats is None:
        raise InputError(f"{name} must hold numbers, found {_kind(array)}; convert the values first")
    return floats


def _kind(array: NDArray[Any]) -> str:
    words = {"b": "true and false", "c": "complex numbers", "m": "durations", "M": "dates"}
    return words.get(array.dtype.kind, "text")


def _refuse_unusable(targets: Floats, name: str) -> None:
    wrong = ~np.isfinite(targets)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} must be finite, got {targets[row]} in row {row}, counting from 0 ({int(wrong.sum()):,} such values); drop those rows",
            parameter=name,
        )
    wrong = np.abs(targets) > LARGEST
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} has {targets[row]:g} in row {row}, whose square cannot be summed; "
            f"change the unit so that no value exceeds {LARGEST:g}",
            parameter=name,
        )


Sum = Any
"""A number; or an array of numbers, one per bootstrap replicate."""

CHUNK = 1 << 16
"""Rows whose terms are formed together: they take many times the memory of the rows."""

SCALARS = (
    "weight",
    "over",
    "under",
    "squared",
    "squared_log",
    "true",
    "predicted",
    "true_squared",
    "predicted_squared",
    "product",
)
"""The terms of a row that are single numbers, in the order of their columns."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a prediction may be off and still count as right."""

    width: float
    relative: bool
    """Whether `width` is a share of the true value."""

    def __str__(self) -> str:
        return f"{100 * self.width:g} %" if self.relative else f"{self.width:g}"

    def holds(self, truth: Floats, prediction: Floats) -> Flags:
        """Return which predictions are near enough; a decimal on the very border counts as inside, whatever its rounding."""
        magnitude = np.abs(truth)
        border = self.width * magnitude if self.relative else np.full(len(truth), self.width)
        rounding = 4 * np.finfo(np.float64).eps * np.maximum(magnitude, np.abs(prediction))
        near: Flags = np.abs(prediction - truth) <= border + rounding
        return near


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Residuals:
    """Rows of true and predicted numbers, with naive predictions of the same rows. Rows do not add up; `sums` does."""

    truth: Floats
    prediction: Floats
    weight: Floats | None = None
    baselines: Mapping[str, float | Floats] = field(default_factory=dict)
    """A constant or one number per row, by name."""
    tolerances: tuple[Tolerance, ...] = ()

    @property
    def error(self) -> Floats:
        """Predicted minus true: above 0 is over-prediction."""
        return self.prediction - self.truth

    @property
    def counts(self) -> Flags:
        """Which rows weigh anything."""
        return np.ones(len(self.truth), dtype=bool) if self.weight is None else self.weight > 0

    @property
    def origin(self) -> tuple[float, float]:
        """The means: moments are formed about them, so that they do not cancel far from 0."""
        return mean_of(self.truth, self.weight), mean_of(self.prediction, self.weight)

    def take(self, rows: slice | Ints) -> Residuals:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        naive = {name: part if isinstance(part, float) else part[rows] for name, part in self.baselines.items()}
        return replace(self, truth=self.truth[rows], prediction=self.prediction[rows], weight=weight, baselines=naive)

    def terms(self, origin: tuple[float, float]) -> Floats:
        """Return what each row adds to the sums: `SCALARS`, then tolerances, then absolute and squared errors of the baselines."""
        error, weight = self.error, np.ones(len(self.truth)) if self.weight is None else self.weight
        true, predicted = self.truth - origin[0], self.prediction - origin[1]
        naive = [np.abs(self.truth - prediction) for prediction in self.baselines.values()]
        columns = [
            np.ones_like(error),
            np.maximum(error, 0.0),
            np.maximum(-error, 0.0),
            error**2,
            self._squared_log(),
            true,
            predicted,
            true**2,
            predicted**2,
            true * predicted,
            *(tolerance.holds(self.truth, self.prediction) for tolerance in self.tolerances),
            *naive,
            *(error**2 for error in naive),
        ]
        return np.column_stack(columns) * weight[:, np.newaxis]

    def sums(self) -> ErrorSums:
        """Return the additive evidence."""
        origin, starts = self.origin, range(0, len(self.truth), CHUNK)
        parts = [self.take(slice(start, start + CHUNK)).terms(origin).sum(axis=0) for start in starts]
        return ErrorSums.from_terms(np.sum(parts, axis=0), origin, self)

    def _squared_log(self) -> Floats:
        negative = np.minimum(self.truth, self.prediction) < 0
        true, predicted = (np.log1p(np.where(negative, 0.0, part)) for part in (self.truth, self.prediction))
        return np.where(negative & self.counts, np.nan, (predicted - true) ** 2)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ErrorSums:
    """Weighted sums over rows of the errors of predictions and of baselines; they add up with ``+``.

    Notes
    -----
    Every sum may be an array with one value per bootstrap replicate; measures do not care.

    Examples
    --------
    >>> import compromis as cp
    >>> first = cp.regression.evaluate([1.0, 2.0], [1.5, 2.0], y_train=2.0).sums
    >>> second = cp.regression.evaluate([4.0], [3.0], y_train=2.0).sums
    >>> both = first + second
    >>> both.rows, float(both.over), float(both.under), float(both.squared)
    (3, 0.5, 1.0, 1.25)
    """

    rows: int
    """The number of rows."""
    weight: Sum
    """The sum of the weights; the number of rows where there are none."""
    over: Sum
    under: Sum
    """How much predictions lie above, and below, the truth."""
    squared: Sum
    squared_log: Sum
    """Squared errors, and those of log(1 + value); the latter is NaN where a value is negative."""
    true: Sum
    predicted: Sum
    true_squared: Sum
    predicted_squared: Sum
    product: Sum
    """Moments of truth and prediction about `origin`."""
    within: Floats
    """The weight of the rows within each of the `tolerances`."""
    baseline_absolute: Floats
    baseline_squared: Floats
    """Absolute and squared errors of each of the `baselines`."""
    origin: tuple[float, float]
    tolerances: tuple[Tolerance, ...]
    baselines: tuple[str, ...]

    @classmethod
    def from_terms(cls, sums: Floats, origin: tuple[float, float], like: Residuals) -> ErrorSums:
        """Name the sums of `Residuals.terms`, which stand along the last axis."""
        scalars = {name: sums[..., column] for column, name in enumerate(SCALARS)}
        cuts = np.cumsum([len(SCALARS), len(like.tolerances), len(like.baselines)])
        within, absolute, squared = np.split(sums, cuts, axis=-1)[1:]
        return cls(
            rows=len(like.truth),
            **scalars,
            within=within,
            baseline_absolute=absolute,
            baseline_squared=squared,
            origin=origin,
            tolerances=like.tolerances,
            baselines=tuple(like.baselines),
        )

    def __add__(self, other: ErrorSums) -> ErrorSums:
        if not isinstance(other, ErrorSums):
            return NotImplemented
        if (self.baselines, self.tolerances) != (other.baselines, other.tolerances):
            ours, theirs = (shown([*part.baselines, *map(str, part.tolerances)]) for part in (self, other))
            raise InputError(
                f"sums of errors add up only for the same baselines and tolerances, got {ours} and {theirs}"
            )
        moved = other.about(self.origin)
        added = [*SCALARS, "within", "baseline_absolute", "baseline_squared"]
        together = {name: getattr(self, name) + getattr(moved, name) for name in added}
        return replace(self, rows=self.rows + other.rows, **together)

    def about(self, origin: tuple[float, float]) -> ErrorSums:
        """Return the same sums with the moments formed about another origin."""
        y, p = self.origin[0] - origin[0], self.origin[1] - origin[1]
        return replace(
            self,
            origin=origin,
            true=self.true + y * self.weight,
            predicted=self.predicted + p * self.weight,
            true_squared=self.true_squared + 2 * y * self.true + y * y * self.weight,
            predicted_squared=self.predicted_squared + 2 * p * self.predicted + p * p * self.weight,
            product=self.product + p * self.true + y * self.predicted + y * p * self.weight,
        )
