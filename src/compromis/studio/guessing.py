"""Which columns probably hold the truth and the votes; a proposal that the user confirms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compromis.engines.table import Column, Table

TRUTH_NAMES = ("truth", "y_true", "true", "y", "class", "label", "target", "actual", "outcome", "diagnosis")
MOST_CLASSES = 1000
"""Columns with more different texts are no classes."""


def propose(table: Table) -> dict[str, Any]:
    """Return the columns of numbers, the probable truth, and the sets of columns that may hold votes for its classes."""
    numeric = [name for name, column in table.columns.items() if _is_scores(column)]
    truth = _truth(table, numeric)
    return {"numeric": numeric, "truth": truth, "sets": vote_sets(table.columns, numeric, truth)}


def _truth(table: Table, numeric: Sequence[str]) -> str:
    """The column for whose texts there are columns of scores; else one that is named so; else the first that is no number."""
    names = list(table.columns)
    named = sorted((name for name in names if name.lower() in TRUTH_NAMES), key=lambda n: TRUTH_NAMES.index(n.lower()))
    others = [name for name in names if name not in numeric]
    ordered = list(dict.fromkeys([*named, *others, *names]))
    return next((name for name in ordered if vote_sets(table.columns, numeric, name)), ordered[0])


def vote_sets(columns: Mapping[str, Column], numeric: Sequence[str], truth: str) -> list[dict[str, Any]]:
    """Return each prefix that stands before every class of `truth`, with its columns and the classes they are for."""
    classes = {value for value in columns[truth] if value is not None}
    scores = [name for name in numeric if name != truth]
    if not 1 <= len(classes) <= MOST_CLASSES:
        return []
    sample = max(classes, key=len)
    prefixes = {name[: len(name) - len(sample)] for name in scores if name.endswith(sample)}
    found = []
    for prefix in sorted(prefixes):
        votes = {name: name[len(prefix) :] for name in scores if name.startswith(prefix)}
        if prefix == "":
            votes = {name: name for name in scores if name in classes}
        if classes <= set(votes.values()) and len(votes) > 1:
            found.append({"prefix": prefix, "votes": votes})
    return found


def _is_scores(column: Column) -> bool:
    try:
        return all(value is not None and float(value) >= 0 for value in column)
    except ValueError:
        return False
