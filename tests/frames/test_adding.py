"""Evidence added up as a file is read is the evidence of all its rows at once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import compromis as cp
from compromis.errors import InputError
from compromis.frames.adding import FileScan

ROWS = 3000


@pytest.fixture(params=["csv", "parquet", "arff"])
def file(request, tmp_path, rng, monkeypatch):
    """A file whose rows come in many blocks, and its columns."""
    for where in ("delimited", "content"):
        monkeypatch.setattr(f"compromis.frames.{where}.BLOCK", 2000)
    monkeypatch.setattr("compromis.frames.parquet.ROWS", 100)
    monkeypatch.setattr("compromis.frames.arff.CELLS", 500)
    votes = rng.integers(0, 6, (ROWS, 3))
    votes[:700] = 0  # blocks without any vote
    frame = pl.DataFrame(
        {
            "t": rng.choice(["a", "NA", "01"], ROWS),
            "d": rng.choice(["a", "NA", "01", "new"], ROWS),
            "w": rng.random(ROWS),
            "s": rng.integers(0, 400, ROWS) / 7,
            **{f"p_{label}": votes[:, k] for k, label in enumerate(["01", "NA", "a"])},
        }
    )
    path = tmp_path / f"x.{request.param}"
    if request.param == "arff":
        head = "".join(f"@attribute {name} string\n" for name in frame.columns)
        rows = "\n".join(",".join(map(str, row)) for row in frame.rows())
        path.write_text(f"@relation r\n{head}@data\n{rows}\n")
    else:
        (frame.write_csv if request.param == "csv" else frame.write_parquet)(path)
    return str(path), frame


def scanned(path, what, **options):
    with FileScan(path) as scan:
        return getattr(scan, what)(**options)


@pytest.mark.parametrize("weight", [None, "w"])
def test_counts(file, weight):
    path, frame = file
    weights = None if weight is None else frame["w"].to_numpy()
    expected = cp.Counts.from_predictions(frame["t"], frame["d"], sample_weight=weights)
    found, dropped = scanned(path, "counts", truth="t", prediction="d", weight=weight)
    assert (found.classes, found.rows, dropped) == (expected.classes, ROWS, 0)
    assert found.matrix.tolist() == expected.matrix.tolist()
    assert weight is None or found.squares.tolist() == expected.squares.tolist()


def test_votes(file):
    path, frame = file
    expected = cp.Votes.from_proba(frame["t"], frame.select("^p_.*$").to_numpy(), labels=["01", "NA", "a"], merge=True)
    found, _ = scanned(path, "votes", truth="t", proba=["p_"])
    found = found.merge()
    assert (found.rows, found.left_out) == (expected.rows, expected.left_out)
    assert found.support.tolist() == expected.support.tolist()
    assert len(found) == len(expected)
    for weights in ([1, 1, 1], [1, 3, 2]):
        assert found.counts(weights).matrix.tolist() == expected.counts(weights).matrix.tolist()


@pytest.mark.parametrize("weight", [None, "w"])
def test_binned_votes_are_those_of_an_engine(file, weight):
    path, frame = file
    frame = frame.with_columns(pl.col("^p_.*$").cast(pl.Float64))
    columns = {f"p_{label}": label for label in ("01", "NA", "a")}
    expected = cp.Votes.from_frame(frame, truth="t", proba=columns, weight=weight, bins=4)
    found, _ = scanned(path, "votes", truth="t", proba=["p_"], weight=weight, bins=4)
    assert (len(found), found.rows, found.width) == (len(expected), expected.rows, expected.width)
    assert np.allclose(found.counts([1, 3, 2]).matrix, expected.counts([1, 3, 2]).matrix, rtol=1e-12)


@pytest.mark.parametrize("options", [{}, {"bins": 16}, {"bins": 16, "within": (-1.0, 99.0)}, {"weight": "w"}])
def test_points_are_those_of_an_engine(file, options):
    path, frame = file
    expected = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="NA", **options)
    points, _ = scanned(path, "points", truth="t", scores=["s", "w"], pos_label="NA", **options)
    assert points["s"].threshold.tolist() == expected.threshold.tolist()
    assert np.allclose(points["s"].true_positives, expected.true_positives, rtol=1e-12)
    assert points["s"].binned == expected.binned
    assert points["w"].positives == pytest.approx(expected.positives)


def test_too_many_scores_are_counted_in_bins(file, monkeypatch):
    path, frame = file
    monkeypatch.setattr("compromis.frames.adding.MOST_PATTERNS", 300)
    points, _ = scanned(path, "points", truth="t", scores=["s"], pos_label="a")
    expected = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="a", bins=4096)
    assert points["s"].binned
    assert points["s"].threshold.tolist() == expected.threshold.tolist()
    assert points["s"].true_positives.tolist() == expected.true_positives.tolist()


def test_too_many_classes(tmp_path):
    (tmp_path / "x.csv").write_text("t,d\n" + "".join(f"{k},{k}\n" for k in range(5000)))
    with pytest.raises(cp.InputError, match="there are more than 4,096 classes; is one of the columns an identifier"):
        scanned(str(tmp_path / "x.csv"), "counts", truth="t", prediction="d")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_a_label_that_is_too_long_is_refused_as_soon_as_it_is_read(tmp_path, monkeypatch, name):
    """Not when all rows were: six labels of 30 million letters took 1 GB."""
    monkeypatch.setattr("compromis.frames.parquet.ROWS", 100)
    frame = pl.DataFrame({"t": ["a", "x" * 10_001, *["a"] * 200_000], "d": ["a"] * 200_002})
    frame.write_csv(tmp_path / name) if name == "x.csv" else frame.write_parquet(tmp_path / name)
    with FileScan(str(tmp_path / name)) as scan:
        with pytest.raises(cp.InputError, match="a label has 10,001 characters"):
            scan.counts(truth="t", prediction="d", drop_missing=True)
        assert scan.share < 0.95


def test_rows_left_out_are_counted_in_all_blocks(file):
    path, frame = file
    if not path.endswith("csv"):
        pytest.skip("one format is enough")
    gaps = frame.with_columns(pl.when(pl.int_range(ROWS) % 5 == 0).then(None).otherwise(pl.col("t")).alias("t"))
    gaps.write_csv(path)
    assert scanned(path, "counts", truth="t", prediction="d", drop_missing=True)[1] == ROWS / 5
    with pytest.raises(cp.InputError, match=r"column 't' of .* has 600 missing values \(the first in data row 1\)"):
        scanned(path, "counts", truth="t", prediction="d")


def test_a_file_stands_for_a_frame(file):
    """Without an engine, text is read by the library itself, wherever a frame is taken."""
    path, frame = file
    scan = cp.frames.scan(path, numbers=[] if path.endswith("parquet") else ["s", "p_01", "p_NA", "p_a"])
    columns = {f"p_{label}": label for label in ("01", "NA", "a")}
    expected = cp.Votes.from_frame(frame, truth="t", proba=columns)
    assert cp.Votes.from_frame(scan, truth="t", proba=columns).support.tolist() == expected.support.tolist()
    points = cp.OperatingPoints.from_frame(scan, truth="t", score="s", pos_label="a")
    assert len(points) == len(cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="a"))
    own = cp.frames.evaluate(scan, truth="t", prediction="d").counts
    assert own.matrix.tolist() == cp.Counts.from_predictions(frame["t"], frame["d"]).matrix.tolist()


@pytest.mark.parametrize("weight", ["1e308", "1e160"])
def test_weights_that_do_not_add_up_are_refused(tmp_path, weight):
    path = tmp_path / "w.csv"
    path.write_text(f"t,p,w\na,a,{weight}\na,a,{weight}\nb,b,1\n")
    with FileScan(str(path)) as file, pytest.raises(InputError, match="too large to add up; scale it"):
        file.counts(truth="t", prediction="p", weight="w")


def added(path, engine, what, **asked):
    """Add up a file, or let an engine do it."""
    if engine is None:
        return scanned(path, what, truth="t", **asked)
    return getattr(cp.frames.open_scan(path, engine=engine), what)(truth="t", **asked)


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
@pytest.mark.parametrize(("weight", "fits"), [("1e308", False), ("1e160", False), ("1e153", True)])
def test_weights_add_up_alike_on_every_path(tmp_path, engine, weight, fits):
    path = str(tmp_path / "w.csv")
    (tmp_path / "w.csv").write_text(f"p,s,z,w,t\ns,1,0,{weight},s\ns,1,0,{weight},s\nz,0,1,1,z\n")
    for what, columns in (
        ("counts", {"prediction": "p"}),
        ("points", {"scores": ["s"], "pos_label": "s"}),
        ("votes", {"proba": ["s", "z"]}),
    ):
        if fits:
            added(path, engine, what, weight="w", **columns)
            continue
        with pytest.raises(InputError, match="too large to add up; scale it"):
            added(path, engine, what, weight="w", **columns)


def test_rows_of_weight_0_may_stand_together(tmp_path, monkeypatch):
    """A block of them was refused as if the file had no weights at all."""
    monkeypatch.setattr("compromis.frames.delimited.BLOCK", 10)
    path = tmp_path / "w.csv"
    path.write_text("t,a,b,w\n" + "a,1,0,0\n" * 5 + "b,0,1,2\nb,1,0,1\n")
    votes, _ = scanned(str(path), "votes", truth="t", proba=["a", "b"], weight="w")
    assert votes.support.tolist() == [0, 3]
    points, _ = scanned(str(path), "points", truth="t", scores=["a"], pos_label="b", weight="w")
    assert points["a"].threshold.tolist() == [np.inf, 1.0, 0.0]
    path.write_text("t,a,b,w\n" + "a,1,0,0\n" * 5)
    with pytest.raises(InputError, match="sample_weight is zero for every row"):
        scanned(str(path), "points", truth="t", scores=["a"], pos_label="a", weight="w")


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_votes_near_the_largest_float(tmp_path, engine):
    path = str(tmp_path / "v.csv")
    (tmp_path / "v.csv").write_text("t,a,b\nb,0,1\na,1e308,1e308\nb,0,1e308\n")
    votes, _ = added(path, engine, "votes", proba=["a", "b"])
    assert (votes.rows, votes.left_out) == (3, 0)
    assert votes.points(["a"])["a"].threshold.tolist() == [np.inf, 0.5, 0.0]
    with pytest.raises(InputError, match=r"data row 2 of .* too large to add up|1 rows have a vote"):
        added(path, engine, "votes", proba=["a", "b"], bins=10)


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_scores_near_the_largest_float_are_binned(tmp_path, engine):
    path = str(tmp_path / "s.csv")
    (tmp_path / "s.csv").write_text("t,s\na,1e308\nb,-1e308\na,0\nb,1e307\n")
    points = added(path, engine, "points", scores=["s"], pos_label="a", bins=4)[0]["s"]
    assert points.threshold.tolist() == pytest.approx([np.inf, 5e307, 0.0, -5e307, -1e308], abs=1e300)
    assert points.true_positives.tolist() == [0, 1, 2, 2, 2]
    assert points.false_positives.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    ("cell", "said"),
    [("-1", "sample_weight must be finite and at least 0, got -1 in data row 9;"), ("x", "got 'x' in data row 9")],
)
@pytest.mark.parametrize("what", ["counts", "votes"])
def test_rows_are_counted_from_1_over_the_whole_file(tmp_path, monkeypatch, cell, said, what):
    monkeypatch.setattr("compromis.frames.delimited.BLOCK", 10)
    path = tmp_path / "w.csv"
    path.write_text("t,d,a,b,w\n" + "a,a,1,0,1\n" * 8 + f"b,b,0,1,{cell}\n")
    columns = {"prediction": "d"} if what == "counts" else {"proba": ["a", "b"]}
    with pytest.raises(InputError, match=said):
        scanned(str(path), what, truth="t", weight="w", **columns)
    path.write_text("t,a,b\n" + "a,1,0\n" * 8 + "b,-1,1\n")
    with pytest.raises(InputError, match="must not be negative, got -1 in data row 9, column 0"):
        scanned(str(path), "votes", truth="t", proba=["a", "b"])


def test_more_columns_of_scores_than_classes_are_refused_by_the_header(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"p_{k}" for k in range(5000)]
    path.write_text(",".join(["t", *names]) + "\n" + ",".join(["a", *["0"] * 5000]) + "\n")
    with (
        FileScan(str(path)) as file,
        pytest.raises(InputError, match="5,000 columns of scores, more than the limit of 4,096"),
    ):
        file.votes(truth="t", proba=["p_"])
