"""Preferences as the page writes them."""

from __future__ import annotations

from typing import Any

import msgspec

from compromis.errors import InputError
from compromis.preferences import Preference, Preferences


class ClassForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is wanted of one class."""

    label: str
    importance: float = 1.0
    precision_at_full_recall: float | None = None
    recall_at_full_precision: float | None = None
    recall_weight: float | None = None
    min_precision: float | None = None
    min_recall: float | None = None

    def preference(self) -> Preference:
        """Return it as a preference; answers left out are the usual ones."""
        floors = (self.min_precision, self.min_recall)
        if self.recall_weight is not None:
            return Preference(self.importance, None, None, *floors, self.recall_weight)
        usual = Preference()
        return Preference(
            self.importance,
            usual.precision_at_full_recall if self.precision_at_full_recall is None else self.precision_at_full_recall,
            usual.recall_at_full_precision if self.recall_at_full_precision is None else self.recall_at_full_precision,
            *floors,
        )


class PreferencesForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is wanted of all classes, each named."""

    metric: str = "kulczynski"
    classes: tuple[ClassForm, ...] = ()

    def preferences(self, labels: tuple[Any, ...] | None = None) -> Preferences:
        """Return it as preferences, of the classes in `labels` only if they are given."""
        named = {one.label: one.preference() for one in self.classes if labels is None or one.label in labels}
        if len({one.label for one in self.classes}) < len(self.classes):
            raise InputError("each class stands once in preferences")
        return Preferences(named, metric=self.metric)


def form_of(preferences: Preferences, classes: tuple[Any, ...]) -> PreferencesForm:
    """Return preferences as a form that names each of the classes."""
    return PreferencesForm(
        preferences.metric.name, tuple(_class_form(str(label), preferences.of(label)) for label in classes)
    )


def answers(one: ClassForm) -> dict[str, float | None]:
    """Return what is wanted of a class without its label, as the panel keeps it."""
    return {name: getattr(one, name) for name in ClassForm.__struct_fields__ if name != "label"}


def _class_form(label: str, one: Preference) -> ClassForm:
    return ClassForm(
        label,
        float(one.importance),
        one.precision_at_full_recall,
        one.recall_at_full_precision,
        one.given_recall_weight,
        one.min_precision,
        one.min_recall,
    )
