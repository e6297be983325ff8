"""Arrays as text in a JSON document: the smallest type that holds them exactly, little-endian, in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis.evidence.vote_values import is_sparse
from compromis.evidence.votes import Votes

Packed = dict[str, Any]
_TABLE = 65_536
"""Distinct votes up to which they are packed as places in a table."""


def pack(values: NDArray[Any]) -> Packed:
    """Return an array of numbers of at least 0 as a type and text."""
    kind = "f64"
    if values.dtype.kind in "iu" or bool((values == np.floor(values)).all()):
        most = values.max(initial=0)
        kind = "u8" if most < 1 << 8 else "u16" if most < 1 << 16 else "u32" if most < 1 << 32 else "f64"
    raw = values.astype(np.dtype(kind[0] + str(int(kind[1:]) // 8)).newbyteorder("<")).tobytes()
    return {"type": kind, "data": base64.b64encode(raw).decode("ascii")}


def pack_patterns(patterns: Votes) -> Packed:
    """Return patterns as packed arrays: which classes each row has votes for, one bit each, and the votes above 0 in that order."""
    rows, column, value = _entries(patterns)
    voted = np.zeros((len(patterns), len(patterns.classes)), dtype=bool)
    voted[rows, column] = True
    packed: Packed = {
        "patterns": len(patterns),
        "truth": pack(patterns.truth),
        "multiplicity": pack(patterns.multiplicity),
        "voted": pack(np.packbits(voted, axis=1, bitorder="little").ravel()),
    }
    table, code = np.unique(value, return_inverse=True)
    if len(table) <= min(_TABLE, max(256, len(value) // 4)):
        return packed | {"values": table.tolist(), "code": pack(code)}
    return packed | {"values": None, "code": pack(value)}


def least_size(patterns: Votes) -> int:
    """Return how many bytes packed patterns take at least, without packing them."""
    entries = patterns.votes.nnz if is_sparse(patterns.votes) else int(np.count_nonzero(patterns.votes))
    return 4 * (entries + len(patterns) * (2 + -(-len(patterns.classes) // 8))) // 3


def packed_size(packed: Packed) -> int:
    """Return about how many bytes the packed patterns take in a page."""
    texts = sum(len(part["data"]) for part in packed.values() if isinstance(part, dict))
    return texts + 18 * len(packed["values"] or ())


def _entries(patterns: Votes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return row, class and value of every vote above 0, in the order of rows and classes."""
    if is_sparse(patterns.votes):
        rows = np.repeat(np.arange(len(patterns)), np.diff(patterns.votes.indptr))
        return rows, patterns.votes.indices.astype(np.int64), patterns.votes.data.astype(np.float64)
    rows, column = np.nonzero(patterns.votes)
    return rows, column, patterns.votes[rows, column].astype(np.float64)
