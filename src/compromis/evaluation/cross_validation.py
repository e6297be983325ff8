"""Whole groups of rows dealt out to the parts of a split."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from compromis._rows import Fold, choose_folds, take_rows_folding
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError, OptimismWarning
from compromis.evaluation.evaluate import Evaluation, ScoredRows, Summary
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import GroupedCounts
from compromis.evidence.inputs import read_weights
from compromis.evidence.scores import DistributionErrors, with_absent_classes
from compromis.labels import encode_classes, positions_in, read_groups, read_labels
from compromis.measures.pragma import read_cost
from compromis.measures.probability import prior_errors, smoothed_shares
from compromis.measures.rates import roc_area_of_decisions
from compromis.preferences import Preferences
from compromis.uncertainty.draws import Evidence
from compromis.uncertainty.folds import FoldMean, fold_mean
from compromis.uncertainty.intervals import read_confidence
from compromis.uncertainty.report_intervals import ReportIntervals, report_intervals

ATTEMPTS = 20
"""How many orders of the groups are tried until every class stands in every part, and as many that begin with rare classes."""


def assign_groups(
    groups: Ints,
    codes: Ints,
    classes: Sequence[Label],
    shares: Floats,
    names: Sequence[str],
    rng: np.random.Generator,
) -> Ints:
    """Return the part of each row: groups from large to small, each to the part that lacks its rows most, for its size.

    Where that leaves a part without a class, the classes that stand in few groups are dealt out first.
    """
    held = np.zeros((groups.max() + 1, len(classes)))
    np.add.at(held, (groups, codes), 1.0)
    _refuse_few(held, classes, names)
    for attempt in range(2 * ATTEMPTS):
        begun = np.full(len(held), -1) if attempt < ATTEMPTS else _each_class_once(held, len(names), rng)
        part_of = _fill(held, shares, begun, rng)
        filled = np.array([held[part_of == part].sum(axis=0) for part in range(len(names))])
        if filled.all():
            return part_of[groups]
    part, code = np.argwhere(filled == 0)[0]
    if filled[part].sum() == 0:
        raise InputError(
            f"the groups are so large that the {names[part]} part would stay empty (the largest has {int(held.sum(axis=1).max()):,} of "
            f"{len(groups):,} rows); make the part larger, or split without groups"
        )
    raise InputError(
        f"the groups leave the {names[part]} part without class {classes[code]!r}, which stands in "
        f"{int((held[:, code] > 0).sum())} groups; make the part larger, or pass stratify=False"
    )


def _refuse_few(held: Floats, classes: Sequence[Label], names: Sequence[str]) -> None:
    if len(held) < len(names):
        raise InputError(
            f"there are {len(held)} groups for {len(names)} parts ({', '.join(names)}), so a part would stay empty; "
            f"use fewer parts or finer groups"
        )
    for label, in_groups in zip(classes, (held > 0).sum(axis=0), strict=True):
        if in_groups < len(names):
            raise InputError(
                f"class {label!r} stands in {in_groups} {'group' if in_groups == 1 else 'groups'}, too few to be in each of the "
                f"{len(names)} parts ({', '.join(names)}); merge or drop the class, or pass stratify=False"
            )


def _each_class_once(held: Floats, parts: int, rng: np.random.Generator) -> Ints:
    """Deal groups out until every class stands in every part, if there are enough; -1 for the others."""
    part_of = np.full(len(held), -1)
    for code in np.argsort((held > 0).sum(axis=0), kind="stable"):
        for part in rng.permutation(parts):
            if not held[part_of == part, code].any():
                free = np.flatnonzero((held[:, code] > 0) & (part_of < 0))
                part_of[rng.permutation(free)[:1]] = part
    return part_of


def _fill(held: Floats, shares: Floats, begun: Ints, rng: np.random.Generator) -> Ints:
    """Deal the groups out whose part is not known yet."""
    size = held.sum(axis=1)
    order = np.lexsort((rng.random(len(held)), -size))
    scale = 1 / held.sum(axis=0)
    lacking = np.outer(shares, held.sum(axis=0)) * scale
    part_of = begun.copy()
    for group, adds in zip(order.tolist(), (held[order] * scale), strict=True):
        # relative to the part's share, or the largest part would take every large group
        part = int(part_of[group]) if part_of[group] >= 0 else int(np.argmax((lacking @ adds) / shares))
        part_of[group] = part
        lacking[part] -= adds
    return part_of


T = TypeVar("T")
Progress = bool | Callable[[int, int], object] | None


def counted(items: Iterable[T], total: int, progress: Progress, what: str = "folds") -> Iterator[T]:
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

    yield from track(items, what, total=total, console=Console(stderr=True), transient=True)


AVERAGED = (
    "accuracy",
    "kappa",
    "balanced_accuracy",
    "matthews",
    "g_mean",
    "mean_absolute_error",
    "root_mean_squared_error",
    "relative_absolute_error",
    "root_relative_squared_error",
    "average_cost",
    "loss",
)


@dataclass(frozen=True, eq=False)
class CrossEvaluation(Evaluation):
    """The evaluation of a cross-validation, made by `compromis.cross_evaluate`.

    It is an `Evaluation` of the pooled test rows of all folds; `averages` has the means over folds.

    Attributes
    ----------
    folds : tuple of Evaluation
        The evaluation of each fold's test rows.
    train_rows, test_rows : tuple of int
        The rows of each fold.
    fit_seconds, predict_seconds : tuple of float
        What each fold took.
    untested : int
        Rows that no fold tests: the first ones where folds are ordered by time.
    repeats : float
        How often a tested row is tested, on average: 1 but for repeated cross-validation.
    optimism : float
        By how much the loss looks too good on the rows on which weights were chosen; NaN where none were chosen.
    level : float
        The confidence of the averages' intervals.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = cp.cross_evaluate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> result.counts.rows, len(result.folds), result.test_rows
    (150, 5, (30, 30, 30, 30, 30))
    """

    folds: tuple[Evaluation, ...] = ()
    train_rows: tuple[int, ...] = ()
    test_rows: tuple[int, ...] = ()
    fit_seconds: tuple[float, ...] = ()
    predict_seconds: tuple[float, ...] = ()
    untested: int = 0
    repeats: float = 1.0
    optimism: float = math.nan
    level: float = 0.95

    @cached_property
    def summary(self) -> Summary:
        """The numbers of the pooled rows; relative errors compare with the training priors of each fold, as in Weka."""
        pooled = super().summary
        references = [prior_errors(fold.errors, fold.priors) for fold in self.folds]
        absolute, squared = (sum(part) for part in zip(*references, strict=True))
        return replace(
            pooled,
            relative_absolute_error=self.errors.absolute / absolute if absolute else math.nan,
            root_relative_squared_error=math.sqrt(self.errors.squared / squared) if squared else math.nan,
        )

    @cached_property
    def averages(self) -> Mapping[str, FoldMean]:
        """The mean over folds of each number of the summary (003), with its spread and corrected interval."""
        share = float(np.mean([test / train for test, train in zip(self.test_rows, self.train_rows, strict=True)]))
        named = {}
        for name in AVERAGED:
            values = [getattr(fold.summary, name) for fold in self.folds]
            if None not in values:
                named[name] = fold_mean(values, share, confidence=self.level)
        return MappingProxyType(named)

    def __str__(self) -> str:
        from compromis.evaluation.render.text import folds_section

        return super().__str__() + "\n" + folds_section(self)

    def __repr__(self) -> str:
        return super().__repr__().replace("<Evaluation", f"<CrossEvaluation in {len(self.folds)} folds")

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, folds and averages included."""
        from compromis.evaluation.render.json import folds_document

        return super().document() | {"cross_validation": folds_document(self)}


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The checked input of a cross-validation; classes and groups are positions."""

    truth: Ints
    classes: tuple[Label, ...]
    group: Ints | None
    weight: Floats | None
    preferences: Preferences | None
    cost: Floats | None

    def counts(self, rows: Ints, predicted: Ints) -> Counts:
        """Count some rows against decisions."""
        return Counts.from_positions(self.truth[rows], predicted, self.classes, self.weight_of(rows))

    def weight_of(self, rows: Ints) -> Floats | None:
        """Return the weights of some rows."""
        return None if self.weight is None else self.weight[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What one fold's model says about its test rows."""

    predicted: Any
    shares: Floats | None
    classes: Any
    chosen: float
    """The loss on the rows on which the model chose its weights; NaN if it chose none."""
    fit_seconds: float
    predict_seconds: float


def fit_and_judge(estimator: Any, X: Any, y: Any, weight: Floats | None, fold: Fold) -> Judged:
    """Fit a model on a fold's training rows and let it decide the test rows; this is what runs in parallel."""
    train_X, train_y, test_X = (
        take_rows_folding(X, fold.train),
        take_rows_folding(y, fold.train),
        take_rows_folding(X, fold.test),
    )
    start = time.perf_counter()
    estimator.fit(train_X, train_y, **({} if weight is None else {"sample_weight": weight[fold.train]}))
    fitted = time.perf_counter()
    predicted = estimator.predict(test_X)
    shares = None
    if hasattr(estimator, "predict_proba") and hasattr(estimator, "classes_"):
        shares = np.asarray(estimator.predict_proba(test_X), dtype=np.float64)
    done = time.perf_counter()
    classes = getattr(estimator, "classes_", None)
    return Judged(predicted, shares, classes, chosen_loss(estimator), fitted - start, done - fitted)


def evaluate_folds(setup: Setup, folds: Sequence[Fold], judged: Sequence[Judged]) -> list[Evaluation]:
    """Return the evaluation of each fold's test rows, relative errors against the fold's training rows."""
    parts = []
    for fold, one in zip(folds, judged, strict=True):
        counts = setup.counts(fold.test, _predicted(one, setup))
        scored = _scored(setup, [fold], [one])
        if scored is None:
            errors, areas = DistributionErrors.from_counts(counts), roc_area_of_decisions(counts)
        else:
            errors = DistributionErrors.from_distributions(scored.truth, scored.shares, scored.weight)
            areas = scored.roc_areas()
        priors = smoothed_shares(setup.counts(fold.train, setup.truth[fold.train]))
        parts.append(Evaluation(counts, errors, areas, priors, True, setup.preferences, setup.cost))
    return parts


def pool(
    setup: Setup,
    folds: Sequence[Fold],
    judged: Sequence[Judged],
    parts: Sequence[Evaluation],
    level: float | None,
    optimism: float,
) -> CrossEvaluation:
    """Return the evaluation of all test rows together, with the folds beside it."""
    tested = np.concatenate([fold.test for fold in folds])
    distinct = len(np.unique(tested))
    repeats = len(tested) / distinct
    counts = sum((part.counts for part in parts[1:]), parts[0].counts)
    errors = sum((part.errors for part in parts[1:]), parts[0].errors)
    scored = _scored(setup, folds, judged, repeats)
    areas = roc_area_of_decisions(counts) if scored is None else scored.roc_areas()
    pooled = CrossEvaluation(
        counts, errors, areas, smoothed_shares(counts), True, setup.preferences, setup.cost,
        votes=None if scored is None else scored.votes,
        folds=tuple(parts),
        train_rows=tuple(len(fold.train) for fold in folds),
        test_rows=tuple(len(fold.test) for fold in folds),
        fit_seconds=tuple(one.fit_seconds for one in judged),
        predict_seconds=tuple(one.predict_seconds for one in judged),
        untested=len(setup.truth) - distinct,
        repeats=repeats,
        optimism=optimism,
        level=level or 0.95,
    )  # fmt: skip
    if level is None:
        return pooled
    predicted = np.concatenate([_predicted(one, setup) for one in judged])
    return replace(pooled, intervals=_intervals(setup, pooled, tested, predicted, scored))


def _intervals(
    setup: Setup, pooled: CrossEvaluation, tested: Ints, predicted: Ints, scored: ScoredRows | None
) -> ReportIntervals:
    evidence: Evidence = _independent(pooled.counts, pooled.repeats)
    if setup.group is not None:
        truth, group = setup.truth[tested], setup.group[tested]
        evidence = GroupedCounts.from_positions(truth, predicted, group, pooled.counts, setup.weight_of(tested))
    intervals = report_intervals(evidence, arrays=pooled.arrays, cost=setup.cost, confidence=pooled.level)
    return intervals if scored is None else intervals.with_roc_areas(scored.roc_area_intervals(pooled.level))


def _independent(counts: Counts, repeats: float) -> Counts:
    """Return counts that say how many independent rows they rest on, where each row was tested several times."""
    if repeats == 1:
        return counts
    squares = counts.matrix if counts.squares is None else counts.squares
    return Counts(counts.matrix, counts.classes, counts.rows, squares * repeats)


def _predicted(one: Judged, setup: Setup) -> Ints:
    return positions_in(one.predicted, setup.classes, "the predictions")


def _scored(setup: Setup, folds: Sequence[Fold], judged: Sequence[Judged], repeats: float = 1.0) -> ScoredRows | None:
    """Return the distributions in the order of all classes; a class that a training fold lacks has probability 0."""
    parts = []
    for one in judged:
        if one.shares is None:
            return None
        parts.append(with_absent_classes(one.shares, one.classes, setup.classes))
    rows = np.concatenate([fold.test for fold in folds])
    group = None if setup.group is None else setup.group[rows]
    return ScoredRows(setup.truth[rows], np.concatenate(parts), setup.classes, setup.weight_of(rows), group, repeats)


WORTH_SAYING = 0.01
"""Optimism below this share of the loss's range is not worth a warning."""


def chosen_loss(estimator: Any) -> float:
    """Return the loss on the rows on which a fitted estimator chose its weights; NaN if it chose none.

    Looks at ``search_.loss``, also of the last step of a pipeline and of the best estimator of a search.
    """
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    last = steps[-1][1] if steps else inner
    search = getattr(last, "search_", None)
    loss = getattr(search, "loss", None)
    return math.nan if loss is None else float(loss)


def warn_of_optimism(chosen: Sequence[float], validated: Sequence[float | None]) -> float:
    """Return by how much the loss looks too good where the weights were chosen, and warn where it is worth saying.

    Parameters
    ----------
    chosen : sequence of float
        Each fold's loss on the rows on which its weights were chosen; NaN where none were.
    validated : sequence of float or None
        Each fold's loss on unseen rows; None without preferences.
    """
    pairs = [(before, after) for before, after in zip(chosen, validated, strict=True) if after is not None]
    known = [pair for pair in pairs if not math.isnan(sum(pair))]
    if not known:
        return math.nan
    before, after = (sum(part) / len(known) for part in zip(*known, strict=True))
    gap = float(after - before)
    if gap >= WORTH_SAYING:
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
    preferences: Preferences | None = None,
    cv: Any = 10,
    groups: Any = None,
    n_jobs: int | None = None,
    labels: Sequence[Any] | None = None,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
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
    preferences : Preferences, optional
        What matters; adds the loss, naive decisions and the verdict.
    cv : int, splitter or pairs of row positions
        A number means stratified folds, shuffled with a fixed seed; for rows ordered by time pass ``TimeSeriesSplit()``.
    groups : labels, optional
        Rows of one group stay in one fold; the intervals count groups, not rows.
    n_jobs : int, optional
        Folds fitted at a time, through joblib: inside ``joblib.parallel_config(backend="dask")`` on a cluster.
    labels, cost, sample_weight
        As for `evaluate`; weights are also passed to ``fit``.
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
    Pooling adds up the counts of the folds; 003 averages the folds' numbers. Both are given: they differ where a fold is too
    small for a rate. Weka's relative errors are relative to the class shares of each training fold.

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
    setup = _read(y, labels, groups, sample_weight, preferences, cost)
    level = None if confidence is None else read_confidence(confidence)
    folds = choose_folds(cv, X, setup.truth, setup.classes, setup.group)
    judged = _run(estimator, X, y, setup, folds, n_jobs, progress)
    parts = evaluate_folds(setup, folds, judged)
    gap = warn_of_optimism([one.chosen for one in judged], [part.summary.loss for part in parts])
    return pool(setup, folds, judged, parts, level, gap)


def _read(
    y: Any, labels: Any, groups: Any, sample_weight: Any, preferences: Preferences | None, cost: ArrayLike | None
) -> Setup:
    if preferences is not None and not isinstance(preferences, Preferences):
        raise InputError(f"preferences must be a compromis.Preferences, got {type(preferences).__name__}")
    (truth,), classes = encode_classes(read_labels(y, "y"), labels=labels)
    if preferences is not None:
        preferences.on(classes)  # a preference for an unknown class is said before hours of fitting
    group = None if groups is None else read_groups(groups, len(truth))
    costs = None if cost is None else read_cost(cost, classes)
    return Setup(truth, classes, group, read_weights(sample_weight, len(truth)), preferences, costs)


def _run(
    estimator: Any, X: Any, y: Any, setup: Setup, folds: list[Fold], n_jobs: int | None, progress: Progress
) -> list[Judged]:
    from sklearn.base import clone
    from sklearn.utils.parallel import Parallel, delayed

    from compromis._workers import for_workers

    one = for_workers(fit_and_judge, n_jobs)
    tasks = [delayed(one)(clone(estimator), X, y, setup.weight, fold) for fold in folds]
    try:
        running = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
        running = iter(Parallel(n_jobs=n_jobs)(tasks))  # a backend that cannot hand over results one by one
    return list(counted(running, len(folds), progress))
