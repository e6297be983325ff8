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
        return Preference(**{name: getattr(self, name) for name in self.__struct_fields__ if name != "label"})


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


def _class_form(label: str, preference: Preference) -> ClassForm:
    precision, recall = preference.answers or (None, None)
    return ClassForm(
        label,
        float(preference.importance),
        precision,
        recall,
        preference.recall_weight_for("f") if preference.answers is None else None,
        preference.min_precision,
        preference.min_recall,
    )
