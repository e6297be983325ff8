"""The options that say which engine reads a file, the same in every command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from compromis.engines.scanning import Scan

Command = TypeVar("Command", bound=Callable[..., Any])

LARGE = 64 * 2**20
"""Files of more bytes are read by an engine, if one is installed; folders and patterns always are."""


def engine_options(command: Command) -> Command:
    """Add --engine and --cluster to a command."""
    options = (
        click.option(
            "--engine",
            metavar="NAME",
            help="polars, duckdb, dask or spark: read FILE (also a folder or 'data/*.parquet') in an engine, whatever its size; "
            "files over 64 MB are anyway.",
        ),
        click.option(
            "--cluster", metavar="ADDRESS", help="The address of a Dask or Spark cluster, such as tcp://host:8786."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def wants_engine(file: str, engine: str | None, cluster: str | None) -> bool:
    """Return whether an engine reads the file: it was asked for, or the file is large and an engine is installed."""
    if cluster is not None and engine is None:
        raise click.UsageError("--cluster needs --engine dask or --engine spark")
    if engine is not None:
        return True
    path = Path(file)
    several = path.is_dir() or (not path.exists() and any(letter in file for letter in "*?["))
    return several or (path.is_file() and path.stat().st_size > LARGE and _readable(path))


def _readable(path: Path) -> bool:
    from importlib.util import find_spec

    from compromis.engines.reading import format_name

    return any(find_spec(name) for name in ("polars", "duckdb")) and format_name(str(path)) != "ARFF"


@contextmanager
def opened(
    file: str, engine: str | None, cluster: str | None, numbers: Callable[[list[str]], list[str]]
) -> Iterator[Scan]:
    """Open files in an engine, show its progress where it tells it, and refuse what was read from files that changed meanwhile.

    `numbers` picks, among the columns' names, those that hold numbers.
    """
    from compromis.engines.scanning import open_scan
    from compromis.queries.frame import lazy_frame

    plain = open_scan(file, engine=engine, cluster=cluster)
    names = numbers(lazy_frame(plain.frame).collect_schema().names())
    scan = open_scan(file, engine=engine, numbers=names) if names else plain
    with _progress(scan):
        yield scan
    plain.files.check_unchanged()


@contextmanager
def _progress(scan: Scan) -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
    elif scan.engine == "dask":
        from dask.diagnostics import ProgressBar

        with ProgressBar(out=sys.stderr):
            yield
    else:
        with _clock(f"reading {scan.files.size / 1e6:,.0f} MB with {scan.engine}"):
            yield


@contextmanager
def _clock(what: str) -> Iterator[None]:
    """Polars and DuckDB tell nothing while a query runs, so the time alone is shown; Spark draws its own bar."""
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def label_texts(value: Any) -> str:
    """Write a label of Parquet as the reader of small files would."""
    from compromis.engines.parquet import text_of

    return text_of(value)


def score_columns(scores: tuple[str, ...], names: list[str], taken: list[str | None]) -> dict[str, str]:
    """Return which column scores which class, as for small files."""
    from compromis.engines.reading import score_columns as pick

    return pick(scores, [name for name in names if name not in taken])
