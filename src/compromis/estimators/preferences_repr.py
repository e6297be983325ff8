"""Estimators with preferences say them in words below scikit-learn's diagram."""

from __future__ import annotations

from html import escape
from typing import Any

from sklearn.utils import estimator_html_repr

from compromis.errors import shown_label
from compromis.preferences import Preferences

_STYLE = "margin: .4em 0 0; padding: .3em .8em; border-left: .3em solid #1f6f9f; font: 13px/1.5 system-ui, sans-serif;"


class PreferencesReprMixin:
    """A mixin, to stand before BaseEstimator: ``_html_repr`` is what scikit-learn shows in notebooks."""

    preferences: Any

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        if not isinstance(self.preferences, Preferences):
            return diagram
        lines = "<br>".join(escape(shown_label(line)) for line in self.preferences.describe().split("\n"))
        return f'{diagram}<div class="compromis-preferences" style="{_STYLE}"><strong>What matters</strong><br>{lines}</div>'
