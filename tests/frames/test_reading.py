"""Files: labels exactly as written, the same from every format, and one sentence for every broken one."""

from __future__ import annotations

import datetime
import gzip
import os
import time
import tracemalloc
from decimal import Decimal

import polars as pl
import pytest

import compromis as cp
from compromis._files import write_whole
from compromis.errors import InputError
from compromis.frames.adding import FileScan
from compromis.frames.reading import open_table, read_table

HOSTILE = [
    "NA",
    "null",
    "N/A",
    "01",
    "1",
    " a",
    "a ",
    "é",
    "x,y",
    'say "hi"',
    "it's",
    "line\nbreak",
    "-",
    "nan",
    "\N{SNOWMAN}",
]


def everything(path):
    return read_table(str(path), lambda names: names)


def quoted(text, mark='"'):
    return mark + text.replace(mark, mark * 2) + mark


@pytest.fixture
def hostile_files(tmp_path):
    csv_text = "label,n\n" + "".join(f"{quoted(label)},{row}\n" for row, label in enumerate(HOSTILE))
    (tmp_path / "h.csv").write_text(csv_text, newline="")
    (tmp_path / "h.csv.gz").write_bytes(gzip.compress(csv_text.encode()))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + csv_text.encode())
    (tmp_path / "noext").write_text(csv_text, newline="")
    tsv_text = "label\tn\n" + "".join(f"{quoted(label)}\t{row}\n" for row, label in enumerate(HOSTILE))
    (tmp_path / "h.tsv").write_text(tsv_text, newline="")
    pl.DataFrame({"label": HOSTILE, "n": range(len(HOSTILE))}).write_parquet(tmp_path / "h.parquet")
    return sorted(tmp_path.iterdir())


def test_labels_stay_what_they_are(hostile_files):
    for path in hostile_files:
        table = everything(path)
        assert table["label"].tolist() == HOSTILE, path
        assert table["n"].tolist() == [str(row) for row in range(len(HOSTILE))], path


def test_a_wildcard_in_a_name_is_a_letter(tmp_path):
    pl.DataFrame({"a": ["right"]}).write_parquet(tmp_path / "x[1]*.parquet")
    pl.DataFrame({"a": ["wrong"]}).write_parquet(tmp_path / "x1.parquet")
    assert everything(tmp_path / "x[1]*.parquet").texts() == {"a": ["right"]}


def test_missing_values(tmp_path):
    (tmp_path / "m.csv").write_text('a,b\n,1\n"",2\nx,\n')
    assert everything(tmp_path / "m.csv").texts() == {"a": [None, None, "x"], "b": ["1", "2", None]}
    pl.DataFrame({"a": [None, "x"]}).write_parquet(tmp_path / "m.parquet")
    assert everything(tmp_path / "m.parquet").texts() == {"a": [None, "x"]}


ARFF = """% a comment
@RELATION 'a name'
@attribute 'the class' {'no way', "yes", it\\'s}
@attribute n numeric
@attribute when date "yyyy-MM-dd"
@attribute text string
@data
'no way', 1.50, "2001-01-01", 'a, b'
% another
yes, ?, ?, ?, {2.5}
'it\\'s',3,2001-01-02,plain
{0 yes, 3 'x y'}
{1 7}, {0.5}
"""


def test_arff(tmp_path):
    (tmp_path / "t.arff").write_text(ARFF)
    table = everything(tmp_path / "t.arff")
    assert table.texts() == {
        "the class": ["no way", "yes", "it's", "yes", "no way"],
        "n": ["1.50", None, "3", "0", "7"],
        "when": ["2001-01-01", None, "2001-01-02", "0", "0"],
        "text": ["a, b", None, "plain", "x y", "0"],
    }
    assert table.weights.tolist() == [1, 2.5, 1, 1, 0.5]


def test_arff_written_with_tabs_and_comments(tmp_path):
    (tmp_path / "t.arff").write_text(
        "@attribute\tclass\t{a, b}\n@attribute x numeric\n@data\na,1\n{0 b,\t1 2}\nb,v, {2}\n"
    )
    table = everything(tmp_path / "t.arff")
    assert table.texts() == {"class": ["a", "b", "b"], "x": ["1", "2", "v"]}
    assert table.weights.tolist() == [1, 1, 2]


def test_escapes_are_those_of_weka(tmp_path):
    """What Weka 3.6 made of the same file."""
    rows = [
        (r"'a\nb','c\td'", ("a\nb", "c\td")),
        (r"""'a\rb',"q\"q" """, ("a\rb", 'q"q')),
        (r"'it\'s','b\\b'", ("it's", r"b\b")),
        (r"'a\zb','p\%c'", ("azb", "p%c")),
        (r"'\u0041',a\nb", ("u0041", r"a\nb")),
        (r"'\101\7\08','\477x\8'", ("A\a\0" + "8", "'7x8")),
        (r"'','?'", ("", "?")),
    ]
    head = "@relation r\n@attribute 'x\\ty' string\n@attribute u string\n@data\n"
    (tmp_path / "e.arff").write_text(head + "\n".join(line for line, _ in rows) + "\n")
    first, second = everything(tmp_path / "e.arff").texts().values()
    assert list(everything(tmp_path / "e.arff").columns) == ["x\ty", "u"]
    assert list(zip(first, second, strict=True)) == [values for _, values in rows]


@pytest.mark.parametrize(
    ("attribute", "row", "said"),
    [
        ("{a,b}", "a,1\n% c\nc,1", "line 7: 'c' is none of the values that attribute 't' declares, 'a', 'b'"),
        ("{a,b}", "a,1\n{0 c}", "line 6: 'c' is none of the values that attribute 't' declares, 'a', 'b'"),
        ("{a,b", "a,1", "line 2: the values of attribute 't' do not end with a closing brace on the same line"),
        ("{", "a,1", "line 2: the values of attribute 't' do not end with a closing brace on the same line"),
        ("{a,b,a}", "a,1", "line 2: attribute 't' declares a value twice"),
        ("relational", "a,1", "line 2: attribute 't' is relational, a table in each row, which is not read here"),
        ("nominal", "a,1", "line 2: 'nominal' is no type of an attribute; use one of numeric, real"),
        ("string\n@end t", "a,1", "line 3: expected @attribute or @data, got '@end t'"),
        ("string", "{1 1, 0 a}", "line 5: the attribute numbers of a sparse row must rise, got 0 after 1"),
        ("string", "{1 1, 1 2}", "line 5: the attribute numbers of a sparse row must rise, got 1 after 1"),
        ("string", "a % c,1", "line 5: cannot read 'a % c'; quote values that hold quotes or %"),
        ("string", 'a"b,1', "cannot read 'a\"b'; quote values that hold quotes or %"),
        ("string\n@attribute t string", "a,1,1", "has several columns named 't'"),
    ],
)
def test_what_weka_does_not_read_is_refused(tmp_path, attribute, row, said):
    (tmp_path / "w.arff").write_text(f"@relation r\n@attribute t {attribute}\n@attribute n numeric\n@data\n{row}\n")
    with pytest.raises(cp.InputError) as caught:
        everything(tmp_path / "w.arff")
    assert said in str(caught.value)


def test_numbers_in_parquet(tmp_path):
    frame = pl.DataFrame({"a": [1.0, None, float("nan"), 2.5], "b": [1, None, 3, 4], "c": [True, False, None, True]})
    frame.write_parquet(tmp_path / "n.parquet")
    columns = everything(tmp_path / "n.parquet").texts()
    assert columns == {"a": ["1", None, None, "2.5"], "b": ["1", None, "3", "4"], "c": ["true", "false", None, "true"]}


def test_blank_lines_and_other_suffixes(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n\n3,4\n")
    assert everything(tmp_path / "a.csv").texts() == {"a": ["1", "3"], "b": ["2", "4"]}
    (tmp_path / "a.csv.gzip").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert len(everything(tmp_path / "a.csv.gzip")) == 1
    (tmp_path / "tabs.csv").write_text("a\tb\n1\t2\n")
    assert everything(tmp_path / "tabs.csv").texts() == {"a": ["1"], "b": ["2"]}


def test_cells_of_exported_csv_come_back(tmp_path):
    cells = ["a\rb", "a\nb", "a\r\nb", "x,y", 'q"q', "+", "-", "é"]
    (tmp_path / "out.csv").write_bytes(cp.frames.to_csv({"x": cells, "n": list(range(8))}).encode())
    assert read_table(str(tmp_path / "out.csv"), lambda names: names)["x"].tolist() == cells


def test_formulas_in_exported_csv_are_harmless():
    text = cp.frames.to_csv({"=a": ["=1+1", "-1", "+x", "@y", "ok", "-x"], "n": [1, 2, 3, 4, 5, 6]})
    assert text.splitlines() == ["'=a,n", "'=1+1,1", "-1,2", "'+x,3", "'@y,4", "ok,5", "'-x,6"]


@pytest.mark.parametrize("hidden", ["\ufeff", "\ufeff\ufeff", "\u200b", " \u2060", "\x1b", "\x00", "\u3164", "\u2800"])
def test_formulas_behind_what_nobody_sees(hidden):
    text = cp.frames.to_csv({hidden + "=1+cmd|' /C calc'!A0": [hidden + "@x", hidden + "-1"]})
    assert text == f"'{hidden}=1+cmd|' /C calc'!A0\n'{hidden}@x\n'{hidden}-1\n"


def test_formulas_behind_another_list_separator():
    """A spreadsheet that separates by ; takes quotes for quotes at the beginning of its own cells only."""
    text = cp.frames.to_csv({"n": [1, 2], "x": ["yes;=1+1", "a\t=1+1"]})
    assert text == 'n,x\n1,"yes;\'=1+1"\n2,"a\t\'=1+1"\n'
    assert cp.frames.to_csv({"x": ["a;b", "-1", "a\tb"]}) == 'x\n"a;b"\n-1\n"a\tb"\n'


def test_arff_of_weka(weka):
    table = everything(weka / "labor.arff")
    assert len(table) == 57
    assert sorted(set(table["class"].tolist())) == ["bad", "good"]
    assert table["working-hours"].tolist().count(None) == 6


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"  \n ", "is empty"),
        ("a.csv", b"a,a\n1,2\n", "several columns named 'a'"),
        ("a.csv", b"a,b\n1,2\n1\n", "has 1 field in record 3, but 2 columns"),
        ("a.csv", b'a,b\n"1,2\n', "cannot be read as a table"),
        ("a.csv", b"a,b\n\xff\xfe,2\n", "is not UTF-8 text"),
        ("a.csv", b"a\0,b\n1,2\n", "holds binary data"),
        ("a.csv", b"PAR1xxxx", "is named as CSV but holds Parquet"),
        ("a.csv", b"PK\x03\x04xxxx", "holds a zip archive"),
        ("a.csv", b"@relation x\n@data\n", "is named as CSV but holds ARFF"),
        ("a.parquet", b"a,b\n1,2\n", "is named as Parquet but holds CSV"),
        ("a.parquet", b"PAR1xxxxxxxxPAR1", "cannot be read as Parquet"),
        ("a.csv.gz", b"a,b\n1,2\n", "is named as gzip but is not"),
        ("a.csv.gz", gzip.compress(b"a,b\n" + os.urandom(50_000).hex().encode())[:-40], "cannot be"),
        ("a.arff", b"@relation x\n@attribute a numeric\n", "has no @data line"),
        ("a.arff", b"@relation x\n@attribute a numeric\n@data\n1,2\n", "2 values for 1 attributes"),
        ("a.arff", b"@relation x\n@attribute a numeric\n@data\n'1\n", "check the quotes"),
        ("a.arff", b"@relation x\n@attribute a numeric\n@data\n{4 1}\n", "there is no attribute number '4'"),
        ("a.arff", b"@relation x\n@attribute a numeric\n@data\n1,{1.2.3}\n", "'1.2.3' is no weight"),
    ],
)  # fmt: skip
def test_broken_files(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cp.InputError, match=said):
        everything(tmp_path / name)


def test_no_such_file(tmp_path):
    (tmp_path / "results.csv").write_text("a\n1\n")
    with pytest.raises(cp.InputError, match=r"there is no file .*; did you mean 'results.csv'\?"):
        everything(tmp_path / "result.csv")
    with pytest.raises(cp.InputError, match="is a folder"):
        everything(tmp_path)


def test_writing_keeps_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "f.txt"
    write_whole(path, "old")
    path.chmod(0o640)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "newer")
    assert path.read_text() == "new"
    assert [one.name for one in tmp_path.iterdir()] == ["f.txt"]


def test_pieces_hold_what_the_whole_file_holds(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("compromis.frames.content.BLOCK", 1000)
    monkeypatch.setattr("compromis.frames.delimited.BLOCK", 1000)
    monkeypatch.setattr("compromis.frames.arff.CELLS", 1000)
    values = [None if rng.random() < 0.1 else f"v{rng.integers(5)}" for _ in range(2345)]
    numbers = rng.random(2345).round(3)
    frame = pl.DataFrame({"a,\n": values, 'b"': numbers, "c": ["NA"] * 2345})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.tsv").write_text("x\ty\n" + "1\t\n" * 2345)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    (tmp_path / "t.arff").write_text("@relation r\n@attribute c string\n@data\n" + "01\n" * 2345)
    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.arff"):
        whole = read_table(str(tmp_path / name), lambda names: names[:2])
        with open_table(str(tmp_path / name)) as file:
            pieces = [(table, file.share) for table in file.tables(file.names[:2])]
        assert len(pieces) > 1 or name == "t.parquet"
        for column in whole.columns:
            assert [value for table, _ in pieces for value in table[column].tolist()] == whole[column].tolist()
        assert [row for table, _ in pieces for row in table.rows] == list(range(1, 2346))
        shares = [share for _, share in pieces]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


def test_blank_lines_and_ragged_rows_in_any_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("compromis.frames.delimited.BLOCK", 7)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n\n" * 5 + "1,2,3\n")
    with pytest.raises(cp.InputError, match="3 fields in record 12, but 2 columns"):
        read_table(str(path), lambda names: names)


ARFF_HEAD = "@relation r\n@attribute t {a,b}\n@attribute p {a,b}\n@data\n"


def test_a_sparse_row_without_its_closing_brace_is_refused(tmp_path):
    (tmp_path / "s.arff").write_text(ARFF_HEAD + "{0 b, 1 b\n")
    with (
        FileScan(str(tmp_path / "s.arff")) as file,
        pytest.raises(InputError, match="line 5: the sparse row has no closing brace"),
    ):
        file.counts(truth="t", prediction="p")


def test_a_bare_value_keeps_all_space_but_blanks_and_tabs(tmp_path):
    head = "@relation r\n@attribute t string\n@attribute p string\n@data\n"
    (tmp_path / "s.arff").write_text(head + "a\u00a0,a\na , \ta\n", encoding="utf-8")
    with FileScan(str(tmp_path / "s.arff")) as file:
        counts, _ = file.counts(truth="t", prediction="p")
    assert counts.classes == ("a", "a\u00a0")
    assert counts.matrix.tolist() == [[1, 0], [1, 0]]


def test_a_sparse_row_takes_time_in_proportion(tmp_path):
    """Release 0.1.0 copied the rest of the line for each value: 6 s for these."""
    names = [*(f"a{k}" for k in range(60_000)), "t", "p"]
    row = ",".join(f"{k} x" for k in range(len(names)))
    head = "@relation r\n" + "".join(f"@attribute {name} string\n" for name in names) + "@data\n"
    (tmp_path / "s.arff").write_text(f"{head}{{{row}}}\n")
    begin = time.process_time()
    with FileScan(str(tmp_path / "s.arff")) as file:
        assert file.counts(truth="t", prediction="p")[0].rows == 1
    assert time.process_time() - begin < 3


def test_short_rows_take_no_more_memory_than_they_are_long(tmp_path):
    """Release 0.1.0 took 26 times as much."""
    rows = b"ab,cd\nab,ab\n" * 500_000
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(b"t,p\n" + rows))
    tracemalloc.start()
    with FileScan(str(tmp_path / "r.csv.gz")) as file:
        assert file.counts(truth="t", prediction="p")[0].rows == 1_000_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(rows)


@pytest.mark.parametrize(
    ("place", "long"), [("name", "a" * 200_000), ("value", "a" * 200_000), ("value", r"\a" * 100_000)]
)
def test_a_long_quoted_text_takes_little_memory(tmp_path, monkeypatch, place, long):
    monkeypatch.setenv("COMPROMIS_MAX_LABEL", "1000000")
    name, value = (long, "x") if place == "name" else ("n", long)
    head = f"@relation r\n@attribute '{name}' string\n@attribute t string\n@attribute p string\n@data\n"
    (tmp_path / "q.arff").write_text(f"{head}'{value}',a,a\n")
    tracemalloc.start()
    with FileScan(str(tmp_path / "q.arff")) as file:
        file.counts(truth="t", prediction="p")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * len(long)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize(
    "kind", [Decimal("12345678901234567890.1"), datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1)]
)
def test_engines_refuse_labels_that_each_writes_in_its_own_way(tmp_path, engine, kind):
    pl.DataFrame({"t": [kind, kind], "p": [kind, kind]}).write_parquet(tmp_path / "x.parquet")
    opened = cp.frames.open_scan(str(tmp_path / "x.parquet"), engine=engine)
    with pytest.raises(InputError, match=r"column 't' holds .* convert it to text, or leave the engine out"):
        opened.counts(truth="t", prediction="p")
