"""The performance page is what the benchmarks measured, and a target is met or missed by arithmetic."""

from __future__ import annotations

import csv
import math
import subprocess
import sys

import pytest

from benchmarks import bench_engines, machine
from benchmarks.lines import FIELDS, RESULTS, Line, Lines, above, at_least, at_most, below, shown, waiting
from benchmarks.page import BLOCKS as BENCHMARKS
from benchmarks.page import HERE, NAMES, PAGES, capacity, table
from reproductions.blocks import BLOCK, filled


def rows_of(file):
    with file.open(newline="", encoding="utf-8") as sheet:
        return list(csv.DictReader(sheet))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_made_from_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text, BENCHMARKS) == text, "run python -m benchmarks.page"


def test_every_benchmark_has_its_place_on_the_pages():
    blocks = [name for page in PAGES for _, name, _ in BLOCK.findall(page.read_text(encoding="utf-8"))]
    assert sorted(blocks) == list(NAMES)


def test_every_script_reports_where_the_page_reads():
    for name in NAMES:
        text = (HERE / f"bench_{name}.py").read_text(encoding="utf-8")
        assert f'Lines("{name}")' in text or f'"{name}.csv"' in text


def test_every_row_says_where_and_when():
    for name in NAMES:
        rows = rows_of(RESULTS / f"{name}.csv")
        assert rows
        assert all(row[field] for row in rows for field in ("date", "cores", "processor", "python", "packages"))


@pytest.mark.parametrize(
    ("target", "reached", "verdict"),
    [
        (at_most(2), 2.0, "met"),
        (at_most(2), 2.0000001, "missed"),
        (below(2), 1.9999999, "met"),
        (below(2), 2.0, "missed"),
        (at_least(3), 3.0, "met"),
        (at_least(3), 2.9999999, "missed"),
        (above(1), 1.0000001, "met"),
        (above(1), 1.0, "missed"),
        (at_most(5), -4.2, "met"),
        (at_most(5), math.nan, "missed"),
        (at_least(5), math.nan, "missed"),
        (None, 7.0, ""),
    ],
)
def test_verdict(target, reached, verdict):
    assert Line("x", reached, target).verdict == verdict


@pytest.mark.parametrize(
    ("number", "target", "text"),
    [
        (213.4, None, "213"),
        (0.08512, None, "0.0851"),
        (-4.23, None, "-4.23"),
        (0.0, None, "0.00"),
        (2712.6, None, "2,713"),
        (2.0000001, at_most(2), "2.0000001"),
        (1000.04, at_most(1000), "1,000.04"),
        (1.9996, below(2), "1.9996"),
        (1.9996, at_most(2), "2.00"),
        (math.nan, at_most(2), "nan"),
    ],
)
def test_a_number_is_never_shown_on_the_wrong_side_of_its_target(number, target, text):
    assert shown(number, target) == text


def test_waiting_excuses_only_what_the_processor_did_in_time():
    assert "waiting for a core" in waiting(15.0, at_most(15))
    assert waiting(15.1, at_most(15)) == ""


def test_a_missed_target_is_bold_with_its_reason_and_a_met_one_plain(tmp_path):
    with Lines("x", tmp_path) as lines:
        lines.add("slow", 2.34, at_most(1.5), "2.34 s, bare 1.00 s", missed_because="it checks votes")
        lines.add("fast", 11.6, at_least(5), unit="times faster", missed_because="not to be seen")
        lines.add("bare", 706.0, unit="MB")
    text = table("x", tmp_path)
    assert "| slow | 2.34 | at most 1.5 | **missed**: it checks votes | 2.34 s, bare 1.00 s |\n" in text
    assert "| fast | 11.6 times faster | at least 5 times | met |  |\n" in text
    assert "| bare | 706 MB |  |  |  |\n" in text
    assert f"Measured {rows_of(tmp_path / 'x.csv')[0]['date']} UTC on " in text


def test_what_cannot_be_measured_keeps_its_rows_with_their_date(tmp_path, capsys):
    file = tmp_path / "x.csv"
    with Lines("x", tmp_path) as lines:
        lines.add("letter: fit", 3.2, at_least(3))
        lines.add("others", 1.0)
    earlier = file.read_text(encoding="utf-8").replace(rows_of(file)[0]["date"], "2001-02-03 04:05")
    file.write_text(earlier, encoding="utf-8")
    with Lines("x", tmp_path) as lines:
        lines.leave_out("letter", "there is no data")
        lines.add("others", 2.0)
    assert "letter: left out, there is no data" in capsys.readouterr().out
    kept, new = rows_of(file)
    assert (kept["what"], kept["reached"], kept["date"]) == ("letter: fit", "3.2", "2001-02-03 04:05")
    assert new["reached"] == "2.0"
    assert new["date"] > "2026"
    text = table("x", tmp_path)
    assert "| letter: fit (2001-02-03 04:05) | 3.20 |" in text
    assert "| others | 2.00 |" in text
    assert "Lines with a date: Measured 2001-02-03 04:05 UTC on " in text


def test_a_benchmark_that_fails_leaves_the_file_as_it_was(tmp_path):
    with Lines("x", tmp_path) as lines:
        lines.add("a", 1.0)
    before = (tmp_path / "x.csv").read_text(encoding="utf-8")

    def failing():
        with Lines("x", tmp_path) as lines:
            lines.add("a", 2.0)
            lines.add("b", 1 / 0)

    with pytest.raises(ZeroDivisionError):
        failing()
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == before


def test_a_line_survives_its_file():
    line = Line("a, b", 1 / 3, at_most(0.1), "x | y", "ms", "because")
    assert Line.from_row(line.to_row()) == line
    assert set(line.to_row()) | set(machine.FIELDS) == set(FIELDS)


def measured(millions, engine, seconds):
    numbers = dict.fromkeys(("bare", "bare_patterns", "patterns", "evaluate_megabytes", "patterns_megabytes"), "2.0")
    rest = {"evaluate": seconds, "search": "0.018", "pattern_count": "5047"}
    return {"millions": millions, "engine": engine, "turns": "3", **numbers, **rest}


def test_engines_keep_the_sizes_that_are_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_engines, "RESULTS", tmp_path)
    now = machine.surroundings()
    first = [measured("100", "polars", "4.0"), measured("50", "spark", "5.0"), measured("10", "duckdb", "0.5")]
    for row in first:
        bench_engines.save(row, now | {"date": "2001-02-03 04:05"})
    bench_engines.save(measured("10", "duckdb", "0.25"), now)
    rows = rows_of(tmp_path / "engines.csv")
    assert [(row["millions"], row["engine"], row["evaluate"]) for row in rows] == [
        ("10", "duckdb", "0.25"),
        ("50", "spark", "5.0"),
        ("100", "polars", "4.0"),
    ]
    text = capacity(tmp_path)
    assert (
        "| 10 M | duckdb | 0.25 s | 2.00 s | 0.12 | 40.0 | 2 MB | 2.00 s | 2.00 s | 1.00 | 2 MB | 18 ms (5,047 patterns) |"
        in text
    )
    assert "| 100 M (2001-02-03 04:05) | polars | 4.00 s | 2.00 s | 2.00 | 25.0 |" in text


def test_an_unknown_benchmark_is_refused_with_the_names():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "wieghts"], cwd=HERE.parent, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.strip() == f"there is no benchmark 'wieghts'; choose among {', '.join(NAMES)}"
