"""2. The same cases against scikit-learn: every disagreement has a listed reason.

A reason is a condition on the case, checked here, under which the two define a number differently, or scikit-learn's own
arithmetic loses digits (then ours must be the one that agrees with the oracle). Anything else is a failure.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn
from sklearn import config_context, metrics

import compromis as cp
from compromis.evidence import Counts
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.ranking import average_precision, roc_area
from tests import oracle
from tests.stress.cases import Case, exact, random_case
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.promise_01_oracle import agree, counts_of

TITLE = "the same cases against scikit-learn, disagreements listed"
FULL = 50_000
QUICK = 0.0008

ABSENT = "averages: a class absent from the truth is left out here, counted as 0 by scikit-learn"
NO_MATTHEWS = "Matthews' coefficient is undefined (NaN) where truth or decision is constant; scikit-learn says 0"
NO_POSITIVES = "average precision is undefined (NaN) without positives; scikit-learn says 0"
DIGITS = "scikit-learn subtracts nearly equal sums and loses digits; our value is within 8 units of the exact one"
OVERFLOW = (
    "scikit-learn 1.7 multiplies whole counts in 64 bits for kappa, and what it says is what overflows; ours is exact"
)

NEAR = 1e-12
"""Relative difference up to which two numbers agree."""


@dataclass
class Comparison:
    """One case, and the disagreements found in it."""

    case: Case
    counts: Counts
    found: Counter[str] = field(default_factory=Counter)

    def same(self, ours: Any, theirs: Any, what: str, reasons: tuple[str, ...] = (), truth: Any = None) -> None:
        """Compare numbers; where they differ, a reason must hold (those given do), or ours must be the exact one."""
        for k, (one, other) in enumerate(zip(np.ravel(ours), np.ravel(theirs), strict=True)):
            if math.isclose(one, other, rel_tol=NEAR, abs_tol=1e-15) or (math.isnan(one) and math.isnan(other)):
                continue
            if reasons:
                self.found.update(reasons)
                continue
            assert truth is not None, f"{what}: {one!r} here, {other!r} in scikit-learn, and no reason is listed"
            expected = truth()[k] if callable(truth) else truth
            agree(float(one), expected, what)
            assert expected is not None, f"{what}: undefined here, {other!r} in scikit-learn"
            assert abs(other - float(expected)) < 1e-3, f"{what}: {other!r} in scikit-learn is more than rounding away"
            self.found[DIGITS] += 1


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases with a disagreement that is not listed."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> Counter[str]:
    """Compare one case, return how often each reason was needed."""
    case = random_case(seed)
    one = Comparison(case, counts_of(case))
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True, assume_finite=True):
        warnings.simplefilter("ignore")  # scikit-learn warns of what is undefined
        truth, decision, weight = rows_of(case)
        compare_classes(one, truth, decision, weight)
        compare_whole(one, truth, decision, weight)
        compare_scores(one)
    return one.found


def rows_of(case: Case) -> tuple[Any, Any, Any]:
    """Return rows; counts too many for rows become weights of one row per cell."""
    if case.truth is not None:
        return case.truth, case.decision, case.weight
    truth, decision = np.divmod(np.arange(case.classes**2), case.classes)
    return truth, decision, np.array(case.cells).ravel()


def compare_classes(one: Comparison, truth: Any, decision: Any, weight: Any) -> None:
    """The matrix, and the rates of each class with their averages."""
    labels, counts = list(range(one.case.classes)), one.counts
    theirs = metrics.confusion_matrix(truth, decision, labels=labels, sample_weight=weight)
    one.same(counts.matrix, theirs, "counts")
    exactly = exact(counts.matrix)

    def by(function: Any) -> Any:
        return lambda: [function(exactly, k) for k in labels]

    precision, recall, f, support = metrics.precision_recall_fscore_support(
        truth, decision, labels=labels, sample_weight=weight, zero_division=np.nan
    )
    one.same(rates.precision(counts), precision, "precision", truth=by(oracle.precision))
    one.same(rates.recall(counts), recall, "recall", truth=by(oracle.recall))
    one.same(rates.f_measure(counts), f, "f", truth=by(oracle.f_beta))
    one.same(counts.support, support, "support")
    compare_average(one, (truth, decision), {"labels": labels, "sample_weight": weight})


def compare_average(one: Comparison, rows: tuple[Any, Any], option: dict[str, Any]) -> None:
    """Plain or weighted averages over the classes, in turn; the kind is that of the case."""
    counts, score = one.counts, metrics.precision_recall_fscore_support
    kind, weights = (("macro", counts.support > 0), ("weighted", counts.support))[len(one.case.score) % 2]
    ours = agreement.averages(rates.class_rates(counts), weights)
    absent = (ABSENT,) if kind == "macro" and (counts.support == 0).any() else ()
    precision = score(*rows, average=kind, zero_division=0, **option)[0]
    _, recall, f, _ = score(*rows, average=kind, zero_division=np.nan, **option)
    one.same(ours["precision"], precision, f"{kind} precision", absent)
    one.same(ours["recall"], recall, f"{kind} recall")
    one.same(ours["f_measure"], f, f"{kind} f", absent)


def compare_whole(one: Comparison, truth: Any, decision: Any, weight: Any) -> None:
    """The measures of the whole."""
    counts, exactly, option = one.counts, exact(one.counts.matrix), {"sample_weight": weight}
    one.same(agreement.accuracy(counts), metrics.accuracy_score(truth, decision, **option), "accuracy")
    balanced = metrics.balanced_accuracy_score(truth, decision, **option)
    one.same(agreement.summaries(counts, rates.class_rates(counts))["balanced_accuracy"], balanced, "balanced accuracy")
    kappa, theirs = agreement.kappa(counts), metrics.cohen_kappa_score(truth, decision, **option)
    # undefined where a single cell on the diagonal is filled: then scikit-learn's denominator is a sum of zeros too
    wraps = sklearn.__version__.startswith("1.7.") and not math.isclose(kappa, theirs, rel_tol=NEAR)
    if wraps and theirs == overflowing_kappa(counts.matrix):
        agree(kappa, oracle.kappa(exactly), "kappa")
        one.found[OVERFLOW] += 1
    else:
        one.same(kappa, theirs, "kappa", truth=lambda: [oracle.kappa(exactly)])
    matthews, theirs = agreement.matthews(counts), metrics.matthews_corrcoef(truth, decision, **option)
    no_matthews = (NO_MATTHEWS,) if oracle.mcc(exactly) is None and theirs == 0 else ()
    one.same(matthews, theirs, "Matthews", no_matthews, truth=lambda: [oracle.mcc(exactly)])


def overflowing_kappa(cells: Any) -> float | None:
    """Return kappa as 64 bits give it, where products of whole counts do not fit into them."""
    truth, decision = cells.sum(axis=1), cells.sum(axis=0)
    if cells.dtype.kind == "f" or int(truth.max()) * int(decision.max()) < 2**63:
        return None
    wrong = 1 - np.eye(len(cells), dtype=int)
    by_chance = np.outer(decision, truth) / np.sum(decision)
    return float(1 - np.sum(wrong * cells) / np.sum(wrong * by_chance))


def compare_scores(one: Comparison) -> None:
    """The curves of a score and the areas under them."""
    case = one.case
    flags, score, weight = case.flags, case.score, case.score_weight
    points = cp.OperatingPoints.from_flags(flags, score, True, weight)
    option: dict[str, Any] = {"sample_weight": weight}
    missing = () if points.positives else (NO_POSITIVES,)
    theirs = metrics.average_precision_score(flags, score, **option)
    one.same(average_precision(points), theirs, "average precision", missing)
    if points.positives and points.negatives:
        one.same(roc_area(points), metrics.roc_auc_score(flags, score, **option), "area under the ROC curve")
        fpr, tpr, threshold = metrics.roc_curve(flags, score, drop_intermediate=False, **option)
        one.same(points.fpr, fpr, "false positive rates")
        one.same(points.tpr, tpr, "true positive rates")
        assert points.threshold.tolist() == threshold.tolist(), "thresholds of the ROC curve"
    if points.positives:
        precision, recall, threshold = metrics.precision_recall_curve(flags, score, **option)
        one.same(points.precision[1:], precision[-2::-1], "precisions of the curve")
        one.same(points.recall[1:], recall[-2::-1], "recalls of the curve")
        assert points.threshold[1:].tolist() == threshold[::-1].tolist(), "thresholds of the precision-recall curve"
