"""compromis.regression.evaluate: scikit-learn, Weka, scipy's bootstrap, the course's formulas, and every mistake's sentence."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import stats
from sklearn import metrics

import compromis as cp
from compromis.evidence.residuals import Residuals
from compromis.frames.reading import read_table
from compromis.regression import error_measures as errors
from tests.command_line import run

FIXTURES = Path(__file__).parent / "weka_numeric"
WEKA_JAR = Path("/usr/share/java/weka.jar")


def theirs(y, p, w, alpha):
    """What scikit-learn says."""
    named = {
        "mean_squared_error": metrics.mean_squared_error,
        "root_mean_squared_error": metrics.root_mean_squared_error,
        "mean_absolute_error": metrics.mean_absolute_error,
        "root_mean_squared_log_error": metrics.root_mean_squared_log_error,
        "r2": metrics.r2_score,
    }
    numbers = {name: measure(y, p, sample_weight=w) for name, measure in named.items()}
    return numbers | {"pinball_error": metrics.mean_pinball_loss(y, p, sample_weight=w, alpha=alpha)}


@pytest.mark.parametrize("weighting", ["none", "whole", "fractions", "zeros"])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_scikit_learn_agrees(rng, weighting, shift):
    for size in (2, 3, 50, 5000):
        y = rng.gamma(2, 3, size) + shift
        p = np.abs(y + rng.normal(0, 2, size))
        weight = {
            "none": None,
            "whole": rng.integers(1, 9, size).astype(float),
            "fractions": rng.random(size) + 0.01,
            "zeros": np.where(np.arange(size) % 3 == 2, 0.0, 1.5),
        }[weighting]
        alpha = rng.random()
        ours = cp.regression.evaluate(y, p, sample_weight=weight, under_weight=alpha, over_weight=1 - alpha)
        for name, expected in theirs(y, p, weight, alpha).items():
            assert getattr(ours.summary, name) == pytest.approx(expected, rel=1e-12), name
        if weight is None or not sklearn.__version__.startswith(
            "1.7."
        ):  # which takes the lower of two weighted medians
            median = metrics.median_absolute_error(y, p, sample_weight=weight)
            assert ours.quantiles[0.5] == pytest.approx(median, rel=1e-12)
        if weight is None:
            assert ours.summary.correlation == pytest.approx(np.corrcoef(y, p)[0, 1], rel=1e-9)
            assert ours.quantiles[0.9] == pytest.approx(np.quantile(np.abs(y - p), 0.9, method="averaged_inverted_cdf"))


def test_weights_are_repetition(rng):
    y, p = rng.normal(5, 2, (2, 200))
    times = rng.integers(0, 4, 200)
    options = {"y_train": [1.0, 2.0, 9.0], "tolerance": [0.5, 1.0], "quantiles": [0.1, 0.5, 0.9], "baseline": 3.0}
    weighted = json.loads(cp.regression.evaluate(y, p, sample_weight=times, **options).to_json())
    repeated = json.loads(cp.regression.evaluate(y.repeat(times), p.repeat(times), **options).to_json())
    for mine, other in zip(weighted["measures"], repeated["measures"], strict=True):
        assert mine["name"] == other["name"]
        assert (mine["value"] is None) == (other["value"] is None)
        if mine["value"] is not None:
            assert mine["value"] == pytest.approx(other["value"], rel=1e-10)


def test_the_formulas_of_the_course_by_hand():
    result = cp.regression.evaluate([1, 2, 6], [2, 2, 4], y_train=[0, 2, 4, 6], baseline={"zero": 0, "rows": [1, 1, 6]})
    numbers = result.summary
    assert numbers.mean_squared_error == pytest.approx(5 / 3)
    assert numbers.mean_absolute_error == pytest.approx(1)
    assert numbers.mean_error == pytest.approx(-1 / 3)
    assert numbers.root_mean_squared_log_error == pytest.approx(
        math.sqrt((math.log(3 / 2) ** 2 + math.log(5 / 7) ** 2) / 3)
    )
    # the mean of the training targets is 3: squares 4 + 1 + 9, distances 2 + 1 + 3
    assert numbers.relative_squared_error == pytest.approx(5 / 14)
    assert numbers.relative_absolute_error == pytest.approx(3 / 6)
    assert numbers.root_relative_squared_error == pytest.approx(math.sqrt(5 / 14))
    assert numbers.r2 == pytest.approx(9 / 14)
    assert result.baselines["zero"].r2 == pytest.approx(1 - 5 / 41)
    assert result.baselines["rows"].r2 == pytest.approx(1 - 5 / 1)
    assert result.verdict.state == "no better"
    assert "is larger than the 0.5774 of rows" in result.verdict.sentence


def test_which_of_the_two_models_of_the_course_is_better():
    """M1: half the predictions right within 0.1 %, the others far off. M2: all right within 1 %."""
    truth = np.linspace(10, 1000, 200)
    first = np.where(np.arange(200) % 2 == 0, truth * 1.001, truth * 3)
    second = truth * 1.01
    m1, m2 = cp.regression.evaluate(truth, first), cp.regression.evaluate(truth, second)
    assert (m1.within["0.1 %"], m1.within["1 %"]) == (0.5, 0.5)
    assert (m2.within["0.1 %"], m2.within["1 %"]) == (0.0, 1.0)
    assert m2.summary.root_mean_squared_error < m1.summary.root_mean_squared_error


def test_absolute_tolerance_counts_the_border():
    result = cp.regression.evaluate([1, 1, 1, 1], [1.1, 0.9, 1.1000001, 2], tolerance=0.1, relative_tolerance=())
    assert dict(result.within) == {"0.1": 0.5}


def test_the_pinball_error_is_least_at_its_quantile(rng):
    y = rng.exponential(size=999)
    candidates = np.quantile(y, np.linspace(0.05, 0.95, 91))
    errors = [
        cp.regression.evaluate(y, np.full(999, c), under_weight=3, over_weight=1).summary.pinball_error
        for c in candidates
    ]
    assert candidates[int(np.argmin(errors))] == pytest.approx(np.quantile(y, 0.75), abs=0.05)


def test_sums_add_up(rng):
    y, p, w = rng.gamma(2, 2, 1000), rng.gamma(2, 2, 1000), rng.random(1000)
    whole = cp.regression.evaluate(y, p, sample_weight=w, y_train=4.0, tolerance=1)
    cuts = [0, 1, 17, 400, 1000]
    parts = [
        cp.regression.evaluate(y[a:b], p[a:b], sample_weight=w[a:b], y_train=4.0, tolerance=1).sums
        for a, b in pairwise(cuts)
    ]
    together = cp.regression.evaluate(sum(parts[1:], start=parts[0]))
    ours, expected = (json.loads(one.to_json())["summary"] for one in (together, whole))
    assert ours == pytest.approx(expected, rel=1e-11)
    assert dict(together.within) == pytest.approx(dict(whole.within), rel=1e-12)
    assert together.quantiles == {}
    assert "do not add up" in str(together)
    with pytest.raises(cp.InputError, match="only for the same baselines"):
        _ = parts[0] + cp.regression.evaluate([1], [2], y_train=5.0).sums


def test_a_million_rows_are_summed_in_chunks(rng):
    y, p = rng.normal(size=(2, 200_001))
    ours = cp.regression.evaluate(y, p).summary
    assert ours.mean_squared_error == pytest.approx(metrics.mean_squared_error(y, p), rel=1e-12)
    assert ours.correlation == pytest.approx(np.corrcoef(y, p)[0, 1], rel=1e-9)


# --- Weka


def predictions(train, test, weighted=False):
    """Least squares, as Weka's LinearRegression computes it with all attributes."""

    def design(table):
        flag = np.array([value == "u" for value in table["c"].tolist()], dtype=float)
        return np.column_stack([table.numbers("a"), table.numbers("b"), flag, np.ones(len(table))])

    tables = [read_table(str(path), lambda names: names) for path in (train, test)]
    y_train, y_test = (table.numbers("y") for table in tables)
    solved = np.linalg.lstsq(design(tables[0]), y_train, rcond=None)[0]
    return y_test, design(tables[1]) @ solved, y_train, tables[1].weights


def figures(text):
    return re.findall(r"^(\w[\w ]+?) {2,}(\S+)( %)?", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", ["test", "weighted"])
def test_wekas_printed_report(name):
    """What Weka 3.6.14 printed, to the last digit and blank."""
    y, p, y_train, weight = predictions(FIXTURES / "train.arff", FIXTURES / f"{name}.arff")
    assert (weight is None) == (name == "test")
    printed = (FIXTURES / f"{name}.txt").read_text().partition("===\n\n")[2].rstrip().splitlines()
    ours = str(cp.regression.evaluate(y, p, y_train=y_train, sample_weight=weight)).partition("===\n\n")[2].splitlines()
    assert [line.rstrip() for line in ours[:6]] == [line.rstrip() for line in printed]


@pytest.mark.skipif(not (WEKA_JAR.exists() and shutil.which("java")), reason="Weka or Java is not installed")
def test_weka_itself(rng, tmp_path):
    head = "@relation n\n@attribute a numeric\n@attribute b numeric\n@attribute c {u,v}\n@attribute y numeric\n@data\n"
    for name, rows in (("train", 60), ("test", 35)):
        a, b = rng.normal(4, 2, (2, rows)).round(3)
        c = rng.choice(["u", "v"], rows)
        y = (2 * a - b + 3 * (c == "u") + rng.normal(0, 2, rows)).round(3)
        lines = [f"{one},{two},{three},{four}" for one, two, three, four in zip(a, b, c, y, strict=True)]
        (tmp_path / f"{name}.arff").write_text(head + "\n".join(lines) + "\n")
    classifier = "weka.classifiers.functions.LinearRegression"
    command = ["java", "-cp", str(WEKA_JAR), classifier, "-S", "1", "-t", "train.arff", "-T", "test.arff"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    printed = figures(done.stdout.partition("=== Error on test data ===")[2])
    y, p, y_train, _ = predictions(tmp_path / "train.arff", tmp_path / "test.arff")
    ours = figures(str(cp.regression.evaluate(y, p, y_train=y_train)))[: len(printed)]
    assert len(printed) == 6
    for (name, value, unit), (expected_name, expected, expected_unit) in zip(ours, printed, strict=True):
        assert (name, unit) == (expected_name, expected_unit)
        assert float(value) == pytest.approx(
            float(expected), abs=1.01e-4
        )  # Weka's ridge of 1e-8 may move the last digit


# --- intervals


def test_bootstrap_agrees_with_scipys(rng):
    """Row-wise BCa of scipy, within Monte-Carlo error."""
    y = rng.gamma(2, 3, 80)
    p = y + rng.normal(0, 1, 80) * np.sqrt(y)
    rows = Residuals(truth=y, prediction=p, baselines={"six": 6.0})
    ours = errors.regression_intervals(rows, (), (0.5, 0.5), 0.9, rng, replicates=20_000).measures
    measures = {
        "root_mean_squared_error": lambda t, q, axis=-1: np.sqrt(np.mean((q - t) ** 2, axis=axis)),
        "mean_absolute_error": lambda t, q, axis=-1: np.mean(np.abs(q - t), axis=axis),
        "r2": lambda t, q, axis=-1: 1 - np.sum((q - t) ** 2, axis=axis) / np.sum((t - 6.0) ** 2, axis=axis),
        "mean_error": lambda t, q, axis=-1: np.mean(q - t, axis=axis),
    }
    for name, measure in measures.items():
        result = stats.bootstrap(
            (y, p), measure, paired=True, vectorized=True, confidence_level=0.9, n_resamples=20_000, random_state=1
        )
        width = result.confidence_interval.high - result.confidence_interval.low
        assert ours[name] == pytest.approx(tuple(result.confidence_interval), abs=0.03 * width), name
    correlation = stats.bootstrap(
        (y, p), lambda t, q: stats.pearsonr(t, q)[0], paired=True, vectorized=False, confidence_level=0.9,
        n_resamples=1000, random_state=1,
    ).confidence_interval  # fmt: skip
    width = correlation.high - correlation.low
    assert ours["correlation"] == pytest.approx(tuple(correlation), abs=0.15 * width)


def test_blocks_of_rows_have_the_width_of_rows(rng, monkeypatch):
    y = rng.gamma(2, 3, 9000)
    p = y + rng.normal(0, 2, 9000)
    by_row = cp.regression.evaluate(y, p, confidence=0.95).intervals.measures
    monkeypatch.setattr(errors, "BLOCKS", 2000)
    by_block = cp.regression.evaluate(y, p, confidence=0.95).intervals.measures
    for name, (low, high) in by_row.items():
        assert by_block[name] == pytest.approx((low, high), abs=0.12 * (high - low), nan_ok=True), name


def test_intervals_cover(rng):
    """95 % intervals of known truths: normal errors of spread 1 beside targets of spread 3, 800 data sets of 100 rows."""
    truth = {"root_mean_squared_error": 1.0, "mean_absolute_error": math.sqrt(2 / math.pi), "mean_error": 0.0}
    correlation = 3 / math.sqrt(10)
    hits = dict.fromkeys([*truth, "correlation", "median"], 0)
    for _ in range(800):
        y = rng.normal(0, 3, 100)
        p = y + rng.normal(0, 1, 100)
        result = cp.regression.evaluate(y, p, y_train=0.0, confidence=0.95, random_state=int(rng.integers(1 << 30)))
        bounds = result.intervals.measures
        for name, value in (truth | {"correlation": correlation}).items():
            hits[name] += bounds[name][0] <= value <= bounds[name][1]
        low, high = bounds["median_absolute_error"]
        hits["median"] += low <= stats.norm.ppf(0.75) <= high
    assert all(0.91 <= count / 800 <= 0.985 for count in hits.values()), hits


def test_intervals_are_the_same_in_every_run_and_degenerate_ones_do_not_fail(rng):
    y, p = rng.normal(size=(2, 50))
    first, second = (cp.regression.evaluate(y, p, confidence=0.95).to_json() for _ in range(2))
    assert first == second
    perfect = cp.regression.evaluate([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], confidence=0.95).intervals.measures
    assert perfect["root_mean_squared_error"] == (0, 0)
    constant = cp.regression.evaluate([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], confidence=0.95)
    assert math.isnan(constant.intervals.measures["r2"][0])
    assert "95 % Intervals" in str(constant)


# --- renderings


def test_containers_and_renderings(rng):
    y, p = rng.random(30), rng.random(30)
    expected = cp.regression.evaluate(y, p).to_json()
    for kind in (list, pd.Series, pl.Series, lambda values: pd.Series(values, dtype="Float64"), lambda v: v[:, None]):
        assert cp.regression.evaluate(kind(y), kind(p)).to_json() == expected
    result = cp.regression.evaluate(y, p, baseline={"<script>alert(1)</script>": 0.5}, confidence=0.9)
    assert "<script>" not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()
    document = json.loads(result.to_json())
    assert (document["schema"], document["version"], document["confidence"]) == ("compromis/regression", 2, 0.9)
    assert document["summary"]["r2"] == result.summary.r2
    frame = result.to_frame("pandas")
    assert list(frame.columns) == ["name", "value", "low", "high", "additive"]
    value = dict(zip(frame["name"], frame["value"], strict=True))
    assert value["median_absolute_error"] == pytest.approx(np.median(np.abs(y - p)))
    assert not frame.set_index("name").loc["median_absolute_error", "additive"]
    assert "30 rows" in repr(result)


def test_json_file_is_whole(tmp_path):
    text = cp.regression.evaluate([1, 2], [1, 1]).to_json(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text() == text + "\n"


def test_control_characters_cannot_forge_lines():
    text = str(cp.regression.evaluate([1, 2], [1, 1], baseline={"x\nR2    1": 0}))
    assert "\nR2    1" not in text


# --- undefined values, said


def test_negative_values_leave_the_log_error_undefined_and_say_so():
    result = cp.regression.evaluate([1.0, 2.0, 3.0], [1.0, -0.5, -1.0])
    assert math.isnan(result.summary.root_mean_squared_log_error)
    said = "log error is undefined: y_pred has 2 negative values (the first, -0.5, in row 1); it is for values of at least 0"
    assert said in str(result)
    assert json.loads(result.to_json())["summary"]["root_mean_squared_log_error"] is None


@pytest.mark.parametrize("value", [0.1, 1e-30, 3, 123456.789])
def test_constant_targets_leave_r2_undefined_and_say_so(value):
    result = cp.regression.evaluate([value] * 7, np.linspace(0, 1, 7))
    assert math.isnan(result.summary.r2)
    assert math.isnan(result.summary.correlation)
    assert "are undefined: the targets are constant and equal to it; give another baseline" in str(result)
    given = cp.regression.evaluate([value] * 7, np.linspace(0, 1, 7), y_train=[value + 1])
    assert not math.isnan(given.summary.r2)
    perfect = cp.regression.evaluate([value] * 3, [value] * 3)
    assert math.isnan(perfect.summary.r2)
    assert perfect.verdict.state == "no better"


def test_constant_predictions_have_no_correlation():
    result = cp.regression.evaluate([1.0, 2.0, 3.0], [0.1] * 3)
    assert math.isnan(result.summary.correlation)
    assert "the correlation coefficient is undefined" in str(result)


def test_the_report_says_what_it_is_relative_to():
    assert "give the training targets for theirs" in str(cp.regression.evaluate([1, 2], [1, 1]))
    given = str(cp.regression.evaluate([1, 2], [1, 3], y_train=[3, 4]))
    assert "always predicting 3.5 (the mean of the training targets)" in given
    assert "Note" not in given


# --- bad input

GOOD = ([1.0, 2.0], [1.0, 3.0])


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([1, 2, 3], [1, 2]), {}, "y_true has 3 rows, y_pred has 2; they must describe the same rows"),
        (([], []), {}, "y_true and y_pred are empty; there is nothing to evaluate"),
        (
            ([1, float("nan")], [1, 2]),
            {},
            "y_true must be finite, got nan in row 1, counting from 0 \\(1 such values\\)",
        ),
        (([1, 2], [1, float("inf")]), {}, "y_pred must be finite, got inf in row 1"),
        (([1, None], [1, 2]), {}, "y_true must be finite, got nan in row 1"),
        (([1, 2], [1, 1e200]), {}, "whose square cannot be summed; change the unit"),
        ((["a", "b"], [1, 2]), {}, "y_true must hold numbers, found text; convert"),
        (([True, False], [1, 2]), {}, "y_true must hold numbers, found true and false"),
        (([1, "b"], [1, 2]), {}, "y_true must hold numbers, found text"),
        (("12", [1, 2]), {}, "y_true must be a list, array or series of numbers, got str"),
        ((np.ones((2, 2)), [1, 2]), {}, "one number per row, got shape \\(2, 2\\)"),
        (([[1], [2, 3]], [1, 2]), {}, "y_true must hold numbers"),
        (GOOD, {"sample_weight": [1]}, "sample_weight has shape \\(1,\\), but there are 2 rows"),
        (GOOD, {"sample_weight": [1, -1]}, "sample_weight must be finite and at least 0"),
        (GOOD, {"baseline": [1]}, "the baseline 'the baseline' has 1; they must"),
        (GOOD, {"baseline": {"old": [1, float("nan")]}}, "the baseline 'old' must be finite"),
        (GOOD, {"baseline": "mean"}, "must hold numbers, found text"),
        (GOOD, {"y_train": []}, "y_train is empty"),
        (GOOD, {"tolerance": -1}, "tolerance is a width of at least 0, got -1"),
        (GOOD, {"quantiles": [90]}, "quantiles are shares above 0 and at most 1, got 90.0; for 90 % write 0.9"),
        (GOOD, {"under_weight": -1}, "under_weight and over_weight are numbers of at least 0, not both 0, got -1"),
        (GOOD, {"under_weight": 0, "over_weight": 0}, "not both 0"),
        (GOOD, {"confidence": 95}, "confidence is a share between 0 and 1, both excluded, got 95; for 95 % write 0.95"),
        (GOOD, {"confidence": 1}, "confidence is a share between 0 and 1, both excluded, got 1"),
        (GOOD, {"confidence": "high"}, "confidence is a share between 0 and 1, got 'high'"),
        (([1.0], [2.0]), {"confidence": 0.9}, "an interval needs at least 2 rows"),
    ],
)
def test_mistakes(arguments, options, said):
    with pytest.raises(cp.InputError, match=said) as caught:
        cp.regression.evaluate(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_rows_of_different_pandas_indexes_are_refused():
    with pytest.raises(cp.InputError, match="different pandas indexes"):
        cp.regression.evaluate(pd.Series([1, 2]), pd.Series([1, 2], index=[1, 0]))


# --- command line


@pytest.fixture
def table(tmp_path):
    (tmp_path / "r.csv").write_text("t,p,old,w\n1,1.5,2,1\n2,2,2,2\n4,3,2,1\n")
    (tmp_path / "train.csv").write_text("y\n0\n5\n")
    return tmp_path / "r.csv"


def in_options(evaluation):
    """The library's report, its one advice in the words of the command line."""
    return str(evaluation)


def test_the_command_line_is_the_library(table):
    given = ["evaluate", table, "--regression", "--truth", "t", "--prediction", "p"]
    done = run(*given)
    assert (done.exit_code, done.stdout) == (0, in_options(cp.regression.evaluate([1, 2, 4], [1.5, 2, 3])))
    done = run(
        *given, "--train-file", table.parent / "train.csv", "--train-truth", "y", "--baseline", "old", "--baseline", "3",
        "--tolerance", "0.5", "--relative-tolerance", "0.2", "--quantile", "0.75", "--under-weight", "2", "--over-weight", "1",
        "--weight", "w", "--confidence", "0.9", "--json",
    )  # fmt: skip
    expected = cp.regression.evaluate(
        [1, 2, 4], [1.5, 2, 3], y_train=[0, 5], baseline={"old": [2, 2, 2], "3": 3}, tolerance=0.5,
        relative_tolerance=0.2, quantiles=[0.75], under_weight=2, over_weight=1, sample_weight=[1, 2, 1], confidence=0.9,
    )  # fmt: skip
    assert json.loads(done.stdout) == json.loads(expected.to_json())


def test_missing_numbers_on_the_command_line(tmp_path):
    (tmp_path / "m.csv").write_text("t,p\n1,1\n,2\n3,2\n")
    given = ["evaluate", tmp_path / "m.csv", "--regression", "--truth", "t", "--prediction", "p"]
    done = run(*given)
    assert done.exit_code == 2
    assert "has 1 missing value (the first in data row 2)" in done.stderr
    done = run(*given, "--drop-missing")
    assert done.stdout == in_options(cp.regression.evaluate([1, 3], [1, 2]))
    assert "left out 1 row without a number" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--truth", "t", "--prediction", "q"], "there is no column 'q'"),
        (["--truth", "t"], "Missing option '--prediction'"),
        (["--truth", "t", "--prediction", "p", "--proba", "p"], "No such option"),
        (["--truth", "t", "--prediction", "p", "--baseline", "odl"], "there is no column 'odl' (did you mean 'old'?)"),
        (["--truth", "t", "--prediction", "p", "--confidence", "95"], "confidence is a share between 0 and 1"),
        (["--truth", "t", "--prediction", "p", "--train-file", "no.csv"], "there is no file 'no.csv'"),
    ],
)
def test_mistakes_on_the_command_line(table, options, said):
    done = run("evaluate", table, "--regression", *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_both_kinds_of_help():
    assert "--prediction" in run("evaluate", "--regression", "--help").stdout
    assert "--regression" in run("evaluate", "--help").stdout


def test_predictions_are_judged_in_numbers():
    """Targets 0 and 4; predictions off by 1: 50 % below the 2 of the mean."""
    good = cp.regression.evaluate([0, 4], [1, 3], y_train=[0, 4]).verdict
    assert good.state == "better"
    assert good.sentence.startswith("better than no model: the root mean squared error 1 is 50 % below the 2 of ")
    assert "absolute" not in good.sentence
    level = cp.regression.evaluate([0, 4], [2, 2], y_train=[0, 4]).verdict
    assert level.sentence.startswith(
        "no better than no model: the root mean squared error 2 is no smaller than the 2 of "
    )
    worse = cp.regression.evaluate([0, 4], [4, 0], y_train=[0, 4]).verdict
    assert worse.sentence.startswith("no better than no model: the root mean squared error 4 is larger than the 2 of ")
    mixed = cp.regression.evaluate([0, 0, 6], [2.5, 2.5, 3.5], baseline={"low": [1, 1, 1]}, y_train=[1, 1, 1]).verdict
    # squared: 6.25 x 3 = 18.75 against 1 + 1 + 25 = 27; absolute: 7.5 against 7
    assert mixed.state == "better"
    assert "; but its mean absolute error is not below the 2.333 of the baseline" in mixed.sentence


@pytest.mark.parametrize("weights", [(-1.0, 1.0), (1.0, -1.0), (0.0, 0.0), (math.nan, 1.0), (1.0, math.inf)])
def test_weights_of_errors(weights):
    with pytest.raises(cp.InputError, match="under_weight and over_weight are numbers of at least 0, not both 0"):
        cp.regression.evaluate([1, 2], [1, 2], under_weight=weights[0], over_weight=weights[1])
    assert cp.regression.evaluate([1, 2], [0, 3], under_weight=0, over_weight=2).summary.pinball_error == 1.0


def test_the_share_saved_by_a_regression():
    """Errors of 1/2 against 2: 75 % below."""
    verdict = cp.regression.evaluate([0, 4], [0.5, 3.5], y_train=[0, 4]).verdict
    assert "error 0.5 is 75 % below the 2 of " in verdict.sentence


def test_the_largest_and_the_smallest_error():
    result = cp.regression.evaluate([0, 0, 0, 0], [1, 2, 3, 4], quantiles=[0.25, 0.5, 1.0])
    assert list(result.quantiles.values()) == [1.5, 2.5, 4.0]


def test_correlation_by_hand():
    """Deviations -1, 0, 1 and -7/3, -1/3, 8/3: 5 / sqrt(2 x 114 / 9)."""
    assert cp.regression.evaluate([1, 2, 3], [2, 4, 7]).summary.correlation == pytest.approx(5 / math.sqrt(2 * 114 / 9))
    assert math.isnan(cp.regression.evaluate([1, 2, 3, 5, 8, 13, 21], [0.1] * 7).summary.correlation)
    rng = np.random.default_rng(0)
    for _ in range(50):  # rounding leads beyond 1 now and then
        y = rng.normal(size=7)
        assert 1 - 1e-12 < cp.regression.evaluate(y, 3 * y + 1).summary.correlation <= 1.0
        assert -1.0 <= cp.regression.evaluate(y, 1 - 3 * y).summary.correlation < -1 + 1e-12


def test_rows_without_weight_have_no_error():
    result = cp.regression.evaluate([0, 0, 0], [1, 2, 9], sample_weight=[1, 1, 0], quantiles=[0.5, 1.0])
    assert list(result.quantiles.values()) == [1.5, 2.0]


def test_correlation_about_any_origin():
    sums = cp.regression.evaluate([1, 2, 3], [2, 4, 7]).sums
    for origin in ((0.0, 0.0), (5.0, -3.0)):
        assert float(errors.correlation(sums.about(origin))) == pytest.approx(5 / math.sqrt(2 * 114 / 9))
    flat = cp.regression.evaluate([1, 2, 4], [0.1, 0.1, 0.1]).sums
    assert math.isnan(errors.correlation(flat.about((0.0, 7.0))))
