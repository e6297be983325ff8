"""compromis tune: the library's weights, from rows and from evidence."""

from __future__ import annotations

import pytest

import compromis as cp
from tests.command_line import run


def test_tune_is_the_librarys(votes, tmp_path):
    path, truth, shares = votes
    done = run(
        "tune", path, "--truth", "truth", "--proba", "p_", "--prioritise", "b", "--metric", "f", "--output", "w.json"
    )
    assert done.exit_code == 0, done.output
    expected = cp.search_weights(
        truth, shares, preferences=cp.Preferences.prioritise(["b"], metric="f"), random_state=0
    )
    decision = cp.Decision.from_json("w.json")
    assert decision.classes == ("a", "b")
    assert decision.weights == pytest.approx(expected.weights)
    assert f"Loss {expected.loss:.4f}, proven to be the best" in done.stdout
    assert done.stdout.startswith("Tuned: finds ")
    assert f"Verdict: {expected.verdict.word}" in done.stdout
    assert "Before, with equal weights: " in done.stdout
