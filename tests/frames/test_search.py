"""Weights for data of any size: what a search in memory finds, by a few passes."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest

import compromis as cp
from compromis.frames import search as nearby
from compromis.frames import votes as votes_frame
from tests.frame_kinds import kinds, make

PREFERENCES = cp.Preferences.prioritise(["c1"]).with_metric("f")


def rows(rng, count, classes):
    names = [f"c{k}" for k in range(classes)]
    truth = rng.choice(classes, count, p=np.array([10, 1] + [3] * (classes - 2)) / (11 + 3 * (classes - 2)))
    logits = rng.normal(size=(count, classes)) + 1.5 * np.eye(classes)[truth]
    votes = np.exp(logits)
    return votes / votes.sum(axis=1, keepdims=True), np.array(names)[truth], names


@pytest.fixture
def _small_memory(monkeypatch):
    """As if 20,000 rows did not fit."""
    monkeypatch.setattr("compromis.frames.query.SAMPLE", 1000)
    monkeypatch.setattr(votes_frame, "MOST_PATTERNS", 15_000)
    monkeypatch.setattr(nearby, "MOST_NEAR", 6000)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.usefixtures("_small_memory")
def test_passes_find_what_a_search_of_all_rows_finds(rng, classes):
    votes, truth, names = rows(rng, 20_000, classes)
    frame = pl.DataFrame(dict(zip(names, votes.T, strict=True))).with_columns(t=pl.Series(truth)).lazy()
    found = cp.frames.search_weights(frame, truth="t", proba=names, preferences=PREFERENCES, sample=4000)
    whole = cp.search_weights(truth, votes, labels=names, preferences=PREFERENCES, random_state=0)
    assert found.search.loss == pytest.approx(whole.loss, abs=2e-3 if classes > 2 else 1e-9)
    assert found.search.loss >= whole.loss - 1e-12 or not whole.optimal
    predicted = np.array(names)[(votes * found.search.weights).argmax(axis=1)]
    by_hand = cp.Counts.from_predictions(truth, predicted, labels=names)
    assert np.array_equal(found.search.counts.matrix, by_hand.matrix)
    assert found.search.loss == pytest.approx(cp.evaluate(by_hand, preferences=PREFERENCES).summary.loss, abs=1e-15)
    assert 4 <= found.passes <= 7
    assert f"{found.passes} passes over the data" in str(found)
    equal = cp.Counts.from_predictions(truth, np.array(names)[votes.argmax(axis=1)], labels=names)
    assert np.array_equal(found.before.matrix, equal.matrix)


@pytest.mark.parametrize("stop", [1, None])
@pytest.mark.usefixtures("_small_memory")
def test_a_search_that_is_stopped_is_the_last_and_its_weights_are_counted_on_all_rows(rng, stop):
    votes, truth, names = rows(rng, 20_000, 4)
    frame = pl.DataFrame(dict(zip(names, votes.T, strict=True))).with_columns(t=pl.Series(truth))
    seen, searches = [], []

    @contextmanager
    def monitor():
        searches.append(len(seen))
        yield lambda _, loss: seen.append(loss) or len(seen) == stop

    found = cp.frames.search_weights(
        frame, truth="t", proba=names, preferences=PREFERENCES, sample=4000, reporter=monitor
    )
    predicted = np.array(names)[(votes * found.search.weights).argmax(axis=1)]
    assert (
        found.search.counts.matrix.tolist()
        == cp.Counts.from_predictions(truth, predicted, labels=names).matrix.tolist()
    )
    assert (len(searches) == 1) == (stop == 1)
    assert found.passes == len(searches) + 2
    assert ("rows was searched, and all rows were counted" in found.to_text(width=500)) == (stop == 1)


@pytest.mark.usefixtures("_small_memory")
def test_every_engine_draws_the_same_sample_and_finds_the_same_weights(rng):
    votes, truth, names = rows(rng, 16_000, 3)
    columns = {name: votes[:, k].tolist() for k, name in enumerate(names)} | {"t": truth.tolist()}
    found = [
        cp.frames.search_weights(
            make(kind, columns), truth="t", proba=names, preferences=PREFERENCES, sample=3000
        ).search.weights
        for kind in ("polars_lazy", "duckdb", "pyarrow", "pandas")
    ]
    for weights in found[1:]:
        assert np.array_equal(weights, found[0])


@pytest.mark.parametrize("kind", kinds(["polars_lazy", "duckdb", "dask", "spark"]))
def test_few_patterns_take_one_pass(rng, kind):
    votes = rng.multinomial(5, [0.5, 0.3, 0.2], 300)
    truth = rng.choice(["c0", "c1", "c2"], 300)
    names = ["c0", "c1", "c2"]
    frame = make(kind, {name: votes[:, k].tolist() for k, name in enumerate(names)} | {"t": truth.tolist()})
    found = cp.frames.search_weights(frame, truth="t", proba=names, preferences=PREFERENCES)
    whole = cp.search_weights(truth, votes, labels=names, preferences=PREFERENCES, random_state=0)
    assert (found.passes, found.box, found.search.optimal) == (1, None, True)
    assert found.search.loss == pytest.approx(whole.loss, abs=1e-15)
    assert np.array_equal(found.search.counts.matrix, whole.counts.matrix)


@pytest.mark.usefixtures("_small_memory")
def test_weighted_rows_smoothing_and_rows_without_votes(rng):
    votes, truth, names = rows(rng, 16_000, 3)
    votes[:100] = 0
    weight = rng.exponential(size=16_000)
    frame = pd.DataFrame(votes, columns=names).assign(t=truth, w=weight)
    found = cp.frames.search_weights(
        frame, truth="t", proba=names, preferences=PREFERENCES, weight="w", smoothing=0.02, sample=3000
    )
    predicted = (found.search.weights * (votes[100:] + 0.02)).argmax(axis=1)
    expected = cp.Counts.from_predictions(
        truth[100:], np.array(names)[predicted], labels=names, sample_weight=weight[100:]
    )
    assert np.allclose(found.search.counts.matrix, expected.matrix, rtol=1e-12)
    assert np.allclose(found.search.counts.squares, expected.squares, rtol=1e-12)
    assert found.search.left_out == 100
    assert "100 rows without any vote are left out" in str(found)


@pytest.mark.usefixtures("_small_memory")
def test_bad_votes_are_refused(rng):
    votes, truth, names = rows(rng, 16_000, 3)
    votes[15_999, 1] = np.nan
    frame = pd.DataFrame(votes, columns=names).assign(t=truth)
    with pytest.raises(cp.InputError, match="1 rows have a vote that is missing, negative or not finite"):
        cp.frames.search_weights(frame, truth="t", proba=names, preferences=PREFERENCES)
    with pytest.raises(
        cp.InputError, match="the votes of nearly every row are its own, so 16,000 rows are as many patterns"
    ):
        cp.Votes.from_frame(frame, truth="t", proba=names)


def test_a_guarantee_needs_patterns(rng):
    y = rng.integers(2, size=30_000)
    share = 1 / (1 + np.exp(-rng.normal(2.0 * y - 1)))
    sure = cp.Preferences({1: cp.Preference(min_recall=0.8, confidence=0.95)})
    frame = pl.DataFrame({"y": y, "0": 1 - share, "1": share})
    with pytest.raises(cp.InputError, match="round the votes so that they become patterns"):
        cp.frames.search_weights(frame, truth="y", proba={0: "0", 1: "1"}, preferences=dict(sure.by_class))
    rounded = frame.with_columns(pl.col("0", "1").round(2))
    given = {1: cp.Preference(min_recall=0.8, confidence=0.95)}  # a plain dict by class, as everywhere
    found = cp.frames.search_weights(rounded, truth="y", proba={0: "0", 1: "1"}, preferences=given)
    expected = cp.search_weights(y, rounded.select("0", "1").to_numpy(), preferences=sure, random_state=0)
    assert found.search.guarantee.items == expected.guarantee.items
