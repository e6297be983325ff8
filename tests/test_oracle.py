"""The oracle itself, against figures printed in the papers, scikit-learn and a second way of enumerating weights."""

from __future__ import annotations

import os
import random
import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from tests import oracle as o

F = Fraction
SVM = [[94, 11], [37, 23]]  # 004: rows truth good, bad
BAYES = [[72, 33], [29, 31]]
ROC_20 = "+++-+--+---+--------"  # 004: 20 scores from 1 down by 0.05


def digits(value: Any, n: int) -> str:
    """A number as printed with n digits after the point (halves away from 0)."""
    scaled = F(value) * 10**n
    return f"{int(scaled + F(1, 2)) / 10**n:.{n}f}"


def labels_of(matrix: list[list[int]]) -> tuple[list[int], list[int]]:
    pairs = [(i, j) for i, row in enumerate(matrix) for j, c in enumerate(row) for _ in range(c)]
    return [i for i, _ in pairs], [j for _, j in pairs]


# --- 000: PRAGMA ---


def test_two_answers_give_the_plane_of_000() -> None:
    recall_weight = o.recall_weight("0.10", "0.90", "kulczynski")
    assert (-recall_weight, recall_weight - 1) == (F("-0.9"), F("-0.1"))
    assert 1 - o.metric_value("0.1", 1, recall_weight, "kulczynski") == F("0.09")
    assert 1 - o.metric_value(1, "0.9", recall_weight, "kulczynski") == F("0.09")


def test_figure_1_of_000() -> None:
    a, b = ("0.8", "0.3"), ("0.3", "0.8")  # (precision, recall)
    assert o.metric_value(*a, "0.5", "kulczynski") == o.metric_value(*b, "0.5", "kulczynski")
    assert o.metric_value(*a, "0.9", "kulczynski") < o.metric_value(*b, "0.9", "kulczynski")
    assert o.metric_value(*a, "0.1", "kulczynski") > o.metric_value(*b, "0.1", "kulczynski")


def test_table_1_of_000_support_weighted_means() -> None:
    support = [27, 32, 54, 67, 22, 3]
    right, chosen = [25, 23, 40, 56, 15, 2], [31, 28, 52, 74, 18, 2]
    recalls = [F(a, b) for a, b in zip(right, support, strict=True)]
    precisions = [F(a, b) for a, b in zip(right, chosen, strict=True)]
    assert [digits(100 * r, 1) for r in recalls] == ["92.6", "71.9", "74.1", "83.6", "68.2", "66.7"]
    assert [digits(100 * p, 1) for p in precisions] == ["80.6", "82.1", "76.9", "75.7", "83.3", "100.0"]
    assert digits(100 * o.weighted(recalls, support), 1) == "78.5"
    assert digits(100 * o.weighted(precisions, support), 1) == "78.8"
    assert digits(100 * o.weighted(recalls[:2], support[:2]), 1) == "81.4"
    assert digits(100 * o.weighted(precisions[2:], support[2:]), 1) == "77.8"


def test_giving_up_on_a_rare_class() -> None:
    losses = o.constant_losses([[992, 0], [0, 8]], [1, 10], ["0.5", "0.9"])
    assert losses[1] == (10 * (1 - F("0.9") - F("0.1") * F("0.008")) + 1) / 11
    assert digits(losses[1], 2) == "0.18"


def test_pragma_of_undecided_and_absent_classes() -> None:
    loss, f = o.pragma([[3, 0, 0], [1, 0, 0], [0, 0, 0]], [1, 10, 5], ["0.5"] * 3)
    assert f == [F(1, 8), 1, None]
    assert loss == (F(1, 8) + 10) / 11
    assert o.pragma([[0, 0], [0, 0]], [1, 1], [0, 1]) == (None, [None, None])


def test_random_loss_is_that_of_the_expected_matrix() -> None:
    for metric in o.METRICS[:2]:  # p = r = prior, so both metrics equal the prior whatever l
        assert o.random_loss([[7, 1], [1, 1]], [1, 3], ["0.3", "0.9"], metric) == (F(1, 5) + 3 * F(4, 5)) / 4


# --- 002: the trade-off space ---


@pytest.mark.parametrize(
    ("p", "r", "l", "printed"),
    [
        ("0.7", "0.7", "0.5", "0.70 0.70 0.70 0.54"),
        ("0.5", "0.9", "0.5", "0.70 0.64 0.67 0.47"),
        ("0.9", "0.5", "0.5", "0.70 0.64 0.67 0.47"),
        ("0.7", "0.7", "0.2", "0.70 0.70 0.70 0.63"),
        ("0.5", "0.9", "0.2", "0.58 0.55 0.56 0.49"),
        ("0.9", "0.5", "0.2", "0.82 0.78 0.80 0.66"),
    ],
)
def test_table_1_of_002(p: str, r: str, l: str, printed: str) -> None:
    """As printed, but for the slip 0.77 (0.7759); 0.625 is printed with three digits."""
    assert " ".join(digits(o.metric_value(p, r, l, metric), 2) for metric in o.METRICS) == printed


def test_jaccard_of_table_1_with_three_digits() -> None:
    assert o.metric_value("0.7", "0.7", "0.2", "jaccard") == F("0.625")


@pytest.mark.parametrize("metric", o.METRICS)
def test_answers_are_indifferent(metric: str) -> None:
    for x, y in product(["0.05", "0.3", "0.5", "0.8", "0.99"], repeat=2):
        l = o.recall_weight(x, y, metric)
        assert 0 < l < 1
        left, right = (F(str(o.metric_value(p, r, l, metric))) for p, r in ((x, 1), (1, y)))
        assert abs(left - right) < F(1, 10**55)


@pytest.mark.parametrize("metric", o.METRICS[1:])
def test_limits_of_answers_and_values(metric: str) -> None:
    assert [o.recall_weight(x, y, metric) for x, y in ((0, "0.4"), ("0.4", 0), (0, 0))] == [1, 0, F(1, 2)]
    assert abs(o.recall_weight("1e-9000" if metric == "fowlkes_mallows" else "1e-9", "0.4", metric) - 1) < F(1, 1000)
    assert (
        o.metric_value("0.3", 0, 0, metric)
        == o.metric_value(0, "0.3", 1, metric)
        == (Decimal("0.3") if metric == "fowlkes_mallows" else F("0.3"))
    )
    assert o.metric_value("0.3", 0, "0.5", metric) == o.metric_value(0, "0.3", "0.5", metric) == 0


def test_f_index_is_f_beta() -> None:
    matrix = [[5, 3, 1], [2, 7, 0], [4, 1, 6]]
    for k, beta in product(range(3), (F(1, 2), F(1), F(2))):
        l = beta**2 / (1 + beta**2)
        assert o.metric_value(o.precision(matrix, k), o.recall(matrix, k), l, "f") == o.f_beta(matrix, k, beta)


def test_envelope_picks_the_best_point() -> None:
    points = [("0.9", "0.5"), ("0.7", "0.7"), ("0.5", "0.9"), ("0.6", "0.6")]
    assert [k for _, k in o.envelope_on_grid(points, "f", [0, "0.5", 1])] == [0, 1, 2]
    assert o.envelope_on_grid(points, "kulczynski", ["0.2"])[0] == (F("0.82"), 0)


# --- 003 and 004: rates, reports, scores ---


def test_accuracy_trap_of_003() -> None:
    assert o.accuracy([[95, 0], [5, 0]]) == F("0.95")
    assert o.accuracy([[85, 10], [0, 5]]) == F("0.90")


def test_screening_example_of_004() -> None:
    matrix = [[190, 10], [210, 3590]]
    rates = [o.recall(matrix, 0), o.specificity(matrix, 0), o.precision(matrix, 0), o.npv(matrix, 0)]
    assert [digits(100 * x, 1) for x in rates] == ["95.0", "94.5", "47.5", "99.7"]
    assert o.fn_rate(matrix, 0) == F(1, 20)
    assert o.cost(matrix, [[0, 100], [1, 0]]) == F(1210, 4000)


@pytest.mark.parametrize(
    ("matrix", "by_class", "average", "summary"),
    [
        (
            SVM,
            ["0.895 0.617 0.718 0.895 0.797", "0.383 0.105 0.676 0.383 0.489"],
            "0.709 0.431 0.703 0.709 0.685",
            "70.9091 0.3071",
        ),
        (
            BAYES,
            ["0.686 0.483 0.713 0.686 0.699", "0.517 0.314 0.484 0.517 0.500"],
            "0.624 0.422 0.630 0.624 0.627",
            "62.4242 0.1995",
        ),
    ],
)
def test_reports_of_004(matrix: list[list[int]], by_class: list[str], average: str, summary: str) -> None:
    columns = [[f(matrix, k) for k in (0, 1)] for f in (o.recall, o.fp_rate, o.precision, o.recall, o.f_beta)]
    assert [" ".join(digits(c[k], 3) for c in columns) for k in (0, 1)] == by_class
    assert " ".join(digits(o.weighted(c, o.supports(matrix)), 3) for c in columns) == average
    assert f"{digits(100 * o.accuracy(matrix), 4)} {digits(o.kappa(matrix), 4)}" == summary


def test_weka_errors_of_the_svm_report() -> None:
    truth, decision = labels_of(SVM)
    assert o.weka_priors([11, 6]) == [F(12, 19), F(7, 19)]
    errors = o.weka_errors([o.hard(d, 2) for d in decision], truth, [F(12, 19), F(7, 19)])
    assert [digits(e, 4) for e in errors] == ["0.2909", "0.5394", "62.6804", "112.1168"]
    assert digits(o.auc([-d for d in decision], [t == 0 for t in truth]), 3) == "0.639"


def weka_folder() -> Path:
    if "COMPROMIS_DATA" not in os.environ:
        pytest.skip("set COMPROMIS_DATA to the folder of the papers' data to compare with Weka")
    return Path(os.environ["COMPROMIS_DATA"]).parent / "oracles" / "weka"


@pytest.mark.parametrize("name", ["breast-cancer", "iris"])
def test_weka_errors_of_a_run_of_weka(name: str) -> None:
    """Naive Bayes trained by Weka on the rows not 2 modulo 3; its distributions are printed with 3 digits."""
    text = (weka_folder() / f"evaluation-{name}.txt").read_text()
    arff = (weka_folder() / f"{name}.arff").read_text()
    rows = re.findall(r"^ +\d+ +(\d+):\S+ +\d+:\S+ +\+? +([\d.,*]+) *$", text, re.MULTILINE)
    truth = [int(t) - 1 for t, _ in rows]
    classes = re.findall(r"@attribute\s+'?class'?\s*\{(.*)\}", arff, re.IGNORECASE)[-1].replace("'", "").split(",")
    body = [x for x in re.split("@data", arff, flags=re.IGNORECASE)[1].splitlines() if x.strip() and x[0] != "%"]
    seen = [x.rsplit(",", 1)[1].strip().strip("'") for i, x in enumerate(body) if i % 3 != 2]
    counts = [seen.count(c.strip()) for c in classes]
    distributions = [row.replace("*", "").split(",") for _, row in rows]
    errors = o.weka_errors(distributions, truth, o.weka_priors(counts))
    printed = re.findall(r"(?:[Aa]bsolute|squared) error +([\d.]+)", text)
    assert len(rows) == int(re.findall(r"Number of Instances +(\d+)", text)[0])
    # Three printed digits move the mean error by at most 0.0005, relative to the priors' error of about 0.4.
    assert [float(e) for e in errors[:2]] == pytest.approx([float(x) for x in printed[:2]], abs=6e-4)
    assert [float(e) for e in errors[2:]] == pytest.approx([float(x) for x in printed[2:]], abs=0.15)
    # The error of the priors does not depend on those digits: it is the printed RMSE over the printed RRSE.
    naive = o.weka_errors([o.weka_priors(counts)] * len(truth), truth, o.weka_priors(counts))[1]
    assert float(naive) == pytest.approx(100 * float(printed[1]) / float(printed[3]), abs=0.0051 / float(printed[3]))


def test_roc_table_of_20_rows() -> None:
    scores = [F(20 - i, 20) for i in range(20)]
    flags = [c == "+" for c in ROC_20]
    curve = o.roc(scores, flags)
    assert " ".join(digits(y, 3) for _, _, y in curve[1:]) == (
        "0.167 0.333 0.500 0.500 0.667 0.667 0.667 0.833 0.833 0.833 0.833" + 9 * " 1.000"
    )
    assert " ".join(digits(x, 3) for _, x, _ in curve[1:]) == (
        "0.000 0.000 0.000 0.071 0.071 0.143 0.214 0.214 0.286 0.357 0.429 0.429 0.500 0.571 0.643 0.714 0.786 0.857 "
        "0.929 1.000"
    )
    area = sum((b[1] - a[1]) * (a[2] + b[2]) / 2 for a, b in pairwise(curve))
    assert o.auc(scores, flags) == area == F(74, 84)


def test_roc_and_pr_of_six_rows() -> None:
    scores, flags = ["0.9", "0.8", "0.6", "0.4", "0.3", "0.1"], [True, False, True, True, False, False]
    third = F(1, 3)
    assert [y for _, _, y in o.roc(scores, flags)] == [0, third, third, 2 * third, 1, 1, 1]
    assert [x for _, x, _ in o.roc(scores, flags)] == [0, 0, third, third, third, 2 * third, 1]
    assert [p for _, _, p in o.pr(scores, flags)] == [None, 1, F(1, 2), F(2, 3), F(3, 4), F(3, 5), F(3, 6)]
    assert o.average_precision(scores, flags) == (1 + F(2, 3) + F(3, 4)) / 3
    assert o.auprc(scores, flags) == (1 + (F(1, 2) + F(2, 3)) / 2 + (F(2, 3) + F(3, 4)) / 2) / 3


# --- scikit-learn ---


@pytest.mark.parametrize("seed", range(8))
def test_measures_as_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    y, z = rng.integers(0, k, 60), rng.integers(0, k, 60)
    y[:k] = z[:k] = np.arange(k)
    w = rng.integers(1, 5, 60)
    matrix = o.count(y.tolist(), z.tolist(), list(range(k)), w.tolist())
    assert np.array(matrix, float).tolist() == metrics.confusion_matrix(y, z, sample_weight=w).tolist()
    p, r, f, s = metrics.precision_recall_fscore_support(y, z, beta=2, sample_weight=w)
    ours = [[fn(matrix, i) for i in range(k)] for fn in (o.precision, o.recall, lambda m, i: o.f_beta(m, i, 2))]
    assert np.array(ours, float) == pytest.approx(np.array([p, r, f]))
    assert np.array(o.supports(matrix), float) == pytest.approx(s)
    for ours_, theirs in (
        (o.accuracy, metrics.accuracy_score),
        (o.kappa, metrics.cohen_kappa_score),
        (o.balanced_accuracy, metrics.balanced_accuracy_score),
        (o.mcc, metrics.matthews_corrcoef),
    ):
        assert float(ours_(matrix)) == pytest.approx(theirs(y, z, sample_weight=w))
    assert float(o.g_mean(matrix)) == pytest.approx(np.prod(r) ** (1 / k))
    assert float(o.macro(ours[0])) == pytest.approx(metrics.precision_score(y, z, average="macro", sample_weight=w))


@pytest.mark.parametrize("seed", range(8))
def test_curves_as_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flags, scores, w = rng.random(40) < 0.4, rng.integers(0, 12, 40), rng.integers(1, 4, 40)
    args = scores.tolist(), flags.tolist(), w.tolist()
    assert float(o.auc(*args)) == pytest.approx(metrics.roc_auc_score(flags, scores, sample_weight=w))
    assert float(o.average_precision(*args)) == pytest.approx(
        metrics.average_precision_score(flags, scores, sample_weight=w)
    )
    fpr, tpr, _ = metrics.roc_curve(flags, scores, sample_weight=w, drop_intermediate=False)
    assert np.array([x[1:] for x in o.roc(*args)], float) == pytest.approx(np.column_stack([fpr, tpr]))
    p, r, _ = metrics.precision_recall_curve(flags, scores, sample_weight=w)
    p[-1] = p[-2]  # scikit-learn begins at precision 1, the oracle level with the first cut
    assert float(o.auprc(*args)) == pytest.approx(metrics.auc(r, p))


def test_undefined_values_are_none() -> None:
    matrix = [[2, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert [o.recall(matrix, k) for k in range(3)] == [1, 0, None]
    assert [o.precision(matrix, k) for k in range(3)] == [F(2, 3), None, None]
    assert [o.f_beta(matrix, k) for k in range(3)] == [F(4, 5), 0, None]
    assert o.mcc(matrix) is None
    assert o.g_mean(matrix) == 0
    assert o.balanced_accuracy(matrix) == F(1, 2)
    assert o.kappa([[4, 0], [0, 0]]) is None
    assert o.auc([1, 2], [True, True]) is None
    assert o.average_precision([1, 2], [False, False]) is None
    assert o.auprc([1, 2], [False, False]) is None


# --- weights ---


def decide(votes: list[list[int]], weights: tuple[F, ...]) -> tuple[int | None, ...]:
    """The definition: largest weight x votes, ties to the first class, None without votes."""
    return tuple(max(range(len(row)), key=lambda k: (weights[k] * row[k], -k)) if any(row) else None for row in votes)


def faces(critical: set[F], ties: bool) -> list[F]:
    """A value inside every interval that the critical values cut from (0, inf), and those values where ties is true."""
    edges = sorted(critical) or [F(1)]
    inside = [edges[0] / 2, *((a + b) / 2 for a, b in pairwise(edges)), edges[-1] * 2]
    return inside + edges if ties else inside


def by_candidates(votes: list[list[int]], ties: bool) -> set[tuple[int | None, ...]]:
    """All decisions of weights (1, A) or (1, A, B) from every cell; with ties, from every edge and vertex too."""

    def quotients(j: int, k: int) -> set[F]:
        return {F(v[j], v[k]) for v in votes if v[j] and v[k]}

    if len(votes[0]) == 2:
        return {decide(votes, (F(1), a)) for a in faces(quotients(0, 1), ties)}
    crossings = {b / d for b in quotients(0, 2) for d in quotients(1, 2)}
    return {
        decide(votes, (F(1), a, b))
        for a in faces(quotients(0, 1) | crossings, ties)
        for b in faces(quotients(0, 2) | {a * d for d in quotients(1, 2)}, ties)
    }


@pytest.mark.parametrize(
    ("k", "n", "seed"),
    [(2, n, s) for n in (1, 4, 10) for s in range(10)] + [(3, n, s) for n in (1, 2, 4, 5) for s in range(8)],
)
def test_reachable_assignments_by_two_ways(k: int, n: int, seed: int) -> None:
    """Inequalities and candidates agree, and no tie reaches decisions that an open cell does not."""
    rng = random.Random(f"{k} {n} {seed}")
    votes = [[rng.randint(0, 4) for _ in range(k)] for _ in range(n)]
    reachable = o.reachable_assignments(votes)
    assert len(reachable) == len(set(reachable))
    assert set(reachable) == by_candidates(votes, ties=True) == by_candidates(votes, ties=False)


def test_ties_and_rows_without_votes() -> None:
    assert set(o.reachable_assignments([[1, 1], [0, 0], [2, 2]])) == {(0, None, 0), (1, None, 1)}
    assert set(o.reachable_assignments([[0, 3, 0]])) == {(1,)}
    cycle = [[1, 2, 0], [0, 1, 2], [2, 0, 1]]  # 0, 1, 2 would need w0 >= 2 w1 >= 4 w2 > 8 w0
    assert (0, 1, 2) not in o.reachable_assignments(cycle)
    assert len(o.reachable_assignments(cycle)) == 7


@pytest.mark.parametrize("metric", o.METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_brute_force_is_the_best_of_all_candidates(metric: str, seed: int) -> None:
    rng = random.Random(f"{metric} {seed}")
    votes = [[rng.randint(0, 9) for _ in range(3)] for _ in range(4)]
    truth = [rng.randrange(3) for _ in votes]
    setting: Any = ([10, 1, 1], ["0.9", "0.5", "0.5"], metric)
    losses = []
    for found in by_candidates(votes, ties=True):
        rows = [(t, d) for t, d in zip(truth, found, strict=True) if d is not None]
        losses.append(o.pragma(o.count([t for t, _ in rows], [d for _, d in rows], range(3)), *setting)[0])
    assert o.brute_force_weights(votes, truth, *setting)[0] == min(losses)


def test_brute_force_keeps_to_the_allowed_matrices() -> None:
    votes, truth = [[3, 1], [2, 2], [2, 3], [3, 2]], [0, 0, 1, 0]
    free = o.brute_force_weights(votes, truth, [1, 1], ["0.5", "0.5"])
    assert free == (0, (0, 0, 1, 0))
    kept = o.brute_force_weights(votes, truth, [1, 1], ["0.5", "0.5"], allowed=lambda m: m[0][1] > 0)
    assert kept[1] == (0, 1, 1, 0)
    assert o.brute_force_weights(votes, truth, [1, 1], ["0.5", "0.5"], allowed=lambda m: False) == (None, None)
