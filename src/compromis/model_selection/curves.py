"""Does a model generalise? Learning and complexity curves: losses on training rows beside losses on new rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from compromis._results import Result
from compromis._rows import Fold, choose_folds, count_both, take_rows
from compromis._text import Table, nearest, shown, unknown_name
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evaluation.cross_validation import FoldRows, run_folds
from compromis.evaluation.scoring import fold_loss
from compromis.evidence.counts import Counts
from compromis.evidence.residuals import read_targets
from compromis.labels import encode_classes, read_groups, read_labels
from compromis.measures.baselines import naive_baselines
from compromis.preferences import Preferences, read_preferences

OVERFITS = 0.5
"""A training loss below this fraction of the loss on new rows says that the model memorises its training rows."""
UNDERFITS = 0.5
"""A training loss above this fraction of the naive loss says that the model is too simple even for the rows it saw."""
HELPS = 0.02
"""Twice the rows must save this fraction of the naive loss before more data are recommended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What a model does with its training rows; ``str()`` is the sentence."""

    state: str
    """``"good"``, ``"underfits"``, ``"overfits"``, or ``"no better"`` than no model."""
    sentence: str
    """The verdict with its reason and a cure."""
    more_data: bool | None = None
    """Whether more training rows would help; None where that was not looked at."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, kw_only=True)
class FoldLosses:
    """Losses of several models (or sizes) on the same folds."""

    train: Floats
    validation: Floats
    """The loss on the rows learnt from, and on the rows held out."""
    naive: Floats
    """The loss on the held-out rows of the best decision (or prediction) without a model."""
    test_ratio: float
    """Held-out rows per row of the training folds."""

    @cached_property
    def train_mean(self) -> Floats:
        """The mean training loss of each model."""
        return np.asarray(self.train.mean(axis=1))

    @cached_property
    def validation_mean(self) -> Floats:
        """The mean loss of each model on new rows."""
        return np.asarray(self.validation.mean(axis=1))

    @cached_property
    def naive_mean(self) -> float:
        """The mean loss without a model."""
        return float(self.naive.mean())

    def standard_error(self, values: Floats) -> Floats:
        """The standard error of means over folds (last axis), corrected for the rows that folds share (Nadeau and Bengio 2003)."""
        folds = values.shape[-1]
        return np.asarray(values.std(axis=-1, ddof=1) * math.sqrt(1 / folds + self.test_ratio))


class _Curve(Result):
    """What learning and complexity curves have in common: losses along an axis."""

    losses: FoldLosses
    error: str
    axis: str
    positions: tuple[Any, ...]
    chosen: int
    """The position that the summary is about."""
    verdict: Fit

    @property
    def summary(self) -> dict[str, float]:
        """The losses of the largest size, or of the recommended value."""
        losses = self.losses
        return {
            "training_loss": float(losses.train_mean[self.chosen]),
            "validation_loss": float(losses.validation_mean[self.chosen]),
            "naive_loss": losses.naive_mean,
        }

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the curve, one entry per position."""
        losses = self.losses
        return {
            self.axis.replace(" ", "_"): self.positions,
            "training_loss": losses.train_mean.tolist(),
            "validation_loss": losses.validation_mean.tolist(),
            "training_standard_error": losses.standard_error(losses.train).tolist(),
            "validation_standard_error": losses.standard_error(losses.validation).tolist(),
        }

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        columns = {name: list(values) for name, values in self.columns().items()}
        numbers = {"error": self.error, "summary": self.summary, "columns": columns}
        return {**self.heading(), **numbers, "verdict": asdict(self.verdict)}

    def sentences(self) -> list[str]:
        """Return the verdict."""
        return [self.verdict.sentence]

    def tables(self) -> list[Table]:
        """Return the losses along the axis."""
        columns = self.columns()
        rows = [[_shown(cell, ".4g") for cell in row] for row in zip(*columns.values(), strict=True)]
        title = f"{self.error} ({self.losses.naive_mean:.4g} without a model)"
        return [Table(title, [name.replace("_", " ") for name in columns], rows)]


def _shown(value: Any, digits: str = "g") -> str:
    return format(value, digits) if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False, kw_only=True)
class LearningCurve(_Curve):
    """How training and validation loss change with the number of training rows, made by `preference_learning_curve`."""

    sizes: tuple[int, ...]
    losses: FoldLosses
    error: str
    """The name of the loss."""
    target: float | None = None
    """The loss that would be good enough, where the user said so."""

    schema = "compromis/learning-curve"
    axis = "training rows"
    chosen = -1

    @property
    def positions(self) -> tuple[int, ...]:  # type: ignore[override]
        """The numbers along the horizontal axis."""
        return self.sizes

    @cached_property
    def verdict(self) -> Fit:  # type: ignore[override]
        """Whether the model underfits, overfits or is good, and whether more data would help."""
        helps, why = self._more_data()
        word, reason = self._fit()
        return Fit(state=word, sentence=f"{word}: {reason}; {why}", more_data=helps)

    def _fit(self) -> tuple[str, str]:
        losses = self.losses
        seen, unseen, naive = losses.train_mean[-1], losses.validation_mean[-1], losses.naive_mean
        gap = losses.validation[-1] - losses.train[-1]
        numbers = f"the {self.error} is {seen:.3g} on the training rows and {unseen:.3g} on new rows, {naive:.3g} without a model"
        clear = unseen >= naive or gap.mean() > max(losses.standard_error(gap), HELPS * naive)
        if seen < OVERFITS * unseen and clear:
            return "overfits", f"{numbers}; a simpler model or more regularisation may generalise better"
        if seen > (UNDERFITS * naive if self.target is None else self.target):
            return (
                "underfits",
                f"{numbers}; a richer model or better features are needed, unless the noise is that large",
            )
        if unseen >= naive:
            return "no better", f"{numbers}; improve the model or its features"
        return "good", numbers

    def _more_data(self) -> tuple[bool, str]:
        half = int(np.argmin(np.abs(np.array(self.sizes[:-1]) - self.sizes[-1] / 2)))
        saved = self.losses.validation[half] - self.losses.validation[-1]
        helps = bool(saved.mean() > self.losses.standard_error(saved) and saved.mean() > HELPS * self.losses.naive_mean)
        went = f"{'fell' if saved.mean() > 0 else 'rose'} by {abs(saved.mean()):.2g} on new rows"
        grew = f"from {self.sizes[half]:,} to {self.sizes[-1]:,} rows it {went}"
        return helps, f"more data would {'help' if helps else 'hardly help'}: {grew}"


@dataclass(frozen=True, eq=False, kw_only=True)
class ComplexityCurve(_Curve):
    """How training and validation loss change with a parameter of the model, made by `compromis.model_selection.complexity_curve`."""

    parameter: str
    values: tuple[Any, ...]
    losses: FoldLosses
    error: str
    """The name of the loss."""

    schema = "compromis/complexity-curve"

    @property
    def axis(self) -> str:  # type: ignore[override]
        """What the horizontal axis is called: the parameter without the steps of a pipeline."""
        return self.parameter.rpartition("__")[2]

    @property
    def positions(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The values along the horizontal axis."""
        return self.values

    @cached_property
    def best(self) -> int:
        """The position of the value with the least loss on new rows."""
        return int(self.losses.validation_mean.argmin())

    @cached_property
    def chosen(self) -> int:  # type: ignore[override]
        """The position of the recommended value."""
        return next(index for index, fit in enumerate(self.fits) if fit.state in {"good", "no better"})

    @property
    def recommended(self) -> Any:
        """The first value that is good: values are given from simple to rich."""
        return self.values[self.chosen]

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """The verdict on each value.

        Notes
        -----
        Good is what is within one standard error of the best (Breiman, Friedman, Olshen and Stone 1984), and within two of
        the difference on the same folds, which is sharper where folds differ in difficulty. What is worse on new rows
        underfits if it is also worse than the best on its training rows; else it overfits.
        """
        return tuple(self._fit(index) for index in range(len(self.values)))

    @cached_property
    def verdict(self) -> Fit:  # type: ignore[override]
        """The state of the recommended value; the sentence is about all values."""
        by_word: dict[str, list[str]] = {}
        for value, fit in zip(self.values, self.fits, strict=True):
            by_word.setdefault(fit.state, []).append(_shown(value))
        parts = [f"{', '.join(values)} {word}" for word, values in by_word.items()]
        at_end = len(self.values) > 1 and self.best == len(self.values) - 1
        edge = "; the best value is the last one, so try beyond it" if at_end else ""
        return Fit(state=self.fits[self.chosen].state, sentence=f"{self.axis}: " + "; ".join(parts) + edge)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the curve, one entry per value."""
        return {**super().columns(), "fit": [fit.state for fit in self.fits]}

    def _fit(self, index: int) -> Fit:
        losses, best = self.losses, self.best
        seen, unseen = losses.train_mean, losses.validation_mean
        more = losses.validation[index] - losses.validation[best]
        margin = min(losses.standard_error(losses.validation[best]), 2 * losses.standard_error(more))
        numbers = f"the {self.error} is {seen[index]:.3g} on the training rows and {unseen[index]:.3g} on new rows"
        against = f"{seen[best]:.3g} and {unseen[best]:.3g} for {self.axis} {_shown(self.values[best])}"
        if unseen[best] >= losses.naive_mean:
            word, reason = "no better", f", no better than {losses.naive_mean:.3g} without a model"
        elif unseen[index] <= unseen[best] + margin:
            word, reason = "good", ""
        elif seen[index] > seen[best]:
            word, reason = "underfits", f", both worse than {against}"
        else:
            word, reason = "overfits", f", against {against}"
        return Fit(state=word, sentence=f"{word}: {numbers}{reason}")


Error = Callable[[Any, Any], float]
"""From truth and prediction to a loss: 0 is perfect."""
ERRORS = ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "root_mean_squared_log_error")


def preference_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    error: str | Error | None = None,
    train_sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = 5,
    groups: Any = None,
    target: float | None = None,
    n_jobs: int | None = None,
    random_state: int | None = 0,
) -> LearningCurve:
    """Return how the loss on training rows and on new rows changes with the number of training rows, with a verdict.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor.
    X, y : array-like
        The rows and their classes or numbers.
    preferences : Preferences or mapping by class, optional
        What matters, for classifiers; without it all classes alike.
    error : str or callable, optional
        Instead of the preference loss: ``"root_mean_squared_error"`` (which regressors have by default), ``"mean_absolute_error"``,
        ``"mean_squared_error"``, ``"root_mean_squared_log_error"``, or a function of truth and prediction, lower is better.
    train_sizes : sequence
        Fractions of the training folds, each class at its share.
    cv : int or splitter
        The number of folds, stratified for classifiers, or a scikit-learn splitter.
    groups : array-like, optional
        Rows of one group stay in one fold.
    target : float, optional
        The loss that is good enough: a training loss above it says underfitting. Without it: half the loss without a model.
    n_jobs : int, optional
        Fits at the same time, through joblib.
    random_state : int, optional
        The seed of folds and subsets.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> curve = cp.model_selection.preference_learning_curve(LogisticRegression(max_iter=1000), *load_iris(return_X_y=True))
    >>> curve.verdict.state
    'good'
    """
    data = _read_data(estimator, X, y, preferences, error)
    shares = _read_train_sizes(train_sizes)
    rng = np.random.default_rng(random_state)
    codes = np.zeros(len(data.y), dtype=np.int64) if data.codes is None else data.codes
    folds = [Fold(_nested_order(codes, fold.train, rng), fold.test) for fold in data.folds(cv, groups, random_state)]
    sizes = [sorted({max(2, round(share * len(fold.train))) for share in shares}) for fold in folds]
    tasks = [
        (estimator, Fold(fold.train[:size], fold.test))
        for fold, wanted in zip(folds, sizes, strict=True)
        for size in wanted
    ]
    losses = data.losses(tasks, folds, n_jobs)
    return LearningCurve(sizes=tuple(sizes[0]), losses=losses, error=data.error_name, target=target)


def complexity_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    parameter: str,
    values: Sequence[Any],
    preferences: Preferences | Mapping[Any, Any] | None = None,
    error: str | Error | None = None,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: int | None = 0,
) -> ComplexityCurve:
    """Return how the loss on training rows and on new rows changes with a parameter, with a verdict on each value.

    Parameters
    ----------
    estimator, X, y, preferences, error, cv, groups, n_jobs, random_state
        As for `preference_learning_curve`.
    parameter : str
        The parameter of the estimator, as `set_params` takes it.
    values : sequence
        Its values, from the simplest model to the richest.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = ((X**2).sum(axis=1) > 1.4) ^ (rng.random(400) < 0.15)
    >>> print(cp.model_selection.complexity_curve(KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[250, 15, 1]).verdict)
    n_neighbors: 250 underfits; 15 good; 1 overfits
    """
    from sklearn.base import clone

    known = estimator.get_params()
    if parameter not in known:
        raise InputError(
            f"{type(estimator).__name__} has no parameter {parameter!r}{nearest(parameter, known)}", "parameter"
        )
    if len(values) == 0:
        raise InputError(
            f"values is empty; give the values of {parameter!r} to try, from the simplest model to the richest",
            "values",
        )
    data = _read_data(estimator, X, y, preferences, error)
    folds = data.folds(cv, groups, random_state)
    models = [clone(estimator).set_params(**{parameter: value}) for value in values]
    losses = data.losses([(model, fold) for fold in folds for model in models], folds, n_jobs)
    return ComplexityCurve(parameter=parameter, values=tuple(values), losses=losses, error=data.error_name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Data:
    """Checked rows, and the loss they are judged by."""

    X: Any
    y: Any
    codes: Ints | None
    """Positions of the classes; None for numbers."""
    classes: tuple[Label, ...] | None
    error: Error
    error_name: str
    naive: Callable[[Any, Any], float]
    """From training and held-out targets to the loss without a model."""

    def folds(self, cv: Any, groups: Any, random_state: int | None) -> list[Fold]:
        """Return the folds that `cv` asks for."""
        y = self.y if self.codes is None else self.codes
        group = None if groups is None else read_groups(groups, len(y))
        return choose_folds(cv, self.X, y, classes=self.classes, group=group, random_state=random_state)

    def losses(self, tasks: list[tuple[Any, Fold]], folds: list[Fold], n_jobs: int | None) -> FoldLosses:
        """Fit the tasks, which go fold by fold, and return their losses."""
        pairs = np.array(run_folds(partial(_judge, self.error), tasks, self.X, self.y, n_jobs=n_jobs))
        train, validation = pairs.reshape(len(folds), -1, 2).T
        naive = [
            self.naive(*(np.asarray(take_rows(self.y, part)) for part in (fold.train, fold.test))) for fold in folds
        ]
        ratio = float(np.mean([len(fold.test) / len(fold.train) for fold in folds]))
        return FoldLosses(train=train, validation=validation, naive=np.array(naive), test_ratio=ratio)


def _judge(error: Error, model: Any, rows: FoldRows, _: float) -> tuple[float, float]:
    """Return the loss on the training rows, and on the rows held out."""
    return error(rows.y_train, model.predict(rows.X_train)), error(rows.y_test, model.predict(rows.X_test))


def _read_data(estimator: Any, X: Any, y: Any, preferences: Any, error: str | Error | None) -> _Data:
    from sklearn.base import is_classifier

    if count_both(X, y) == 0:
        raise InputError("X has no rows; there is nothing to learn from")
    wanted = read_preferences(preferences)
    if not is_classifier(estimator):
        if wanted is not None:
            raise InputError(
                f"preferences are for classifiers, and {type(estimator).__name__} is none; choose an error instead"
            )
        chosen, name = _read_error(error or "root_mean_squared_error")
        naive = partial(_naive_error, chosen, np.mean)
        return _Data(X=X, y=read_targets(y, "y"), codes=None, classes=None, error=chosen, error_name=name, naive=naive)
    (codes,), classes = encode_classes(read_labels(y, "y"))
    wanted = Preferences() if wanted is None else wanted
    wanted.on(classes)  # a preference for an unknown class is an error here, before models are fitted
    if error is None:
        chosen, name, naive = partial(fold_loss, preferences=wanted), "preference loss", partial(_naive_loss, wanted)
    else:
        chosen, name = _read_error(error)
        naive = partial(_naive_error, chosen, _commonest)
    return _Data(X=X, y=y, codes=codes, classes=classes, error=chosen, error_name=name, naive=naive)


def _read_error(error: str | Error) -> tuple[Error, str]:
    if callable(error):
        return error, getattr(error, "__name__", "error").replace("_", " ")
    if error not in ERRORS:
        raise InputError(f"{unknown_name('error', error, ERRORS)}, or pass a function", "error")
    return partial(_regression_error, error), error.replace("_", " ")


def _regression_error(name: str, truth: Any, prediction: Any) -> float:
    from sklearn import metrics

    pair = read_targets(truth, "y"), read_targets(prediction, "the prediction")
    if name == "root_mean_squared_log_error" and min(values.min() for values in pair) < 0:
        raise InputError(
            f"the {name.replace('_', ' ')} is for values of at least 0, and a target or prediction is negative; choose another error"
        )
    return float(getattr(metrics, name)(*pair))


def _naive_error(error: Error, constant: Callable[[Any], Any], seen: Any, held_out: Any) -> float:
    """Return the error of predicting one constant, taken from the training targets."""
    return error(held_out, np.full(len(held_out), constant(seen)))


def _commonest(labels: Any) -> Any:
    occurring, support = np.unique(labels, return_counts=True)
    return occurring[support.argmax()]


def _naive_loss(preferences: Preferences, _: Any, held_out: Any) -> float:
    """Return the least loss of the baselines."""
    counts = Counts.from_predictions(held_out, held_out)
    return min(baseline.loss for baseline in naive_baselines(counts, preferences.on(counts.classes, strict=False)))


def _read_train_sizes(train_sizes: Sequence[float]) -> list[float]:
    shares = read_targets(train_sizes, "train_sizes")
    if len(shares) < 2 or ((shares <= 0) | (shares > 1)).any():
        raise InputError(
            f"train_sizes are at least two shares of the training rows, above 0 and at most 1, got {shown(shares.tolist())}",
            "train_sizes",
        )
    return [float(share) for share in shares]


def _nested_order(codes: Ints, train: Ints, rng: np.random.Generator) -> Ints:
    """Return training rows in an order each beginning of which has each class at its share."""
    turn = np.empty(len(train))
    for code in np.unique(codes[train]):
        rows = np.flatnonzero(codes[train] == code)
        turn[rng.permutation(rows)] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return train[np.argsort(turn, kind="stable")]
