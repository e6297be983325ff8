"""The tables of docs/performance.md and docs/capacity.md, made from benchmarks/results. Run: python -m benchmarks.page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import machine
from benchmarks.lines import RESULTS, Line
from reproductions.blocks import filled
from reproductions.sheets import markdown, read

HERE = Path(__file__).parent
PAGES = tuple(HERE.parent / "docs" / name for name in ("performance.md", "capacity.md"))
NAMES = tuple(sorted(script.stem.removeprefix("bench_") for script in HERE.glob("bench_*.py")))
Rows = list[dict[str, str]]


def where(rows: Rows) -> str:
    """When and where it was measured, the latest first: rows that could not be measured again have an earlier date."""
    sentences = {row["date"]: machine.described(row) for row in rows}
    latest, *earlier = sorted(sentences, reverse=True)
    marked = [f"\nLines with a date: {sentences[date]}\n" for date in earlier]
    return "".join([f"{sentences[latest]}\n", *marked])


def of_date(row: dict[str, str], rows: Rows) -> str:
    """The date of a row that is older than others."""
    return "" if row["date"] == max(other["date"] for other in rows) else f" ({row['date']})"


def lines_of(name: str, folder: Path = RESULTS) -> list[Line]:
    """The lines of one benchmark; the engines have columns of their own, and no targets."""
    return [Line.from_row(row) for row in read(folder / f"{name}.csv")] if name != "engines" else []


def table(name: str, folder: Path = RESULTS) -> str:
    """One benchmark: result, target, met or missed, and the figures behind the result."""
    rows = read(folder / f"{name}.csv")
    cells = []
    for row, line in zip(rows, lines_of(name, folder), strict=True):
        verdict = line.verdict.replace("missed", "**missed**")
        if line.verdict == "missed" and line.missed_because:
            verdict += f": {line.missed_because}"
        cells.append((line.what + of_date(row, rows), line.result, line.wanted, verdict, line.beside))
    header = ("what", "result", "target", "verdict", "figures")
    return f"{where(rows)}\n{markdown(header, cells)}"


def capacity(folder: Path = RESULTS) -> str:
    """What the engines do in a second and in how much memory."""
    rows = read(folder / "engines.csv")
    cells = []
    for row in rows:
        number = {field: float(row[field]) for field in row if field not in ("engine", *machine.FIELDS)}
        cells.append(
            (
                f"{number['millions']:.0f} M{of_date(row, rows)}",
                row["engine"],
                *_pair(number["evaluate"], number["bare"]),
                f"{number['millions'] / number['evaluate']:.1f}",
                f"{number['evaluate_megabytes']:.0f} MB",
                *_pair(number["patterns"], number["bare_patterns"]),
                f"{number['patterns_megabytes']:.0f} MB",
                f"{1000 * number['search']:.0f} ms ({number['pattern_count']:,.0f} patterns)",
            )
        )
    header = "rows,engine,evaluate,bare group-by,ratio,million rows a second,memory"
    votes = "vote patterns,bare group-by,ratio,memory,search"
    return f"{where(rows)}\n{markdown([*header.split(','), *votes.split(',')], cells)}"


def _pair(ours: float, bare: float) -> tuple[str, str, str]:
    return f"{ours:.2f} s", f"{bare:.2f} s", f"{ours / bare:.2f}"


BLOCKS: dict[str, Callable[[], str]] = {name: partial(table, name) for name in NAMES} | {"engines": capacity}


def main() -> None:
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), BLOCKS), encoding="utf-8")


if __name__ == "__main__":
    main()
