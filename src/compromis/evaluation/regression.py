"""Evaluate predicted numbers beside predictions that need no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._typing import Floats
from compromis.errors import InputError, shown
from compromis.evidence.residuals import ErrorSums, Residuals, Tolerance
from compromis.evidence.targets import check_same_targets, mean_of, read_targets
from compromis.evidence.weights import read_weights
from compromis.measures.regression import correlation, quantile_absolute_error, r2, read_pinball
from compromis.reporting.regression import RegressionEvaluation
from compromis.uncertainty.interval import read_confidence
from compromis.uncertainty.regression import regression_intervals


def evaluate_regression(
    y_true: Any,
    y_pred: Any,
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
        True and predicted values.
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
        What one unit of under- and of over-prediction costs in the pinball error.
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
    >>> result = cp.evaluate_regression([3.0, 5.0, 8.0], [2.5, 5.0, 8.5], y_train=[1.0, 4.0, 7.0])
    >>> round(result.summary.root_mean_squared_error, 4), round(result.summary.r2, 4)
    (0.4082, 0.9722)
    >>> print(result.verdict)
    informative: the root mean squared error 0.4082 is 83 % below the 2.449 of always predicting 4 (the mean of the training targets)
    """
    truth, prediction = read_targets(y_true, "y_true"), read_targets(y_pred, "y_pred")
    check_same_targets(y_true, y_pred, truth, prediction)
    weight = read_weights(sample_weight, len(truth))
    baselines = _reference(truth, weight, y_train) | _read_baselines(baseline, y_true, truth)
    tolerances = _read_tolerances(tolerance, relative=False) + _read_tolerances(relative_tolerance, relative=True)
    shares, pinball = _read_shares(quantiles), read_pinball(under_weight, over_weight)
    level = None if confidence is None else read_confidence(confidence)
    rows = Residuals(truth, prediction, weight, baselines, tolerances)
    sums = rows.sums()
    intervals = None
    if level is not None:
        intervals = regression_intervals(rows, shares, pinball, level, np.random.default_rng(random_state))
    sizes = quantile_absolute_error(rows, np.array(shares)).tolist()
    notes = _undefined(sums, _negative(rows)) + (() if y_train is not None else (_NO_TRAINING,))
    return RegressionEvaluation(sums, dict(zip(shares, sizes, strict=True)), pinball, intervals, notes)


def evaluate_error_sums(
    sums: ErrorSums, *, under_weight: float = 0.5, over_weight: float = 0.5
) -> RegressionEvaluation:
    """Evaluate sums of errors that were added up over parts; there are no quantiles, which do not add up.

    Examples
    --------
    >>> import compromis as cp
    >>> parts = [cp.evaluate_regression(t, p, y_train=4.0).sums for t, p in (([3.0, 5.0], [2.5, 5.0]), ([8.0], [8.5]))]
    >>> round(cp.evaluate_error_sums(parts[0] + parts[1]).summary.r2, 4)
    0.9722
    """
    negative = "a value is negative" if np.isnan(sums.squared_log) else None
    notes = (*_undefined(sums, negative), "medians and other quantiles do not add up, so there are none")
    return RegressionEvaluation(sums, {}, read_pinball(under_weight, over_weight), None, notes)


_NO_TRAINING = (
    "relative errors and R2 are relative to the mean of these rows; pass y_train= for that of the training rows"
)


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
    """Say which negative value takes the logarithmic error its meaning."""
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
    for name, gain in zip(sums.baselines, r2(sums), strict=True):
        if np.isnan(gain):
            notes.append(
                f"R2 and the relative errors against {name} are undefined: the targets are constant and equal to it; give another baseline"
            )
    if np.isnan(correlation(sums)):
        notes.append("the correlation coefficient is undefined: the targets or the predictions are constant")
    return tuple(notes)
