"""Frames of whatever library is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from compromis.errors import InputError, MissingExtra

BACKENDS = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """Return the columns as a frame of `backend`; without it pandas if it is installed, else polars, else pyarrow."""
    import narwhals as nw

    if backend is not None and backend not in BACKENDS:
        raise InputError(f"there is no backend {backend!r}; choose one of {', '.join(BACKENDS)}")
    chosen = backend or next((name for name in BACKENDS if find_spec(name)), None)
    if chosen is None:
        raise MissingExtra(
            "a data frame needs pandas, polars or pyarrow; install one, for example with: pip install pandas"
        )
    return nw.from_dict(dict(columns), backend=chosen).to_native()  # type: ignore[arg-type]
