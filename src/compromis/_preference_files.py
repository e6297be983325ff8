"""Preferences as TOML: what a file may hold, and messages in the words of somebody who wrote it by hand."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import msgspec

from compromis._text import nearest, shown
from compromis.errors import InputError


class _Answers(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    importance: float = 1.0
    precision_at_full_recall: float | None = None
    recall_at_full_precision: float | None = None
    beta: float | None = None
    recall_weight: float | None = None
    min_precision: float | None = None
    min_recall: float | None = None
    max_share: float | None = None
    confidence: float | None = None

    def given(self) -> dict[str, Any]:
        """Return the arguments of a `compromis.Preference`."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if name != "label"}


class _ClassAnswers(_Answers, kw_only=True, forbid_unknown_fields=True):
    label: bool | int | float | str


class _Cost(msgspec.Struct, forbid_unknown_fields=True):
    labels: list[bool | int | float | str]
    matrix: list[list[float | str]]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    metric: str = "f"
    cost: _Cost | None = None
    default: _Answers = msgspec.field(default_factory=_Answers)
    classes: list[_ClassAnswers] = msgspec.field(name="class", default_factory=list)


_TEXTS = re.compile(
    r'"""[^"\\]*+(?:(?:\\.|"{1,2}(?!"))[^"\\]*+)*+(?:"{3,5}+|\Z)|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?+|'
    r"'''[^']*+(?:'{1,2}(?!')[^']*+)*+(?:'{3,5}+|\Z)|'[^'\n]*+'?+|#[^\n]*+",
    re.DOTALL,
)
"""Texts and comments of TOML; what is never closed goes on to the end."""
_LONG_KEY = re.compile(r'(?:\.[ \t]*+(?:[\w-]++|"")[ \t]*+){16}')
"""Names joined by dots, of which tomllib holds every beginning: 100,000 of them are 200 kB of text and 40 GB of memory."""


def read_document(text: str) -> dict[str, Any]:
    """Return the arguments of `compromis.Preferences` in TOML text, each preference as its arguments; ValueError if it is none."""
    if _LONG_KEY.search(_TEXTS.sub('""', text)):
        raise ValueError("it joins more than 16 names by dots; preferences have one name, or two")
    table = tomllib.loads(text)
    if "index" in table:
        raise ValueError("it was written for compromis 0.1.0, which was never published; what was index is metric now")
    try:
        document = msgspec.convert(table, _Document)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(str(error))) from error
    costs: dict[str, Any] = (
        {} if document.cost is None else {"cost": document.cost.matrix, "labels": document.cost.labels}
    )
    return {
        "by_class": _unique(document.classes),
        "default": document.default.given(),
        "metric": document.metric,
        **costs,
    }


def write_document(
    by_class: Mapping[Any, dict[str, float]], default: dict[str, float], metric: str, cost: Any, labels: Any
) -> str:
    """Return TOML text, labels typed, so that 1 and "1" stay different."""
    import tomli_w

    classes = [{"label": _writable(label), **given} for label, given in by_class.items()]
    document: dict[str, Any] = {"metric": metric, "default": default, "class": classes}
    if cost is not None:
        document["cost"] = {"labels": [_writable(label) for label in labels], "matrix": cost}
    return tomli_w.dumps(document)


_MESSAGE = re.compile(
    r"(?:Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`|Object contains unknown field `(?P<unknown>.*?)`|"
    r"Object missing required field `(?P<missing>\w+)`)"
    r"(?: - at `\$\.?(?P<table>default|class|cost)?(?:\[(?P<number>\d+)\])?\.?(?P<name>\w*)(?:\[(?:\.\.\.|\d+)\])*`)?",
    re.DOTALL,
)
_TABLES: dict[str | None, tuple[str, type[msgspec.Struct]]] = {
    None: ("the head of the file", _Document), "default": ("[default]", _Answers), "class": ("[[class]]", _ClassAnswers),
    "cost": ("[cost]", _Cost),
}  # fmt: skip
_KINDS = {
    "str": "text", "int": "a number", "float": "a number", "bool": "true or false", "object": "a table", "array": "a list",
    "date": "a date", "datetime": "a date", "time": "a time",
}  # fmt: skip


def _in_words(error: str) -> str:
    """Return a message of msgspec in the words of somebody who wrote the file by hand."""
    found = _MESSAGE.fullmatch(error)
    if found is None:
        return error
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


def _unique(classes: list[_ClassAnswers]) -> dict[Any, dict[str, Any]]:
    by_class: dict[Any, dict[str, Any]] = {}
    for answers in classes:
        if answers.label in by_class:
            raise InputError(f"the class {answers.label!r} stands there twice; keep one of the two")
        by_class[answers.label] = answers.given()
    return by_class


def _writable(label: Any) -> bool | int | float | str:
    if not isinstance(label, (bool, int, float, str)):
        raise InputError(
            f"a preferences file holds labels that are text, numbers or true/false, got {label!r} ({type(label).__name__})"
        )
    return label
