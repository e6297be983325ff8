"""Rows of votes: checking, merging, deciding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._kernel import kernel
from compromis._typing import Floats, Ints

Short = NDArray[np.int32]


@kernel
def scan_dense(votes: NDArray[Any], empty: NDArray[np.bool_]) -> tuple[int, int]:
    """Mark rows without votes; return the flat index of the first value that is negative or not finite (-1: none), and the non-zeros."""
    rows, classes = votes.shape
    nonzeros = 0
    for i in range(rows):
        found = 0
        # check each value and count those above 0; NaN fails every comparison
        for k in range(classes):
            value = votes[i, k]
            if not (value >= 0.0 and value < np.inf):
                return i * classes + k, nonzeros
            if value > 0.0:
                found += 1
        empty[i] = found == 0
        nonzeros += found
    return -1, nonzeros


@kernel
def mixed_in(key: int, bits: int) -> int:
    """Return a hash of a hash and 64 more bits; every product stays within int64, so that plain Python agrees."""
    key = (key * 1000003 + (bits & 0x7FFFFFFF)) % 4294967291
    return (key * 1000003 + ((bits >> 31) & 0xFFFFFFFF)) % 4294967291


@kernel
def row_hash_dense(bits: NDArray[Any], i: int) -> int:
    """Return a hash of the bits of row i; zeros are passed over, as most votes are."""
    key = 2166136261
    for k in range(bits.shape[1]):
        if bits[i, k] != 0:
            key = mixed_in(mixed_in(key, int(bits[i, k])), k)
    return key


@kernel
def row_hash_sparse(start: Ints, column: Short, bits: NDArray[Any], i: int) -> int:
    """Return a hash of the non-zero votes of row i."""
    key = 2166136261
    for e in range(start[i], start[i + 1]):
        key = mixed_in(mixed_in(key, int(bits[e])), int(column[e]))
    return key


@kernel
def same_row_dense(bits: NDArray[Any], i: int, j: int) -> bool:
    """Return whether two rows hold the same votes."""
    for k in range(bits.shape[1]):
        if bits[i, k] != bits[j, k]:
            return False
    return True


@kernel
def same_row_sparse(start: Ints, column: Short, bits: NDArray[Any], i: int, j: int) -> bool:
    """Return whether two rows hold the same non-zero votes."""
    length = start[i + 1] - start[i]
    if length != start[j + 1] - start[j]:
        return False
    for e in range(length):
        if column[start[i] + e] != column[start[j] + e] or bits[start[i] + e] != bits[start[j] + e]:
            return False
    return True


@kernel
def enlarged(table: Ints, keys: Ints, groups: int) -> Ints:
    """Return a hash table of twice the size with the same groups."""
    larger = np.full(2 * table.size, -1, dtype=np.int64)
    # each group goes to the first free slot from its hash on; no two are equal, so nothing is compared
    for group in range(groups):
        slot = keys[group] & (larger.size - 1)
        while larger[slot] >= 0:
            slot = (slot + 1) & (larger.size - 1)
        larger[slot] = group
    return larger


@kernel
def group_rows(
    dense: NDArray[Any], sparse: tuple[Ints, Short, NDArray[Any]], truth: Ints, step: int, group: Ints
) -> Ints:
    """Number every `step`-th row by (votes, true class) in the order of appearance; return the first row of each number.

    `dense` holds the bits of the votes; where it has no rows, `sparse` holds start, class and bits of the non-zero ones.
    """
    start, column, bits = sparse
    is_dense = dense.shape[0] > 0
    table = np.full(1024, -1, dtype=np.int64)
    keys = np.empty(512, dtype=np.int64)
    first = np.empty(512, dtype=np.int64)
    groups = 0
    for position in range(group.size):
        # the hash of the votes and the true class
        i = position * step
        key = row_hash_dense(dense, i) if is_dense else row_hash_sparse(start, column, bits, i)
        key = mixed_in(key, int(truth[i]))
        slot = key & (table.size - 1)
        # walk to the slot of an equal row, or to a free one
        while table[slot] >= 0:
            j = first[table[slot]]
            if keys[table[slot]] == key and truth[i] == truth[j]:
                same = same_row_dense(dense, i, j) if is_dense else same_row_sparse(start, column, bits, i, j)
                if same:
                    break
            slot = (slot + 1) & (table.size - 1)
        # a new group takes the free slot; the arrays double when they are full, and the table stays at most half full
        if table[slot] < 0:
            table[slot] = groups
            keys[groups] = key
            first[groups] = i
            groups += 1
            if groups == first.size:
                keys = np.concatenate((keys, np.empty(groups, dtype=np.int64)))
                first = np.concatenate((first, np.empty(groups, dtype=np.int64)))
                table = enlarged(table, keys, groups)
            group[position] = groups - 1
        else:
            group[position] = table[slot]
    return first[:groups].copy()


@kernel
def decide_dense(votes: NDArray[Any], weights: Floats, smoothing: float, decision: Ints) -> None:
    """Write the class with the largest weight x (votes + smoothing) of each row; ties go to the first."""
    for i in range(votes.shape[0]):
        # a later class must be strictly larger, so that ties stay with the first
        chosen = 0
        best = weights[0] * (votes[i, 0] + smoothing)
        for k in range(1, votes.shape[1]):
            score = weights[k] * (votes[i, k] + smoothing)
            if score > best:
                best = score
                chosen = k
        decision[i] = chosen


@kernel
def decide_sparse(
    start: Ints, column: Short, value: NDArray[Any], weights: Floats, smoothing: float, decision: Ints
) -> None:
    """As `decide_dense`, for the non-zero votes by row: all other classes share one background, of which only the best can win."""
    # the best class among those without votes: the same for all rows
    background = 0
    for k in range(1, weights.size):
        if weights[k] * smoothing > weights[background] * smoothing:
            background = k
    for i in range(start.size - 1):
        # the classes with votes against it; they come in order, but the background may stand after them
        chosen = background
        best = weights[background] * smoothing
        for e in range(start[i], start[i + 1]):
            score = weights[column[e]] * (value[e] + smoothing)
            if score > best or (score == best and column[e] < chosen):
                best = score
                chosen = column[e]
        decision[i] = chosen


@kernel
def count_decisions(truth: Ints, decision: Ints, multiplicity: NDArray[Any], matrix: NDArray[Any]) -> None:
    """Add each pattern's multiplicity to its cell (truth, decision)."""
    for i in range(truth.size):
        matrix[truth[i], decision[i]] += multiplicity[i]
