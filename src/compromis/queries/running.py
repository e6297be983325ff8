"""Running a query: the one place where an engine is asked for rows, and where its errors become sentences."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from compromis.errors import CompromisError, EngineError, MissingExtra


class Rows:
    """The few rows that come back: columns as Python values or as numbers."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def values(self, name: str) -> list[Any]:
        """Return a column as Python values; None where there is none."""
        column = self._columns[name]
        values = column.to_list() if isinstance(column, nw.Series) else column.tolist()
        return [None if _is_missing(value) else value for value in values]

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return a column of whole numbers; some engines count in 32 bits, or in decimals."""
        return np.array([int(value) for value in self.values(name)], dtype=np.int64)

    def floats(self, name: str) -> NDArray[np.float64]:
        """Return a column as floats, NaN where there is none; -0 as 0, which some engines keep apart."""
        column = self._columns[name]
        if isinstance(column, nw.Series):
            column = column.cast(nw.Float64).to_numpy()
        plain = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
        return np.asarray(plain, dtype=np.float64) + 0.0


def run(query: nw.LazyFrame[Any]) -> Rows:
    """Run a query in its engine and return its few rows."""
    names = query.collect_schema().names()
    try:
        if query.implementation.is_duckdb():  # straight to numpy: no third package is needed
            relation: Any = query.to_native()
            return Rows(relation.fetchnumpy())
        # streaming keeps what polars holds at a time small, whatever the size of the files
        table = query.collect(engine="streaming") if query.implementation.is_polars() else query.collect()
        return Rows({name: table[name] for name in names})
    except (CompromisError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{engine_name(query)} needs {error.name} here; install it with: pip install {error.name}"
        ) from error
    except BaseException as error:  # every engine has its own tree of errors
        if not is_failure(error):
            raise
        raise EngineError(f"{engine_name(query)} could not run the query: {first_line(error)}") from error


def is_failure(error: BaseException) -> bool:
    """Whether an engine failed; a panic of polars is no Exception, and Ctrl-C is none either."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def engine_name(query: nw.LazyFrame[Any]) -> str:
    """Return what people call the engine of a frame."""
    return query.implementation.value.partition("[")[0]


def first_line(error: BaseException, most: int = 300) -> str:
    """Return what an engine's error says, without its advice and stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    end = next((place for place, line in enumerate(lines) if line.startswith(_ASIDE)), len(lines))
    said = "; ".join(lines[:end][:3]) or type(error).__name__
    return said if len(said) <= most else said[: most - 3] + "..."


_ASIDE = ("Possible", "LINE ", "JVM stacktrace", "at org.", "Resolved plan", "This error occurred", "Driver stacktrace")


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value
