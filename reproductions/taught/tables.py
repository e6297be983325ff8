"""Examples that start from a confusion matrix: Weka's reports, small matrices, screening, the accuracy trap."""

from __future__ import annotations

from collections.abc import Iterator

import compromis as cp
from reproductions.taught.line import Line

PRIORS = (12 / 19, 7 / 19)
"""(count + 1) / (N + K) of a training set that 004 does not show; RAE 62.6804 % fixes it (docs/paper_slips.md)."""
SVM = cp.Counts.from_matrix([[94, 11], [37, 23]], ["good", "bad"])
NAIVE_BAYES = cp.Counts.from_matrix([[72, 33], [29, 31]], ["good", "bad"])
# TP rate, FP rate, precision, recall, F-measure, ROC area as printed; "" where only probabilities would tell
DETAILS = {
    "SVM": {
        "good": ("0.895", "0.617", "0.718", "0.895", "0.797", "0.639"),
        "bad": ("0.383", "0.105", "0.676", "0.383", "0.489", "0.639"),
        "weighted": ("0.709", "0.431", "0.703", "0.709", "0.685", "0.639"),
    },
    "naive Bayes": {
        "good": ("0.686", "0.483", "0.713", "0.686", "0.699", ""),
        "bad": ("0.517", "0.314", "0.484", "0.517", "0.5", ""),
        "weighted": ("0.624", "0.422", "0.63", "0.624", "0.627", ""),
    },
}
COLUMNS = ("recall", "false_positive_rate", "precision", "recall", "f_measure", "roc_area")


def weka_reports() -> Iterator[Line]:
    """Both reports, every figure that the matrix determines."""
    evaluations = {
        "SVM": cp.evaluate(SVM, priors=PRIORS),
        "naive Bayes": cp.evaluate(NAIVE_BAYES, priors=PRIORS),
    }
    totals = {
        "SVM": {"correct": "117", "incorrect": "48", "accuracy": "70.9091", "error_rate": "29.0909", "kappa": "0.3071",
                "mean_absolute_error": "0.2909", "root_mean_squared_error": "0.5394",
                "relative_absolute_error": "62.6804", "root_relative_squared_error": "112.1168", "total": "165"},
        "naive Bayes": {"correct": "103", "incorrect": "62", "accuracy": "62.4242", "error_rate": "37.5758",
                        "kappa": "0.1995", "total": "165"},
    }  # fmt: skip
    for name, evaluation in evaluations.items():
        for quantity, printed in totals[name].items():
            percent = 100 if quantity in {"accuracy", "error_rate"} or "relative" in quantity else 1
            yield Line(
                "004", f"{name} report", quantity, printed, percent * float(getattr(evaluation.summary, quantity))
            )
        for label, figures in DETAILS[name].items():
            rates = evaluation.summary.weighted if label == "weighted" else evaluation.per_class[label]
            for column, printed in zip(COLUMNS, figures, strict=True):
                if printed:
                    yield Line("004", f"{name} report, {label}", column, printed, float(getattr(rates, column)))
    note = "the slide's own report says 70.9091: a misprint"
    yield Line("004", "SVM slide", "accuracy", "70.1", 100 * evaluations["SVM"].summary.accuracy, note)
    yield Line("004", "naive Bayes slide", "accuracy", "62.4", 100 * evaluations["naive Bayes"].summary.accuracy)
    # errors of naive Bayes need its probabilities; but both reports divide by the same errors of the training priors
    naive = evaluations["SVM"].summary
    for quantity, error, printed in (
        ("relative_absolute_error", 0.3793, "81.7353"),
        ("root_relative_squared_error", 0.5316, "110.5048"),
    ):
        of = "mean_absolute_error" if "absolute" in quantity else "root_mean_squared_error"
        baseline = float(getattr(naive, of)) / float(getattr(naive, quantity))
        low, high = (100 * (error + way * 0.00005) / baseline for way in (-1, 1))
        ours = printed if low <= float(printed) <= high else f"{low:.4f} to {high:.4f}"
        yield Line(
            "004",
            "naive Bayes report",
            f"{quantity}, from its printed error",
            printed,
            ours,
            f"follows within {low:.2f} to {high:.2f}",
        )


def small_matrices() -> Iterator[Line]:
    """The matrices of 12 patients and of 36 pieces of fruit: the text prints them without rates."""
    patients = cp.evaluate(cp.Counts.from_matrix([[6, 2], [1, 3]], ["cancer", "non-cancer"]))
    cancer = patients.per_class["cancer"]
    yield Line("004", "12 patients", "rows", "12", float(patients.summary.total))
    for rate in ("recall", "precision", "specificity", "f_measure"):
        yield Line("004", "12 patients", rate, "", float(getattr(cancer, rate)))
    fruit = cp.evaluate(cp.Counts.from_matrix([[7, 8, 9], [1, 2, 3], [3, 2, 1]], ["apple", "orange", "mango"]))
    yield Line("004", "fruit", "accuracy", "", fruit.summary.accuracy)
    for label in ("apple", "orange", "mango"):
        for rate in ("recall", "precision"):
            yield Line("004", f"fruit, {label}", rate, "", float(getattr(fruit.per_class[label], rate)))


def screening() -> Iterator[Line]:
    """The smear test: good for screening, poor for diagnosis."""
    smear = cp.evaluate(cp.Counts.from_matrix([[190, 10], [210, 3590]], ["cancer", "no cancer"]))
    cancer = smear.per_class["cancer"]
    printed = {"recall": "95", "specificity": "94.5", "precision": "47.5", "negative_predictive_value": "99.7"}
    for rate, figure in printed.items():
        yield Line("004", "screening", rate, figure, 100 * float(getattr(cancer, rate)))
    yield Line("004", "screening", "verdict", "good for screening, poor for diagnosis",
               ", ".join(word for word in ("good for screening", "poor for diagnosis") if word in smear.screening))  # fmt: skip
    note = "said to be 'very high'; that is true of 1 - precision, 52.5 %, not of the false positive rate"
    yield Line("004", "screening", "false_positive_rate", "", 100 * float(cancer.false_positive_rate), note)


def accuracy_trap() -> Iterator[Line]:
    """Example 2.9 of 003: 100 viruses of which 5 are resistant, and what costs say to it."""
    truth = ["resistant"] * 5 + ["not"] * 95
    never = cp.evaluate(truth, ["not"] * 100, labels=["resistant", "not"])
    useful = cp.evaluate(truth, ["resistant"] * 15 + ["not"] * 85, labels=["resistant", "not"])
    yield Line("003", "example 2.9", "accuracy of never deciding resistant", "95", 100 * never.summary.accuracy)
    yield Line("003", "example 2.9", "accuracy of the useful classifier", "90", 100 * useful.summary.accuracy)
    literal = cp.Counts.from_matrix([[75, 425], [1425, 8075]], ["resistant", "not"])  # of 10,000 viruses
    note = "if the 5 % are taken of the 15 %, as the sentence says; the text means 5 % of all"
    yield Line("003", "example 2.9", "accuracy, read literally", "", 100 * cp.evaluate(literal).summary.accuracy, note)
    preferences = cp.Preferences.prioritise(["resistant"], metric="f")
    losses = {
        name: cp.evaluate(one.counts, preferences=preferences).summary.loss
        for name, one in (("first", never), ("second", useful))
    }
    yield Line(
        "003",
        "example 2.9",
        "the more informative classifier",
        "second",
        min(losses, key=losses.__getitem__),
        "metric f, (0.1, 0.9)",
    )
    for price in (1, 2, 3):  # what missing a resistant virus costs; a false alarm costs 1
        averages = []
        for one in (never, useful):
            preferences = cp.Preferences(cost=[[0, price], [1, 0]], labels=one.counts.classes)
            averages.append(cp.evaluate(one.counts, preferences=preferences).summary.average_cost)
        better = (
            "equal" if abs(averages[0] - averages[1]) < 1e-12 else "first" if averages[0] < averages[1] else "second"
        )
        yield Line(
            "003", "misclassification costs", f"cheaper classifier if a miss costs {price} false alarms", "", better
        )


def contingency() -> Iterator[Line]:
    """Table 2.6 of 003 has predictions in rows, 004 the truth: the same counts, transposed."""
    by_003 = [[190, 210], [10, 3590]]  # predicted positive: TP, FP; predicted negative: FN, TN
    counts = cp.Counts.from_matrix([list(column) for column in zip(*by_003, strict=True)], ["positive", "negative"])
    rates = cp.evaluate(counts).per_class["positive"]
    yield Line("003", "table 2.6", "TPR = TP / (TP + FN)", "190/200", float(rates.recall), "counts of 004's smear test")
    note = "called 'correctly classified' in the text: a slip, these are the negatives classified wrongly"
    yield Line("003", "table 2.6", "FPR = FP / (FP + TN)", "210/3800", float(rates.false_positive_rate), note)


def lines() -> list[Line]:
    """Every line of this file."""
    parts = (weka_reports, small_matrices, screening, accuracy_trap, contingency)
    return [line for part in parts for line in part()]
