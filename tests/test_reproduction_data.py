"""The reproductions' data: one canonical form from the folder and from OpenML (stubbed: no test goes out to the network)."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
import sklearn.datasets

from reproductions.data import DataError, canonical, content_sha256, listed, load, names

SIZES = {"autos": (205, 25, 10), "hypothyroid": (3772, 29, 22), "satimage": (6435, 36, 0)}  # from the data's README


@pytest.fixture
def from_files(data, monkeypatch):
    monkeypatch.setenv("COMPROMIS_DATA", str(data))


@pytest.fixture
def openml(data, monkeypatch):
    """fetch_openml as OpenML's copies would come: parsed numbers, categories, another order, other names; or spoiled."""

    def use(spoil=lambda frame: frame):
        def fetch(data_id, as_frame):
            assert as_frame
            name = next(one.name for one in listed().values() if data_id in one.openml)
            frame = pandas.read_csv(
                data / f"{name}.csv.gz", dtype={"class": str}, na_values=[""], keep_default_na=False
            )
            frame = spoil(frame.sample(frac=1, random_state=1))
            frame.columns = [f"attribute {place}" for place in range(len(frame.columns))]
            *columns, target = frame.columns
            for column in frame.columns[frame.dtypes == "object"]:
                frame[column] = frame[column].astype("category")
            return SimpleNamespace(data=frame[columns], target=frame[target].astype("category"))

        monkeypatch.delenv("COMPROMIS_DATA", raising=False)
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)

    return use


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_kinds_of_columns(from_files, name):
    rows, columns, nominal = SIZES[name]
    frame, y = load(name)
    assert frame.shape == (rows, columns)
    assert len(y) == rows
    assert (frame.dtypes == "category").sum() == nominal


def test_missing_values_and_labels_of_autos(from_files):
    frame, y = load("autos")
    counted = {
        "normalized-losses": 41,
        "num-of-doors": 2,
        "bore": 4,
        "stroke": 4,
        "horsepower": 2,
        "peak-rpm": 2,
        "price": 4,
    }
    missing = frame.isna().sum()
    assert missing[missing > 0].to_dict() == counted
    labels, sizes = np.unique(y, return_counts=True)
    assert dict(zip(labels.tolist(), sizes.tolist(), strict=True)) == {
        "0": 67,
        "1": 54,
        "2": 32,
        "3": 27,
        "-1": 22,
        "-2": 3,
    }


@pytest.mark.parametrize("name", ["autos", "hypothyroid", "satimage"])
def test_openml_gives_the_same_rows_in_the_same_order(data, monkeypatch, openml, name):
    monkeypatch.setenv("COMPROMIS_DATA", str(data))
    ours, y = load(name)
    openml()
    theirs, other = load(name)
    assert y.tolist() == other.tolist()
    theirs.columns = ours.columns
    pandas.testing.assert_frame_equal(ours, theirs)


def test_a_changed_copy_on_openml_is_refused(openml):
    def spoil(frame):
        frame.iloc[3, frame.columns.get_loc("price")] = 1.0
        return frame

    openml(spoil)
    with pytest.raises(DataError, match="OpenML's copy of autos is not ours"):
        load("autos")
    openml(lambda frame: frame.iloc[:200])
    with pytest.raises(DataError, match="has 200 rows"):
        load("autos")


def test_the_second_copy_is_taken_where_the_first_differs(openml, monkeypatch):
    openml()
    whole = sklearn.datasets.fetch_openml

    def fetch(data_id, as_frame):
        bunch = whole(data_id, as_frame)
        return SimpleNamespace(data=bunch.data[5:], target=bunch.target[5:]) if data_id == 182 else bunch

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    assert len(load("satimage")[1]) == 6435


def test_a_changed_file_is_refused(data, tmp_path, monkeypatch):
    content = gzip.decompress((data / "autos.csv.gz").read_bytes()).replace(b"13495", b"13496")
    (tmp_path / "autos.csv.gz").write_bytes(gzip.compress(content))
    monkeypatch.setenv("COMPROMIS_DATA", str(tmp_path))
    with pytest.raises(DataError, match="another file than ours"):
        load("autos")
    with pytest.raises(DataError, match=r"there is no .*letter"):
        load("letter")


def test_names_that_are_not_there(monkeypatch):
    monkeypatch.delenv("COMPROMIS_DATA", raising=False)
    with pytest.raises(DataError, match="there is no data set 'iris'"):
        load("iris")
    with pytest.raises(DataError, match="OpenML has no copy of car-good"):
        load("car-good")
    assert names("") == ["autos", "letter", "hypothyroid", "satimage", "mammography"]
    assert len(names("study")) == 16


def test_canonical_values():
    values = ["9", 9, 9.0, "9.", "9.50", 1e-5, None, float("nan"), "?", "'-1'", " two ", "nan", "-0.0"]
    assert [canonical(value) for value in values] == [
        *["9"] * 4, "9.5", "1e-05", "", "", "", "-1", "two", "nan", "0",
    ]  # fmt: skip


def test_checksums_are_those_of_the_data_readme(data):
    """The sums of the files stand in the README beside them; the canonical ones are recomputed from the files alone."""
    written = (data / "README.md").read_text() + (data / "study" / "README.md").read_text()
    for one in listed().values():
        assert one.file_sha256 in written
        if one.rows > 1000:
            continue
        content = gzip.decompress((data / one.folder / f"{one.name}.csv.gz").read_bytes())
        assert hashlib.sha256(content).hexdigest() == one.file_sha256
        rows = [tuple(map(canonical, row)) for row in csv.reader(io.StringIO(content.decode()))][1:]
        assert content_sha256(rows[::-1]) == one.content_sha256
