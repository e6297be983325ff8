"""4. Every small matrix against the table of undefined values in docs/undefined.md.

The conditions are written here by hand from the words of that page, and share no code with the library; the page's rows and
these conditions must be the same set, so neither can change alone. Defined values are those of the oracle.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import compromis as cp
from compromis.measures.ranking import average_precision, roc_area
from tests import oracle
from tests.stress.counting import described
from tests.stress.outcome import Outcome, Progress, silent
from tests.stress.promise_01_oracle import agree

TITLE = "all small matrices against the table of undefined values"
QUICK = 0.01
PAGE = Path(__file__).parents[2] / "docs" / "undefined.md"

Matrix = tuple[tuple[int, ...], ...]


def support(m: Matrix, k: int) -> int:
    return sum(m[k])


def predicted(m: Matrix, k: int) -> int:
    return sum(row[k] for row in m)


def rows(m: Matrix) -> int:
    return sum(map(sum, m))


def occurring(m: Matrix) -> list[int]:
    return [k for k in range(len(m)) if support(m, k)]


def chosen(m: Matrix) -> list[int]:
    return [k for k in range(len(m)) if predicted(m, k)]


PER_CLASS: dict[tuple[str, str], Callable[[Matrix, int], bool]] = {
    ("recall", "NaN"): lambda m, k: support(m, k) == 0,
    ("precision", "NaN"): lambda m, k: predicted(m, k) == 0,
    ("specificity", "NaN"): lambda m, k: rows(m) == support(m, k),
    ("negative_predictive_value", "NaN"): lambda m, k: rows(m) == predicted(m, k),
    ("false_negative_rate", "NaN"): lambda m, k: support(m, k) == 0,
    ("false_positive_rate", "NaN"): lambda m, k: rows(m) == support(m, k),
    ("f_measure", "NaN"): lambda m, k: support(m, k) == 0 == predicted(m, k),
    ("roc_area", "NaN"): lambda m, k: support(m, k) in (0, rows(m)),
    ("share_predicted", "NaN"): lambda m, k: rows(m) == 0,
    ("loss", "NaN"): lambda m, k: support(m, k) == 0,
    ("loss", "1"): lambda m, k: support(m, k) > 0 == predicted(m, k),
    ("loss_share", "NaN"): lambda m, k: not any(j in MATTERS for j in occurring(m)),
}
WHOLE: dict[tuple[str, str], Callable[[Matrix], bool]] = {
    ("accuracy", "NaN"): lambda m: rows(m) == 0,
    ("kappa", "NaN"): lambda m: rows(m) == 0 or (len(occurring(m)) == 1 and occurring(m) == chosen(m)),
    ("matthews", "NaN"): lambda m: len(occurring(m)) < 2 or len(chosen(m)) < 2,
    ("balanced_accuracy", "NaN"): lambda m: rows(m) == 0,
    ("g_mean", "NaN"): lambda m: rows(m) == 0,
    ("g_mean", "0"): lambda m: any(m[k][k] == 0 for k in occurring(m)),
    ("total loss", "NaN"): lambda m: not any(j in MATTERS for j in occurring(m)),
}
for _kind in ("macro", "weighted"):
    for _name in ("recall", "precision", "f_measure"):
        WHOLE[f"{_kind}.{_name}", "NaN"] = lambda m: rows(m) == 0
    for _name in ("specificity", "false_positive_rate", "roc_area"):
        WHOLE[f"{_kind}.{_name}", "NaN"] = lambda m: len(occurring(m)) < 2

MATTERS = (0, 1)
"""The classes of importance above 0; class 2 has none, so that rows of it alone have no loss."""
EXACT = {
    "recall": oracle.recall,
    "precision": oracle.precision,
    "specificity": oracle.specificity,
    "negative_predictive_value": oracle.npv,
    "false_negative_rate": oracle.fn_rate,
    "false_positive_rate": oracle.fp_rate,
    "f_measure": oracle.f_beta,
    "accuracy": oracle.accuracy,
    "kappa": oracle.kappa,
    "matthews": oracle.mcc,
    "balanced_accuracy": oracle.balanced_accuracy,
    "g_mean": oracle.g_mean,
}


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the matrices with a number that the table does not say; a scale below 1 takes every so-manieth matrix."""
    check_page()
    matrices = [m for m in (*all_matrices(2, 8), *all_matrices(3, 6)) if np.any(m)]  # rows of probabilities need rows
    matrices = matrices[:: max(1, round(1 / scale))]
    curves = [*all_curves()][:: max(1, round(1 / scale))]
    failures = []
    for done, (check, one) in enumerate([*((check_matrix, m) for m in matrices), *((check_curve, c) for c in curves)]):
        try:
            check(one)
        except Exception as error:
            failures.append(described(error, str(one)))
        progress(done + 1, len(matrices) + len(curves))
    return Outcome(len(matrices) + len(curves), tuple(failures))


def check_page() -> None:
    """The page's table and the conditions here name the same numbers with the same values."""
    table = re.findall(
        r"^\| (?!number|---)([^|]+) \| [^|]+ \| (NaN|0|1) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    written = {(name.strip(), value) for names, value in table for name in names.split(",")}
    assert written == PER_CLASS.keys() | WHOLE.keys(), (
        f"page and conditions differ in {written ^ (PER_CLASS.keys() | WHOLE.keys())}"
    )


def all_matrices(classes: int, largest: int) -> Iterator[Matrix]:
    """Every matrix of counts with at most `largest` rows in all."""

    def cells(left: int, room: int) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
            return
        for first in range(room + 1):
            yield from ((first, *rest) for rest in cells(left - 1, room - first))

    for flat in cells(classes**2, largest):
        yield tuple(flat[k * classes : (k + 1) * classes] for k in range(classes))


def preferences(classes: int) -> cp.Preferences:
    """Return preferences under which classes 0 and 1 matter."""
    return cp.Preferences(
        {0: cp.Preference(2.0, 0.1, 0.9), **({2: cp.Preference(0.0)} if classes == 3 else {})}, metric="f"
    )


def check_matrix(m: Matrix) -> None:
    """Every number of one matrix, defined or not."""
    classes = range(len(m))
    truth, predicted = (np.repeat(cells.ravel(), np.ravel(m)) for cells in np.indices((len(m), len(m))))
    # probabilities that are sure of what is predicted, since there are ROC areas only where there are probabilities
    sure = np.eye(len(m))[predicted]
    result = cp.evaluate(truth, predicted, y_proba=sure, labels=classes, preferences=preferences(len(m)))
    per_class, summary = result.per_class, result.summary
    for (name, value), holds in PER_CLASS.items():
        for k in range(len(m)):
            settle(getattr(per_class[k], name), value, holds(m, k), name)
            if name in EXACT:
                agree(getattr(per_class[k], name), EXACT[name](m, k), f"{name} of class {k}")
    for (name, value), holds in WHOLE.items():
        found: Any = summary
        for part in {"total loss": "loss"}.get(name, name).split("."):
            found = getattr(found, part)
        settle(found, value, holds(m), name)
        if name in EXACT:
            agree(found, EXACT[name](m), name)
    str(result), result.to_json()


def settle(found: float, value: str, holds: bool, name: str) -> None:
    """The number has the table's value where the condition holds; NaN nowhere else."""
    if value == "NaN":
        assert math.isnan(found) == holds, f"{name} is {found}, the table says {'NaN' if holds else 'a number'}"
    elif holds:
        assert found == float(value), f"{name} is {found}, the table says {value}"


def all_curves() -> Iterator[tuple[tuple[bool, ...], tuple[int, ...]]]:
    """All flags and scores of up to four rows with three distinct scores."""
    for size in range(1, 5):
        yield from product(product((False, True), repeat=size), product(range(3), repeat=size))


def check_curve(case: tuple[tuple[bool, ...], tuple[int, ...]]) -> None:
    """Rates at every cut, and areas."""
    flags, score = np.array(case[0]), np.array(case[1], dtype=float)
    points = cp.OperatingPoints.from_flags(flags, score, True)
    positives, negatives = sum(case[0]), len(case[0]) - sum(case[0])
    assert np.isnan(points.precision).tolist() == [True] + [False] * (len(points) - 1), "precision of nothing"
    for rate, base in (
        (points.recall, positives),
        (points.tpr, positives),
        (points.fpr, negatives),
        (points.specificity, negatives),
    ):
        assert np.isnan(rate).all() == (base == 0)
        assert np.isnan(rate).any() == (base == 0)
    arguments = (score.tolist(), flags.tolist())
    agree(roc_area(points), oracle.auc(*arguments) if positives and negatives else None, "area under the ROC curve")
    agree(average_precision(points), oracle.average_precision(*arguments) if positives else None, "average precision")
