"""Displays in notebooks."""

from __future__ import annotations

import base64
import re

import compromis as cp


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
