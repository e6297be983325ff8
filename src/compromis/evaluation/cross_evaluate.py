"""Cross-validation: every fold fitted apart, judged on rows it has not seen, pooled and averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from compromis.errors import InputError
from compromis.evaluation.folding import Fold, choose_folds
from compromis.evaluation.judging import Judged, Setup, evaluate_folds, fit_and_judge, pool
from compromis.evaluation.optimism import warn_of_optimism
from compromis.evaluation.progress import Progress, counted
from compromis.evidence.counts import Counts
from compromis.evidence.grouped import read_groups
from compromis.evidence.positions import positions_in
from compromis.evidence.weights import read_weights
from compromis.measures.costs import read_cost
from compromis.preferences import Preferences
from compromis.reporting.cross_evaluation import CrossEvaluation
from compromis.uncertainty.interval import read_confidence


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
    classes = Counts.from_predictions(y, y, labels=labels).classes
    truth = positions_in(y, classes, "y")
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

    from compromis.workers import for_workers

    one = for_workers(fit_and_judge, n_jobs)
    tasks = [delayed(one)(clone(estimator), X, y, setup.weight, fold) for fold in folds]
    try:
        running = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    except ValueError as error:
        if "return_as" not in str(error):
            raise
        running = iter(Parallel(n_jobs=n_jobs)(tasks))  # a backend that cannot hand over results one by one
    return list(counted(running, len(folds), progress))
