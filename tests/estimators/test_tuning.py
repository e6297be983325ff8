"""Estimators with preferences in notebooks."""

from __future__ import annotations

import html

import compromis as cp


def test_estimators_say_their_preferences_below_the_diagram():
    from sklearn.ensemble import RandomForestClassifier

    preferences = cp.Preferences({"<b>bad</b>": cp.Preference(10, 0.1, 0.9)}, metric="f")
    for model in (
        cp.TunedDecisionClassifier(RandomForestClassifier(2), preferences=preferences),
        cp.PragmaTreeClassifier(preferences=preferences),
        cp.PragmaForestClassifier(preferences=preferences),
    ):
        shown = model._repr_mimebundle_()["text/html"]
        assert "<b>bad" not in shown
        for line in preferences.describe().split("\n"):
            assert html.escape(line) in shown
    assert "What matters" not in cp.PragmaTreeClassifier()._repr_html_()
