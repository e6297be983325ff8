"""Which columns probably hold the truth and the votes; a proposal that the user confirms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis._text import shown
from compromis.errors import InputError
from compromis.evidence.votes import Votes
from compromis.frames.reading import pick_column, read_pieces
from compromis.frames.tables import Column, Table, drop_missing, numbers
from compromis.studio.jobs import Report
from compromis.studio.storage import Source

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


class Columns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which columns hold the truth and the votes."""

    truth: str
    votes: dict[str, str]
    """The class that each column of votes is for."""
    rest: str | None = None
    """With one column of votes only: the class of what it leaves of 1."""
    drop_missing: bool = False


class Gathered(msgspec.Struct, frozen=True):
    """Evidence, and how many rows were left out because their class is missing."""

    patterns: Votes
    dropped: int


def gather_votes(source: Source, columns: Columns, report: Report) -> Gathered:
    """Return the vote patterns of a file of any size."""
    classes = _classes(columns)
    wanted = [columns.truth, *columns.votes]

    def patterns_of(table: Table) -> Votes:
        return _patterns(table, columns, classes)

    def pieces() -> Iterator[tuple[Table, float]]:
        return read_pieces(str(source.path), lambda names: [pick_column(name, names) for name in wanted])

    return _gather(pieces(), columns, patterns_of, report)


def gather_decisions(model_file: Source, data: Source, columns: Columns, report: Report) -> tuple[Gathered, Any]:
    """Return the vote patterns of a fitted model for the rows of a file, and the model."""
    from compromis.estimators.honest_votes import votes_of
    from compromis.estimators.model_file import encode, load_model

    report(0.0, f"opening {model_file.name}")
    model = load_model(model_file.path)
    classes = model.decision.classes
    labels = np.array(classes)
    wanted = [columns.truth, *(spec.name for spec in model.columns if spec.name != columns.truth)]

    def patterns_of(table: Table) -> Votes:
        votes = votes_of(model.classifier, encode(table, model.columns), labels, hard=model.hard)
        return Votes.from_proba(table.columns[columns.truth], votes, labels=classes)

    pieces = read_pieces(str(data.path), lambda names: [pick_column(name, names) for name in wanted])
    return _gather(pieces, columns, patterns_of, report), model


def _gather(pieces: Iterator[tuple[Table, float]], columns: Columns, patterns_of: Any, report: Report) -> Gathered:
    """Add up the evidence of the pieces; neighbours of like size are joined, so that no piece is copied often."""
    heap: list[Votes] = []
    rows, dropped = 0, 0
    for table, share in pieces:
        kept, missing = _without_missing(table, columns, rows)
        rows, dropped = rows + len(table), dropped + missing
        if len(kept):
            heap.append(patterns_of(kept))
        while len(heap) > 1 and len(heap[-1]) >= len(heap[-2]):
            last = heap.pop()
            heap[-1] = heap[-1] + last
        report(0.98 * share, f"{rows:,} rows read")
    if not heap:
        raise InputError(f"there are no rows with a class in column {columns.truth!r}; choose another column")
    while len(heap) > 1:
        last = heap.pop()
        heap[-1] = heap[-1] + last
    return Gathered(heap[0], dropped)


def _without_missing(table: Table, columns: Columns, before: int) -> tuple[Table, int]:
    if not columns.drop_missing and None in table.columns[columns.truth]:
        row = before + table.columns[columns.truth].index(None) + 1
        raise InputError(
            f"column {columns.truth!r} of {table.source} has a missing value in data row {row:,}; "
            f"fill it, or tick 'leave out rows without a class'"
        )
    return drop_missing(table, [columns.truth], drop=True)


def _classes(columns: Columns) -> tuple[str, ...]:
    classes = list(columns.votes.values())
    if columns.truth in columns.votes:
        raise InputError(f"column {columns.truth!r} cannot hold both the truth and votes; choose another")
    if len(classes) == 1 and columns.rest is not None:
        classes.append(columns.rest)
    if len(classes) < 2:
        raise InputError("choose the columns of votes of at least two classes, or one column and the other class")
    repeated = {label for label in classes if classes.count(label) > 1} if len(classes) < 1000 else set()
    if repeated:
        raise InputError(f"several columns hold votes for {shown(sorted(repeated))}; choose one of them")
    return tuple(sorted(classes))


def _patterns(table: Table, columns: Columns, classes: Sequence[str]) -> Votes:
    column_of = {label: column for column, label in columns.votes.items()}
    votes = {label: numbers(table, column) for label, column in column_of.items()}
    if len(votes) == 1 and columns.rest is not None:
        (column,) = columns.votes
        votes[columns.rest] = _rest(votes[columns.votes[column]], column)
    matrix = np.column_stack([votes[label] for label in classes])
    return Votes.from_proba(table.columns[columns.truth], matrix, labels=classes)


def _rest(share: NDArray[np.float64], column: str) -> NDArray[np.float64]:
    if not ((share >= 0) & (share <= 1)).all():
        raise InputError(f"column {column!r} alone must hold probabilities between 0 and 1; choose a column per class")
    return 1 - share


def first_rows(source: Source, count: int) -> Table:
    """Return the first rows of a file, all columns."""
    pieces = read_pieces(str(source.path), lambda names: names, rows=count)
    for table, _ in islice(pieces, 1):
        return Table(table.source, {name: column[:count] for name, column in table.columns.items()})
    raise InputError(f"{source.name} has a header but no rows")
