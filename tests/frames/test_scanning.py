"""Files of any size: labels as text, literal names, folders, hostile files, and the same answer from every engine."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from decimal import Decimal

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import compromis as cp
from compromis.cli import main
from compromis.frames.engines import choose_engine
from compromis.frames.scanning import Files, open_scan
from tests.command_line import run
from tests.frame_kinds import spark_sessions

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*pandas >= 3:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*inplace keyword"),  # Dask's own, of pandas 3.1
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ENGINES = ["polars", "duckdb", "dask", pytest.param("spark", marks=pytest.mark.spark)]
LABELS = [
    "NA",
    "null",
    "N/A",
    "nan",
    "01",
    "1",
    "1.0",
    " a",
    "a ",
    "😀",
    'q"q',
    "x,y",
    "x\ny",
    "True",
    "#c",
    "b's",
    "-",
    "a",
    "\0",
    "a\0",
    "\0a",
]


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "spark":
        spark_sessions()
    return request.param


def write_csv(path, columns, delimiter=","):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    data = stream.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def counted(where, engine):
    counts = cp.Counts.from_frame(cp.frames.scan(where, engine=engine), truth="t", prediction="d")
    return {
        (a, b): int(counts.matrix[i, j])
        for i, a in enumerate(counts.classes)
        for j, b in enumerate(counts.classes)
        if counts.matrix[i, j]
    }


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.csv.gz", "a*[b]?.csv"])
def test_text_stays_as_written(tmp_path, rng, engine, name):
    truth, decision = ([LABELS[k] for k in rng.integers(0, len(LABELS), 300)] for _ in range(2))
    write_csv(tmp_path / name, {"id": range(300), "t": truth, "d": decision}, "\t" if "tsv" in name else ",")
    write_csv(tmp_path / "ab.csv", {"id": [1], "t": ["other"], "d": ["other"]})  # what a*[b]?.csv would match as well
    assert counted(tmp_path / name, engine) == Counter(zip(truth, decision, strict=True))


def test_a_nul_where_a_line_begins_is_no_comment(tmp_path, engine):
    (tmp_path / "rows.csv").write_text("t,d\n\0,a\n\0b,\0\n")
    assert counted(tmp_path / "rows.csv", engine) == {("\0", "a"): 1, ("\0b", "\0"): 1}


def test_empty_fields_are_missing_quoted_or_not(tmp_path, engine):
    (tmp_path / "rows.csv").write_text('t,d\na,a\n,a\n"",a\n')
    with pytest.raises(cp.InputError, match="column 't' has 2 rows without a label"):
        counted(tmp_path / "rows.csv", engine)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_patterns_folders_and_lists(tmp_path, engine, suffix):
    for day, label in enumerate(["a", "b", "b"]):
        folder = tmp_path / "data" / f"part{day}"
        folder.mkdir(parents=True)
        frame = pl.DataFrame({"t": [label], "d": ["a"]})
        frame.write_csv(folder / "x.csv") if suffix == "csv" else frame.write_parquet(folder / "x.parquet")
        (folder / "_SUCCESS").write_text("")
    expected = {("a", "a"): 1, ("b", "a"): 2}
    assert counted(str(tmp_path / "data" / "*" / f"*.{suffix}"), engine) == expected
    assert counted(tmp_path / "data", engine) == expected
    assert counted(sorted((tmp_path / "data").rglob(f"*.{suffix}")), engine) == expected


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_folders_named_key_value_are_columns_of_text(tmp_path, engine):
    for day in ("01", "1"):
        folder = tmp_path / "data" / f"day={day}"
        folder.mkdir(parents=True)
        pl.DataFrame({"d": ["1"]}).write_parquet(folder / "x.parquet")
    counts = cp.Counts.from_frame(cp.frames.scan(tmp_path / "data", engine=engine), truth="day", prediction="d")
    assert counts.classes == ("01", "1")
    assert counts.matrix.tolist() == [[0, 1], [0, 1]]


def test_numbers_in_text_files(tmp_path, engine):
    (tmp_path / "rows.csv").write_text("t,s\np,0.5\nn, 0.25 \nn,1e-1\n")
    frame = cp.frames.scan(tmp_path / "rows.csv", engine=engine, numbers=["s"])
    points = cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p")
    assert points.threshold.tolist() == [np.inf, 0.5, 0.25, 0.1]


def test_names_with_quotes_and_line_ends(tmp_path, engine):
    (tmp_path / "rows.csv").write_text('t,d,"a ""b""","x\ny"\na,b,1,2\na,a,1,2\n')
    assert counted(tmp_path / "rows.csv", engine) == {("a", "b"): 1, ("a", "a"): 1}


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_lists_are_no_labels(tmp_path, engine):
    pl.DataFrame({"t": [["a"]], "d": ["a"]}).write_parquet(tmp_path / "rows.parquet")
    done = CliRunner().invoke(
        main,
        [
            "count",
            str(tmp_path / "rows.parquet"),
            "--truth",
            "t",
            "--prediction",
            "d",
            "--engine",
            engine,
            "--output",
            "x",
        ],
    )
    assert (done.exit_code, "labels and numbers are needed" in done.stderr) == (2, True)


@pytest.mark.parametrize("engine", [None, "polars", "duckdb", "dask"])
def test_zero_is_one_label_whatever_its_sign(tmp_path, engine):
    """Rounding gives -0.0, which Python and every frame take for 0.0."""
    frame = pl.DataFrame({"t": [0.0, -0.0, 1.0], "d": [-0.0, 0.0, 1.0]})
    frame.write_parquet(tmp_path / "rows.parquet")
    more = ["--engine", engine] if engine else []
    done = run("evaluate", tmp_path / "rows.parquet", "--truth", "t", "--prediction", "d", "--json", *more)
    assert json.loads(done.stdout)["classes"] == ["0", "1"]
    assert json.loads(done.stdout)["summary"]["accuracy"] == 1


def test_decimals_that_engines_round_are_refused(tmp_path, engine):
    """DuckDB reads them as floats, polars panics."""
    wide = pyarrow.array([Decimal("1" + "0" * 60), Decimal("1" + "0" * 59 + "1")], pyarrow.decimal256(70))
    parquet.write_table(pyarrow.table({"t": ["a", "b"], "wide": wide}), tmp_path / "rows.parquet")
    with pytest.raises(cp.InputError, match=r"column 'wide' of .* holds decimals of more than 38 digits"):
        cp.frames.scan(tmp_path / "rows.parquet", engine=engine)
    with cp.frames.open_table(str(tmp_path / "rows.parquet")) as file:
        assert file.read(["wide"])["wide"].tolist() == ["1" + "0" * 60, "1" + "0" * 59 + "1"]


def test_a_number_that_is_none_is_an_error(tmp_path, engine):
    (tmp_path / "rows.csv").write_text("t,s\np,0.5\nn,abc\n")
    frame = cp.frames.scan(tmp_path / "rows.csv", engine=engine, numbers=["s"])
    with pytest.raises((cp.EngineError, cp.InputError)):
        cp.OperatingPoints.from_frame(frame, truth="t", score="s", pos_label="p")


def hostile_files(folder):
    """Files that are no tables, each for its own reason."""
    good = folder / "good.parquet"
    pl.DataFrame({"t": ["a", "b"] * 500, "d": ["a", "a"] * 500}).write_parquet(good)
    data = good.read_bytes()
    damaged = bytearray(data)
    for place in range(40, 120):
        damaged[place] ^= 0xFF
    files = {
        "truncated.parquet": data[: len(data) // 2],
        "footer.parquet": data[:-8] + b"\xff\xff\xff\x7fPAR1",
        "long.csv": b"t,d\na,a\nb,b,c\n",
        "unquoted.csv": b't,d\na,"a\nb,b\n',
        "latin.csv": "t,d\né,a\n".encode("latin-1"),
        "nothing.csv": b"",
        "gzip.csv.gz": gzip.compress(b"t,d\na,a\n")[:-9],
        "zeros.csv": b"\0" * 100,
        "twice.csv": b"t,t,d\na,a,a\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_hostile_files_are_one_sentence(tmp_path, engine):
    for file in hostile_files(tmp_path):
        with pytest.raises(cp.CompromisError) as caught:
            counted(file, engine)
        assert "\n" not in str(caught.value)


def test_damaged_bytes_never_crash(tmp_path, rng):
    """One bit of a Parquet file turned: whatever an engine raises becomes one sentence (a page without checksum may pass)."""
    frame = pl.DataFrame({"t": ["a", "b"] * 5000, "d": ["a", "a"] * 5000})
    frame.write_parquet(tmp_path / "x.parquet", compression="zstd")
    data = (tmp_path / "x.parquet").read_bytes()
    said = []
    for _ in range(40):
        damaged = bytearray(data)
        damaged[rng.integers(4, len(data))] ^= 1 << int(rng.integers(0, 8))
        (tmp_path / "y.parquet").write_bytes(bytes(damaged))
        for engine in ("polars", "duckdb"):
            try:
                counted(tmp_path / "y.parquet", engine)
            except cp.CompromisError as error:
                said.append(str(error))
    assert len(said) >= 20
    assert not any("\n" in sentence for sentence in said)


def test_short_rows(tmp_path, engine):
    """Polars would take the fields that lack as missing."""
    (tmp_path / "short.csv").write_text("t,d\na,a\nb\n")
    for reader in (None, engine):
        with pytest.raises(cp.InputError, match="has 1 field in record 3, but 2 columns"):
            counted(tmp_path / "short.csv", reader)


ODD = {
    "a quote inside an unquoted cell": b't,d\na,a\n"x", "NA"\n',
    "line ends of several kinds": b"t,d\na,b\r\nb,b\n",
    "blank lines": b"t,d\na,b\n\nb,b\n",
    "UTF-16": "t,d\na,a\n".encode("utf-16"),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_engines_take_in_different_ways_they_do_not_get(tmp_path, engine, odd):
    """DuckDB 2.0 reads a cell of space, quote, NA, quote as NA, and no rows from a mix of line ends."""
    path = tmp_path / "odd.csv"
    path.write_bytes(ODD[odd])
    with pytest.raises(cp.InputError, match=f"has {odd}, which {engine} may take in another way; leave the engine out"):
        cp.frames.scan(path, engine=engine)
    own = counted(path, None)
    assert sum(own.values()) == (1 if odd == "UTF-16" else 2)
    assert odd != "a quote inside an unquoted cell" or ("x", ' "NA"') in own


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters_are_recognised(tmp_path, engine, delimiter):
    write_csv(tmp_path / "rows.csv", {"t": ["a", "b,c"], "d": ["a", "a"], "x": ["1", "2"]}, delimiter)
    assert counted(tmp_path / "rows.csv", engine) == {("a", "a"): 1, ("b,c", "a"): 1}


def test_gzip_is_known_by_its_bytes(tmp_path):
    """DuckDB 2.0 reads no rows from gzip without its suffix."""
    (tmp_path / "rows").write_bytes(gzip.compress(b"t,d\na,b\na,a\n"))
    for reader in (None, "polars", "duckdb", "dask"):
        assert counted(tmp_path / "rows", reader) == {("a", "b"): 1, ("a", "a"): 1}


def test_files_of_other_columns_or_types(tmp_path):
    (tmp_path / "1.csv").write_text("t,d\na,a\n")
    (tmp_path / "2.csv").write_text("d,t\na,b\n")
    for engine in ("polars", "duckdb"):
        with pytest.raises(cp.InputError, match="has other columns than"):
            counted(tmp_path / "*.csv", engine)
    pl.DataFrame({"t": [1], "d": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"t": ["01"], "d": ["01"]}).write_parquet(tmp_path / "2.parquet")
    for engine in ("polars", "duckdb"):
        with pytest.raises(cp.CompromisError):
            counted(str(tmp_path / "*.parquet"), engine)


def test_what_is_not_there(tmp_path):
    (tmp_path / "rows.csv").write_text("t,d\na,a\n")
    with pytest.raises(cp.InputError, match=r"there is no file .*; did you mean 'rows\.csv'"):
        cp.frames.scan(tmp_path / "row.csv")
    with pytest.raises(cp.InputError, match="no file matches"):
        cp.frames.scan(str(tmp_path / "*.parquet"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(cp.InputError, match="holds no CSV"):
        cp.frames.scan(tmp_path / "empty")
    with pytest.raises(cp.InputError, match=r"there is no engine 'duckbd' .did you mean 'duckdb'"):
        cp.frames.scan(tmp_path / "rows.csv", engine="duckbd")
    with pytest.raises(cp.InputError, match="there is no column 'score'"):
        cp.frames.scan(tmp_path / "rows.csv", numbers=["score"])
    with pytest.raises(cp.InputError, match="a cluster is for the engines dask and spark, not for polars"):
        open_scan(tmp_path / "rows.csv", engine="polars", cluster="tcp://127.0.0.1:1")


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("t,d\na,a\n")
    files = Files.find(path)
    files.check_unchanged()
    path.write_text("t,d\na,a\nb,b\n")
    with pytest.raises(cp.InputError, match="changed while it was read; run again when it is complete"):
        files.check_unchanged()


def test_missing_engines_name_their_extra(monkeypatch):
    monkeypatch.setattr("compromis.frames.engines.find_spec", lambda name: None)
    with pytest.raises(cp.MissingExtra, match=r"pip install 'compromis\[big\]'"):
        choose_engine(None)
    with pytest.raises(
        cp.MissingExtra, match="the engine spark is not installed; install it with: pip install pyspark"
    ):
        choose_engine("spark")


def test_text_goes_to_duckdb_and_parquet_to_polars():
    assert (choose_engine(None, "CSV"), choose_engine(None, "Parquet")) == ("duckdb", "polars")


def test_a_scan_is_lazy(tmp_path):
    (tmp_path / "rows.csv").write_text("t,d\na,a\n")
    assert isinstance(cp.frames.scan(tmp_path / "rows.csv", engine="polars"), pl.LazyFrame)
    assert isinstance(nw.from_native(cp.frames.scan(tmp_path / "rows.csv", engine="duckdb")), nw.LazyFrame)
