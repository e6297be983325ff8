"""What compromis raises and warns.

CompromisError
├── InputError (ValueError)        what was received, and what to do
├── EngineError (RuntimeError)     an engine (polars, DuckDB, Dask, Spark) could not run a query, and what it said
└── MissingExtra (ImportError)     which extra to install

UninformativeWarning (UserWarning) a result that a constant decision reaches as well
DeviceWarning (UserWarning)        data on a graphics card was copied to the host
OptimismWarning (UserWarning)      a loss that looks better than it is, and by how much
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CompromisError(Exception):
    """Every error that compromis raises on purpose."""


class InputError(CompromisError, ValueError):
    """Input that cannot be used; the message is one sentence that says what was received and what to do."""


class EngineError(CompromisError, RuntimeError):
    """An engine could not run a query; the message says which one, and what it said."""


class MissingExtra(CompromisError, ImportError):
    """An optional part of compromis is not installed; the message names the extra to install."""


class UninformativeWarning(UserWarning):
    """A result that is worth nothing, because a constant decision is as good."""


class OptimismWarning(UserWarning):
    """A loss measured on the rows on which something was chosen, so that it looks better than it is."""


class DeviceWarning(UserWarning):
    """Data on a graphics card was copied to the host's memory."""


def nearest(name: object, choices: Iterable[object]) -> str:
    """Return ``"; did you mean 'x'?"`` for the choice most like `name`, or an empty string."""
    close = difflib.get_close_matches(str(name), [str(choice) for choice in choices], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def shown(items: Iterable[object], limit: int = 8) -> str:
    """Return the first items as a readable list, and how many more there are."""
    texts = [repr(item) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
