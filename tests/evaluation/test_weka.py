"""What Weka 3.6.14 printed, reproduced from its printed distributions within their rounding."""

from __future__ import annotations

import re

import numpy as np
import pytest

import compromis as cp
from compromis.frames.reading import read_table


def read_output(path):
    """Return Weka's report, and the truth and distributions it printed."""
    report, _, predictions = path.read_text().partition("=== Predictions on test data ===")
    truth, shares = [], []
    for line in predictions.splitlines():
        row = re.match(r"\s*\d+\s+(\d+):\S+\s+\d+:\S+\s+\+?\s*(\S+)", line)
        if row:
            truth.append(int(row[1]) - 1)
            shares.append([float(share.lstrip("*")) for share in row[2].split(",")])
    return report, truth, np.array(shares)


def numbers(text):
    return [float(number) for number in re.findall(r"(?<![\w-])-?\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("name", ["iris", "breast-cancer"])
def test_evaluation(weka, name):
    report, truth, shares = read_output(weka / f"evaluation-{name}.txt")
    table = read_table(str(weka / f"{name}.arff"), lambda names: [names[-1]])
    column = next(iter(table.texts().values()))
    classes = re.findall(r"= (\S+)$", report, flags=re.MULTILINE)
    training = [label for row, label in enumerate(column) if row % 3 != 2]
    tested = [label for row, label in enumerate(column) if row % 3 == 2]
    assert [classes[place] for place in truth] == tested
    ours = cp.evaluate(
        tested, y_proba=shares, labels=classes, priors=cp.model_selection.training_priors(training, labels=classes)
    )
    # the layout is Weka's to the letter, and so are all whole numbers
    summary, by_class, confusion = (part.strip().splitlines() for part in re.split(r"===.*===", report)[1:])
    text = re.split(r"===.*===", ours.weka())[1:]
    for theirs, mine in zip((summary, by_class, confusion), text, strict=True):
        for printed, got in zip(theirs, mine.strip().splitlines(), strict=True):
            assert re.sub(r"\d", "9", got.rstrip())[:30] == re.sub(r"\d", "9", printed.rstrip())[:30]
            # printed distributions have three decimals, so figures made from them agree to about that
            assert numbers(got) == pytest.approx(numbers(printed), rel=2e-3, abs=1.1e-3)
    assert [line.rstrip() for line in text[2].strip().splitlines()] == [line.rstrip() for line in confusion]
    assert numbers(summary[0]) == numbers(text[0].strip().splitlines()[0])
