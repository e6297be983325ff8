"""Rows that the tests of several commands read."""

from __future__ import annotations

TRUTH, PREDICTED = ["bad", "good", "good", "NA", "bad", "01"], ["bad", "bad", "good", "NA", "good", "1"]
WEIGHT = [1, 2, 1, 1, 1, 1]
GIVEN = ["evaluate", "results.csv", "--truth", "truth", "--prediction", "predicted"]

SPRING = {("good", "good"): 950, ("good", "bad"): 50, ("bad", "good"): 10, ("bad", "bad"): 90}


AUTUMN = {("good", "good"): 1900, ("good", "bad"): 100, ("bad", "good"): 2, ("bad", "bad"): 18}


WORSE = {("good", "good"): 950, ("good", "bad"): 50, ("bad", "good"): 70, ("bad", "bad"): 30}


def write(name, counts, truth=True):
    """Rows that come to these counts; probabilities that decide so."""
    lines = ["class,predicted,p_bad,p_good" if truth else "predicted,p_bad,p_good"]
    for (true, predicted), rows in counts.items():
        share = 0.9 if predicted == "bad" else 0.2
        lines += [(f"{true}," if truth else "") + f"{predicted},{share},{1 - share:.1f}"] * rows
    with open(name, "w") as file:
        file.write("\n".join(lines) + "\n")
