"""Delimited text: cells exactly as written, delimiters recognised, and record and column in every refusal."""

from __future__ import annotations

import bz2
import gzip
import os
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import compromis as cp
from compromis.errors import InputError
from compromis.frames._kernels import read_number
from compromis.frames.reading import open_table, read_table
from tests.command_line import run

EXACT = [
    "NA",
    "null",
    "N/A",
    "01",
    " 1",
    "1 ",
    ' "NA"',
    "x\ny",
    "x\r\ny",
    'q"q',
    "é",
    "\u2028",
    "\ufeff",
    "'",
    "nan",
]


def written(cells, end="\n"):
    return end.join(["t,k", *('"' + cell.replace('"', '""') + f'",{k}' for k, cell in enumerate(cells)), ""])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 2, 5, 1 << 19])
def test_cells_stay_as_written_wherever_a_block_ends(tmp_path, monkeypatch, end, size):
    monkeypatch.setattr("compromis.frames.delimited.BLOCK", size)
    cells = [*EXACT, "x" * 5000]
    (tmp_path / "x.csv").write_bytes(written(cells, end).encode())
    with open_table(str(tmp_path / "x.csv")) as file:
        table = file.read(["t"], ["k"])
    assert table["t"].tolist() == cells
    assert table.numbers("k").tolist() == list(range(len(cells)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            't,d\na,"b"c\n',
            "text follows a closing quote in record 2, column 'd'; a quote inside a quoted cell is written twice",
        ),
        ('t,d\na,b\n\n"a,b\n', "the quote that opens in record 4, column 't' is never closed"),
        ("t,d\na,b\na,b,c\n", "has 3 fields in record 3, but 2 columns; check quotes and delimiters"),
        ("t,d\na,b\na\n", "has 1 field in record 3, but 2 columns"),
        (
            't,"d"e\na,b\n',
            "text follows a closing quote in record 1, column 2; a quote inside a quoted cell is written twice",
        ),
        ('sep=,\n\n"t,d\na,b\n', "the quote that opens in record 3, column 1 is never closed"),
        ('t,"d\na,b\n', "cannot be read as a table: the quote that opens in record 1, column 2 is never closed"),
    ],
)
def test_refusals_name_record_and_column(tmp_path, content, said):
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(cp.InputError, match=r"^.*x\.csv ") as caught:
        read_table(str(tmp_path / "x.csv"), lambda names: names)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "columns", "remark"),
    [
        ("x.csv", "t;d\na,b;1\n", {"t": ["a,b"], "d": ["1"]}, "semicolons stand between the cells"),
        ("x.csv", "t\td\na\t1\n", {"t": ["a"], "d": ["1"]}, "tabs stand between the cells"),
        ("x.tsv", "t\td\na\t1\n", {"t": ["a"], "d": ["1"]}, ""),
        ("x.tsv", "t,d\na,1\n", {"t": ["a"], "d": ["1"]}, ""),
        ("x.csv", "t|d\na|1\n", {"t": ["a"], "d": ["1"]}, "bars (|) stand between the cells"),
        ("x.csv", "sep=;\nt;d\na,b;1\n", {"t": ["a,b"], "d": ["1"]}, "semicolons stand between the cells"),
        ("x.csv", "a;b,c\n1,2\n", {"a;b": ["1"], "c": ["2"]}, ""),
        ("x.csv", "one\na;b\n", {"one": ["a;b"]}, ""),
        ("x.csv", "t,d\n", {"t": [], "d": []}, ""),
        ("x.csv", "\n\nt,d\n1,2\n", {"t": ["1"], "d": ["2"]}, ""),
        ("x.csv", ",t,T\n0,a,b\n", {"": ["0"], "t": ["a"], "T": ["b"]}, ""),
    ],
)
def test_delimiters_and_headers(tmp_path, name, content, columns, remark):
    (tmp_path / name).write_text(content)
    with open_table(str(tmp_path / name)) as file:
        assert file.read(file.names).texts() == columns
        assert file.remark == (f"{tmp_path / name}: {remark}" if remark else "")


def test_the_command_line_says_what_stands_between_cells(tmp_path):
    (tmp_path / "x.csv").write_text("t;d\na;a\nb;a\n")
    done = run("evaluate", tmp_path / "x.csv", "--truth", "t", "--prediction", "d")
    assert done.exit_code == 0
    assert "x.csv: semicolons stand between the cells" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-mark", "utf-16-be-mark"])
def test_encodings(tmp_path, encoding):
    text = "t,d\né,😀\n" * 1 + "x,y\n" * 3000
    name = encoding.removesuffix("-mark")
    (tmp_path / "x.csv").write_bytes(("\ufeff" + text if "mark" in encoding else text).encode(name))
    texts = read_table(str(tmp_path / "x.csv"), lambda names: names).texts()
    assert texts == {"t": ["é"] + ["x"] * 3000, "d": ["😀"] + ["y"] * 3000}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n", "holds a picture (PNG), not a table; give the table that it was drawn from"),
        (b"SQLite format 3\0", "holds an SQLite database, not a table; export the table wanted as CSV"),
        (
            b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml",
            "holds an Excel workbook, which is not read here; export it as CSV or Parquet",
        ),
        (
            b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
            "holds an OpenDocument spreadsheet, which is not read here; export it as CSV or Parquet",
        ),
        (b"%PDF-1.7\n", "holds a PDF document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook of the old kind (.xls)"),
        ("t,d\na,a\n".encode("utf-32"), "holds UTF-32 text; convert it to UTF-8"),
        (b"t\0,d\na,a\n", "holds binary data, not a table"),
        ("t,d\na,a\n".encode("utf-16-le"), "holds binary data, not a table"),
        (b'{"a": [1]}', "holds JSON, which is not a table"),
        (b'[\n {"t": "a", "d": "b"}]', "holds JSON, which is not a table"),
        (b'\xef\xbb\xbf{"t": "a", "d": "b"}\n', "holds JSON, which is not a table"),
        (b"\n<!DOCTYPE html>\n<html>", "holds a page or document (HTML or XML), not a table; export the table as CSV"),
        (b'<?xml version="1.0"?><Workbook/>', "holds a page or document (HTML or XML)"),
        (bz2.compress(b"t,d\na,a\n", 1), "holds bzip2, which is not read here; decompress it"),
        (gzip.compress(gzip.compress(b"t,d\na,a\n", mtime=0), mtime=0), "gzip inside gzip"),
    ],
)
def test_other_files_are_called_what_they_are(tmp_path, content, said):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(cp.InputError) as caught:
        open_table(str(tmp_path / "x"))
    assert said in str(caught.value)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_a_file_that_cannot_be_read_is_named():
    done = run("count", "/proc/self/mem", "--truth", "t", "--prediction", "d", "--output", "x.json")
    assert done.stderr == "Error: /proc/self/mem: Input/output error\n"


@pytest.mark.parametrize("before", ["", "a", "a" * 5000])
def test_a_nul_inside_a_label_is_kept_and_weka_has_none(tmp_path, before):
    """A class may differ from another by a NUL at its end, which numpy's texts would lose."""
    content = f't,d\n"{before}\0",b\n\0{before},b\n{before}b,\0\n'
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / "x.csv").write_bytes(content.encode(encoding))
        texts = read_table(str(tmp_path / "x.csv"), ["t", "d"]).texts()
        assert texts == {"t": [before + "\0", "\0" + before, before + "b"], "d": ["b", "b", "\0"]}
    head = "@relation r\n@attribute t string\n@attribute d string\n@data\n"
    (tmp_path / "x.arff").write_text(f'{head}"{before}\0",b\n')
    with pytest.raises(cp.InputError, match=r"x.arff, line 5 holds a NUL, which Weka takes for a blank"):
        read_table(str(tmp_path / "x.arff"), ["t"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_is_no_text_is_told_with_its_byte_and_line(tmp_path, end):
    """Letters of two bytes lie across the borders of blocks; a compressed file cannot be read again for the line."""
    good = (f"t,d{end}aa,b{end}" + f"é,b{end}" * 200_000 + "x").encode()
    content = good + b"\xff" + end.encode()
    (tmp_path / "x.csv").write_bytes(content)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content, compresslevel=1, mtime=0))
    for name, line in (("x.csv", ", line 200,003"), ("x.csv.gz", "")):
        with pytest.raises(cp.InputError, match=rf"is not UTF-8 text \(byte {len(good):,}{line}\)"):
            read_table(str(tmp_path / name), ["t"])


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("%share,d\n1,a\n", {"%share": ["1"], "d": ["a"]}),
        ("%share,d\n", {"%share": [], "d": []}),
        ("%a\n%b\n%c\n", {"%a": ["%b", "%c"]}),
        ("PAR1,d\n1,a\n", {"PAR1": ["1"], "d": ["a"]}),
        ("BZh9,d\n1,a\n", {"BZh9": ["1"], "d": ["a"]}),
        ("{t},<d>\n1,a\n", {"{t}": ["1"], "<d>": ["a"]}),
        ("@relation,d\n1,a\n", {"@relation": ["1"], "d": ["a"]}),
        ("\n" * 5000 + "t,d\n1,a\n", {"t": ["1"], "d": ["a"]}),
        ("% c\n" * 3000 + "@relation r\n@attribute t {a}\n@data\na\n", {"t": ["a"]}),
    ],
)
def test_headers_that_look_like_something_else(tmp_path, content, columns):
    (tmp_path / "x").write_text(content)
    assert read_table(str(tmp_path / "x"), lambda names: names).texts() == columns


def test_a_header_of_very_many_names_costs_little(tmp_path):
    (tmp_path / "x.csv").write_text(",".join(map(str, range(4_000_000))) + "\n")
    tracemalloc.start()
    try:
        with pytest.raises(
            cp.InputError,
            match=r"too many columns, more than the limit of 100,000; set COMPROMIS_MAX_COLUMNS to raise it",
        ):
            open_table(str(tmp_path / "x.csv"))
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_once(tmp_path, packed):
    """The message was that it cannot be decompressed."""
    os.mkfifo(tmp_path / "pipe")
    text = b"t,d\n" + b"a,a\nb,a\n" * 50_000
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(gzip.compress(text) if packed else text,))
    writer.start()
    with cp.frames.FileScan(str(tmp_path / "pipe")) as scan:
        counts, _ = scan.counts(truth="t", prediction="d")
    writer.join()
    assert counts.matrix.tolist() == [[50_000, 0], [50_000, 0]]


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("t,d\n" + "a,a\n" * 300_000)
    with open_table(str(path)) as file:
        tables = file.tables(["t"])
        next(tables)
        with path.open("a") as stream:
            stream.write("a,a\n")
        with pytest.raises(cp.InputError, match="changed while it was read; run again when it is complete"):
            list(tables)


@pytest.mark.parametrize("name", ["x.csv", "x.arff", "x.parquet"])
def test_many_different_texts_are_refused_in_every_format(tmp_path, monkeypatch, name):
    monkeypatch.setenv("COMPROMIS_MAX_UNPACKED", "1000000")
    labels = [f"{k}.5" for k in range(20_000)]
    if name == "x.parquet":
        parquet.write_table(pyarrow.table({"t": labels}), tmp_path / name)
    else:
        head = "t\n" if name == "x.csv" else "@relation r\n@attribute t string\n@data\n"
        (tmp_path / name).write_text(head + "\n".join(labels) + "\n")
    with open_table(str(tmp_path / name)) as file, pytest.raises(InputError, match="bytes of different texts in the"):
        list(file.tables(["t"]))
    with open_table(str(tmp_path / name)) as file:  # as numbers they are not held
        assert sum(table.numbers("t").sum() for table in file.tables([], ["t"])) == sum(map(float, labels))


def test_numbers_are_those_of_python(tmp_path, rng):
    """Decimal texts are rounded by the kernel; what it leaves goes to float()."""
    texts = [repr(value) for value in rng.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64).tolist()]
    texts += [f"{rng.integers(0, 2**62)}e{rng.integers(-340, 310)}" for _ in range(3000)]
    texts += [
        "1_0",
        " 2 ",
        "٣",
        "+.5",
        "5.",
        "-0",
        "1e400",
        "1e-400",
        "inf",
        "9007199254740993",
        "0.1e-323",
        "2.2250738585072011e-308",
    ]
    (tmp_path / "x.csv").write_text("n\n" + "\n".join(texts) + "\n")
    with open_table(str(tmp_path / "x.csv")) as file:
        numbers = file.read(numbers=["n"]).numbers("n")
    assert list(map(repr, numbers.tolist())) == [repr(float(text)) for text in texts]
    decided = [text for text in texts if read_number(text.encode()) is not None]
    assert len(decided) > 0.9 * len(texts)


def test_a_number_that_is_none_is_named_with_its_row_unless_the_row_is_left_out(tmp_path):
    (tmp_path / "x.csv").write_text("t,d,w\n,a,x\na,a,1\nb,a,2\nb,b,\n")
    given = ["evaluate", tmp_path / "x.csv", "--truth", "t", "--prediction", "d", "--weight", "w", "--drop-missing"]
    assert "column 'w' of" in run(*given).stderr
    assert "must hold numbers, got nothing in data row 4" in run(*given).stderr
    (tmp_path / "x.csv").write_text("t,d,w\n,a,x\na,a,1\nb,a,2\n")
    assert run(*given).exit_code == 0
