"""Learning curves and complexity curves in terms of the preference loss, or of any error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Ints
from compromis.errors import InputError, nearest, shown
from compromis.evaluation.rows import count_rows, take_rows
from compromis.evidence import Counts
from compromis.evidence.residuals import Residuals
from compromis.evidence.targets import read_targets
from compromis.measures import regression
from compromis.measures.baselines import naive_baselines
from compromis.measures.generalisation import ComplexityCurve, FoldLosses, LearningCurve
from compromis.measures.pragma import pragma
from compromis.preferences import Preferences

Error = Callable[[Any, Any], float]
"""From truth and prediction to a loss: 0 is perfect."""

ERRORS = {
    "mean_squared_error": regression.mean_squared_error,
    "root_mean_squared_error": regression.root_mean_squared_error,
    "mean_absolute_error": regression.mean_absolute_error,
    "root_mean_squared_log_error": regression.root_mean_squared_log_error,
}


def learning_curve(
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
    >>> curve = cp.learning_curve(LogisticRegression(max_iter=1000), *load_iris(return_X_y=True))
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
        As for `learning_curve`.
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
    >>> cp.complexity_curve(KNeighborsClassifier(), X, y, parameter="n_neighbors", values=[250, 15, 1]).verdict
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
        classes = Counts.from_predictions(y, y).classes
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
    rows = Residuals(read_targets(truth, "y"), read_targets(prediction, "the prediction"), None, {}, ())
    value = float(ERRORS[name](rows.sums()))
    if np.isnan(value):
        raise InputError(
            f"the {name.replace('_', ' ')} is for values of at least 0, and a target or prediction is negative; choose another error"
        )
    return value


def _preference_loss(truth: Any, decision: Any, preferences: Preferences) -> float:
    counts = Counts.from_predictions(truth, decision)
    return pragma(counts, preferences.on(counts.classes, strict=False)).total


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

    from compromis.workers import for_workers

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
