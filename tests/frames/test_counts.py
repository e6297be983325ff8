"""Counts of data frames: every engine counts what memory counts, and refuses what it refuses."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import compromis as cp
from tests.frame_kinds import QUIET, make

pytestmark = QUIET


HOSTILE = [
    "NA",
    "null",
    "N/A",
    "nan",
    "None",
    "01",
    "1",
    " a",
    "a",
    "a ",
    "",
    "😀",
    "a\nb",
    'a"b',
    "a,b",
    "\t",
    "é",
    "é",
    "A",
]


def pairs(counts):
    """The counts as a dictionary, which is how the oracle counts."""
    return {
        (truth, decision): counts.matrix[i, j].item()
        for i, truth in enumerate(counts.classes)
        for j, decision in enumerate(counts.classes)
        if counts.matrix[i, j]
    }


def random_labels(rng, labels, rows):
    return [labels[place] for place in rng.integers(0, len(labels), rows)]


def test_hostile_labels_are_counted_exactly(kind, rng):
    truth, decision = random_labels(rng, HOSTILE, 400), random_labels(rng, HOSTILE, 400)
    counts = cp.Counts.from_frame(make(kind, {"t": truth, "d": decision}), truth="t", prediction="d")
    assert pairs(counts) == Counter(zip(truth, decision, strict=True))
    assert counts.classes == tuple(sorted(set(truth + decision)))
    assert counts.matrix.dtype == np.int64
    assert counts.rows == 400


@pytest.mark.parametrize("labels", [[0, 1, 7], [True, False], [-(2**62), 2**62]])
def test_labels_of_other_types(engine, rng, labels):
    truth, decision = random_labels(rng, labels, 100), random_labels(rng, labels, 100)
    counts = cp.Counts.from_frame(make(engine, {"t": truth, "d": decision}), truth="t", prediction="d")
    assert pairs(counts) == Counter(zip(truth, decision, strict=True))
    assert {type(label) for label in counts.classes} == {type(labels[0])}


def test_weighted_counts(kind, rng):
    truth, decision = random_labels(rng, ["a", "b"], 300), random_labels(rng, ["a", "b"], 300)
    weight = np.round(rng.exponential(size=300), 3)
    weight[rng.random(300) < 0.1] = 0
    frame = make(kind, {"t": truth, "d": decision, "w": weight.tolist()})
    counts = cp.Counts.from_frame(frame, truth="t", prediction="d", weight="w")
    expected = {key: [] for key in zip(truth, decision, strict=True)}
    for key, value in zip(zip(truth, decision, strict=True), weight.tolist(), strict=True):
        expected[key].append(value)
    for i, first in enumerate("ab"):
        for j, second in enumerate("ab"):
            assert counts.matrix[i, j] == pytest.approx(math.fsum(expected[first, second]), rel=1e-12)
            assert counts.squares[i, j] == pytest.approx(math.fsum(w * w for w in expected[first, second]), rel=1e-12)
    assert counts.rows == 300


def test_ten_thousand_groups(kind):
    """100 x 100 classes, each pair twice and the first once more."""
    first = [place // 100 for place in range(10_000)] * 2 + [0]
    second = [place % 100 for place in range(10_000)] * 2 + [0]
    counts = cp.Counts.from_frame(make(kind, {"t": first, "d": second}), truth="t", prediction="d")
    expected = np.full((100, 100), 2)
    expected[0, 0] = 3
    assert np.array_equal(counts.matrix, expected)


def test_labels_give_the_order_and_absent_classes(engine):
    frame = make(engine, {"t": ["b", "a"], "d": ["b", "b"]})
    counts = cp.Counts.from_frame(frame, truth="t", prediction="d", labels=["c", "b", "a"])
    assert counts.classes == ("c", "b", "a")
    assert counts.matrix.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    with pytest.raises(cp.InputError, match="labels misses 'a'"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", labels=["c", "b"])


BAD_COUNTS = {
    "nulls in truth": (
        {"t": ["a", None, "b", None], "d": ["a", "a", "b", "b"]},
        {},
        "column 't' has 2 rows without a label; filter them out first, or give them a label of their own",
    ),
    "null decision": ({"t": [1, 2, 3], "d": [1, None, 3]}, {}, "column 'd' has 1 row without a label"),
    "NaN labels": ({"t": [1.0, float("nan")], "d": [1.0, 1.0]}, {}, "column 't' has 1 row without a label"),
    "unknown column": ({"truth": ["a"], "d": ["a"]}, {}, "there is no column 't'"),
    "two types": ({"t": [1, 2], "d": ["1", "2"]}, {}, "labels of type int, column 'd' of type str"),
    "no rows": ({"t": [], "d": []}, {"t": pa.string(), "d": pa.string()}, "the frame has no rows"),
}


@pytest.mark.parametrize("case", BAD_COUNTS)
def test_bad_labels_are_the_same_error_everywhere(engine, case):
    columns, types, message = BAD_COUNTS[case]
    with pytest.raises(cp.InputError) as caught:
        cp.Counts.from_frame(make(engine, columns, types), truth="t", prediction="d")
    assert message in str(caught.value)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), None])
def test_bad_weights(engine, weight):
    frame = make(engine, {"t": ["a", "b", "b"], "d": ["a", "b", "b"], "w": [1.0, weight, 2.0]})
    with pytest.raises(cp.InputError, match="column 'w' has 1 row whose weight is missing, negative or infinite"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", weight="w")


def test_weight_of_the_wrong_type(engine):
    frame = make(engine, {"t": ["a"], "d": ["a"], "w": ["1"]})
    with pytest.raises(cp.InputError, match="column 'w' must hold numbers, its type is String"):
        cp.Counts.from_frame(frame, truth="t", prediction="d", weight="w")


FINE = [1_577_836_800_000_000_001, 1_577_836_800_000_000_002]
"""Two nanoseconds of 2020."""


@pytest.mark.parametrize("kind", ["polars", "polars_lazy", "duckdb", "pandas", "pyarrow"])
def test_nanoseconds_are_kept_or_refused(kind):
    """Two labels became one."""
    frame = make(kind, {"t": FINE, "p": FINE}, {"t": pa.timestamp("ns"), "p": pa.timestamp("ns")})
    if kind in {"pandas", "pyarrow"}:
        assert len(cp.Counts.from_frame(frame, truth="t", prediction="p").classes) == 2
        return
    with pytest.raises(cp.InputError, match="column 't' holds nanoseconds, which dates of Python cannot hold; convert"):
        cp.Counts.from_frame(frame, truth="t", prediction="p")


def test_a_scan_keeps_no_fewer_labels_than_the_file(tmp_path):
    parquet.write_table(
        pa.table({"t": pa.array(FINE, pa.timestamp("ns")), "p": pa.array(FINE, pa.timestamp("ns"))}),
        tmp_path / "x.parquet",
    )
    with cp.frames.FileScan(str(tmp_path / "x.parquet")) as scan:
        assert len(scan.counts(truth="t", prediction="p")[0].classes) == 2
    with pytest.raises(cp.InputError, match="holds nanoseconds"):
        cp.Counts.from_frame(cp.frames.scan(tmp_path / "x.parquet", engine="polars"), truth="t", prediction="p")
