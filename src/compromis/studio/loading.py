"""Read files into votes: propose the columns, then add up the votes piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

import compromis as cp
from compromis.frames import EvidenceSum, Table, Texts, open_table, pick_column, read_table
from compromis.studio.jobs import Progress
from compromis.studio.storage import Source

TRUTH_NAMES = ("truth", "y_true", "true", "y", "class", "label", "target", "actual", "outcome", "diagnosis")
MOST_CLASSES = 1000
"""A column with more distinct texts does not hold classes."""
PREVIEW = 1000
"""Rows read to propose columns."""
SHOWN = 6
"""Rows shown."""
PREVIEW_CELLS = 1_000_000
"""Cells of the rows read to propose columns, at most."""
MOST_FITTED = 50
"""Classes of a column up to which a model is offered."""
FEW_TEXTS, MOST_TEXTS = 20, 254
"""Different texts that any column may have, and those that a column may have that a model is fitted to."""
MOST_TRUTHS, MOST_SETS = 1000, 100
"""Columns that are tried as the truth, and sets of votes that are proposed, at most."""


class Columns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The columns of the truth and of the votes."""

    truth: str
    votes: dict[str, str]
    """The class of each column of votes."""
    rest: str | None = None
    """With one column of votes only: the class that gets the rest of 1."""
    drop_missing: bool = False
    ignore: tuple[str, ...] = ()
    """Columns that a model is not fitted to."""


def preview(source: Source, truth: str | None = None) -> dict[str, Any]:
    """Return the first rows of a file and the columns proposed; with `truth`, those for this column of true classes."""
    try:
        table = _first_rows(source, PREVIEW)
    except cp.InputError as error:
        raise cp.InputError(source.renamed(str(error))) from error
    proposal = propose(table, truth if truth in table.columns else None)
    classes = _distinct(table[proposal["truth"]])
    shown = table.take(slice(SHOWN)).texts()
    return {
        "name": source.name,
        "columns": list(table.columns),
        "rows": [list(row) for row in zip(*shown.values(), strict=True)],
        "classes": sorted(classes)[:PREVIEW],
        "fits": not proposal["sets"] and 2 <= len(classes) <= MOST_FITTED and len(table.columns) > 1,
        **proposal,
    }


def _first_rows(source: Source, count: int) -> Table:
    with open_table(str(source.path)) as file:
        wide = max(SHOWN, PREVIEW_CELLS // len(file.names))
        for table in file.tables(file.names):
            return table.take(slice(min(count, wide)))
    raise cp.InputError(f"{source.name} has a header but no rows")


def propose(table: Table, truth: str | None = None) -> dict[str, Any]:
    """Return the columns of numbers, the probable truth, and the sets of columns that may hold votes for its classes."""
    numeric = [name for name in table.columns if _is_scores(table[name])]
    truth = _probable_truth(table, numeric) if truth is None else truth
    naming = [name for name in table.columns if name != truth and _names_rows(table[name])]
    return {"numeric": numeric, "truth": truth, "sets": _vote_sets(table, numeric, truth), "naming": naming}


def _names_rows(column: Texts) -> bool:
    """Return whether a column seems to tell rows apart rather than to describe them: numbers that count on, or texts that hardly repeat."""
    texts, rows = _distinct(column), len(column.codes)
    if len(texts) <= FEW_TEXTS:
        return False
    if not _is_number(column):
        return len(texts) > min(MOST_TEXTS, rows // 2)
    return (
        len(texts) == rows and all(text.isdecimal() and len(text) < 19 for text in texts) and _spread(texts) == rows - 1
    )


def _spread(texts: set[str]) -> int:
    return max(map(int, texts)) - min(map(int, texts))


def _probable_truth(table: Table, numeric: Sequence[str]) -> str:
    """Return the column for whose texts there are columns of scores.

    If there is none: one of a few different texts, with a usual name, else the last, as Weka takes it.
    """
    names, scores = list(table.columns), set(numeric)
    usual = sorted((name for name in names if name.lower() in TRUTH_NAMES), key=lambda n: TRUTH_NAMES.index(n.lower()))
    texts = [name for name in names if name not in scores and not _is_number(table[name])]
    ordered = list(dict.fromkeys([*usual, *texts, *(name for name in names if name not in scores), *names]))
    voted = next((name for name in ordered[:MOST_TRUTHS] if _vote_sets(table, numeric, name)), None)
    classes = (name for name in [*usual, *reversed(texts)] if 2 <= len(_distinct(table[name])) <= MOST_FITTED)
    return voted or next(classes, ordered[0])


def _vote_sets(table: Table, numeric: Sequence[str], truth: str) -> list[dict[str, Any]]:
    """Return each prefix that stands before every class of `truth`, with its columns and their classes."""
    classes = _distinct(table[truth])
    scores = [name for name in numeric if name != truth]
    if not 1 <= len(classes) <= MOST_CLASSES:
        return []
    longest, known = max(classes, key=len), set(scores)
    prefixes = sorted({name.removesuffix(longest) for name in scores if name.endswith(longest)})
    sets = []
    for prefix in (one for one in prefixes if all(one + label in known for label in classes)):
        votes = {name: name.removeprefix(prefix) for name in scores if name.startswith(prefix)}
        if prefix == "":
            votes = {name: name for name in scores if name in classes}
        if len(votes) > 1:
            sets.append({"prefix": prefix, "votes": votes})
        if len(sets) == MOST_SETS:
            break
    return sets


def _distinct(column: Texts) -> set[str]:
    return {column.labels[code] for code in set(column.codes.tolist()) if code >= 0}


def _is_number(column: Texts) -> bool:
    try:
        return bool([float(label) for label in _distinct(column)])
    except ValueError:
        return False


def _is_scores(column: Texts) -> bool:
    try:
        return not column.missing.any() and all(float(label) >= 0 for label in _distinct(column))
    except ValueError:
        return False


def load_votes(source: Source, columns: Columns, progress: Progress) -> tuple[cp.Votes, int]:
    """Return the votes of a file of any size, and how many rows were left out because their class is missing."""
    classes = _classes(columns)

    def votes_in(table: Table) -> cp.Votes:
        return cp.Votes.from_proba(table[columns.truth].array(), _matrix(table, columns, classes), labels=classes)

    return _sum(source, columns, {"numbers": columns.votes}, votes_in, progress)


def load_model_votes(
    model_file: Source, data: Source, columns: Columns, progress: Progress
) -> tuple[cp.Votes, int, cp.Decision]:
    """Return the votes of a fitted model for the rows of a file, the number of rows left out, and the model's decision."""
    progress(0.0, f"opening {model_file.name}")
    model = cp.estimators.load_model(model_file.path)
    classes = model.decision.classes

    def votes_in(table: Table) -> cp.Votes:
        votes = model.vote_shares(table.texts(), table.source)
        return cp.Votes.from_proba(table[columns.truth].array(), votes, labels=classes)

    votes, dropped = _sum(data, columns, {"texts": [column.name for column in model.columns]}, votes_in, progress)
    return votes, dropped, model.decision


def fit_votes(source: Source, columns: Columns, model: str, progress: Progress) -> tuple[cp.Votes, int]:
    """Return the votes of a model that is fitted to the table, fold by fold, and the number of rows left out."""
    unused = {columns.truth, *columns.ignore}
    progress(0.0, "reading")
    table = read_table(
        str(source.path), lambda names: [pick_column(columns.truth, names), *(n for n in names if n not in unused)]
    )
    kept, dropped = _without_missing(table, columns)
    if not len(kept):
        raise cp.InputError(f"there are no rows with a class in column {columns.truth!r}; choose another column")
    votes = cp.estimators.table_votes(
        kept.texts(),
        columns.truth,
        model=model,
        source=source.name,
        progress=lambda share, note: progress(0.1 + 0.85 * share, note),
    )
    return votes, dropped


def _sum(
    source: Source,
    columns: Columns,
    others: Mapping[str, Iterable[str]],
    votes_in: Callable[[Table], cp.Votes],
    progress: Progress,
) -> tuple[cp.Votes, int]:
    """Add up the votes of the pieces."""
    total = EvidenceSum()
    rows, dropped = 0, 0
    with open_table(str(source.path)) as file:
        truth = pick_column(columns.truth, file.names)
        for table in file.tables([truth, *others.get("texts", ())], others.get("numbers", ())):
            kept, missing = _without_missing(table, columns)
            rows, dropped = rows + len(table), dropped + missing
            if len(kept):
                total.add(votes_in(kept))
            progress(0.98 * file.share, f"{rows:,} rows read")
    if not total.parts:
        raise cp.InputError(f"there are no rows with a class in column {columns.truth!r}; choose another column")
    return total.whole(), dropped


def _without_missing(table: Table, columns: Columns) -> tuple[Table, int]:
    gaps = table[columns.truth].missing
    if not columns.drop_missing and gaps.any():
        raise cp.InputError(
            f"column {columns.truth!r} of {table.source} has a missing value in {table.named(int(gaps.argmax()))}; "
            f"fill it, or tick 'leave out rows without a class'"
        )
    return table.without_missing([columns.truth], drop=True)


def _classes(columns: Columns) -> tuple[str, ...]:
    classes = list(columns.votes.values())
    if columns.truth in columns.votes:
        raise cp.InputError(f"column {columns.truth!r} cannot hold both the truth and votes; choose another")
    if len(classes) == 1 and columns.rest is not None:
        classes.append(columns.rest)
    if len(classes) < 2:
        raise cp.InputError("choose the columns of votes of at least two classes, or one column and the other class")
    labels = sorted(classes)
    repeated = next((label for label, other in pairwise(labels) if label == other), None)
    if repeated is not None:
        raise cp.InputError(f"several columns hold votes for {repeated!r}; choose one of them")
    return tuple(labels)


def _matrix(table: Table, columns: Columns, classes: Sequence[str]) -> Any:
    votes = {label: table.numbers(column) for column, label in columns.votes.items()}
    if len(votes) == 1 and columns.rest is not None:
        ((column, label),) = columns.votes.items()
        if not ((votes[label] >= 0) & (votes[label] <= 1)).all():
            raise cp.InputError(
                f"column {column!r} alone must hold probabilities between 0 and 1; choose a column per class"
            )
        votes[columns.rest] = 1 - votes[label]
    return np.column_stack([votes[label] for label in classes])
