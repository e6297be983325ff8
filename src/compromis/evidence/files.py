"""Evidence in files: JSON of a versioned schema, checked when it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis._files import VERSION, Head, decode_document, file_bytes, stream_bytes, write_whole
from compromis._text import shown
from compromis.errors import InputError
from compromis.evidence.counts import Counts, check_drawn
from compromis.evidence.points import OperatingPoints
from compromis.evidence.readers import check_weights_add_up, read_whole
from compromis.evidence.strata import Strata
from compromis.evidence.votes import Votes
from compromis.labels import check_labels

SCHEMA = "compromis/evidence"

Evidence = Counts | Votes | OperatingPoints
Plain = bool | int | float | str
Number = int | float


class _StrataPart(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    names: list[str]
    sizes: list[int]


class _CountsPart(
    msgspec.Struct, kw_only=True, tag_field="kind", tag="counts", forbid_unknown_fields=True, omit_defaults=True
):
    classes: list[Plain]
    matrix: list[list[Number]]
    rows: int
    squares: list[list[Number]] | None
    weighted: bool
    amounts: list[list[float]] | None = None
    amount_squares: list[list[float]] | None = None
    strata: _StrataPart | None = None
    tables: list[list[list[int]]] | None = None


class _VotesPart(
    msgspec.Struct, kw_only=True, tag_field="kind", tag="votes", forbid_unknown_fields=True, omit_defaults=True
):
    classes: list[Plain]
    votes: msgspec.Raw
    truth: msgspec.Raw
    multiplicity: msgspec.Raw
    rows: int
    left_out: int
    width: float
    weighted: bool
    squares: list[float] | None = None
    amount: list[float] | None = None
    amount_squares: list[float] | None = None
    strata: _StrataPart | None = None
    stratum: list[int] | None = None
    labelled: list[int] | None = None


class _PointsPart(
    msgspec.Struct,
    kw_only=True,
    tag_field="kind",
    tag="operating points",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    pos_label: Plain
    threshold: msgspec.Raw
    positives: msgspec.Raw
    negatives: msgspec.Raw
    binned: bool
    weighted: bool
    squares: list[float] | None = None


class _Document(Head, forbid_unknown_fields=True):
    evidence: _CountsPart | _VotesPart | _PointsPart
    suppressed: Suppressed


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceFile:
    """Evidence, and what was kept back of it.

    Examples
    --------
    >>> import compromis as cp
    >>> counts = cp.Counts.from_matrix([[90, 2], [7, 40]], ["well", "ill"])
    >>> cp.evidence.write(counts, "site.json", min_cell=5).suppressed.cells  # cells below 5 are kept back
    1
    """

    evidence: Evidence
    suppressed: Suppressed

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> EvidenceFile:
        """Return what the bytes of an evidence file hold; `name` is what messages call it."""
        told = {"again": "count again", "refusal": "is no evidence file of compromis"}
        document = decode_document(data, name, _Document, schema=SCHEMA, **told)
        try:
            return cls(_READERS[type(document.evidence)](document.evidence), document.suppressed.checked())
        except InputError as error:
            raise InputError(f"{name} does not hold together: {error}") from error

    @classmethod
    def from_stream(cls, stream: BinaryIO, name: str, *, begun: bytes = b"") -> EvidenceFile:
        """Return what an open evidence file or a pipe holds; `begun` is what was read of it already."""
        return cls.from_bytes(begun + stream_bytes(stream, name), name)

    def __add__(self, other: EvidenceFile) -> EvidenceFile:
        if type(self.evidence) is not type(other.evidence):
            kinds = [_KINDS[type(part.evidence)] for part in (self, other)]
            raise InputError(f"{kinds[0]} and {kinds[1]} do not add up; merge files of one kind")
        joined: Any = self.evidence + other.evidence  # type: ignore[operator]
        return EvidenceFile(joined, self.suppressed + other.suppressed)

    def suppress(self, min_cell: int) -> EvidenceFile:
        """Return the evidence without cells of fewer rows; what was kept back before is noted still."""
        kept, suppressed = suppress(self.evidence, min_cell)
        return EvidenceFile(kept, self.suppressed + suppressed)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the evidence as it is."""
        write_whole(path, encoded(self.evidence, self.suppressed))


def encoded(evidence: Evidence, suppressed: Suppressed | None = None) -> bytes:
    """Return what a file of the evidence holds, to the last byte."""
    document = _Document(SCHEMA, VERSION, _part(evidence), Suppressed() if suppressed is None else suppressed)
    return msgspec.json.encode(document) + b"\n"


_KINDS: dict[type, str] = {Counts: "counts", Votes: "votes", OperatingPoints: "operating points"}


def write(evidence: Evidence, path: str | os.PathLike[str], *, min_cell: int = 0) -> EvidenceFile:
    """Write evidence to a file, and return what was written.

    Parameters
    ----------
    evidence : Counts, Votes or OperatingPoints
        What is written.
    path : path
        Where to.
    min_cell : int
        Cells of fewer rows are set to 0 and their number is noted; totals follow from what is left, so that no cell can be
        found again by subtraction. 0 keeps every cell.

    Examples
    --------
    >>> import compromis as cp
    >>> counts = cp.Counts.from_matrix([[90, 2], [7, 40]], ["well", "ill"])
    >>> written = cp.evidence.write(counts, "site.json", min_cell=5)
    >>> cp.evidence.read("site.json").evidence.matrix.tolist(), written.suppressed.cells
    ([[90, 0], [7, 40]], 1)
    """
    file = EvidenceFile(evidence, Suppressed()).suppress(min_cell)
    file.write(path)
    return file


def read(path: str | os.PathLike[str]) -> EvidenceFile:
    """Read an evidence file; anything that is not one, or does not hold together, is refused.

    Examples
    --------
    >>> import compromis as cp
    >>> written = cp.evidence.write(cp.Counts.from_matrix([[9, 2], [7, 4]], ["well", "ill"]), "site.json")
    >>> cp.evidence.read("site.json").evidence.matrix.tolist()
    [[9, 2], [7, 4]]
    """
    return EvidenceFile.from_bytes(file_bytes(path), os.fspath(path))


def merge(files: Iterable[EvidenceFile]) -> EvidenceFile:
    """Return the evidence of all files together, as if their rows had been counted at once.

    Examples
    --------
    >>> import compromis as cp
    >>> for day in (1, 2):
    ...     _ = cp.evidence.write(cp.Counts.from_matrix([[90, 2], [7, 40]], ["well", "ill"]), f"{day}.json")
    >>> cp.evidence.merge([cp.evidence.read("1.json"), cp.evidence.read("2.json")]).evidence.matrix.tolist()
    [[180, 4], [14, 80]]
    """
    parts = list(files)
    if not parts:
        raise InputError("there is nothing to merge; give at least one evidence file")
    return reduce(add, parts)


def _part(evidence: Evidence) -> Any:
    if isinstance(evidence, Counts):
        return _CountsPart(
            classes=list(evidence.classes),  # type: ignore[arg-type]
            matrix=_written(evidence.matrix),
            rows=evidence.rows,
            squares=_written(evidence.squares),
            amounts=_written(evidence.amounts),
            amount_squares=_written(evidence.amount_squares),
            weighted=evidence.matrix.dtype.kind == "f",
            strata=_strata_part(evidence.strata),
            tables=_written(evidence.tables),
        )
    if isinstance(evidence, Votes):
        evidence.check_labelled()
        weighted = evidence.multiplicity.dtype.kind == "f"
        lacking = weighted and evidence.squares is None and evidence.strata is None  # made by hand: each unit is a row
        return _VotesPart(
            classes=list(evidence.classes),  # type: ignore[arg-type]
            votes=_written(evidence.dense()),
            truth=_written(evidence.truth),
            multiplicity=_written(evidence.multiplicity),
            rows=evidence.rows,
            left_out=evidence.left_out,
            width=evidence.width,
            squares=_written(evidence.multiplicity if lacking else evidence.squares),
            amount=_written(evidence.amount),
            amount_squares=_written(evidence.amount_squares),
            weighted=weighted,
            strata=_strata_part(evidence.strata),
            stratum=_written(evidence.stratum),
            labelled=_written(evidence.labelled),
        )
    if not isinstance(evidence, OperatingPoints) or evidence.names is not None:
        raise InputError(f"evidence is Counts, Votes or the cuts of a score, got {type(evidence).__name__}")
    return _PointsPart(
        pos_label=evidence.pos_label,  # type: ignore[arg-type]
        threshold=_written(evidence.threshold[1:]),
        positives=_written(np.diff(evidence.true_positives)),
        negatives=_written(np.diff(evidence.false_positives)),
        binned=evidence.binned,
        weighted=evidence.true_positives.dtype.kind == "f",
        squares=None if evidence.squares is None else list(evidence.squares),
    )


def _strata_part(strata: Strata | None) -> _StrataPart | None:
    return None if strata is None else _StrataPart(names=list(strata.names), sizes=strata.sizes.tolist())


def _read_strata(part: _StrataPart, **given: object) -> Strata:
    lacking = [name for name, value in given.items() if value is None]
    if lacking or not part.names or len(set(part.names)) < len(part.names):
        raise InputError(f"strata have names of their own, and {' and '.join(given)} beside them")
    return Strata(names=tuple(part.names), sizes=_cells(part.sizes, (len(part.names),), False, "sizes"))


def _read_counts(part: _CountsPart) -> Counts:
    classes = _distinct(part.classes)
    if part.strata is not None:  # the matrix follows from them
        strata, size = _read_strata(part.strata, tables=part.tables), len(classes)
        tables = _cells(
            [cells for table in part.tables or () for cells in table], (len(strata) * size, size), False, "tables"
        )
        tables = tables.reshape(len(strata), size, size)
        check_drawn(strata, tables.sum(axis=(1, 2)))
        return Counts.from_tables(strata, tables, classes)
    matrix = _cells(part.matrix, (len(classes), len(classes)), part.weighted, "matrix")
    squares, amounts, amount_squares = (
        None if cells is None else _cells(cells, matrix.shape, True, name)
        for name, cells in (
            ("squares", part.squares),
            ("amounts", part.amounts),
            ("amount_squares", part.amount_squares),
        )
    )
    _check_both(amounts, amount_squares)
    if not 0 <= part.rows < _MOST or (not part.weighted and part.rows != sum(map(int, matrix.flat))):
        raise InputError(f"it says {part.rows:,} rows, but its cells add up to {matrix.sum():,}")
    return Counts(matrix, classes, part.rows, squares, amounts, amount_squares)


def _written(part: NDArray[Any] | None) -> Any:
    """Return an array as JSON, made of some rows after the other: lists of Python numbers take several times the memory."""
    if part is None:
        return None
    blocks = (part[first : first + _BLOCK] for first in range(0, len(part), _BLOCK))
    return msgspec.Raw(b"[" + b",".join(msgspec.json.encode(block.tolist())[1:-1] for block in blocks) + b"]")


_BLOCK = 1 << 14


def _check_both(amounts: object, squares: object) -> None:
    if (amounts is None) != (squares is None):
        raise InputError("amounts and the sums of their squares belong together; one of them is missing")


def _read_votes(part: _VotesPart) -> Votes:
    classes = _distinct(part.classes)
    truth = _numbers(part.truth, None, False, "truth")
    votes = _numbers(part.votes, (len(truth), len(classes)), True, "votes")
    sizes = _cells(part.multiplicity, truth.shape, part.weighted, "multiplicity")
    if truth.max(initial=0) >= len(classes):
        raise InputError(f"a true class lies outside the {len(classes)} classes")
    squares, amount, amount_squares = (
        None if given is None else _cells(given, truth.shape, True, name)
        for name, given in (
            ("squares", part.squares),
            ("amount", part.amount),
            ("amount_squares", part.amount_squares),
        )
    )
    _check_both(amount, amount_squares)
    if part.weighted and squares is None and part.strata is None:
        raise InputError("the multiplicities are sums of weights, so the sums of their squares belong to them")
    drawn = {} if part.strata is None else _read_drawn(part, part.strata, truth.shape)
    if not (0 <= part.rows < _MOST and 0 <= part.left_out < _MOST and 0 <= part.width <= 1):
        raise InputError(
            "rows and rows left out are at least 0 and fit into 64 bits, and the width of bins is at most 1"
        )
    return Votes(
        votes=votes,
        truth=truth,
        classes=classes,
        rows=part.rows,
        left_out=part.left_out,
        merged=True,
        width=part.width,
        squares=squares,
        amount=amount,
        amount_squares=amount_squares,
        **{"multiplicity": sizes, **drawn},
    )


def _read_drawn(part: _VotesPart, given: _StrataPart, shape: tuple[int, ...]) -> dict[str, Any]:
    strata = _read_strata(given, stratum=part.stratum, labelled=part.labelled)
    stratum, labelled = (
        _cells(cells or [], shape, False, name)
        for cells, name in ((part.stratum, "stratum"), (part.labelled, "labelled"))
    )
    if stratum.max(initial=0) >= len(strata):
        raise InputError(f"a stratum lies outside the {len(strata)} strata")
    drawn = np.bincount(stratum, weights=labelled, minlength=len(strata)).astype(np.int64)
    check_drawn(strata, drawn)
    multiplicity = labelled * strata.weights(drawn)[stratum]
    return {"strata": strata, "stratum": stratum, "labelled": labelled, "multiplicity": multiplicity}


def _read_points(part: _PointsPart) -> OperatingPoints:
    thresholds = _numbers(part.threshold, None, True, "threshold")
    hits = _cells(part.positives, thresholds.shape, part.weighted, "positives")
    alarms = _cells(part.negatives, thresholds.shape, part.weighted, "negatives")
    points = OperatingPoints.from_bins(thresholds, hits, alarms, pos_label=part.pos_label)
    squares = None if part.squares is None else _cells(part.squares, (2,), True, "squares")
    return replace(points, binned=part.binned, squares=None if squares is None else tuple(squares.tolist()))


_READERS: dict[type, Any] = {_CountsPart: _read_counts, _VotesPart: _read_votes, _PointsPart: _read_points}


_MOST = 2**63
"""More rows than 64 bits hold."""


def _distinct(classes: Sequence[Plain]) -> tuple[Plain, ...]:
    check_labels(classes)
    kinds = {type(label) for label in classes}
    if not classes or len(set(classes)) < len(classes) or len(kinds) > 1:
        raise InputError(f"each class stands once, and all are of one type, got {shown(classes)}")
    return tuple(classes)


def _numbers(values: Any, shape: tuple[int, ...] | None, weighted: bool, name: str) -> NDArray[Any]:
    """Return numbers of a shape; None: a row of any length."""
    try:
        blocks = _blocks(values, 1 if shape is None else len(shape)) if isinstance(values, msgspec.Raw) else [values]
        parts = [_whole_or_not(block, weighted) for block in blocks]
        array = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float64 if weighted else np.int64)
        array = array.reshape(shape) if shape and array.size == 0 and 0 in shape else array
    except (ValueError, OverflowError, TypeError, msgspec.DecodeError, RecursionError):
        array = np.full(1, np.nan)
    if array.shape != (shape or (array.size,)) or not np.isfinite(array).all() or (array < 0).any():
        asked = "" if shape is None else f"{' x '.join(map(str, shape))} "
        raise InputError(f"{name} must be {asked}finite numbers of at least 0, whole ones where rows are counted")
    return array


def _whole_or_not(values: Any, weighted: bool) -> NDArray[Any]:
    rows = (value if isinstance(value, list) else [value] for value in values)
    if not weighted and any(isinstance(value, float) for row in rows for value in row):
        raise ValueError
    return np.array(values, dtype=np.float64 if weighted else np.int64)


READ_AT_ONCE = 1 << 18
"""Bytes of numbers that are read at once."""
_ITEM_END = {1: re.compile(rb","), 2: re.compile(rb"\]\s*,")}
"""Where an item ends of an array of numbers, and of an array of rows."""


def _blocks(values: msgspec.Raw, depth: int) -> Iterator[list[Any]]:
    """Yield the items of an array, some after the other: all of them as Python numbers take a dozen times the memory of the file."""
    text = memoryview(values)
    kind: Any = list[Number] if depth == 1 else list[list[Number]]
    if bytes(text[:1]) != b"[":
        raise ValueError
    begin, last = 1, len(text) - 1
    while begin < last:
        found = _ITEM_END[depth].search(text, begin + READ_AT_ONCE, last)
        end = found.end() - 1 if found else last
        yield msgspec.json.decode(b"".join((b"[", text[begin:end], b"]")), type=kind)
        begin = end + 1


def _cells(values: Any, shape: tuple[int, ...], weighted: bool, name: str) -> NDArray[Any]:
    """Return numbers of rows, or sums of weights, whose total fits too."""
    array = _numbers(values, shape, weighted, name)
    if weighted:
        check_weights_add_up(array, array.size)
    elif sum(map(int, array.flat)) >= _MOST:
        raise InputError(f"{name} adds up to more than 64 bits hold")
    return array


class Suppressed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many cells were kept back, and of how many rows each has at most."""

    min_cell: int = 0
    """Cells of fewer rows were kept back; 0: none were."""
    cells: int = 0

    @property
    def most_rows(self) -> int:
        """The largest number of rows that can be missing."""
        return self.cells * max(self.min_cell - 1, 0)

    def checked(self) -> Suppressed:
        """Return itself, or refuse numbers that cannot be."""
        if not (0 <= self.min_cell < _MOST and 0 <= self.cells < _MOST):
            raise InputError("the numbers of suppressed cells are at least 0 and fit into 64 bits")
        return self

    def __add__(self, other: Suppressed) -> Suppressed:
        return Suppressed(max(self.min_cell, other.min_cell), self.cells + other.cells)

    def __str__(self) -> str:
        if not self.cells:
            return ""
        return (
            f"{self.cells:,} {'cell' if self.cells == 1 else 'cells'} of fewer than {self.min_cell} rows kept back: "
            f"up to {self.most_rows:,} rows are missing"
        )


def suppress(evidence: Any, min_cell: int) -> tuple[Any, Suppressed]:
    """Return evidence without cells of 1 to `min_cell` - 1 rows, and how many those were; totals follow from what is left."""
    min_cell = read_whole(min_cell, "min_cell", 0)
    if min_cell <= 1:
        return evidence, Suppressed()
    if isinstance(evidence, Counts):
        return _suppress_counts(evidence, min_cell)
    if isinstance(evidence, Votes):
        return _suppress_votes(evidence, min_cell)
    return _suppress_points(evidence, min_cell)


def _suppress_counts(counts: Counts, min_cell: int) -> tuple[Counts, Suppressed]:
    _refuse_weights(counts.matrix)
    small = (counts.matrix > 0) & (counts.matrix < min_cell)
    matrix = np.where(small, 0, counts.matrix)
    amounts, squares = (
        None if part is None else np.where(small, 0.0, part) for part in (counts.amounts, counts.amount_squares)
    )
    kept = Counts(matrix, counts.classes, int(matrix.sum()), None, amounts, squares)
    return kept, Suppressed(min_cell, int(small.sum()))


def _suppress_votes(votes: Votes, min_cell: int) -> tuple[Votes, Suppressed]:
    _refuse_weights(votes.multiplicity)
    kept = votes.multiplicity >= min_cell
    left_out = votes.left_out if votes.left_out >= min_cell else 0
    if not kept.any():
        raise InputError(f"every pattern of votes has fewer than {min_cell} rows; bin the votes, or lower min_cell")
    cells = int((~kept).sum()) + int(left_out != votes.left_out)
    fewer = votes.with_rows(votes.multiplicity, np.flatnonzero(kept))
    fewer = replace(fewer, rows=int(fewer.multiplicity.sum()), left_out=left_out)
    return fewer, Suppressed(min_cell, cells)


def _suppress_points(points: OperatingPoints, min_cell: int) -> tuple[OperatingPoints, Suppressed]:
    _refuse_weights(points.true_positives)
    if not points.binned:
        raise InputError(
            "every distinct score is a cell of its own, which reveals rows; count scores in bins to keep small cells back"
        )
    inside = np.diff(np.stack([points.true_positives, points.false_positives]), axis=1)
    small = (inside > 0) & (inside < min_cell)
    kept = np.where(small, 0, inside)
    fewer = OperatingPoints.from_bins(points.threshold[1:], kept[0], kept[1], pos_label=points.pos_label)
    return fewer, Suppressed(min_cell, int(small.sum()))


def _refuse_weights(cells: Any) -> None:
    if cells.dtype.kind == "f":
        raise InputError(
            "weighted evidence does not say how many rows a cell has; count without weights to keep small cells back"
        )
