"""Limits on what files may ask of the machine, and the settings that raise them."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import polars as pl
import pytest

import compromis as cp
from compromis._files import COLUMNS, LABEL
from compromis.estimators.model_file import load_model
from compromis.frames.reading import read_table
from tests.command_line import run
from tests.model_files import write_logistic_model


def read(path):
    return read_table(str(path), lambda names: names)


def test_columns(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("a,b,c\n1,2,3\n")
    (tmp_path / "x.arff").write_text(
        "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@data\n1,2,3\n"
    )
    pl.DataFrame({"a": [1], "b": [2], "c": [3]}).write_parquet(tmp_path / "x.parquet")
    for name in ("x.csv", "x.arff", "x.parquet"):
        monkeypatch.setenv("COMPROMIS_MAX_COLUMNS", "3")
        assert len(read(tmp_path / name).columns) == 3
        monkeypatch.setenv("COMPROMIS_MAX_COLUMNS", "2")
        with pytest.raises(cp.InputError, match="more than the limit of 2; set COMPROMIS_MAX_COLUMNS to raise it"):
            read(tmp_path / name)


def test_decompressed_size(tmp_path, monkeypatch):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"t,d\n" + b"a,b\n" * 800_000))
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000000")
    with pytest.raises(
        cp.InputError, match=r"more than 1,000,000 bytes when it is decompressed.*COMPROMIS_MAX_UNPACKED"
    ):
        read_table(str(tmp_path / "x.csv.gz"), [])
    with pytest.raises(cp.InputError, match=r"rows and more, too many to be held in memory.*COMPROMIS_MAX_UNPACKED"):
        read(tmp_path / "x.csv.gz")
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "3300000")
    assert (
        len(
            run(
                "evaluate", tmp_path / "x.csv.gz", "--truth", "t", "--prediction", "d", "--label", "a", "--label", "b"
            ).stdout
        )
        > 0
    )


def test_a_compressed_file_that_is_large_itself(tmp_path, monkeypatch, rng):
    """Tables are packed to a twentieth, bombs to a thousandth: the limit is for what becomes far more than it is."""
    rows = "".join(f"{k},{'ab'[k % 2]}\n" for k in rng.integers(0, 10**9, 50_000))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"t,d\n" + rows.encode()))
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "400000")
    assert len(read_table(str(tmp_path / "x.csv.gz"), [])) == 50_000


def test_a_gzip_that_lies_about_its_size(tmp_path, monkeypatch):
    packed = gzip.compress(b"t,d\n" + b"a,b\n" * 800_000)
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000000")
    for end in (packed[-4:], bytes(4), b"\xff" * 4):
        (tmp_path / "x.csv.gz").write_bytes(packed[:-4] + end)
        with pytest.raises(cp.InputError, match="more than 1,000,000 bytes when it is decompressed"):
            read_table(str(tmp_path / "x.csv.gz"), [])


def test_packed_parquet_is_read(tmp_path):
    stream = io.BytesIO()
    pl.DataFrame({"t": ["01", "1"]}).write_parquet(stream)
    (tmp_path / "x.parquet.gz").write_bytes(gzip.compress(stream.getvalue()))
    assert read(tmp_path / "x.parquet.gz")["t"].tolist() == ["01", "1"]


def test_rows_of_parquet(tmp_path, monkeypatch):
    pl.DataFrame({"t": ["a"] * 1000}).write_parquet(tmp_path / "x.parquet")
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "15999")
    with pytest.raises(cp.InputError, match=r"1,000 rows, too many .* set COMPROMIS_MAX_UNPACKED to 16000"):
        read(tmp_path / "x.parquet")
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "16000")
    assert len(read(tmp_path / "x.parquet")) == 1000


def test_a_limit_beyond_any_file_is_none(tmp_path, monkeypatch):
    for setting in ("LINE", "COLUMNS", "LABEL", "UNPACKED", "CLASSES"):
        monkeypatch.setenv(f"COMPROMIS_MAX_{setting}", "9" * 30)
    (tmp_path / "x.csv").write_text("t,d\na,b\n")
    assert len(read(tmp_path / "x.csv")) == 1


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPROMIS_MAX_LINE", "500000")
    for name, head in (("x.csv", b"t,d\n"), ("x.arff", b"@relation r\n@attribute a string\n@data\n")):
        (tmp_path / name).write_bytes(head + b"a" * 900_000)
        with pytest.raises(
            cp.InputError,
            match=r"has a line of too many characters.*, more than the limit of 500,000; set COMPROMIS_MAX_LINE",
        ):
            read(tmp_path / name)


def test_classes_and_labels(monkeypatch):
    labels = [f"c{k}" for k in range(30)]
    monkeypatch.setenv("COMPROMIS_MAX_CLASSES", "20")
    with pytest.raises(cp.InputError, match=r"more than 20 classes; .* COMPROMIS_MAX_CLASSES raises the limit"):
        cp.Counts.from_predictions(labels, labels)
    monkeypatch.setenv("COMPROMIS_MAX_CLASSES", "30")
    assert cp.Counts.from_predictions(labels, labels).rows == 30
    long = ["x" * (LABEL.default + 1), "y"]
    for count in (
        lambda: cp.Counts.from_predictions(long, long),
        lambda: cp.Votes.from_proba(long, [[1, 0], [0, 1]], labels=long),
    ):
        monkeypatch.delenv("COMPROMIS_MAX_LABEL", raising=False)
        with pytest.raises(cp.InputError, match="a label has 10,001 characters, more than the limit of 10,000"):
            count()
        monkeypatch.setenv("COMPROMIS_MAX_LABEL", "10001")
        assert count().rows == 2


def test_a_model_that_becomes_large(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "x.model", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", bytes(1_000_000))
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "999999")
    with pytest.raises(cp.InputError, match="becomes 1,000,000 bytes when it is decompressed"):
        load_model(tmp_path / "x.model")
    with zipfile.ZipFile(write_logistic_model(tmp_path / "logistic.model")) as archive:
        assert sum(member.file_size for member in archive.infolist()) < 999_999


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_settings_are_whole_numbers(monkeypatch, text):
    monkeypatch.setenv(COLUMNS.setting, text)
    with pytest.raises(cp.InputError, match="COMPROMIS_MAX_COLUMNS must be a whole number above 0"):
        COLUMNS.check(1, "")
    monkeypatch.setenv(COLUMNS.setting, "")
    assert COLUMNS.most == COLUMNS.default


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device here")
@pytest.mark.parametrize(
    "read",
    [
        cp.evidence.read,
        cp.Decision.from_json,
        cp.Preferences.from_toml,
        cp.drift.AnytimeTests.from_json,
        cp.evaluation.Record.parts,
    ],
)
def test_a_device_without_an_end(read, monkeypatch):
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000000")
    with pytest.raises(cp.InputError, match="/dev/zero goes on after 1,000,000 bytes, more than the limit"):
        read("/dev/zero")
