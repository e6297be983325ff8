"""Saving: preferences as TOML, weights as a decision in JSON, the report as HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from compromis.preferences import Preferences
from compromis.studio.forms import PreferencesForm, form_of
from compromis.studio.jobs import Report
from compromis.studio.workspace import Model, Workspace
from compromis.weights.decision import Decision


class SaveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to save under which name: the preferences and the weights as the page shows them."""

    model: str
    preferences: PreferencesForm
    weights: list[float]
    kind: str
    name: str
    replace: bool = False


def save(workspace: Workspace, asked: SaveRequest, report: Report) -> dict[str, Any]:
    """Write one file into the output folder, and return its path."""
    suffix, text = KINDS[asked.kind]
    model = workspace.model(asked.model)
    decision = Decision(model.patterns.classes, asked.weights, model.smoothing)  # type: ignore[arg-type]
    report(0.1, "")
    path = workspace.places.save(asked.name, suffix, text(model, asked.preferences, decision), replace=asked.replace)
    return {"path": str(path), "bytes": path.stat().st_size}


def read_preferences(toml: str, classes: tuple[Any, ...]) -> PreferencesForm:
    """Return the preferences in TOML text as a form for these classes."""
    preferences = Preferences.from_toml_text(toml, name="this file")
    preferences.on(classes)
    return form_of(preferences, classes)


def _preferences(model: Model, form: PreferencesForm, _: Decision) -> str:
    return form.preferences(model.patterns.classes).to_toml_text()


def _weights(_: Model, __: PreferencesForm, decision: Decision) -> str:
    return decision.to_json() + "\n"


def _report(model: Model, form: PreferencesForm, decision: Decision) -> str:
    from compromis.reports.result import report

    made = report(
        model.patterns,
        preferences=form.preferences(model.patterns.classes),
        weights=decision.weights,
        smoothing=decision.smoothing,
        confidence=0.95,
        title=model.name,
    )
    return made.html


KINDS: dict[str, tuple[str, Callable[[Model, PreferencesForm, Decision], str]]] = {
    "preferences": (".toml", _preferences),
    "weights": (".json", _weights),
    "report": (".html", _report),
}
