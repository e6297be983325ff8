"""Preferences as the page sends and reads them."""

from __future__ import annotations

from typing import Any

import msgspec

import compromis as cp
from compromis.reports import preferences_document


class ClassForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The preference for one class."""

    label: str
    importance: float = 1.0
    precision_at_full_recall: float | None = None
    recall_at_full_precision: float | None = None
    recall_weight: float | None = None
    min_precision: float | None = None
    min_recall: float | None = None
    max_share: float | None = None
    confidence: float | None = None

    def answers(self) -> dict[str, float | None]:
        """Return the arguments of a `compromis.Preference`."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "label"}


class CostForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What each decision costs, rows the truth."""

    labels: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]


class PreferencesForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Preferences that name each class."""

    metric: str = "f"
    classes: tuple[ClassForm, ...] = ()
    cost: CostForm | None = None

    def preferences(self, labels: tuple[Any, ...] | None = None) -> cp.Preferences:
        """Return the preferences; with `labels`, those of these classes only."""
        rows = {row.label: row for row in self.classes}
        if len(rows) < len(self.classes):
            raise cp.InputError("each class stands once in preferences")
        wanted = {label: row.answers() for label, row in rows.items() if labels is None or label in labels}
        costs: dict[str, Any] = {} if self.cost is None else {"cost": self.cost.matrix, "labels": self.cost.labels}
        return cp.Preferences(wanted, metric=self.metric, **costs)


def form_of(preferences: cp.Preferences, classes: tuple[Any, ...]) -> dict[str, Any]:
    """Return preferences as the content of a form that names each class."""
    document = preferences_document(preferences, classes)
    rows = [{"label": str(label), **row} for label, row in zip(classes, document["classes"], strict=True)]
    return {**document, "classes": rows}
