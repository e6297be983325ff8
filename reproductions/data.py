"""The papers' data and the study's: from the folder COMPROMIS_DATA, or from OpenML, checked by checksum in either case.

`load(name)` gives a data frame (nominal columns categorical, numbers float64, missing values NaN) and the labels as text.
Both sources are brought to one canonical form first, so that the same seed gives the same folds and the same figures.
`python -m reproductions.data` lists the sets; `--check` loads every one.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from numpy.typing import NDArray

LISTING = Path(__file__).parent / "data_sets.csv"
Row = tuple[str, ...]


class DataError(ValueError):
    """The data cannot be found, or are not those that the figures were made from."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Where a data set is found and how it is recognised.

    Attributes
    ----------
    name, folder : str
        The file ``<folder>/<name>.csv.gz`` under COMPROMIS_DATA.
    rows : int
        Number of rows.
    file_sha256 : str
        Checksum of the uncompressed CSV file.
    content_sha256 : str
        Checksum of the canonical form, the same for every copy that has the same values.
    openml : tuple of int
        OpenML's numbers for it, tried in this order; empty where OpenML has no such set.
    """

    name: str
    folder: str
    rows: int
    file_sha256: str
    content_sha256: str
    openml: tuple[int, ...]


def listed() -> dict[str, DataSet]:
    """Every data set by name."""
    with LISTING.open(encoding="utf-8", newline="") as file:
        return {
            row["name"]: DataSet(
                row["name"],
                row["folder"],
                int(row["rows"]),
                row["file_sha256"],
                row["content_sha256"],
                tuple(map(int, row["openml"].split())),
            )
            for row in csv.DictReader(file)
        }


def names(folder: str | None = None) -> list[str]:
    """The names of all sets, of the papers' (folder "") or of the study's (folder "study")."""
    return [one.name for one in listed().values() if folder is None or one.folder == folder]


def load(name: str) -> tuple[pandas.DataFrame, NDArray[Any]]:
    """The columns and the class labels of a data set, rows in canonical order.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    frame : pandas.DataFrame
        Numbers as float64, nominal columns as categorical with sorted categories.
    y : ndarray of str
        The labels, as text.

    Notes
    -----
    Rows are ordered by the hash of their text: mixed, and alike wherever the copy comes from.
    """
    sets = listed()
    if name not in sets:
        raise DataError(f"there is no data set {name!r}; the names are {', '.join(sets)}")
    folder = os.environ.get("COMPROMIS_DATA")
    header, rows = from_folder(sets[name], Path(folder)) if folder else from_openml(sets[name])
    return as_frame(header, in_order(rows))


def from_folder(chosen: DataSet, folder: Path) -> tuple[Row, list[Row]]:
    """Header and canonical rows of the CSV file under the folder, once its checksum is right."""
    file = folder / chosen.folder / f"{chosen.name}.csv.gz"
    if not file.is_file():
        raise DataError(f"there is no {file}; unset COMPROMIS_DATA to fetch the data from OpenML")
    content = gzip.decompress(file.read_bytes())
    found = hashlib.sha256(content).hexdigest()
    if found != chosen.file_sha256:
        raise DataError(f"{file} is another file than ours: its CSV has sha256 {found}, not {chosen.file_sha256}")
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    return tuple(header), [tuple(map(canonical, row)) for row in rows]


def from_openml(chosen: DataSet) -> tuple[Row, list[Row]]:
    """Header and canonical rows of the first of OpenML's copies that has the right values."""
    if not chosen.openml:
        raise DataError(f"OpenML has no copy of {chosen.name}; set COMPROMIS_DATA to the folder of the data")
    from sklearn.datasets import fetch_openml

    seen = []
    for number in chosen.openml:
        bunch = fetch_openml(data_id=number, as_frame=True)
        columns = [*(bunch.data[column] for column in bunch.data.columns), bunch.target]
        rows = list(zip(*(map(canonical, column.tolist()) for column in columns), strict=True))
        found = content_sha256(rows)
        if found == chosen.content_sha256:
            return (*map(str, bunch.data.columns), "class"), rows
        seen.append(f"number {number} has {len(rows)} rows and sha256 {found[:12]}")
    raise DataError(
        f"OpenML's copy of {chosen.name} is not ours ({'; '.join(seen)}; ours {chosen.rows} rows, {chosen.content_sha256[:12]});"
        " set COMPROMIS_DATA to the folder of the data"
    )


def canonical(value: Any) -> str:
    """One way to write a value: numbers as Python's shortest form without '.0', a missing value as nothing."""
    if value is None or value != value:  # NaN is not itself
        return ""
    text = str(value).strip().strip("'\"")
    if text == "?":
        return ""
    try:
        number = float(text)
    except ValueError:
        return text
    if not np.isfinite(number):
        return text  # 'nan' and 'inf' as categories are words
    return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)


def in_order(rows: list[Row]) -> list[Row]:
    """The rows ordered by the hash of their text, which no source's own order influences."""
    return sorted(rows, key=lambda row: (hashlib.sha256("\x1f".join(row).encode()).digest(), row))


def content_sha256(rows: list[Row]) -> str:
    """Checksum of the canonical form: a CSV without header, class last, rows in canonical order."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(in_order(rows))
    return hashlib.sha256(text.getvalue().encode()).hexdigest()


def as_frame(header: Row, rows: list[Row]) -> tuple[pandas.DataFrame, NDArray[Any]]:
    """Columns of numbers or categories, and the last column as labels."""
    *columns, labels = zip(*rows, strict=True)
    frame = pandas.DataFrame({name: _column(values) for name, values in zip(header[:-1], columns, strict=True)})
    return frame, np.array(labels)


def _column(values: Row) -> Any:
    """A column is numeric if every value that is there is a number."""
    there = sorted({value for value in values if value})
    if all(_is_number(value) for value in there):
        return np.array([float(value) if value else np.nan for value in values])
    return pandas.Categorical([value or None for value in values], categories=there)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def main() -> None:
    for one in listed().values():
        found = "x".join(map(str, load(one.name)[0].shape)) if "--check" in sys.argv else one.rows
        print(f"{one.name:26} {one.folder or 'papers':7} {found!s:>10}  OpenML {one.openml or 'has none'}")


if __name__ == "__main__":
    main()
