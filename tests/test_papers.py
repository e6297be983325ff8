"""Figures printed in the sources, reproduced from what they print; slips of theirs are named where they occur."""

from __future__ import annotations

import numpy as np
import pytest

import compromis as cp

PREFERENCES = cp.Preferences.prioritise(["minority"], metric="kulczynski")


def rounded(values, digits):
    return [round(float(value), digits) for value in values]


def test_the_svm_report_of_004():
    counts = cp.Counts.from_matrix([[94, 11], [37, 23]], ["good", "bad"])
    report = cp.evaluate(counts, priors=[12 / 19, 7 / 19])
    numbers, classes = report.summary, report.per_class
    assert (numbers.correct, numbers.incorrect, numbers.total) == (117, 48, 165)
    assert rounded([100 * numbers.accuracy, 100 * numbers.error_rate], 4) == [70.9091, 29.0909]
    assert rounded([numbers.kappa, numbers.mean_absolute_error, numbers.root_mean_squared_error], 4) == [
        0.3071,
        0.2909,
        0.5394,
    ]
    relative = [100 * numbers.relative_absolute_error, 100 * numbers.root_relative_squared_error]
    assert rounded(relative, 4) == [62.6804, 112.1168]
    printed = {"good": [0.895, 0.617, 0.718, 0.895, 0.797, 0.639], "bad": [0.383, 0.105, 0.676, 0.383, 0.489, 0.639]}
    for (label, figures), area in zip(printed.items(), report.roc_areas, strict=True):
        one = classes[label]
        ours = [one.recall, one.false_positive_rate, one.precision, one.recall, one.f_measure, area]
        assert rounded(ours, 3) == figures
    mean = numbers.weighted
    ours = [mean.recall, mean.false_positive_rate, mean.precision, mean.recall, mean.f_measure]
    assert rounded(ours, 3) == [0.709, 0.431, 0.703, 0.709, 0.685]
    areas = [
        line.split()[-2] for line in report.weka().splitlines() if line.endswith(("good", "bad")) and "0.639" in line
    ]
    assert areas == ["0.639", "0.639"]
    assert next(line for line in report.weka().splitlines() if line.startswith("Weighted Avg.")).endswith("0.639")
    # the slide's 'SVM accuracy 70.1 %' does not follow from its matrix: 117 / 165 = 70.9 %
    assert round(100 * 117 / 165, 1) == 70.9


def test_the_naive_bayes_report_of_004():
    report = cp.evaluate(cp.Counts.from_matrix([[72, 33], [29, 31]], ["good", "bad"]))
    assert (report.summary.correct, report.summary.incorrect) == (103, 62)
    assert round(100 * report.summary.accuracy, 4) == 62.4242
    assert round(report.summary.kappa, 4) == 0.1995
    printed = {"good": [0.686, 0.483, 0.713, 0.699], "bad": [0.517, 0.314, 0.484, 0.5]}
    for label, figures in printed.items():
        one = report.per_class[label]
        assert rounded([one.recall, one.false_positive_rate, one.precision, one.f_measure], 3) == figures
    mean = report.summary.weighted
    assert rounded([mean.recall, mean.false_positive_rate, mean.precision, mean.f_measure], 3) == [
        0.624,
        0.422,
        0.63,
        0.627,
    ]


def test_the_screening_example_of_004():
    report = cp.evaluate(cp.Counts.from_matrix([[190, 10], [210, 3590]], ["cancer", "no cancer"]))
    cancer = report.per_class["cancer"]
    printed = [cancer.recall, cancer.specificity, cancer.precision, cancer.negative_predictive_value]
    assert rounded([100 * share for share in printed], 1) == [95.0, 94.5, 47.5, 99.7]
    assert "99.7 % of the predictions 'no cancer' are right, good for screening" in report.screening
    assert "47.5 % of the predictions 'cancer' are right, poor for diagnosis" in report.screening


def test_the_hiv_example_of_003():
    truth = ["resistant"] * 5 + ["not"] * 95
    never = cp.evaluate(truth, ["not"] * 100)
    useful = cp.evaluate(truth, ["resistant"] * 15 + ["not"] * 85)
    assert never.summary.accuracy == 0.95
    assert useful.summary.accuracy == 0.90
    # accuracy prefers the first, which learned nothing; what matters prefers the second
    preferences = cp.Preferences.prioritise(["resistant"], metric="f")
    losses = [cp.evaluate(result.counts, preferences=preferences).summary.loss for result in (never, useful)]
    assert losses[1] < losses[0]
    assert cp.evaluate(never.counts, preferences=preferences).verdict.state != "better"


def test_the_small_matrices_of_004():
    cancer = cp.evaluate(cp.Counts.from_matrix([[6, 2], [1, 3]], ["cancer", "non-cancer"])).per_class["cancer"]
    assert (cancer.recall, cancer.precision, cancer.false_positive_rate) == (6 / 8, 6 / 7, 1 / 4)
    fruit = cp.evaluate(cp.Counts.from_matrix([[7, 8, 9], [1, 2, 3], [3, 2, 1]], ["apple", "orange", "mango"]))
    assert fruit.summary.accuracy == 10 / 36
    assert fruit.per_class["apple"].recall == 7 / 24
    assert fruit.per_class["apple"].precision == 7 / 11
    assert fruit.per_class["mango"].specificity == 18 / 30


TABLE_4 = {  # minority recall, minority precision, accuracy, in per cent as printed
    "hypothyroid": {"C4.5": (96.9, 95.2, 99.4), "forest": (95.1, 94.2, 99.1), "tuned forest": (99.5, 97.7, 99.2)},
    "satimage": {"C4.5": (55.0, 59.0, 91.9), "forest": (50.9, 83.2, 94.2), "tuned forest": (62.0, 73.9, 94.3)},
    "mammo": {"C4.5": (8.3, 66.7, 98.1), "forest": (29.2, 84.5, 98.5), "tuned forest": (43.5, 82.0, 98.7)},
}


MINORITY_TERMS = {  # by hand from the paper's f = 1 - 0.9 r - 0.1 p
    "hypothyroid": (0.0327, 0.0499, 0.0068),
    "satimage": (0.4460, 0.4587, 0.3681),
    "mammo": (0.8586, 0.6527, 0.5265),
}


@pytest.mark.parametrize("name", TABLE_4)
def test_minority_terms_of_table_4(name):
    """f = 1 - 0.9 r - 0.1 p for the answers (0.10, 0.90), by the paper's own formula."""
    weight = PREFERENCES.of("minority").recall_weight_for("kulczynski")
    for (recall, precision, _), term in zip(TABLE_4[name].values(), MINORITY_TERMS[name], strict=True):
        assert round(1 - float(cp.metric_value(precision / 100, recall / 100, weight, metric="kulczynski")), 4) == term


def test_always_deciding_a_rare_class_meets_the_plane():
    """DESIGN: on a 0.8 % class the constant decision has loss 0.18 under the plane; metric f sees through it."""
    truth = np.repeat(["rare", "common"], [8, 992])
    always = np.repeat(["rare"], 1000)
    honest = np.where(np.arange(1000) < 6, "rare", "common")  # finds 6 of 8, no false alarm
    honest[8:18] = "rare"  # and raises ten false alarms
    plane, f = cp.Preferences.prioritise(["rare"], metric="kulczynski"), cp.Preferences.prioritise(["rare"], metric="f")
    assert cp.pragma_loss(truth, always, preferences=plane) == pytest.approx(0.18, abs=0.005)
    assert cp.pragma_loss(truth, always, preferences=plane) < cp.pragma_loss(truth, honest, preferences=plane)
    assert cp.pragma_loss(truth, always, preferences=f) > cp.pragma_loss(truth, honest, preferences=f)
    verdict = cp.evaluate(truth, honest, preferences=plane).verdict
    assert verdict.state != "better"
    assert verdict.difference < 0
    assert "always predicting 'rare'" in verdict.sentence
    assert "set min_precision for 'rare' above 0.008, its share of the rows, or use metric f" in verdict.sentence
    floor = cp.Preferences({"rare": cp.Preference(10, 0.1, 0.9, min_precision=0.1)}, metric="kulczynski")
    assert cp.evaluate(truth, honest, preferences=floor).verdict.state == "better"
    assert cp.evaluate(truth, honest, preferences=f).verdict.state == "better"
