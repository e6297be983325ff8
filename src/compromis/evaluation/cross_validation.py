"""Cross-validation: one engine that fits and judges models on folds, and `cross_evaluate` on top of it."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._rows import Fold, choose_folds, count_both, take_rows
from compromis._text import Finding, Table, bounds, fixed, paragraph, text_table
from compromis._typing import Floats, Label
from compromis.errors import OptimismWarning
from compromis.evaluation.evaluate import Evaluation, Summary, Terms
from compromis.evaluation.scored_rows import ScoredRows, TrueRows
from compromis.evaluation.text import TITLES, section
from compromis.evidence.counts import Counts
from compromis.evidence.scores import with_absent_classes
from compromis.labels import encode_classes, positions_in, read_labels
from compromis.measures.pragma import amount_missing, pragma, worst_loss
from compromis.measures.probability import smoothed_shares
from compromis.measures.rates import Evidence
from compromis.preferences import PreferenceArrays, Preferences, refuse_amounts_of_groups, refuse_idle_amount
from compromis.uncertainty.paired_tests import FoldMean, fold_mean

T = TypeVar("T")
Progress = bool | Callable[[int, int], object] | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FoldRows:
    """The rows of a fold, in the containers they came in."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def run_folds(
    judge: Callable[[Any, FoldRows, float], T],
    tasks: Sequence[tuple[Any, Fold]],
    X: Any,
    y: Any,
    *,
    per_row: Mapping[str, NDArray[Any]] | None = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> list[T]:
    """Fit a clone of each task's estimator on its fold; return what `judge` makes of the model, its rows and the seconds of fitting.

    `judge` runs in the workers; `per_row` is passed to ``fit``, the rows of the fold of each; `n_jobs` and `progress` are those of
    `cross_evaluate`.
    """
    from sklearn.base import clone
    from sklearn.utils.parallel import Parallel, delayed

    from compromis._rows import for_workers

    step = delayed(for_workers(_fit_and_judge, n_jobs))
    calls = [step(judge, clone(estimator), X, y, per_row or {}, fold) for estimator, fold in tasks]
    try:
        running = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
        running = iter(Parallel(n_jobs=n_jobs)(calls))  # a backend without generators
    return list(_counted(running, len(tasks), progress))


def _fit_and_judge(
    judge: Callable[..., T], estimator: Any, X: Any, y: Any, per_row: Mapping[str, NDArray[Any]], fold: Fold
) -> T:
    rows = FoldRows(
        X_train=take_rows(X, fold.train),
        y_train=take_rows(y, fold.train),
        X_test=take_rows(X, fold.test),
        y_test=take_rows(y, fold.test),
    )
    start = time.perf_counter()
    estimator.fit(rows.X_train, rows.y_train, **{name: values[fold.train] for name, values in per_row.items()})
    return judge(estimator, rows, time.perf_counter() - start)


def _counted(items: Iterable[T], total: int, progress: Progress) -> Iterator[T]:
    """Yield the items, telling `progress` how many of `total` are done."""
    if callable(progress):
        for done, item in enumerate(items, start=1):
            progress(done, total)
            yield item
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, "folds", total=total, console=Console(stderr=True), transient=True)


NOT_AVERAGED = {"rows", "total", "correct", "incorrect", "error_rate", "macro", "weighted", "total_cost"}
LIMITS = {"accuracy": (0, 1), "balanced_accuracy": (0, 1), "g_mean": (0, 1), "kappa": (-1, 1), "matthews": (-1, 1)}
"""Between which numbers lie, whatever the folds: an interval of Student's t knows no such limits."""
PRINTED = ("accuracy", "kappa", "balanced_accuracy", "average_cost", "loss")


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossEvaluation(Evaluation):
    """The evaluation of a cross-validation, made by `compromis.cross_evaluate`.

    It is an `Evaluation` of the pooled test rows of all folds; `averages` has the means over folds.
    """

    folds: tuple[Evaluation, ...] = ()
    """The evaluation of each fold's test rows."""
    train_rows: tuple[int, ...] = ()
    test_rows: tuple[int, ...] = ()
    """The rows of each fold."""
    fit_seconds: tuple[float, ...] = ()
    predict_seconds: tuple[float, ...] = ()
    """What each fold took."""
    untested: int = 0
    """Rows that no fold tests: the first ones where folds are ordered by time."""
    repeats: float = 1.0
    """How often a tested row is tested, on average: 1 but for repeated cross-validation."""
    optimism: float = math.nan
    """By how much the loss looks too good on the rows on which weights were chosen; NaN where none were chosen."""
    level: float = 0.95
    """The confidence of the averages' intervals."""

    @cached_property
    def test_share(self) -> float:
        """The test rows per training row, the mean over folds."""
        return float(np.mean([test / train for test, train in zip(self.test_rows, self.train_rows, strict=True)]))

    @cached_property
    def averages(self) -> Mapping[str, FoldMean]:
        """The mean over folds of each number of the summary, with its spread and corrected interval."""
        named = {}
        for name in (field.name for field in fields(Summary) if field.name not in NOT_AVERAGED):
            values = [getattr(fold.summary, name) for fold in self.folds]
            if None not in values:
                average = fold_mean(values, self.test_share, confidence=self.level)
                by_costs = self.preferences is not None and self.preferences.cost is not None
                limits = LIMITS.get(name, (0, 1) if name == "loss" and not by_costs else (-math.inf, math.inf))
                named[name] = replace(average, mean=average.mean.within(*limits))
        return MappingProxyType(named)

    def sentences(self) -> list[str]:
        """Return what an evaluation says, then what the folds add."""
        fitting, deciding = sum(self.fit_seconds), sum(self.predict_seconds)
        notes = [f"{len(self.folds)} folds: fitting took {fitting:.2f} s, deciding {deciding:.2f} s"]
        if self.untested:
            notes.append(f"{self.untested:,} rows are in no test fold")
        if self.repeats > 1:
            notes.append(f"each row is tested {self.repeats:g} times; the intervals count it once")
        if not math.isnan(self.optimism):
            notes.append(
                f"optimism: on the rows on which weights were chosen the loss is lower by {self.optimism:.4f} than on unseen rows"
            )
        return [*super().sentences(), *(Finding(note, "small") for note in notes)]

    def tables(self) -> list[Table]:
        """Return the tables of an evaluation, then the means over folds."""
        return [*super().tables(), self._fold_table()]

    def text_tables(self) -> list[Table]:
        """Return the classes and the means over folds."""
        return [*super().text_tables(), self._fold_table()]

    def _fold_table(self) -> Table:
        rows = []
        for name in PRINTED:
            if name in self.averages:
                average, pooled = self.averages[name], getattr(self.summary, name)
                numbers = (pooled, average.mean.value, average.deviation)
                title = TITLES[name].split(" (")[0]
                rows.append([title, *(fixed(number, 4) for number in numbers), bounds(average.mean)])
        header = ["Over folds", "All rows", "Mean", "Deviation", f"{100 * self.level:g} % interval of the mean"]
        return Table("", header, rows)

    def full(self) -> str:
        """Return everything as text: that of an evaluation, then the folds."""
        table = text_table(self._fold_table())
        lines = [table, "", *(paragraph(one) for one in self.sentences()[len(super().sentences()) :])]
        return super().full() + "\n" + section(f"Cross-validation ({len(self.folds)} folds)", lines)

    def __repr__(self) -> str:
        return super().__repr__().replace(" of ", f" in {len(self.folds)} folds of ", 1)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, folds and averages included."""
        averages = {
            name: {
                "mean": average.mean.value,
                "low": average.mean.low,
                "high": average.mean.high,
                "deviation": average.deviation,
                "folds": average.folds,
            }
            for name, average in self.averages.items()
        }
        names = ("train_rows", "test_rows", "fit_seconds", "predict_seconds")
        numbers = zip(*(getattr(self, name) for name in names), strict=True)
        folds = [
            {
                **dict(zip(names, row, strict=True)),
                "matrix": fold.counts.matrix.tolist(),
                "loss": fold.summary.loss,
                "accuracy": fold.summary.accuracy,
            }
            for fold, row in zip(self.folds, numbers, strict=True)
        ]
        document = {"confidence": self.level, "averages": averages, "folds": folds, "untested": self.untested}
        return super().document() | {
            "cross_validation": {**document, "repeats": self.repeats, "optimism": self.optimism}
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Predictions:
    """The predictions of one fold's model for its test rows."""

    predicted: Any
    shares: Floats | None
    classes: Any
    chosen: Counts | float
    """What `_chosen_by` returns."""
    fit_seconds: float
    predict_seconds: float

    def on(self, classes: tuple[Label, ...]) -> _Predictions:
        """Return predictions as positions in `classes`; a class that a training fold lacks has probability 0."""
        shares = None if self.shares is None else with_absent_classes(self.shares, self.classes, classes)
        return replace(self, predicted=positions_in(self.predicted, classes, "the predictions"), shares=shares)


def _predict(model: Any, rows: FoldRows, fit_seconds: float) -> _Predictions:
    start = time.perf_counter()
    predicted, shares = model.predict(rows.X_test), None
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        shares = np.asarray(model.predict_proba(rows.X_test), dtype=np.float64)
    return _Predictions(
        predicted=predicted,
        shares=shares,
        classes=getattr(model, "classes_", None),
        chosen=_chosen_by(model),
        fit_seconds=fit_seconds,
        predict_seconds=time.perf_counter() - start,
    )


WARN_FROM = 0.01
"""Smaller optimism gives no warning."""


def _chosen_by(estimator: Any) -> Counts | float:
    """Return the counts on the rows on which a fitted estimator chose its weights, else their loss; NaN if it chose none.

    Looks at ``search_``, also of the last step of a pipeline and of the best estimator of a search.
    """
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    search = getattr(steps[-1][1] if steps else inner, "search_", None)
    counts, loss = getattr(search, "counts", None), getattr(search, "loss", None)
    if isinstance(counts, Counts):
        return counts
    return math.nan if loss is None else float(loss)


def _warn_of_optimism(chosen: Sequence[Counts | float], unseen: Counts, arrays: PreferenceArrays) -> float:
    """Return by how much the loss looks too good where the weights were chosen, and warn of a large difference.

    The folds are pooled on both sides: the loss of few rows is not on average that of many.
    """
    counts = [part for part in chosen if isinstance(part, Counts)]
    if len(counts) == len(chosen):
        before = pragma(sum(counts[1:], counts[0]), arrays).total
    else:
        before = float(np.mean([pragma(p, arrays).total if isinstance(p, Counts) else p for p in chosen]))
    after = pragma(unseen, arrays).total
    gap = after - before
    if gap >= WARN_FROM * worst_loss(unseen, arrays):
        warnings.warn(
            f"the loss on the rows on which the weights were chosen is {before:.4f}, on unseen rows {after:.4f}: "
            f"it looks better by {gap:.4f} than it is; report the cross-validated loss",
            OptimismWarning,
            stacklevel=3,
        )
    return gap


def cross_evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    cv: Any = 10,
    groups: Any = None,
    n_jobs: int | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    amount: ArrayLike | None = None,
    confidence: float | None = None,
    progress: Progress = None,
) -> CrossEvaluation:
    """Evaluate a classifier by cross-validation: pooled, averaged over folds, and fold by fold.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier; it is cloned for each fold. Whatever it tunes, it tunes inside the training rows of a fold.
    X, y : rows and their classes
        Arrays, sparse matrices or frames.
    preferences : Preferences or mapping by class, optional
        What matters; adds the loss, the baselines and the verdict.
    cv : int, splitter or pairs of row positions
        A number means stratified folds, shuffled with a fixed seed; for rows ordered by time pass ``TimeSeriesSplit()``.
    groups : labels, optional
        Rows of one group stay in one fold, in the folds that an estimator makes itself too if its ``fit`` takes groups; the intervals
        count groups, not rows.
    n_jobs : int, optional
        Folds fitted at a time, through joblib: inside ``joblib.parallel_config(backend="dask")`` on a cluster.
    labels, pos_label, sample_weight
        As for `evaluate`; weights are also passed to ``fit``.
    amount : array-like, optional
        A number per row where decisions cost the amount of a row, also for a ``fit`` that takes it; see `Preferences`.
    confidence : float, optional
        Adds intervals of the pooled numbers; the means over folds have theirs anyway (at 0.95).
    progress : bool or callable, optional
        True for a bar, False for none, None for a bar in terminals; or a function of (folds done, folds in all).

    Returns
    -------
    CrossEvaluation
        An `Evaluation` of all test rows together, with ``.folds``, ``.averages``, times and optimism.

    Notes
    -----
    Pooling adds up the counts of the folds; `averages` are means of the folds' numbers. The two differ where a fold is too small
    for a rate. Weka's relative errors are relative to the class shares of each training fold.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = cp.cross_evaluate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> result.counts.rows, len(result.folds)
    (150, 5)
    >>> bool(result.averages["accuracy"].mean.value > 0.9)
    True
    """
    from sklearn.utils.validation import has_fit_parameter

    count_both(X, y)
    (codes,), classes = encode_classes(read_labels(y, "y"), labels=labels)
    rows = TrueRows.read(codes, classes, sample_weight=sample_weight, groups=groups, amount=amount)
    terms = Terms.read(classes, preferences, pos_label=pos_label, confidence=confidence)
    refuse_idle_amount(preferences, amount)
    refuse_amounts_of_groups(amount, groups)
    if amount is None and terms.preferences is not None and terms.preferences.costs_amounts:
        raise amount_missing()  # before the folds are fitted
    folds = choose_folds(cv, X, codes, classes=classes, group=rows.group)
    tasks = [(estimator, fold) for fold in folds]
    per_row = {} if rows.weight is None else {"sample_weight": rows.weight}
    own = {"groups": rows.group, "amount": rows.amount}
    per_row |= {
        name: values for name, values in own.items() if values is not None and has_fit_parameter(estimator, name)
    }
    predictions = run_folds(_predict, tasks, X, y, per_row=per_row, n_jobs=n_jobs, progress=progress)
    predictions = [part.on(classes) for part in predictions]
    parts = tuple(_evaluate_fold(rows, terms, fold, part) for fold, part in zip(folds, predictions, strict=True))
    tested = np.concatenate([fold.test for fold in folds])
    distinct = len(np.unique(tested))
    repeats = len(tested) / distinct
    priors = smoothed_shares(sum((part.counts for part in parts[1:]), parts[0].counts))
    judged = terms.judge(*_evidence(rows.take(tested), predictions), priors, repeats)
    gap = math.nan
    if terms.arrays is not None:
        gap = _warn_of_optimism([part.chosen for part in predictions], judged["counts"], terms.arrays)
    # relative errors compare with the training shares of each fold, as in Weka
    judged["prior_errors"] = tuple(sum(each) for each in zip(*(part.prior_errors for part in parts), strict=True))
    return CrossEvaluation(
        **judged,
        priors_given=True,
        folds=parts,
        train_rows=tuple(len(fold.train) for fold in folds),
        test_rows=tuple(len(fold.test) for fold in folds),
        fit_seconds=tuple(part.fit_seconds for part in predictions),
        predict_seconds=tuple(part.predict_seconds for part in predictions),
        untested=len(codes) - distinct,
        repeats=repeats,
        optimism=gap,
        level=terms.confidence or 0.95,
    )


def _evaluate_fold(rows: TrueRows, terms: Terms, fold: Fold, predictions: _Predictions) -> Evaluation:
    """Return the evaluation of a fold's test rows, relative errors against the fold's training rows."""
    train = rows.take(fold.train)
    priors = smoothed_shares(Counts.from_positions(train.truth, train.truth, train.classes, train.weight))
    evidence, scored = _evidence(rows.take(fold.test), [predictions])
    judged = replace(terms, confidence=None).judge(evidence, scored, priors) | {"votes": None}
    return Evaluation(**judged, priors_given=True)


def _evidence(rows: TrueRows, predictions: Sequence[_Predictions]) -> tuple[Evidence, ScoredRows | None]:
    """Return the counts of test rows, of one fold or of all together, and their distributions if every model has them."""
    shares = [part.shares for part in predictions if part.shares is not None]
    scored = ScoredRows(rows, np.concatenate(shares)) if len(shares) == len(predictions) else None
    return rows.count(np.concatenate([part.predicted for part in predictions])), scored
