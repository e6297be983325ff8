"""Plain twins of the compiled kernels: the obvious loop, nothing else."""

from __future__ import annotations


def count_pairs(truth, decision, classes):
    table = [[0] * classes for _ in range(classes)]
    for a, b in zip(truth, decision, strict=True):
        table[a][b] += 1
    return table


def weigh_pairs(truth, decision, weight, classes):
    table = [[0.0] * classes for _ in range(classes)]
    squares = [[0.0] * classes for _ in range(classes)]
    for a, b, w in zip(truth, decision, weight, strict=True):
        table[a][b] += w
        squares[a][b] += w * w
    return table, squares


def count_cuts(positive, negative):
    scores = sorted({*positive, *negative}, reverse=True)
    return [(cut, sum(s >= cut for s in positive), sum(s >= cut for s in negative)) for cut in scores]
