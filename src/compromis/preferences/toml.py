"""Preferences as TOML: one [[class]] table for each special class, with a typed label."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from compromis.errors import InputError, nearest, shown
from compromis.files import write_whole
from compromis.metrics import METRICS
from compromis.preferences.preference import Preference
from compromis.preferences.preferences import Preferences


class _Answers(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    importance: float = 1.0
    precision_at_full_recall: float | None = None
    recall_at_full_precision: float | None = None
    recall_weight: float | None = None
    min_precision: float | None = None
    min_recall: float | None = None

    def preference(self) -> Preference:
        if self.recall_weight is not None:
            return Preference(
                self.importance,
                self.precision_at_full_recall,
                self.recall_at_full_precision,
                self.min_precision,
                self.min_recall,
                self.recall_weight,
            )
        fallback = Preference()
        return Preference(
            self.importance,
            fallback.precision_at_full_recall
            if self.precision_at_full_recall is None
            else self.precision_at_full_recall,
            fallback.recall_at_full_precision
            if self.recall_at_full_precision is None
            else self.recall_at_full_precision,
            self.min_precision,
            self.min_recall,
        )


class _ClassAnswers(_Answers, kw_only=True, forbid_unknown_fields=True):
    label: bool | int | float | str


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    metric: str = "kulczynski"
    default: _Answers = msgspec.field(default_factory=_Answers)
    classes: list[_ClassAnswers] = msgspec.field(name="class", default_factory=list)


def read_preferences(path: str | os.PathLike[str]) -> Preferences:
    """Return the preferences in the file."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        document = msgspec.convert(table, _Document)
        return Preferences(_unique(document.classes), document.default.preference(), document.metric)
    except msgspec.ValidationError as error:
        raise InputError(f"{os.fspath(path)} is not a preferences file: {_in_words(str(error))}") from error
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise InputError(f"{os.fspath(path)} is not a preferences file: {error}") from error


_COMPLAINT = re.compile(
    r"(?:Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`|Object contains unknown field `(?P<unknown>.*?)`|"
    r"Object missing required field `(?P<missing>\w+)`)"
    r"(?: - at `\$\.?(?P<table>default|class)?(?:\[(?P<number>\d+)\])?\.?(?P<name>\w*)`)?",
    re.DOTALL,
)
_TABLES: dict[str | None, tuple[str, type[msgspec.Struct]]] = {
    None: ("the head of the file", _Document), "default": ("[default]", _Answers), "class": ("[[class]]", _ClassAnswers),
}  # fmt: skip
_KINDS = {
    "str": "text", "int": "a number", "float": "a number", "bool": "true or false", "object": "a table", "array": "a list",
    "date": "a date", "datetime": "a date", "time": "a time",
}  # fmt: skip


def _in_words(complaint: str) -> str:
    """Return what msgspec says about the document in the words of somebody who wrote it by hand."""
    found = _COMPLAINT.fullmatch(complaint)
    if found is None:
        return complaint
    title, fields = _TABLES[found["table"]]
    place = title if found["number"] is None else f"{title} number {int(found['number']) + 1}"
    if found["unknown"] is not None:
        return _unknown(found["unknown"], place, fields)
    if found["missing"] is not None:
        return f"{place} lacks its {found['missing']}"
    if found["name"]:
        place = found["name"] if found["table"] is None else f"{found['name']} of {place}"
    elif found["table"] == "class" and found["number"] is None:
        return f"each class is a table of its own under [[class]], with two brackets, got {_kind(found['got'])}"
    return f"{place} must be {_kind(found['wanted'])}, got {_kind(found['got'])}"


def _unknown(name: str, place: str, fields: type[msgspec.Struct]) -> str:
    titles = [title for title, other in _TABLES.values() if name in _names(other)]
    if titles:
        return f"{place} has {name!r}, which belongs in {' or '.join(titles)}"
    return f"{place} has {shown([name])}, which means nothing here{nearest(name, _names(fields))}"


def _names(fields: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(fields)]


def _kind(name: str) -> str:
    kinds = dict.fromkeys(_KINDS.get(one, one) for one in name.split(" | ") if one != "null")
    return " or ".join(kinds)


def write_preferences(preferences: Preferences, path: str | os.PathLike[str]) -> None:
    """Write the preferences to the file, whole or not at all."""
    write_whole(path, preferences_text(preferences))


def preferences_text(preferences: Preferences) -> str:
    """Return the preferences as TOML text."""
    import tomli_w

    if METRICS.get(preferences.metric.name) is not preferences.metric:
        raise InputError(
            f"the metric {preferences.metric.name!r} is your own code, which a file cannot hold; write it with one of {', '.join(METRICS)}"
        )
    classes = [
        {"label": _writable(label), **_answers(preference)} for label, preference in preferences.by_class.items()
    ]
    return tomli_w.dumps(
        {"metric": preferences.metric.name, "default": _answers(preferences.default), "class": classes}
    )


def _unique(classes: list[_ClassAnswers]) -> dict[Any, Preference]:
    by_class: dict[Any, Preference] = {}
    for answers in classes:
        if answers.label in by_class:
            raise InputError(f"the class {answers.label!r} stands there twice; keep one of the two")
        by_class[answers.label] = answers.preference()
    return by_class


def _answers(preference: Preference) -> dict[str, float]:
    fields = {
        "importance": float(preference.importance),
        "precision_at_full_recall": preference.precision_at_full_recall,
        "recall_at_full_precision": preference.recall_at_full_precision,
        "recall_weight": preference.given_recall_weight,
        "min_precision": preference.min_precision,
        "min_recall": preference.min_recall,
    }
    return {name: float(value) for name, value in fields.items() if value is not None}


def _writable(label: Any) -> bool | int | float | str:
    if not isinstance(label, (bool, int, float, str)):
        raise InputError(
            f"a preferences file holds labels that are text, numbers or true/false, got {label!r} ({type(label).__name__})"
        )
    return label
