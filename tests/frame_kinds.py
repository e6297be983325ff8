"""The same rows as a data frame of every engine, real Dask and real Spark included."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

LIGHT = ["polars", "polars_lazy", "pandas", "pandas_arrow", "pyarrow", "duckdb", "ibis", "dask"]
VARIANTS = ["dask_one", "distributed"]
"""Dask once more, with one partition and on processes of its own: its expressions are the same, so where they run is tested, not
every refusal again."""
SPARK = ["spark", "spark_connect"]


def kinds(names):
    """The kinds as parameters of a test; those of Spark run with make test-all."""
    return [pytest.param(name, marks=pytest.mark.spark if name in SPARK else ()) for name in names]


EVERY = kinds([*LIGHT, *VARIANTS, *SPARK])
ENGINES = kinds([*LIGHT, *SPARK])


def make(kind, columns, types=None):
    """Return columns (lists by name) as a frame; `types` are pyarrow's, where lists alone do not say."""
    types = types or {}
    table = pa.table({name: pa.array(values, type=types.get(name)) for name, values in columns.items()})
    return _MAKERS[kind](table)


@contextmanager
def running(kind):
    """What must run while a frame of this kind is used."""
    if kind != "distributed":
        yield
        return
    with _client().as_current():
        yield


def _pandas_arrow(table):
    import pandas

    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def _duckdb(table):
    import duckdb

    return duckdb.from_arrow(table)


def _ibis(table):
    import ibis

    return ibis.memtable(table)


def _dask(table):
    """Several partitions, an empty one among them, divisions unknown."""
    import dask.dataframe as dd

    third = max(len(table) // 3, 1)
    ends = [(0, third), (third, third), (third, 2 * third), (2 * third, len(table))]
    # copies: Dask names parts by their content, and takes slices of one pyarrow table for the same content
    parts = [_pandas_arrow(table.take(pa.array(range(low, min(high, len(table))), pa.int64()))) for low, high in ends]
    return dd.concat([dd.from_pandas(part, npartitions=1, sort=False) for part in parts]).clear_divisions()


def _dask_one(table):
    import dask.dataframe as dd

    return dd.from_pandas(_pandas_arrow(table), npartitions=1)


def _polars(table):
    import polars

    return polars.from_arrow(table)


@cache
def _client():
    """A scheduler and two worker processes, once for all tests."""
    from distributed import Client

    process, address = start_dask()
    client = Client(address, set_as_default=False, timeout=60)

    def close():
        client.close()
        process.stdin.close()  # which ends it
        process.wait(20)

    atexit.register(close)
    return client


def start_dask():
    """Start a cluster of two processes in a process of its own: pytest-xdist's workers cannot be started anew, as Dask would."""
    program = Path(__file__).with_name("dask_cluster.py")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)
    }
    process = subprocess.Popen(
        [sys.executable, str(program)],
        env=environment,  # workers import compromis too, and tests run in another folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return process, process.stdout.readline().strip()


@cache
def spark_sessions():
    """A classic session and, in the same virtual machine, a server for Spark Connect."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: make test-all installs it")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    classic = builder.getOrCreate()
    atexit.register(classic.stop)
    return classic, port


@cache
def _connect_session():
    for package in ("grpc", "grpc_status", "zstandard"):
        if find_spec(package) is None:
            pytest.skip(f"Spark Connect needs {package}: pip install 'pyspark[connect]'")
    _, port = spark_sessions()
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()


def _spark(table, session=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = session or spark_sessions()[0]
        if not len(table):  # Spark Connect has no types without rows
            return session.createDataFrame([], schema=", ".join(f"{name} string" for name in table.column_names))
        return session.createDataFrame(table).repartition(3)  # more than there are rows, sometimes: empty partitions


def _spark_connect(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _spark(table, _connect_session())


_MAKERS = {
    "polars": _polars,
    "polars_lazy": lambda table: _polars(table).lazy(),
    "pandas": lambda table: table.to_pandas(),
    "pandas_arrow": _pandas_arrow,
    "pyarrow": lambda table: table,
    "duckdb": _duckdb,
    "ibis": _ibis,
    "dask": _dask,
    "dask_one": _dask_one,
    "distributed": _dask,
    "spark": _spark,
    "spark_connect": _spark_connect,
}


QUIET = [
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:.*pandas >= 3:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*inplace keyword"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""Warnings of the engines themselves."""
