"""The diagram of critical differences."""

from __future__ import annotations

import sys

import pytest

import compromis as cp


def test_the_diagram_draws_what_was_computed(rng):
    pytest.importorskip("matplotlib")
    found = cp.uncertainty.compare_over_data_sets({f"m{k}": rng.normal(k / 2, 1, 10) for k in range(5)})
    display = cp.plots.CriticalDifferenceDisplay(found).plot()
    texts = [text.get_text() for text in display.ax_.texts]
    for name, rank in zip(found.models, found.mean_ranks, strict=True):
        assert any(f"{name} ({rank:.2f})" in text for text in texts)
    assert f"critical difference {found.critical_difference:.2f}" in texts
    assert display.columns()["mean_rank"] == found.mean_ranks.tolist()


def test_drawing_without_matplotlib(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = cp.uncertainty.compare_over_data_sets({"a": [1, 2], "b": [2, 1]})
    with pytest.raises(cp.MissingExtra, match=r"compromis\[plot\]"):
        cp.plots.CriticalDifferenceDisplay(found).plot()
