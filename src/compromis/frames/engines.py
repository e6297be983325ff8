"""Engines that read files: choose polars, DuckDB, Dask or Spark, connect to clusters, and open files in them."""

from __future__ import annotations

import asyncio
import os
import socket
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import narwhals as nw

from compromis._text import unknown_name
from compromis.errors import InputError, MissingExtra
from compromis.frames.query import first_line, lazy_frame
from compromis.frames.reading import OpenTable

if TYPE_CHECKING:
    from compromis.frames.scanning import Files

ENGINES = ("polars", "duckdb", "dask", "spark")
TIMEOUT = 10.0
"""Seconds in which a cluster must answer."""
_PORTS = {"sc": 15002, "spark": 7077, "tcp": 8786, "tls": 8786}


def connect_dask(address: str) -> Any:
    """Make the Dask cluster at `address` the one that Dask frames run on."""
    check_answers(address)
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("a Dask cluster needs distributed; install it with: pip install distributed") from error
    _check_scheduler(address)
    return Client(address, timeout=TIMEOUT)


def _check_scheduler(address: str) -> None:
    """Refuse an address at which something listens that is no Dask scheduler: a client would wait for its greeting for ever."""
    from distributed.core import rpc

    async def ask() -> None:
        async with asyncio.timeout(TIMEOUT), rpc(address) as scheduler:
            await scheduler.identity()

    # in a thread of its own: a notebook's has a loop running already
    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(asyncio.run, ask()).result()
        except (OSError, ValueError, TimeoutError, AttributeError) as error:
            raise InputError(
                f"what listens at {address} does not answer as a Dask scheduler within {TIMEOUT:g} seconds ({first_line(error)})"
            ) from error


def connect_spark(address: str) -> Any:
    """Make the Spark cluster at `address` (sc://host:port for Spark Connect, or a master's spark://host:port) the one used."""
    if not address.startswith("local"):
        check_answers(address)
    return spark_session(address)


def spark_session(address: str | None = None) -> Any:
    """Return the running Spark session, or start one: on this machine, or on the cluster at `address`."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark warns of every newer pandas
        running = SparkSession.getActiveSession()
        if running is not None and address is None:
            return running
        builder: Any = SparkSession.builder
        if address is not None and address.startswith("sc://"):
            return builder.remote(address).getOrCreate()
        settings = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}
        builder = builder.master(address or "local[*]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def check_answers(address: str) -> None:
    """Refuse an address at which nothing listens within the time allowed."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise InputError(f"{address!r} is no address of a cluster; write it like tcp://host:8786 or spark://host:7077")
    try:
        socket.create_connection((host, port), timeout=TIMEOUT).close()
    except OSError as error:
        raise InputError(
            f"no cluster answers at {address} within {TIMEOUT:g} seconds ({first_line(error)}); check the address, and that it runs"
        ) from error


CONNECT: dict[str, Callable[[str], Any]] = {"dask": connect_dask, "spark": connect_spark}


def choose_engine(engine: str | None, format: str = "Parquet") -> str:
    """Return the engine asked for, or the first that is installed; text goes to DuckDB, which refuses ragged rows."""
    if engine is not None and engine not in ENGINES:
        raise InputError(unknown_name("engine", engine, ENGINES))
    order = ("polars", "duckdb") if format == "Parquet" else ("duckdb", "polars")
    chosen = engine or next((name for name in order if find_spec(name)), None)
    if chosen is None:
        raise MissingExtra(
            "folders, patterns and Parquet here need polars or DuckDB; install both with: pip install 'compromis[big]'"
        )
    if not find_spec(_PACKAGE.get(chosen, chosen)):
        raise MissingExtra(f"the engine {chosen} is not installed; install it with: {_INSTALL[chosen]}")
    return chosen


_PACKAGE = {"spark": "pyspark"}
_INSTALL = {
    "polars": "pip install 'compromis[big]'",
    "duckdb": "pip install 'compromis[big]'",
    "dask": "pip install 'dask[dataframe]' distributed",
    "spark": "pip install pyspark pyarrow",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How text files are laid out, all of them alike: engines get names, delimiter and compression from here and guess nothing."""

    names: list[str]
    delimiter: str
    packed: bool


def read_layout(files: Files, engine: str) -> Layout | None:
    """Return the layout of text files, read to their end: every engine takes what passes here as the same cells.

    Parquet has none; types that engines read in different ways are refused.
    """
    if files.format == "Parquet":
        for path in files.paths:
            _refuse_wide_decimals(path)
        return None
    layouts = [_checked_layout(path, engine) for path in files.paths]
    for path, layout in zip(files.paths, layouts, strict=True):
        if layout.names != layouts[0].names:
            raise InputError(f"{path} has other columns than {files.paths[0]}; scan files of the same columns together")
        if layout != layouts[0]:
            raise InputError(
                f"{path} is written in another way than {files.paths[0]}: other delimiters, or compressed; scan them one by one"
            )
    return layouts[0]


def _refuse_wide_decimals(path: str) -> None:
    """Refuse what polars does not know, and others read as floats."""
    with OpenTable(path) as file:
        for field in file.reader.empty().schema:
            if str(field.type).startswith("decimal256"):
                raise InputError(
                    f"column {field.name!r} of {path} holds decimals of more than 38 digits, which engines round; convert it to text"
                )


def _checked_layout(path: str, engine: str) -> Layout:
    with OpenTable(path, limited=False) as file:
        for _ in file.tables([]):
            pass
        odd = sorted(file.oddities)
        if engine == "spark" and file.content.packed and not path.lower().endswith(".gz"):
            odd.append("no suffix .gz")
        if odd:
            raise InputError(
                f"{path} has {' and '.join(odd)}, which {engine} may take in another way; leave the engine out, then compromis reads "
                f"it itself"
            )
        return Layout(file.names, file.reader.delimiter, file.content.packed)


def _open_polars(files: Files, layout: Layout | None) -> Any:
    import polars

    if layout is None:
        return _polars_parquet(files)
    # the header is skipped: polars would compare it with the schema, but leaves doubled quotes in names as they are
    frame = polars.scan_csv(
        list(files.paths), separator=layout.delimiter, glob=False, schema=dict.fromkeys(layout.names, polars.String),
        has_header=False, skip_rows=1,
    )  # fmt: skip
    blank = [polars.when(polars.col(name) != "").then(polars.col(name)).alias(name) for name in layout.names]
    return frame.select(blank)  # a quoted empty field is missing too


def _polars_parquet(files: Files) -> Any:
    """Return a lazy frame of polars whose rows pyarrow reads: a damaged page ends the process inside polars' own reader."""
    import polars
    from polars.io.plugins import register_io_source

    schemas = {path: _polars_schema(path) for path in files.paths}
    first = schemas[files.paths[0]]
    for schema in schemas.values():
        changed = [name for name in first if schema.get(name) != first[name]] + sorted(schema.keys() - first)
        if changed:
            raise InputError(f"the column {changed[0]!r} has different types in the files; convert it to one type")
    schema = {**first, **dict.fromkeys(files.partitions, polars.String)}

    def read(wanted: list[str] | None, predicate: Any, rows: int | None, _: int | None) -> Iterator[Any]:
        names = list(schema) if wanted is None else wanted
        for path in files.paths:
            keys = [polars.lit(value).alias(name) for name, value in _keys(path).items() if name in names]
            with OpenTable(path) as file:
                for batch in file.reader.batches([name for name in names if name in first] or list(first)[:1]):
                    columns = {name: _polars_series(batch.column(name)) for name in batch.schema.names}
                    frame = polars.DataFrame(columns).with_columns(keys).select(names)[:rows]
                    rows = None if rows is None else rows - len(frame)
                    yield frame if predicate is None else frame.filter(predicate)
                    if rows == 0:
                        return

    return register_io_source(read, schema=schema)


def _polars_schema(path: str) -> dict[str, Any]:
    with OpenTable(path) as file:
        empty = file.reader.empty()
        return {name: _polars_series(empty.column(name)).dtype for name in empty.schema.names}


def _polars_series(column: Any) -> Any:
    import polars

    if hasattr(column, "dictionary"):
        return polars.Series(polars.from_arrow(column.dictionary)).gather(polars.from_arrow(column.indices))
    return polars.from_arrow(column)


def _keys(path: str) -> dict[str, str]:
    """Return what folders named key=value say of a file."""
    return {key: value for key, _, value in (part.partition("=") for part in Path(path).parent.parts if "=" in part)}


def _open_duckdb(files: Files, layout: Layout | None) -> Any:
    connection = _duckdb_connection()
    paths = [_literal(path) for path in files.paths]
    if layout is None:
        _check_schemas(connection, paths)
        keys = "true" if files.partitions else "false"
        return connection.sql(
            f"select * from read_parquet($paths, hive_partitioning = {keys}, hive_types_autocast = false)",  # noqa: S608
            params={"paths": paths},
        )
    return connection.read_csv(
        paths,
        columns=dict.fromkeys(layout.names, "VARCHAR"),
        auto_detect=False,
        header=True,
        delimiter=layout.delimiter,
        compression="gzip" if layout.packed else "none",
        quotechar='"',
        escapechar='"',
        na_values="",
        strict_mode=True,
    )


def _duckdb_connection() -> Any:
    """Return a connection of its own, so that threads do not wait for each other, that stays open."""
    import duckdb

    unordered = {"preserve_insertion_order": "false"}
    if not duckdb.__version__.startswith("1."):
        return duckdb.connect(config=unordered)
    # relations of DuckDB 1 do not keep their connection; by its name all use one database, which makes them cheap to keep
    connection = duckdb.connect(f":memory:compromis {os.getpid()}", config=unordered)
    _KEPT.append(connection)
    return connection


_KEPT: deque[Any] = deque(maxlen=1000)


def _check_schemas(connection: Any, paths: list[str]) -> None:
    """Refuse Parquet files of different types: DuckDB would convert them to those of the first, 01 to 1 among them."""
    schema = connection.execute(
        "select name from (select distinct name, duckdb_type from parquet_schema($paths) where num_children is null) "
        "group by name having count(*) > 1",
        {"paths": paths},
    ).fetchall()
    if schema:
        raise InputError(f"the column {schema[0][0]!r} has different types in the files; convert it to one type")


def _open_dask(files: Files, layout: Layout | None) -> Any:
    import dask.dataframe as dd

    if layout is None:
        return dd.read_parquet([_literal(path) for path in files.paths])
    # one part per file: a part that begins inside a quoted field would be read wrongly
    return dd.read_csv(
        [_literal(path) for path in files.paths], sep=layout.delimiter, dtype=str, keep_default_na=False, na_values=[""],
        blocksize=None, encoding="utf-8-sig", compression="gzip" if layout.packed else None,
    )  # fmt: skip


def _open_spark(files: Files, layout: Layout | None) -> Any:
    session = spark_session()
    paths = [_spark_path(path) for path in files.paths]
    if layout is None:
        return session.read.parquet(*paths)
    options = {
        "header": True, "sep": layout.delimiter, "quote": '"', "escape": '"', "multiLine": True,
        "mode": "FAILFAST", "nullValue": "", "emptyValue": "", "encoding": "UTF-8", "enforceSchema": True,
    }  # fmt: skip
    schema = ", ".join(f"`{name.replace('`', '``')}` STRING" for name in layout.names)
    frame = session.read.schema(schema).options(**options).csv(paths)
    lazy = lazy_frame(frame)
    return lazy.with_columns(
        *(nw.when(nw.col(name) != "").then(nw.col(name)).otherwise(nw.lit(None)).alias(name) for name in layout.names)
    ).to_native()


OPENERS: dict[str, Callable[[Files, Layout | None], Any]] = {
    "polars": _open_polars,
    "duckdb": _open_duckdb,
    "dask": _open_dask,
    "spark": _open_spark,
}


def _literal(path: str) -> str:
    """Return a path that DuckDB and Dask do not take for a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _spark_path(path: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]{}\\" else letter for letter in path)
