"""The biclustering example: the two algorithms find what was planted, and the residue is what its formula says."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from reproductions.tradeoff_space.cheng_church import add, cheng_church, mean_squared_residue, scores
from reproductions.tradeoff_space.isa import exceed, fixed_points, isa, standardise
from reproductions.tradeoff_space.planted import plant

ROOT = Path(__file__).parents[1]


def jaccard(first, second):
    return (first & second).sum() / (first | second).sum()


def everything(matrix):
    return tuple(np.ones(length, dtype=bool) for length in matrix.shape)


def naive_residue(matrix, rows, columns):
    chosen = [(i, j) for i in np.flatnonzero(rows) for j in np.flatnonzero(columns)]
    total = sum(matrix[i, j] for i, j in chosen) / len(chosen)
    result = 0.0
    for i, j in chosen:
        row = sum(matrix[i, k] for k in np.flatnonzero(columns)) / columns.sum()
        column = sum(matrix[k, j] for k in np.flatnonzero(rows)) / rows.sum()
        result += (matrix[i, j] - row - column + total) ** 2
    return result / len(chosen)


@pytest.mark.parametrize("seed", range(5))
def test_residue_against_a_loop(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(3.0, 2.0, (9, 7))
    rows, columns = rng.permutation(9) < 5, rng.permutation(7) < 4
    assert mean_squared_residue(matrix, rows, columns) == pytest.approx(naive_residue(matrix, rows, columns), rel=1e-12)


def test_residue_of_an_additive_bicluster_is_zero(rng):
    planted = plant(rng, noise=0.0)
    assert mean_squared_residue(planted.matrix, planted.rows, planted.columns) == pytest.approx(0.0, abs=1e-28)
    assert mean_squared_residue(planted.matrix, *everything(planted.matrix)) > 0.5


def test_planted_cells_are_a_row_effect_plus_a_column_effect(rng):
    planted = plant(rng, (30, 20), (8, 5), noise=0.0)
    inside = planted.matrix[np.ix_(planted.rows, planted.columns)]
    assert planted.target.sum() == 40
    np.testing.assert_allclose(inside - inside[:1], (inside - inside[:1])[:, :1].repeat(5, axis=1), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_cheng_church_finds_a_bicluster_of_little_noise(seed):
    planted = plant(np.random.default_rng(seed), size=(100, 30), noise=0.1)
    rows, columns = cheng_church(planted.matrix, 0.012)
    assert jaccard(np.outer(rows, columns), planted.target) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_isa_finds_a_bicluster_of_little_noise(seed):
    planted = plant(np.random.default_rng(seed), level=3.0, noise=0.1)
    rows, columns = isa(planted.matrix, 0.5, np.random.default_rng(seed))
    assert jaccard(np.outer(rows, columns), planted.target) > 0.9


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_cheng_church_keeps_to_its_residue_and_leaves_nothing_to_add(rng, share):
    matrix = plant(rng, (120, 30), (30, 10)).matrix
    delta = share * mean_squared_residue(matrix, *everything(matrix))
    rows, columns = cheng_church(matrix, delta)
    residue, row_scores, column_scores = scores(matrix, rows, columns)
    assert residue <= delta
    assert (row_scores[~rows] > residue).all()
    assert (column_scores[~columns] > residue).all()
    assert (rows.all() and columns.all()) == (share == 1.0)


def test_adding_never_raises_the_residue(rng):
    matrix = rng.standard_normal((40, 20))
    rows, columns = rng.permutation(40) < 6, rng.permutation(20) < 5
    before, size = mean_squared_residue(matrix, rows, columns), rows.sum() + columns.sum()
    add(matrix, rows, columns)
    assert mean_squared_residue(matrix, rows, columns) <= before + 1e-12
    assert rows.sum() + columns.sum() > size


def test_isa_comes_to_rest_at_a_bicluster_that_gives_itself_back(rng):
    matrix = plant(rng, level=1.0).matrix
    starts = (rng.random((len(matrix), 20)) < 0.3).astype(float)
    rows, _, rested = fixed_points(matrix, 0.5, starts)
    assert rested.any()
    again = exceed(standardise(matrix, 1) @ exceed(standardise(matrix, 0).T @ rows, 0.5), 0.5)
    np.testing.assert_allclose(again[:, rested], rows[:, rested], atol=1e-5)


def test_isa_without_a_threshold_keeps_the_whole_matrix_and_finds_singular_vectors(rng):
    matrix = plant(rng, level=1.0).matrix
    rows, _, rested = fixed_points(matrix, -np.inf, np.ones((len(matrix), 1)) + rng.random((len(matrix), 1)))
    assert rested.all()
    values, vectors = np.linalg.eig(standardise(matrix, 1) @ standardise(matrix, 0).T)
    first = vectors[:, np.abs(values).argmax()].real
    assert abs(first @ rows[:, 0]) == pytest.approx(1.0, abs=1e-4)
    assert all(flags.all() for flags in isa(matrix, -np.inf, rng))


def test_a_threshold_that_nothing_exceeds_finds_nothing(rng):
    assert isa(rng.standard_normal((20, 10)), 10.0, rng) is None


def test_the_example_prints_intervals_and_a_verdict(capsys):
    names = runpy.run_path(str(ROOT / "examples" / "biclustering.py"))
    printed = capsys.readouterr().out
    assert str(names["comparison"].verdict) in printed
    assert "delta 2.0" in printed
    parts = names["comparison"].intervals
    assert parts[0].low == 0
    assert parts[-1].high == 1
    assert parts[-1].best == ("CC", "ISA")  # both end with the whole matrix
