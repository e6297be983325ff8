"""Does a model generalise? Losses on training rows beside losses on new rows, and what the course says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._rows import count_rows, take_rows
from compromis._text import nearest, shown
from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.evidence import Counts
from compromis.evidence.residuals import read_targets
from compromis.labels import encode, encode_classes, read_labels
from compromis.measures.pragma import pragma
from compromis.measures.verdict import naive_baselines
from compromis.preferences import Preferences

OVERFITS = 0.5
"""A training loss below this share of the loss on new rows says that rows were learnt by heart."""
UNDERFITS = 0.5
"""A training loss above this share of the naive loss says that the model is too simple even for the rows it saw."""
HELPS = 0.02
"""Twice the rows must save this share of the naive loss to be worth asking for."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What a model does with its training rows.

    Attributes
    ----------
    word : {"good", "underfits", "overfits", "uninformative"}
        The verdict.
    sentence : str
        The verdict with its reason and a cure.
    more_data : bool or None
        Whether more training rows would help; None where that was not looked at.
    """

    word: str
    sentence: str
    more_data: bool | None = None

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class FoldLosses:
    """Losses of several models (or sizes) on the same folds.

    Attributes
    ----------
    train, validation : ndarray of shape (models, folds)
        The loss on the rows learnt from, and on the rows held out.
    naive : ndarray of shape (folds,)
        The loss on the held-out rows of the best decision (or prediction) without a model.
    test_ratio : float
        Held-out rows per row of the training folds.
    """

    train: Floats
    validation: Floats
    naive: Floats
    test_ratio: float

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


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """How training and validation loss change with the number of training rows, made by `preference_learning_curve`.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> curve = cp.model_selection.preference_learning_curve(LinearRegression(), X, X @ [3.0, 1.0])
    >>> curve.error, curve.verdict.word
    ('root mean squared error', 'good')
    """

    sizes: tuple[int, ...]
    losses: FoldLosses
    error: str
    """The name of the loss."""
    target: float | None = None
    """The loss that would be good enough, where the user said so."""

    axis = "training rows"

    @property
    def positions(self) -> tuple[int, ...]:
        """What stands along the horizontal axis."""
        return self.sizes

    @cached_property
    def verdict(self) -> Fit:
        """Whether the model underfits, overfits or is good, and whether more data would help."""
        helps, why = self._more_data()
        word, reason = self._fit()
        return Fit(word, f"{word}: {reason}; {why}", helps)

    def _fit(self) -> tuple[str, str]:
        losses = self.losses
        seen, unseen, naive = losses.train_mean[-1], losses.validation_mean[-1], losses.naive_mean
        gap = losses.validation[-1] - losses.train[-1]
        said = f"the {self.error} is {seen:.3g} on the training rows and {unseen:.3g} on new rows, {naive:.3g} without a model"
        clear = unseen >= naive or gap.mean() > max(losses.standard_error(gap), HELPS * naive)
        if seen < OVERFITS * unseen and clear:
            return "overfits", f"{said}; a simpler model or more regularisation may generalise better"
        if seen > (UNDERFITS * naive if self.target is None else self.target):
            return "underfits", f"{said}; a richer model or better features are needed, unless the noise is that large"
        if unseen >= naive:
            return "uninformative", f"{said}; on new rows it is no better than no model"
        return "good", said

    def _more_data(self) -> tuple[bool, str]:
        half = int(np.argmin(np.abs(np.array(self.sizes[:-1]) - self.sizes[-1] / 2)))
        saved = self.losses.validation[half] - self.losses.validation[-1]
        helps = bool(saved.mean() > self.losses.standard_error(saved) and saved.mean() > HELPS * self.losses.naive_mean)
        went = f"{'fell' if saved.mean() > 0 else 'rose'} by {abs(saved.mean()):.2g} on new rows"
        grew = f"from {self.sizes[half]:,} to {self.sizes[-1]:,} rows it {went}"
        return helps, f"more data would help: {grew}" if helps else f"more data would hardly help: {grew}"

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the curve, one entry per size."""
        return {"training_rows": self.sizes, **_columns(self.losses)}


@dataclass(frozen=True, eq=False)
class ComplexityCurve:
    """How training and validation loss change with a parameter of the model, made by `compromis.model_selection.complexity_curve`.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 1))
    >>> curve = cp.model_selection.complexity_curve(KNeighborsRegressor(), X, np.sin(6 * X[:, 0]), parameter="n_neighbors", values=[100, 2])
    >>> curve.values, curve.recommended
    ((100, 2), 2)
    """

    parameter: str
    values: tuple[Any, ...]
    losses: FoldLosses
    error: str
    """The name of the loss."""

    @property
    def axis(self) -> str:
        """What the horizontal axis is called: the parameter without the steps of a pipeline."""
        return self.parameter.rpartition("__")[2]

    @property
    def positions(self) -> tuple[Any, ...]:
        """What stands along the horizontal axis."""
        return self.values

    @cached_property
    def best(self) -> int:
        """The position of the value with the least loss on new rows."""
        return int(self.losses.validation_mean.argmin())

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """The verdict on each value.

        Notes
        -----
        Good is what is within one standard error of the best (Breiman, Friedman, Olshen and Stone 1984), and within two of
        the difference on the same folds, which tells more where folds differ in difficulty. What is worse on new rows
        underfits if it is also worse than the best on the rows it saw; else it overfits: it does better there, and worse
        where it counts.
        """
        return tuple(self._fit(place) for place in range(len(self.values)))

    @cached_property
    def recommended(self) -> Any:
        """The first value that is good: values are given from simple to rich."""
        return next(
            value for value, fit in zip(self.values, self.fits, strict=True) if fit.word in {"good", "uninformative"}
        )

    @cached_property
    def verdict(self) -> str:
        """All verdicts in one sentence."""
        by_word: dict[str, list[str]] = {}
        for value, fit in zip(self.values, self.fits, strict=True):
            by_word.setdefault(fit.word, []).append(_shown(value))
        parts = [f"{', '.join(values)} {word}" for word, values in by_word.items()]
        edge = ""
        if len(self.values) > 1 and self.best == len(self.values) - 1:
            edge = "; the best value is the last one, so try beyond it"
        return f"{self.axis}: " + "; ".join(parts) + edge

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the curve, one entry per value."""
        return {self.axis: self.values, **_columns(self.losses), "fit": [fit.word for fit in self.fits]}

    def _fit(self, place: int) -> Fit:
        losses, best = self.losses, self.best
        seen, unseen = losses.train_mean, losses.validation_mean
        more = losses.validation[place] - losses.validation[best]
        margin = min(losses.standard_error(losses.validation[best]), 2 * losses.standard_error(more))
        said = f"the {self.error} is {seen[place]:.3g} on the training rows and {unseen[place]:.3g} on new rows"
        if unseen[best] >= losses.naive_mean:
            return Fit(
                "uninformative", f"uninformative: {said}, no better than {losses.naive_mean:.3g} without a model"
            )
        if unseen[place] <= unseen[best] + margin:
            return Fit("good", f"good: {said}")
        against = f"{seen[best]:.3g} and {unseen[best]:.3g} for {self.axis} {_shown(self.values[best])}"
        if seen[place] > seen[best]:
            return Fit("underfits", f"underfits: {said}, both worse than {against}")
        return Fit("overfits", f"overfits: {said}, against {against}")


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _columns(losses: FoldLosses) -> dict[str, Sequence[float]]:
    return {
        "training_loss": losses.train_mean.tolist(),
        "validation_loss": losses.validation_mean.tolist(),
        "training_standard_error": losses.standard_error(losses.train).tolist(),
        "validation_standard_error": losses.standard_error(losses.validation).tolist(),
    }


Error = Callable[[Any, Any], float]
"""From truth and prediction to a loss: 0 is perfect."""

ERRORS = ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "root_mean_squared_log_error")
"""Errors of predicted numbers, by their names in sklearn.metrics."""


def preference_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    preferences: Preferences | None = None,
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
    preferences : Preferences, optional
        What matters, for classifiers; without it all classes alike.
    error : str or callable, optional
        Instead of the preference loss: ``"root_mean_squared_error"`` (which regressors have by default), ``"mean_absolute_error"``,
        ``"mean_squared_error"``, ``"root_mean_squared_log_error"``, or a function of truth and prediction, lower is better.
    train_sizes : sequence
        Shares of the training folds, each class at its share.
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
    >>> curve.verdict.word
    'good'
    """
    data = _read_data(estimator, X, y, preferences, error)
    shares = _read_train_sizes(train_sizes)
    rng = np.random.default_rng(random_state)
    folds = [(_nested_order(data, train, rng), test) for train, test in data.folds(cv, groups, random_state)]
    sizes = [sorted({max(2, round(share * len(train))) for share in shares}) for train, _ in folds]
    tasks = [(estimator, train[:size], test) for (train, test), each in zip(folds, sizes, strict=True) for size in each]
    losses = _fit_all(data, tasks, folds, n_jobs)
    return LearningCurve(tuple(sizes[0]), losses, data.error_name, target)


def complexity_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    parameter: str,
    values: Sequence[Any],
    preferences: Preferences | None = None,
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
    >>> cp.model_selection.complexity_curve(KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[250, 15, 1]).verdict
    'n_neighbors: 250 underfits; 15 good; 1 overfits'
    """
    from sklearn.base import clone

    known = estimator.get_params()
    if parameter not in known:
        raise InputError(f"{type(estimator).__name__} has no parameter {parameter!r}{nearest(parameter, known)}")
    if len(values) == 0:
        raise InputError(
            f"values is empty; give the values of {parameter!r} to try, from the simplest model to the richest"
        )
    data = _read_data(estimator, X, y, preferences, error)
    folds = data.folds(cv, groups, random_state)
    models = [clone(estimator).set_params(**{parameter: value}) for value in values]
    tasks = [(model, train, test) for train, test in folds for model in models]
    return ComplexityCurve(parameter, tuple(values), _fit_all(data, tasks, folds, n_jobs), data.error_name)


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    """Checked rows, and the loss they are judged by."""

    X: Any
    y: Any
    error: Error
    error_name: str
    naive: Callable[[Any, Any], float]
    """From training and held-out targets to the loss without a model."""
    classifies: bool

    def folds(self, cv: Any, groups: Any, seed: int | None) -> list[tuple[Ints, Ints]]:
        """Return training and held-out positions of each fold; a number of folds means shuffled ones."""
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

        chosen = cv
        if isinstance(cv, (int, np.integer)):
            if cv < 2:
                raise InputError(f"cv is a number of folds of at least 2, got {cv}")
            self._refuse_small(int(cv))
            if groups is not None and (found := len(np.unique(np.asarray(groups)))) < cv:
                raise InputError(
                    f"there are {found} groups for {cv} folds, so a fold would stay empty; use fewer folds or finer groups"
                )
            kinds = (StratifiedKFold, StratifiedGroupKFold) if self.classifies else (KFold, GroupKFold)
            chosen = kinds[groups is not None](int(cv), shuffle=True, random_state=seed)
        splits = list(check_cv(chosen, self.y, classifier=self.classifies).split(self.X, self.y, groups))
        if any(len(part) == 0 for fold in splits for part in fold):
            raise InputError(f"the groups leave a fold of {len(splits)} empty; use fewer folds or finer groups")
        return splits

    def _refuse_small(self, folds: int) -> None:
        if self.classifies:
            labels, support = np.unique(np.asarray(self.y), return_counts=True)
            if support.min() < folds:
                label = labels[int(support.argmin())].item()
                raise InputError(
                    f"class {label!r} has {support.min()} rows, fewer than the {folds} folds; use fewer folds, or merge or drop the class"
                )
        elif len(self.y) < folds:
            raise InputError(f"there are {len(self.y)} rows, fewer than the {folds} folds; use fewer folds")


def _read_data(estimator: Any, X: Any, y: Any, preferences: Preferences | None, error: str | Error | None) -> _Data:
    from sklearn.base import is_classifier

    rows = count_rows(X, "X")
    if count_rows(y, "y") != rows:
        raise InputError(f"X has {rows:,} rows, y has {count_rows(y, 'y'):,}; they must describe the same rows")
    if rows == 0:
        raise InputError("X has no rows; there is nothing to learn from")
    if is_classifier(estimator):
        _, classes = encode_classes(read_labels(y, "y"))
        preferences = Preferences() if preferences is None else preferences
        preferences.on(classes)  # a preference for an unknown class is an error here
        if error is None:
            return _Data(
                X,
                y,
                lambda t, p: _preference_loss(t, p, preferences),
                "preference loss",
                lambda _, t: _least_naive(t, preferences),
                True,
            )
        chosen, name = _read_error(error)
        return _Data(X, y, chosen, name, lambda seen, t: chosen(t, _repeated(_commonest(seen), len(t))), True)
    if preferences is not None:
        raise InputError(
            f"preferences are for classifiers, and {type(estimator).__name__} is none; choose an error instead"
        )
    chosen, name = _read_error(error or "root_mean_squared_error")
    targets = read_targets(y, "y")
    return _Data(X, targets, chosen, name, lambda seen, t: chosen(t, np.full(len(t), seen.mean())), False)


def _read_error(error: str | Error) -> tuple[Error, str]:
    if callable(error):
        return error, getattr(error, "__name__", "error").replace("_", " ")
    if error not in ERRORS:
        raise InputError(
            f"there is no error {error!r}{nearest(error, ERRORS)}; choose one of {shown(ERRORS)}, or pass a function"
        )
    return (lambda truth, prediction: _regression_error(error, truth, prediction)), error.replace("_", " ")


def _regression_error(name: str, truth: Any, prediction: Any) -> float:
    from sklearn import metrics

    targets, predictions = read_targets(truth, "y"), read_targets(prediction, "the prediction")
    if name == "root_mean_squared_log_error" and min(targets.min(), predictions.min()) < 0:
        raise InputError(
            f"the {name.replace('_', ' ')} is for values of at least 0, and a target or prediction is negative; choose another error"
        )
    return float(getattr(metrics, name)(targets, predictions))


def _preference_loss(truth: Any, decision: Any, preferences: Preferences) -> float:
    # few rows may all be predicted wrong, and have no label in common with the predictions
    _, classes = encode(read_labels(truth, "y"), read_labels(decision, "the prediction"))
    counts = Counts.from_predictions(truth, decision, labels=classes)
    return pragma(counts, preferences.on(classes, strict=False)).total


def _least_naive(truth: Any, preferences: Preferences) -> float:
    counts = Counts.from_predictions(truth, truth)
    return min(one.loss for one in naive_baselines(counts, preferences.on(counts.classes, strict=False)))


def _commonest(labels: Any) -> Any:
    found, support = np.unique(np.asarray(labels), return_counts=True)
    return found[support.argmax()]


def _repeated(label: Any, rows: int) -> NDArray[Any]:
    return np.full(rows, label)


def _read_train_sizes(train_sizes: Sequence[float]) -> list[float]:
    shares = read_targets(train_sizes, "train_sizes")
    if len(shares) < 2 or ((shares <= 0) | (shares > 1)).any():
        raise InputError(
            f"train_sizes are at least two shares of the training rows, above 0 and at most 1, got {shown(shares.tolist())}"
        )
    return [float(share) for share in shares]


def _nested_order(data: _Data, train: Ints, rng: np.random.Generator) -> Ints:
    """Return the rows in an order each beginning of which has each class at its share."""
    codes = np.zeros(len(train), dtype=np.int64)
    if data.classifies:
        _, codes = np.unique(np.asarray(take_rows(data.y, train)), return_inverse=True)
    turn = np.empty(len(train))
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        turn[rng.permutation(rows)] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return train[np.argsort(turn, kind="stable")]


def _fit_all(data: _Data, tasks: list[Any], folds: list[tuple[Ints, Ints]], n_jobs: int | None) -> FoldLosses:
    from joblib import Parallel, delayed

    from compromis._workers import for_workers

    once = for_workers(_fit_once, n_jobs)
    pairs = np.array(Parallel(n_jobs=n_jobs)(delayed(once)(data, *task) for task in tasks))
    by_fold = pairs.reshape(len(folds), -1, 2)
    naive = [data.naive(*(np.asarray(take_rows(data.y, part)) for part in fold)) for fold in folds]
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    return FoldLosses(by_fold[:, :, 0].T.copy(), by_fold[:, :, 1].T.copy(), np.array(naive), ratio)


def _fit_once(data: _Data, estimator: Any, train: Ints, test: Ints) -> tuple[float, float]:
    from sklearn.base import clone

    model = clone(estimator).fit(take_rows(data.X, train), take_rows(data.y, train))
    seen, unseen = (
        data.error(take_rows(data.y, part), model.predict(take_rows(data.X, part))) for part in (train, test)
    )
    return seen, unseen
