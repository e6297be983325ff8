"""The evaluation of predicted numbers: from rows, or sums of errors, to every number of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import Result, columns_of
from compromis._text import WIDTH, Table, shown, shown_label
from compromis._typing import Floats
from compromis.errors import InputError
from compromis.evaluation.text import error_lines, section, valued
from compromis.evidence.readers import read_weights
from compromis.evidence.residuals import ErrorSums, Residuals, Tolerance, check_same_targets, mean_of, read_targets
from compromis.regression import error_measures as errors
from compromis.regression.error_measures import RegressionIntervals, RegressionVerdict
from compromis.uncertainty.intervals import read_confidence


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSummary:
    """What predictions without a model reach on the same rows, and the model relative to them."""

    name: str
    root_mean_squared_error: float
    mean_absolute_error: float
    relative_absolute_error: float
    root_relative_squared_error: float
    r2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number of the report, with its interval where there is one."""

    name: str
    value: float
    low: float | None
    high: float | None
    additive: bool
    """Whether it follows from sums over rows, so that it can be had from parts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressionEvaluation(Result):
    """The evaluation of predicted numbers, made by `compromis.regression.evaluate`.

    ``str(evaluation)`` is the report in Weka's layout for numeric classes, followed by the further errors.
    """

    sums: ErrorSums
    """The sums of errors; its first baseline is the reference of the relative errors."""
    quantiles: Mapping[float, float]
    """The absolute error that each share of the rows does not exceed; empty where only sums are known."""
    pinball: tuple[float, float]
    """The weights of under- and of over-prediction."""
    intervals: RegressionIntervals | None = None
    """Lower and upper bounds."""
    notes: tuple[str, ...] = ()
    """What is undefined and why, and what a number is relative to."""

    schema = "compromis/regression"

    @cached_property
    def summary(self) -> RegressionSummary:
        """The numbers of the whole."""
        measures = errors.reference_measures(self.sums, *self.pinball)
        numbers = {name: float(value) for name, value in measures.items()}
        return RegressionSummary(rows=self.sums.rows, total=float(self.sums.weight), **numbers)

    @cached_property
    def within(self) -> Mapping[str, float]:
        """The share of predictions within each tolerance, by its name: ``"1 %"`` is relative, ``"0.5"`` absolute."""
        shares = errors.share_within(self.sums).tolist()
        return MappingProxyType(dict(zip(map(str, self.sums.tolerances), shares, strict=True)))

    @cached_property
    def baselines(self) -> Mapping[str, BaselineSummary]:
        """What predictions without a model reach, by name; the first is the reference."""
        sums = self.sums
        columns = {
            "root_mean_squared_error": (sums.baseline_squared / sums.weight) ** 0.5,
            "mean_absolute_error": sums.baseline_absolute / sums.weight,
            "relative_absolute_error": errors.relative_absolute_error(sums),
            "root_relative_squared_error": np.sqrt(errors.relative_squared_error(sums)),
            "r2": errors.r2(sums),
        }
        return MappingProxyType(
            {
                name: BaselineSummary(name=name, **{key: float(column[k]) for key, column in columns.items()})
                for k, name in enumerate(sums.baselines)
            }
        )

    @cached_property
    def verdict(self) -> RegressionVerdict:
        """Whether the predictions are better than those without a model."""
        return errors.judge_predictions(self.sums)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Every number with its interval, in the order of the report."""
        bounds = {} if self.intervals is None else self.intervals.measures
        numbers = asdict(self.summary)
        del numbers["rows"], numbers["total"]
        numbers |= zip(errors.within_names(self.within), self.within.values(), strict=True)
        quantiles = dict(zip(errors.quantile_names(self.quantiles), self.quantiles.values(), strict=True))
        against = dict(zip(errors.r2_names(self.sums), errors.r2(self.sums)[1:].tolist(), strict=True))
        measures = []
        for name, value in (numbers | quantiles | against).items():
            low, high = bounds.get(name, (None, None))
            measures.append(Measure(name=name, value=value, low=low, high=high, additive=name not in quantiles))
        return tuple(measures)

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per number: name, value, bounds, and whether it adds up."""
        return columns_of(self.measures, Measure)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        intervals, (under, over) = self.intervals, self.pinball
        return {
            **self.heading(),
            "summary": asdict(self.summary),
            "pinball": {"under_weight": under, "over_weight": over},
            "within": [
                {"tolerance": tolerance.width, "relative": tolerance.relative, "share": share}
                for tolerance, share in zip(self.sums.tolerances, self.within.values(), strict=True)
            ],
            "quantiles": [{"share": share, "absolute_error": error} for share, error in self.quantiles.items()],
            "baselines": [asdict(baseline) for baseline in self.baselines.values()],
            "confidence": None if intervals is None else intervals.confidence,
            "measures": [asdict(measure) for measure in self.measures],
            "verdict": {**asdict(self.verdict), "sentence": self.verdict.sentence},
            "notes": list(self.notes),
        }

    def sentences(self) -> list[str]:
        """Return the verdict, then the notes."""
        return [self.verdict.sentence, *self.notes]

    def tables(self) -> list[Table]:
        """Return every number with its interval, and the baselines."""
        header, measures = ["Measure", "Value"], []
        if self.intervals is not None:
            header.append(f"{100 * self.intervals.confidence:g} % interval")
        for row in self.measures:
            interval = [] if self.intervals is None else [f"{_number(row.low)} to {_number(row.high)}"]
            measures.append([row.name.replace("_", " "), _number(row.value), *interval])
        baselines = [
            [row.name, *map(_number, (row.root_mean_squared_error, row.mean_absolute_error, row.r2))]
            for row in self.baselines.values()
        ]
        return [
            Table(f"Errors on {self.summary.rows:,} rows", header, measures),
            Table("Against predictions without a model", ["Baseline", "RMSE", "MAE", "R2 against it"], baselines),
        ]

    def to_text(self, *, width: int = WIDTH, colour: bool = False) -> str:  # noqa: ARG002
        """Return Weka's layout for numeric classes, whose lines have its widths."""
        summary = [valued("Correlation coefficient", self.summary.correlation), *error_lines(self.summary)]
        sections = [section("Summary", summary), _further(self), _baselines(self)]
        if self.intervals is not None:
            sections.append(_intervals(self, self.intervals.confidence))
        if self.notes:
            sections.append("\n".join(f"Note: {note}." for note in self.notes) + "\n")
        return "\n".join(sections)

    def __repr__(self) -> str:
        return f"<RegressionEvaluation of {self.sums.rows:,} rows, root mean squared error {self.summary.root_mean_squared_error:.4g}>"


def _number(value: float | None) -> str:
    return "?" if value is None or math.isnan(value) else f"{value:.5g}"


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    *,
    baseline: float | ArrayLike | Mapping[str, float | ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    y_train: float | ArrayLike | None = None,
    tolerance: float | Sequence[float] = (),
    relative_tolerance: float | Sequence[float] = (0.001, 0.01, 0.1),
    quantiles: Sequence[float] = (0.5, 0.9),
    under_weight: float = 0.5,
    over_weight: float = 0.5,
    confidence: float | None = None,
    random_state: int | None = 0,
) -> RegressionEvaluation:
    """Evaluate predicted numbers against the truth.

    Parameters
    ----------
    y_true, y_pred : list, array or series of numbers
        True and predicted values; or `ErrorSums` alone, added up over parts, which have no quantiles.
    baseline : number, array-like or mapping of name to these, optional
        Predictions without a model to compare with: a constant, or one number per row.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    y_train : array-like or number, optional
        The targets of the TRAINING rows, or their mean, which the relative errors and R2 are relative to.
        Without it: the mean of the evaluated rows, which no model could have known; the report says so.
    tolerance, relative_tolerance : number or sequence
        How far a prediction may be off and still count as right: in the unit of the target, or as a share of the true value.
    quantiles : sequence
        The shares of the rows whose largest absolute error is wanted.
    under_weight, over_weight : float
        What a unit of under- and of over-prediction costs in the pinball error.
    confidence : float, optional
        The level of intervals, for example 0.95; without it there are none.
    random_state : int, optional
        The seed of the bootstrap; None draws differently each time.

    Returns
    -------
    RegressionEvaluation
        ``str()`` is the report; ``.summary``, ``.baselines``, ``.within``, ``.quantiles``, ``.verdict``, ``.to_frame()``, ``.to_json()``.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.regression.evaluate([3.0, 5.0, 8.0], [2.5, 5.0, 8.5], y_train=[1.0, 4.0, 7.0])
    >>> round(result.summary.root_mean_squared_error, 4), round(result.summary.r2, 4)
    (0.4082, 0.9722)
    >>> print(str(result.verdict).partition(" of ")[0])
    better than no model: the root mean squared error 0.4082 is 83 % below the 2.449

    Sums of errors add up over parts:

    >>> parts = [cp.regression.evaluate(t, p, y_train=4.0).sums for t, p in (([3.0, 5.0], [2.5, 5.0]), ([8.0], [8.5]))]
    >>> round(cp.regression.evaluate(parts[0] + parts[1]).summary.r2, 4)
    0.9722
    """
    pinball = errors.read_pinball(under_weight, over_weight)
    if isinstance(y_true, ErrorSums):
        return _evaluate_sums(y_true, pinball)
    truth, prediction = read_targets(y_true, "y_true"), read_targets(y_pred, "y_pred")
    check_same_targets(y_true, y_pred, truth, prediction)
    weight = read_weights(sample_weight, len(truth))
    baselines = _reference(truth, weight, y_train) | _read_baselines(baseline, y_true, truth)
    tolerances = _read_tolerances(tolerance, relative=False) + _read_tolerances(relative_tolerance, relative=True)
    shares = _read_shares(quantiles)
    level = None if confidence is None else read_confidence(confidence)
    rows = Residuals(truth=truth, prediction=prediction, weight=weight, baselines=baselines, tolerances=tolerances)
    sums = rows.sums()
    intervals = None
    if level is not None:
        rng = np.random.default_rng(random_state)
        intervals = errors.regression_intervals(rows, shares, pinball, level, rng)
    sizes = errors.quantile_absolute_error(rows, np.array(shares)).tolist()
    notes = _undefined(sums, _negative(rows)) + (() if y_train is not None else (_NO_TRAINING,))
    return RegressionEvaluation(
        sums=sums, quantiles=dict(zip(shares, sizes, strict=True)), pinball=pinball, intervals=intervals, notes=notes
    )


def _evaluate_sums(sums: ErrorSums, pinball: tuple[float, float]) -> RegressionEvaluation:
    negative = "a value is negative" if np.isnan(sums.squared_log) else None
    notes = (*_undefined(sums, negative), "medians and other quantiles do not add up, so there are none")
    return RegressionEvaluation(sums=sums, quantiles={}, pinball=pinball, notes=notes)


_NO_TRAINING = "relative errors and R2 are relative to the mean of these rows; give the training targets for theirs"


def _reference(truth: Floats, weight: Floats | None, y_train: Any) -> dict[str, float | Floats]:
    if y_train is None:
        mean, what = mean_of(truth, weight), "these targets"
    else:
        targets = read_targets([y_train] if np.ndim(y_train) == 0 else y_train, "y_train")
        if len(targets) == 0:
            raise InputError("y_train is empty; pass the targets of the training rows, or their mean")
        mean, what = mean_of(targets), "the training targets"
    return {f"always predicting {mean:.4g} (the mean of {what})": mean}


def _read_baselines(baseline: Any, y_true: Any, truth: Floats) -> dict[str, float | Floats]:
    if baseline is None:
        return {}
    if not isinstance(baseline, Mapping):
        baseline = {"the baseline" if np.ndim(baseline) else f"always predicting {baseline}": baseline}
    return {str(name): _read_baseline(str(name), values, y_true, truth) for name, values in baseline.items()}


def _read_baseline(name: str, values: Any, y_true: Any, truth: Floats) -> float | Floats:
    called = f"the baseline {name!r}"
    if np.ndim(values) == 0:
        return float(read_targets([values], called)[0])
    predictions = read_targets(values, called)
    check_same_targets(y_true, values, truth, predictions, called)
    return predictions


def _read_tolerances(widths: float | Sequence[float], *, relative: bool) -> tuple[Tolerance, ...]:
    name = "relative_tolerance" if relative else "tolerance"
    numbers = read_targets([widths] if np.ndim(widths) == 0 else widths, name)
    if (numbers < 0).any():
        raise InputError(f"{name} is a width of at least 0, got {numbers.min():g}")
    return tuple(Tolerance(width, relative) for width in dict.fromkeys(numbers.tolist()))


def _read_shares(quantiles: Sequence[float]) -> tuple[float, ...]:
    shares = read_targets(quantiles, "quantiles")
    if ((shares <= 0) | (shares > 1)).any():
        raise InputError(
            f"quantiles are shares above 0 and at most 1, got {shown(shares.tolist())}; for 90 % write 0.9"
        )
    return tuple(dict.fromkeys(shares.tolist()))


def _negative(rows: Residuals) -> str | None:
    """Name the first negative value, which leaves the logarithmic error undefined."""
    for name, values in (("y_true", rows.truth), ("y_pred", rows.prediction)):
        wrong = (values < 0) & rows.counts
        if wrong.any():
            row = int(wrong.argmax())
            return f"{name} has {int(wrong.sum()):,} negative values (the first, {values[row]:g}, in row {row})"
    return None


def _undefined(sums: ErrorSums, negative: str | None) -> tuple[str, ...]:
    notes = []
    if negative is not None:
        notes.append(f"the root mean squared log error is undefined: {negative}; it is for values of at least 0")
    for name, gain in zip(sums.baselines, errors.r2(sums), strict=True):
        if np.isnan(gain):
            notes.append(
                f"R2 and the relative errors against {name} are undefined: the targets are constant and equal to it; give another baseline"
            )
    if np.isnan(errors.correlation(sums)):
        notes.append("the correlation coefficient is undefined: the targets or the predictions are constant")
    return tuple(notes)


def _further(evaluation: RegressionEvaluation) -> str:
    numbers, (under, over) = evaluation.summary, evaluation.pinball
    lines = [
        valued("R2", numbers.r2),
        valued("Mean squared error", numbers.mean_squared_error),
        valued("Root mean squared log error", numbers.root_mean_squared_log_error),
        valued("Mean error (bias)", numbers.mean_error),
        valued(f"Pinball (under {under:g}, over {over:g})", numbers.pinball_error),
    ]
    lines += [valued(f"Within {name}", 100 * share, " % of the rows") for name, share in evaluation.within.items()]
    lines += [
        valued("Median absolute error" if share == 0.5 else f"{100 * share:g} % of absolute errors up to", error)
        for share, error in evaluation.quantiles.items()
    ]
    return section("Further Errors", lines)


def _baselines(evaluation: RegressionEvaluation) -> str:
    lines = ["       RMSE        MAE       R2  Baseline"]
    for row in evaluation.baselines.values():
        gain = "?" if math.isnan(row.r2) else f"{row.r2:.4f}"
        name = shown_label(row.name)
        lines.append(f"{row.root_mean_squared_error:11.5g}{row.mean_absolute_error:11.5g}{gain:>9}  {name}")
    lines += ["", f"Verdict: {shown_label(evaluation.verdict.sentence)}."]
    return section("Against Predictions Without A Model", lines)


def _intervals(evaluation: RegressionEvaluation, confidence: float) -> str:
    lines = [
        f"{shown_label(row.name.replace('_', ' ')):<45}{row.low:11.5g} to {row.high:<11.5g}".rstrip()
        for row in evaluation.measures
        if row.low is not None and not math.isnan(row.low)
    ]
    return section(f"{100 * confidence:g} % Intervals", lines)
