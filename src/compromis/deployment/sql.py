"""A decision as a CASE expression of SQL; labels and column names are quoted so that they cannot become code."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compromis._text import shown, unknown_name
from compromis._typing import Label
from compromis.errors import InputError
from compromis.evidence.scores import part_of_votes
from compromis.labels import column_of_each_class, in_order_of, plain_label

if TYPE_CHECKING:
    from compromis.weights.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dialect:
    number_type: str
    """The type that columns are cast to; empty for no cast."""
    number: Callable[[float], str]
    finite: str
    """The test, written after a number, that it is neither infinite nor NaN."""
    name: Callable[[str], str]
    text: Callable[[str], str]
    truth: tuple[str, str] = ("FALSE", "TRUE")


def to_sql(
    decision: Decision,
    columns: Mapping[Any, str] | Sequence[str] | None = None,
    dialect: str = "ansi",
    *,
    checked: bool = True,
    review: bool = False,
) -> str:
    """Return a decision as a CASE expression of SQL; `compromis.Decision.to_sql` explains the parameters.

    Examples
    --------
    >>> import compromis as cp
    >>> print(cp.deployment.to_sql(cp.Decision(("good", "bad"), [1, 3]), ["p_good", "p_bad"], "sqlite", checked=False))
    CASE
      WHEN (`p_good`) * (CAST(1 AS REAL) / 1) >= (`p_bad`) * (CAST(3 AS REAL) / 1) THEN 'good'
      ELSE 'bad' END
    """
    if dialect not in DIALECTS:
        raise InputError(unknown_name("dialect", dialect, DIALECTS))
    sql = DIALECTS[dialect]
    names = [sql.name(_checked(name)) for name in _column_names(decision.classes, columns)]
    votes = [f"CAST({name} AS {sql.number_type})" for name in names] if sql.number_type else names
    background = f" + {sql.number(float(decision.smoothing))}" if decision.smoothing else ""
    weights = decision.weights.tolist()
    scores = [f"({vote}{background}) * {sql.number(weight)}" for vote, weight in zip(votes, weights, strict=True)]
    labels = [_label(label, sql) for label in decision.classes]
    expression = _to_review(decision, scores, sql) if review else _largest(scores, labels)
    if not checked:
        return expression
    # small parts add up: the sum of finite votes may be infinite
    part = sql.number(part_of_votes(len(votes)))
    total = " + ".join(f"{vote} * {part}" for vote in votes)
    valid = " AND ".join([*(f"{vote} >= 0" for vote in votes), f"{total} {sql.finite}"])
    return f"CASE WHEN {valid} THEN\n{expression}\nEND"


def _largest(scores: Sequence[str], labels: Sequence[str]) -> str:
    """Return the CASE for the first class that no later class exceeds; the classes before it have lost already."""
    branches = [
        f"  WHEN {' AND '.join(f'{score} >= {other}' for other in scores[k + 1 :])} THEN {labels[k]}"
        for k, score in enumerate(scores[:-1])
    ]
    return "\n".join(["CASE", *branches, f"  ELSE {labels[-1]} END"]) if branches else labels[-1]


def _to_review(decision: Decision, scores: Sequence[str], sql: _Dialect) -> str:
    """Return the CASE for whether a person looks at the row: no class has votes that reach the ratio times every other's."""
    no, yes = sql.truth
    if decision.review is None:
        return no
    ratio = sql.number(decision.review)
    alone = [
        " AND ".join([f"{own} > 0", *(f"{own} >= ({other}) * {ratio}" for j, other in enumerate(scores) if j != k)])
        for k, own in enumerate(scores)
    ]
    branches = [f"  WHEN {condition} THEN {no}" for condition in alone]
    return "\n".join(["CASE", *branches, f"  ELSE {yes} END"])


def _column_names(classes: Sequence[Label], columns: Mapping[Any, str] | Sequence[str] | None) -> list[str]:
    if columns is None:
        return [str(label) for label in classes]
    if isinstance(columns, Mapping):
        by_class = column_of_each_class(columns, classes=classes, class_first=True)
        if by_class is not None:
            return [by_class[label] for label in classes]
        by_label = {plain_label(label): name for label, name in columns.items()}
        missing = [label for label in classes if label not in by_label]
        unknown = [label for label in by_label if label not in classes]
        raise InputError(
            f"columns names a column for each class: {shown(missing or unknown)} "
            f"{'has none' if missing else 'is no class'}; the classes are {shown(classes)}"
        )
    names = [columns] if isinstance(columns, str) else list(columns)
    if len(names) != len(classes):
        raise InputError(f"there are {len(classes)} classes, so {len(classes)} columns are needed, got {shown(names)}")
    return in_order_of(names, classes)


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


def _label(label: Label, sql: _Dialect) -> str:
    if isinstance(label, bool):
        return sql.truth[label]
    if isinstance(label, int):
        if not -(2**63) < label < 2**63:
            raise InputError(f"the label {label} does not fit into 64 bits; use a smaller number or text")
        return f"({label})" if label < 0 else str(label)
    if isinstance(label, float) and math.isfinite(label):
        return sql.number(label)
    if isinstance(label, str):
        return sql.text(_encodable(label, "label"))
    raise InputError(f"SQL takes labels that are text, numbers or true/false, got {label!r} ({type(label).__name__})")


def _quoting(quote: str, *, lacks: str = "", escapes: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """Return what quotes a text or a name: escapes stand for some characters, others are refused; the quote itself is doubled.

    Parameters
    ----------
    quote : str
        What stands at both ends; two different ones for brackets.
    lacks : str
        Characters that the database cannot hold there.
    escapes : mapping, optional
        What stands for a character.
    """
    first, last = quote[0], quote[-1]
    table = str.maketrans({last: last * 2} | dict(escapes or {}))

    def quoted(text: str) -> str:
        for mark in lacks:
            if mark in text:
                raise InputError(f"the database cannot hold {mark!r} in the name {text!r}; rename it")
        return f"{first}{text.translate(table)}{last}"

    return quoted


def _of_one_meaning(quote: str) -> Callable[[str], str]:
    """Return what quotes for a database that is not known: a text that some databases read in another way is refused.

    Some take a backslash for an escape, and BigQuery takes three quotes for the beginning or the end of a text.
    """
    plain = _quoting(quote)

    def quoted(text: str) -> str:
        made = plain(text)
        if "\\" in text or quote * 3 in made:
            raise InputError(
                f"databases read {text!r} in different ways; choose the dialect of yours: {', '.join(list(DIALECTS)[1:])}"
            )
        return made

    return quoted


_in_double_quotes, _in_backticks, _in_quotes = map(_quoting, ('"', "`", "'"))
_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}


def _postgres_text(text: str) -> str:
    """Quote text: in plain quotes the meaning of a backslash depends on a setting, after E it does not."""
    return "E" + _in_quotes(text.replace("\\", "\\\\")) if "\\" in text else _in_quotes(text)


def _redshift_text(text: str) -> str:
    """Quote text, a backslash by its number: Redshift has no E, and its quotes are those of an old PostgreSQL."""
    return " || CHR(92) || ".join(map(_in_quotes, text.split("\\")))


def _tsql_text(text: str) -> str:
    """Quote text, a backslash by its number: before a line end it would take itself and the line end away."""
    return " + NCHAR(92) + ".join("N" + _in_quotes(part) for part in text.split("\\"))


def _oracle_text(text: str) -> str:
    if not text:
        raise InputError("Oracle takes an empty text for NULL; rename the label ''")
    return _in_quotes(text)


def _in_bytes(text: str, around: str, *, letters: bool = True) -> str:
    """Quote text; anything unusual is written as bytes, because how a quote is escaped depends on version and settings."""
    plain = letters and all(char.isalnum() or char in " _-.,:;/+()" for char in text)
    return f"'{text}'" if plain else around.format(f"X'{text.encode().hex().upper()}'")


def _spark_text(text: str) -> str:
    return _in_bytes(text, "CAST({} AS STRING)")


def _mysql_text(text: str) -> str:
    return _in_bytes(text, "CONVERT({} USING utf8mb4)", letters=text.isascii())  # else the connection's letters count


def _sqlite_number(number: float) -> str:
    """Write a number as a quotient of whole numbers, which is exact: SQLite reads some decimals wrong by one bit."""
    numerator, denominator = number.as_integer_ratio()
    if abs(numerator) < 2**63 and denominator < 2**63:
        return f"(CAST({numerator} AS REAL) / {denominator})"
    return repr(number)


def _casting(
    number_type: str,
    name: Callable[[str], str],
    text: Callable[[str], str],
    truth: tuple[str, str] = ("FALSE", "TRUE"),
) -> _Dialect:
    """Return a dialect that casts columns, and weights written as text: some engines take a bare 0.1 for a decimal."""

    def number(value: float) -> str:
        return f"CAST('{value!r}' AS {number_type})"

    largest = number(sys.float_info.max)
    return _Dialect(number_type=number_type, number=number, finite=f"<= {largest}", name=name, text=text, truth=truth)


DIALECTS = {
    "ansi": _casting("DOUBLE PRECISION", _of_one_meaning('"'), _of_one_meaning("'")),
    "bigquery": _casting("FLOAT64", _quoting("`", lacks="`\\\n\r"), _quoting("'", escapes=_ESCAPED)),
    # A column that may be NULL stays so; a name is escaped as a text is.
    "clickhouse": _casting(
        "Nullable(Float64)", _quoting('"', escapes={"\\": "\\\\", '"': '\\"'}), _quoting("'", escapes=_ESCAPED)
    ),
    "databricks": _casting("DOUBLE", _in_backticks, _spark_text),
    "duckdb": _casting("DOUBLE", _in_double_quotes, _in_quotes),
    "mysql": _casting("DOUBLE", _in_backticks, _mysql_text),
    # A bare number: how Oracle reads a text as one depends on the language of the session.
    "oracle": _Dialect(
        number_type="BINARY_DOUBLE",
        number=lambda value: f"CAST({value!r} AS BINARY_DOUBLE)",
        finite="< BINARY_DOUBLE_INFINITY",
        name=_quoting('"', lacks='"'),
        text=_oracle_text,
        truth=("0", "1"),
    ),
    "postgres": _casting("DOUBLE PRECISION", _in_double_quotes, _postgres_text),
    "redshift": _casting("DOUBLE PRECISION", _in_double_quotes, _redshift_text),
    "snowflake": _casting("DOUBLE", _in_double_quotes, _quoting("'", escapes={"\\": "\\\\"})),
    "spark": _casting("DOUBLE", _in_backticks, _spark_text),
    # Backticks: SQLite reads a double-quoted name that no column has as text, so a missing column would go unnoticed.
    # No cast: a product with a REAL is REAL whatever the column holds, and a cast would cost a third of the time.
    "sqlite": _Dialect(
        number_type="", number=_sqlite_number, finite="< 9e999", name=_in_backticks, text=_in_quotes, truth=("0", "1")
    ),
    "trino": _casting("DOUBLE", _in_double_quotes, _in_quotes),
    "tsql": _casting("FLOAT", _quoting("[]"), _tsql_text, truth=("CAST(0 AS BIT)", "CAST(1 AS BIT)")),
}
