"""Options of the form LABEL=NUMBER, and the file of a cost matrix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import click

if TYPE_CHECKING:
    from compromis.frames.scanning import Scan
    from compromis.preferences import Preferences


def read_pairs(given: tuple[str, ...], option: str) -> dict[str, float] | None:
    """Return numbers by label, None where the option is not given; a label may hold '=' itself."""
    pairs: dict[str, float] = {}
    for one in given:
        label, mark, number = one.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            mark = ""
        if not mark:
            raise click.BadParameter(f"write LABEL=SHARE, for example bad=0.05, got {one!r}", param_hint=option)
        if label in pairs:
            raise click.BadParameter(f"the class {label!r} is given twice", param_hint=option)
        pairs[label] = value
    return pairs or None


def read_cost_file(path: str) -> tuple[list[str], list[list[float]]]:
    """Return the classes and the costs of a table: its first column names the true classes, its header the predicted ones."""
    from compromis._text import shown
    from compromis.errors import InputError
    from compromis.frames import tables as columns
    from compromis.frames.reading import read_table

    table = read_table(path, lambda names: names)
    first, *predicted = table.columns
    true = [str(label) for label in table.columns[first]]
    if sorted(true) != sorted(predicted):
        raise InputError(
            f"{path} must name the same classes down its first column, {shown(true)}, and along its header, {shown(predicted)}"
        )
    costs = [columns.numbers(table, label).tolist() for label in true]
    return true, [list(row) for row in zip(*costs, strict=True)]


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

    from compromis.frames.reading import format_name

    return any(find_spec(name) for name in ("polars", "duckdb")) and format_name(str(path)) != "ARFF"


@contextmanager
def opened(
    file: str, engine: str | None, cluster: str | None, numbers: Callable[[list[str]], list[str]]
) -> Iterator[Scan]:
    """Open files in an engine, show its progress where it tells it, and refuse what was read from files that changed meanwhile.

    `numbers` picks, among the columns' names, those that hold numbers.
    """
    from compromis.frames.query import lazy_frame
    from compromis.frames.scanning import open_scan

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
    from compromis.frames.parquet import text_of

    return text_of(value)


def score_columns(scores: tuple[str, ...], names: list[str], taken: list[str | None]) -> dict[str, str]:
    """Return which column scores which class, as for small files."""
    from compromis.frames.reading import score_columns as pick

    return pick(scores, [name for name in names if name not in taken])


def preference_options(command: Command) -> Command:
    """Add --preferences, --prioritise and --metric to a command."""
    options = (
        click.option(
            "--preferences", "preferences_file", metavar="FILE.toml", help="What matters; see 'compromis preferences'."
        ),
        click.option(
            "--prioritise",
            multiple=True,
            metavar="LABEL",
            help="Classes that matter most: importance 10, answers 0.1 and 0.9.",
        ),
        click.option("--metric", default=None, metavar="NAME", help="kulczynski, f, fowlkes_mallows or jaccard."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@overload
def read_preferences(
    preferences_file: str | None, prioritise: tuple[str, ...], metric: str | None, *, required: Literal[True]
) -> Preferences: ...


@overload
def read_preferences(
    preferences_file: str | None, prioritise: tuple[str, ...], metric: str | None, *, required: Literal[False] = ...
) -> Preferences | None: ...


def read_preferences(
    preferences_file: str | None, prioritise: tuple[str, ...], metric: str | None, *, required: bool = False
) -> Preferences | None:
    """Return the preferences that the options ask for; None if they ask for none."""
    from compromis.preferences import Preferences

    if preferences_file and prioritise:
        raise click.UsageError("give --preferences or --prioritise, not both")
    if not (preferences_file or prioritise or metric):
        if required:
            raise click.UsageError("say what matters: give --preferences FILE.toml or --prioritise LABEL")
        return None
    preferences = Preferences.from_toml(preferences_file) if preferences_file else Preferences.prioritise(prioritise)
    return preferences if metric is None else preferences.with_metric(metric)
