"""Displays in notebooks."""

from __future__ import annotations

import base64
import re

import compromis as cp
from compromis.plots import _fonts
from compromis.plots._base import plain_names


def test_displays_show_themselves_in_notebooks_once(monkeypatch):
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.use("Agg")
    display = cp.plots.PreferenceDisplay(cp.Preferences.prioritise(["a"]))
    assert display._repr_html_() is None
    display.plot()
    picture = display._repr_html_()
    assert base64.b64decode(re.search('base64,([^"]*)"', picture)[1]).startswith(b"\x89PNG")
    assert pyplot.fignum_exists(display.figure_.number)
    monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    assert display._repr_html_().startswith('<img alt="PreferenceDisplay" src="data:image/png;base64,')
    assert not pyplot.get_fignums()
    monkeypatch.setattr(mpl, "get_backend", lambda: "qtagg")
    assert display._repr_html_() is None


def test_names_in_letters_that_no_font_has_stay_short_and_different(monkeypatch):
    monkeypatch.setattr(_fonts, "_font_of", lambda letter: "DejaVu Sans" if letter == "…" else None)
    names = plain_names(["日本語のクラス名", "日本語のクラスの名", "🦊 fox", "日本"])
    assert names[2:] == ["[fox face] fox", "U+65E5U+672C"]
    assert len(set(names)) == 4
    assert max(map(len, names)) <= 28
