"""Connections to Dask and Spark clusters, each within a time limit."""

from __future__ import annotations

import asyncio
import socket
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from compromis.errors import InputError, MissingExtra
from compromis.frames.query import first_line

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
