"""1. Every measure against exact fractions: at most 8 units in the last place, or 1e-15, apart."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import compromis as cp
from compromis.evidence import Counts
from compromis.measures import rates
from compromis.measures import rates as agreement
from compromis.measures.baselines import naive_baselines
from compromis.measures.pragma import pragma
from compromis.measures.probability import DistributionErrors, prior_errors, weka_errors
from compromis.measures.ranking import average_precision, roc_area
from compromis.preferences import PreferenceArrays
from tests import oracle
from tests.stress.cases import Case, exact, random_case
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "measures against an oracle in exact fractions"
FULL = 50_000
QUICK = 0.001

RATES = {
    "recall": oracle.recall,
    "precision": oracle.precision,
    "specificity": oracle.specificity,
    "negative_predictive_value": oracle.npv,
    "false_negative_rate": oracle.fn_rate,
    "false_positive_rate": oracle.fp_rate,
    "f_measure": oracle.f_beta,
}


def numbers(counts: Counts) -> dict[str, float]:
    """The numbers of the whole."""
    return {name: float(value) for name, value in agreement.summaries(counts, rates.class_rates(counts)).items()}


WHOLE = {
    "accuracy": (agreement.accuracy, oracle.accuracy),
    "kappa": (agreement.kappa, oracle.kappa),
    "balanced_accuracy": (lambda counts: numbers(counts)["balanced_accuracy"], oracle.balanced_accuracy),
    "matthews": (agreement.matthews, oracle.mcc),
    "g_mean": (lambda counts: numbers(counts)["g_mean"], oracle.g_mean),
}


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases in which any number differs."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> None:
    """Compare every number of one case."""
    case = random_case(seed)
    counts = counts_of(case)
    if case.truth is not None:
        check_counts(case, counts)
    matrix = exact(counts.matrix)
    check_rates(counts, matrix)
    check_preferences(case, counts, matrix)
    check_scores(case)
    check_distributions(seed, case)
    check_metrics(seed)


def counts_of(case: Case) -> Counts:
    """Return the library's counts of a case."""
    if case.truth is None:
        return Counts.from_matrix(case.cells, range(case.classes))
    return Counts.from_predictions(case.truth, case.decision, labels=range(case.classes), sample_weight=case.weight)


def check_counts(case: Case, counts: Counts) -> None:
    """Counts are equal; sums of weights are those of a plain sum up to the rounding of each addition."""
    weights = None if case.weight is None else case.weight.tolist()
    expected = oracle.count(case.truth.tolist(), case.decision.tolist(), range(case.classes), weights)
    for ours, row in zip(counts.matrix.tolist(), expected, strict=True):
        for one, other in zip(ours, row, strict=True):
            allowed = 0 if weights is None else other * len(weights) * Fraction(1, 2**53)
            assert abs(Fraction(one) - other) <= allowed, f"count {one}, exactly {float(other)}"


def check_rates(counts: Counts, matrix: list[list[int]]) -> None:
    """The rates of each class, their averages, and the measures of the whole."""
    support = oracle.supports(matrix)
    found = rates.class_rates(counts)
    for name, theirs in RATES.items():
        expected = [theirs(matrix, k) for k in range(len(matrix))]
        values = found[name]
        for k, value in enumerate(expected):
            agree(values[k], value, f"{name} of class {k}")
        if name in ("recall", "precision", "f_measure"):
            filled = [
                0 if v is None and n and name == "precision" else v for v, n in zip(expected, support, strict=True)
            ]
            kept = [v if n else None for v, n in zip(filled, support, strict=True)]
            for weights, average in (
                (counts.support > 0, oracle.macro(kept)),
                (counts.support, oracle.weighted(kept, support)),
            ):
                agree(float(agreement.averages({name: values}, weights, [name])[name]), average, f"average {name}")
    for name, (measure, theirs) in WHOLE.items():
        agree(measure(counts), theirs(matrix), name)


def check_preferences(case: Case, counts: Counts, matrix: list[list[int]]) -> None:
    """The loss, its parts, and what decisions without a model lose."""
    preferences = form_of(case)
    arguments = (case.importance, case.recall_weight, case.metric)
    total, parts = oracle.pragma(matrix, *arguments)
    loss = pragma(counts, preferences)
    agree(loss.total, total, f"loss with metric {case.metric}")
    for k, part in enumerate(parts):
        agree(loss.by_class[k], part, f"loss of class {k} with metric {case.metric}")
    baselines = naive_baselines(counts, preferences)
    for baseline, expected in zip(baselines, oracle.constant_losses(matrix, *arguments), strict=False):
        agree(baseline.loss, expected, baseline.name)
    agree(baselines[-1].loss, oracle.random_loss(matrix, *arguments), baselines[-1].name)


def form_of(case: Case) -> PreferenceArrays:
    """Return the preferences of a case, with its recall weights as they are."""
    preferences = {
        k: cp.Preference(theta, recall_weight=l)
        for k, (theta, l) in enumerate(zip(case.importance, case.recall_weight, strict=True))
    }
    return cp.Preferences(preferences, metric=case.metric).on(range(case.classes))


def check_scores(case: Case) -> None:
    """The cuts of a score and the areas under its curves."""
    points = cp.OperatingPoints.from_flags(case.flags, case.score, True, case.score_weight)
    weights = None if case.score_weight is None else case.score_weight.tolist()
    arguments = (case.score.tolist(), case.flags.tolist(), weights)
    agree(roc_area(points), oracle.auc(*arguments), "area under the ROC curve", weighted=weights is not None)
    agree(
        average_precision(points),
        oracle.average_precision(*arguments),
        "average precision",
        weighted=weights is not None,
    )
    if weights is None:
        expected = [(math.inf if t is None else t, tp, fp) for t, tp, fp, _, _ in oracle.cuts(*arguments)]
        found = zip(
            points.threshold.tolist(), points.true_positives.tolist(), points.false_positives.tolist(), strict=True
        )
        assert list(found) == expected, "cuts"


def check_distributions(seed: int, case: Case) -> None:
    """Weka's four errors of distributions of eighths."""
    rng = np.random.default_rng(seed + 10**9)
    rows, classes = int(rng.integers(1, 7)), case.classes
    shares = rng.multinomial(8, np.ones(classes) / classes, rows) / 8
    truth = rng.integers(0, classes, rows)
    priors = [Fraction(int(c) + 1, 64 + classes) for c in rng.multinomial(64, np.ones(classes) / classes)]
    errors = DistributionErrors.from_distributions(truth, shares, None)
    found = weka_errors(errors, prior_errors(errors, np.array([float(p) for p in priors])))
    mae, rmse, rae, rrse = oracle.weka_errors(shares.tolist(), truth.tolist(), [float(p) for p in priors])
    relative = [None if error is None else Fraction(error) / 100 for error in (rae, rrse)]
    for (name, error), theirs in zip(found.items(), (mae, rmse, *relative), strict=True):
        agree(error, theirs, name)


def check_metrics(seed: int) -> None:
    """The metrics at a point, the weight of two answers, and the best of a few points."""
    rng = np.random.default_rng(seed + 2 * 10**9)
    p, r, l, x, y = rng.random(5).tolist()
    if seed % 10 == 0:
        p, r, l = rng.choice([0.0, 0.5, 1.0], 3).tolist()
        x, y = rng.choice([0.0, 0.5], 2).tolist()
    for metric in oracle.METRICS:
        agree(
            float(cp.metric_value(p, r, l, metric=metric)),
            oracle.metric_value(p, r, l, metric),
            f"{metric} at ({p}, {r}, {l})",
        )
        answer = cp.Preference(precision_at_full_recall=x, recall_at_full_precision=y).recall_weight_for(metric)
        conditioned(answer, oracle.recall_weight(x, y, metric), x, y, metric)


def conditioned(value: float, expected: Any, x: float, y: float, metric: str) -> None:
    """Compare a recall weight."""
    agree(value, expected, f"recall weight of answers ({x}, {y}) for {metric}")


def agree(value: float, expected: Any, what: str, *, weighted: bool = False) -> None:
    """Fail unless value and exact value are at most 8 units in the last place or 1e-15 apart; None is NaN.

    Areas of weighted rows are sums of rounded products, one per cut: there 64 units are allowed.
    """
    if expected is None:
        assert math.isnan(value), f"{what}: {value!r}, but it is undefined"
        return
    near, units = float(expected), 64 if weighted else 8
    if value == near:
        return
    exactly = Fraction(expected) if isinstance(expected, (Decimal, int)) else expected
    assert not math.isnan(value), f"{what}: undefined, but it is {near!r}"
    apart = abs(Fraction(value) - exactly)
    assert apart <= Fraction(units * math.ulp(near)) or apart <= Fraction(1, 10**15), (
        f"{what}: {value!r} is {float(apart) / math.ulp(near):.1f} units from {near!r}"
    )
