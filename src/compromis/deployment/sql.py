"""A decision as a CASE expression of SQL, in which labels and column names can be nothing but labels and column names."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compromis._text import nearest, shown
from compromis._typing import Label
from compromis.errors import InputError
from compromis.labels import plain_label


@dataclass(frozen=True, slots=True)
class _Dialect:
    number_type: str
    """What columns are cast to; empty where that is not needed."""
    number: Callable[[float], str]
    finite: str
    """What follows a number to say that it is neither infinite nor NaN."""
    name: Callable[[str], str]
    text: Callable[[str], str]
    truth: tuple[str, str] = ("FALSE", "TRUE")


def case_expression(
    classes: Sequence[Label],
    weights: Sequence[float],
    smoothing: float,
    columns: Mapping[Any, str] | Sequence[str] | None,
    dialect: str,
    checked: bool,
) -> str:
    """Return the expression; see `compromis.Decision.to_sql`."""
    if dialect not in DIALECTS:
        raise InputError(
            f"there is no dialect {dialect!r}{nearest(dialect, DIALECTS)}; choose one of {', '.join(DIALECTS)}"
        )
    spoken = DIALECTS[dialect]
    names = [spoken.name(_checked(name)) for name in _column_names(classes, columns)]
    votes = [f"CAST({name} AS {spoken.number_type})" for name in names] if spoken.number_type else names
    background = f" + {spoken.number(smoothing)}" if smoothing else ""
    scores = [f"({vote}{background}) * {spoken.number(weight)}" for vote, weight in zip(votes, weights, strict=True)]
    labels = [_label(label, spoken) for label in classes]
    if not checked:
        return _largest(scores, labels)
    valid = " AND ".join([*(f"{vote} >= 0" for vote in votes), f"{' + '.join(votes)} {spoken.finite}"])
    return f"CASE WHEN {valid} THEN\n{_largest(scores, labels)}\nEND"


def _largest(scores: Sequence[str], labels: Sequence[str]) -> str:
    """The first class that none of those after it exceeds: those before it have lost already."""
    branches = [
        f"  WHEN {' AND '.join(f'{score} >= {other}' for other in scores[k + 1 :])} THEN {labels[k]}"
        for k, score in enumerate(scores[:-1])
    ]
    return "\n".join(["CASE", *branches, f"  ELSE {labels[-1]} END"]) if branches else labels[-1]


def _column_names(classes: Sequence[Label], columns: Mapping[Any, str] | Sequence[str] | None) -> list[str]:
    if columns is None:
        return [str(label) for label in classes]
    if isinstance(columns, Mapping):
        by_label = {plain_label(label): name for label, name in columns.items()}
        missing = [label for label in classes if label not in by_label]
        unknown = [label for label in by_label if label not in classes]
        if missing or unknown:
            raise InputError(
                f"columns names a column for each class: {shown(missing or unknown)} "
                f"{'has none' if missing else 'is no class'}; the classes are {shown(classes)}"
            )
        return [by_label[label] for label in classes]
    names = [columns] if isinstance(columns, str) else list(columns)
    if len(names) != len(classes):
        raise InputError(f"there are {len(classes)} classes, so {len(classes)} columns are needed, got {shown(names)}")
    return names


def _checked(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise InputError(f"a column name is text of at least one character, got {name!r}")
    return _encodable(name, "column name")


def _encodable(text: str, what: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"the {what} {text!r} is not valid Unicode; rename it") from None
    if "\0" in text:
        raise InputError(f"the {what} {text!r} holds a null character, which SQL cannot; rename it")
    return text


def _label(label: Label, spoken: _Dialect) -> str:
    if isinstance(label, bool):
        return spoken.truth[label]
    if isinstance(label, int):
        if not -(2**63) < label < 2**63:
            raise InputError(f"the label {label} does not fit into 64 bits; use a smaller number or text")
        return f"({label})" if label < 0 else str(label)
    if isinstance(label, float) and math.isfinite(label):
        return spoken.number(label)
    if isinstance(label, str):
        return spoken.text(_encodable(label, "label"))
    raise InputError(f"SQL takes labels that are text, numbers or true/false, got {label!r} ({type(label).__name__})")


def _in_double_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _postgres_text(text: str) -> str:
    """What a backslash means in plain quotes depends on a setting; after E it does not."""
    return "E" + _in_quotes(text.replace("\\", "\\\\")) if "\\" in text else _in_quotes(text)


def _spark_text(text: str) -> str:
    """Whether Spark's quotes are escaped by doubling or by a backslash depends on version and settings; bytes do not."""
    plain = all(mark.isalnum() or mark in " _-.,:;/+()" for mark in text)
    return f"'{text}'" if plain else f"CAST(X'{text.encode().hex().upper()}' AS STRING)"


def _cast_to(number_type: str) -> Callable[[float], str]:
    """As text to be cast: a bare 0.1 is a decimal number to some engines."""
    return lambda number: f"CAST('{number!r}' AS {number_type})"


def _sqlite_number(number: float) -> str:
    """As a quotient of whole numbers, which is exact: SQLite's own reading of decimals is off by one bit now and then."""
    above, below = number.as_integer_ratio()
    if abs(above) < 2**63 and below < 2**63:
        return f"(CAST({above} AS REAL) / {below})"
    return repr(number)


_FINITE = f"<= CAST('{sys.float_info.max!r}' AS {{}})"

DIALECTS = {
    "ansi": _Dialect(
        "DOUBLE PRECISION",
        _cast_to("DOUBLE PRECISION"),
        _FINITE.format("DOUBLE PRECISION"),
        _in_double_quotes,
        _in_quotes,
    ),
    "duckdb": _Dialect("DOUBLE", _cast_to("DOUBLE"), _FINITE.format("DOUBLE"), _in_double_quotes, _in_quotes),
    "postgres": _Dialect(
        "DOUBLE PRECISION",
        _cast_to("DOUBLE PRECISION"),
        _FINITE.format("DOUBLE PRECISION"),
        _in_double_quotes,
        _postgres_text,
    ),
    "spark": _Dialect("DOUBLE", _cast_to("DOUBLE"), _FINITE.format("DOUBLE"), _in_backticks, _spark_text),
    # SQLite takes a double-quoted name that no column has for a text: a missing column would go unnoticed
    # a product with a REAL is one, whatever the column holds; a cast would cost a third of the time
    "sqlite": _Dialect("", _sqlite_number, "< 9e999", _in_backticks, _in_quotes, ("0", "1")),
}
