"""The notebook panel without a notebook: its traits, and what is read back from them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import compromis as cp
from compromis.errors import InputError, MissingExtra

pytest.importorskip("anywidget", reason="anywidget is not installed")

VOTES = [[3, 1, 0], [2, 2, 1], [0, 4, 0], [1, 1, 3], [0, 2, 2]]
TRUTH = ["a", "b", "b", "c", "c"]


@pytest.fixture
def knobs():
    patterns = cp.Votes.from_proba(TRUTH, VOTES)
    return cp.panel(patterns, preferences=cp.Preferences.prioritise(["b"], metric="f"), weights=[1.0, 2.0, 1.0])


def test_first_it_says_what_was_given(knobs):
    assert knobs.preferences == cp.Preferences.prioritise(["b"], metric="f")
    assert knobs.weights.tolist() == [1.0, 2.0, 1.0]
    assert knobs.trait_metadata("page", "sync")
    assert knobs.trait_metadata("state", "sync")
    assert "export default { render }" in knobs._esm


def test_what_is_set_by_hand_is_read_back(knobs):
    preferences = {
        "metric": "kulczynski",
        "classes": [
            {"importance": 2.0, "precision_at_full_recall": 0.3, "recall_at_full_precision": 0.4, "recall_weight": None, "min_precision": None, "min_recall": 0.5},
            {"importance": 1.0, "precision_at_full_recall": None, "recall_at_full_precision": None, "recall_weight": 0.7, "min_precision": 0.1, "min_recall": None},
            {"importance": 0.0, "precision_at_full_recall": 0.8, "recall_at_full_precision": 0.8, "recall_weight": None, "min_precision": None, "min_recall": None},
        ],
    }  # fmt: skip
    knobs.state = {"preferences": preferences, "weights": [3.0, 1.0, 0.5]}
    expected = cp.Preferences(
        {
            "a": cp.Preference(2, 0.3, 0.4, min_recall=0.5),
            "b": cp.Preference(recall_weight=0.7, min_precision=0.1),
            "c": cp.Preference(0, 0.8, 0.8),
        },
        metric="kulczynski",
    )
    assert knobs.preferences == expected
    assert knobs.weights.tolist() == [3.0, 1.0, 0.5]
    predicted = knobs.decision.decide(np.array(VOTES, dtype=float))
    assert predicted.tolist() == ["a", "a", "b", "a", "b"]


def test_an_evaluation_brings_its_votes_and_preferences():
    shares = np.array(VOTES) / np.sum(VOTES, axis=1, keepdims=True)
    result = cp.evaluate(TRUTH, y_proba=shares, preferences=cp.Preferences.prioritise(["c"]))
    knobs = cp.panel(result)
    assert knobs.preferences == result.preferences
    assert (knobs.page["before"], knobs.page["starts"]) == (result.counts.matrix.tolist(), "given")
    assert result.votes.counts(knobs.weights).matrix.tolist() == result.counts.matrix.tolist()


def test_predictions_given_stay_the_result_shown():
    """Not the class of the highest probability."""
    shares = np.array(VOTES) / np.sum(VOTES, axis=1, keepdims=True)
    result = cp.evaluate(TRUTH, ["c", "c", "c", "c", "a"], y_proba=shares)
    page = cp.panel(result).page
    assert (page["before"], page["weighed"], page["starts"]) == (result.counts.matrix.tolist(), False, "given")


def test_readers_without_a_kernel_see_the_result(knobs):
    data, _ = knobs._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<table" in data["text/html"]
    assert "<script" not in data["text/html"]
    assert data["text/plain"].startswith("<panel of <Evaluation of 5 rows, 3 classes, loss ")
    assert "Finds 2 of 2 b" in data["text/plain"]


def test_without_votes_there_is_nothing_to_turn():
    with pytest.raises(InputError, match="has no votes to weigh"):
        cp.panel(cp.evaluate(["a", "b"], ["a", "a"]))
    with pytest.raises(InputError, match="made of an Evaluation or of Votes, got list"):
        cp.panel([1, 2])


def test_the_extra_is_named(monkeypatch):
    from compromis.reports.panel import widget

    widget._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtra, match=r"pip install 'compromis\[notebook\]'"):
        cp.panel(cp.Votes.from_proba(TRUTH, VOTES))
    widget._widget_class.cache_clear()
