"""Result files of the reproductions: CSV with plain line ends, numbers written the same way in every run."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], digits: int = 4) -> None:
    """Write a table; floats get `digits` digits, NaN an empty field."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as sheet:
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_shown(value, digits) for value in row] for row in rows)


def read(file: Path) -> list[dict[str, str]]:
    """Read a table as one dictionary per row, everything as text."""
    with file.open(newline="", encoding="utf-8") as sheet:
        return list(csv.DictReader(sheet))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    assert {len(line) for line in lines} == {len(header)}, f"rows and header differ in length: {header}"
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _shown(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{digits}f}"
    return value
