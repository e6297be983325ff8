"""The protocol of results: one description, five renderings."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from compromis._files import VERSION, write_whole
from compromis._text import (
    WIDTH,
    Table,
    bounds,
    capitalised,
    code,
    count,
    fixed,
    markdown_table,
    paragraph,
    prose,
    short_names,
    shortened_middle,
    shown_label,
    text_table,
    tone_of,
    unknown_name,
)
from compromis.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import jinja2


BRIEF = 90
"""The letters of its first sentence that the repr of a result shows."""


def running_version() -> str:
    """Return the version that is running, whether it was installed or not."""
    running: str = sys.modules["compromis"].__version__  # importing the package here would be circular
    return running


def written(text: str, path: str | os.PathLike[str] | None, end: str = "") -> str:
    """Return the text; with `path`, also write it there, atomically."""
    if path is not None:
        write_whole(path, text + end)
    return text


def render(template: str, result: Any) -> str:
    """Return a self-contained HTML fragment, without scripts."""
    return environment().get_template(template).render(result=result, style=shared_style())


@cache
def shared_style() -> str:
    """Return the CSS that fragments, report and panel share."""
    return (Path(__file__).parent / "_templates" / "style.css").read_text("utf-8")


@cache
def environment() -> jinja2.Environment:
    """Return the templates with their filters."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("compromis", "_templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "rate": fixed,
        "percent": lambda value: fixed(100 * value, 1),
        "count": count,
        "label": shown_label,
        "short": lambda label, width=28: shortened_middle(shown_label(label), width),
        "shorts": short_names,
        "bounds": bounds,
        "width": lambda value: "0" if math.isnan(value) else f"{100 * value:.1f}",
        "shade": _shade,
        "sentence": capitalised,
        "tone": tone_of,
    }
    return made


def _shade(cell: float, total: float) -> int:
    """Return how dark a cell is, from 0 to 10, by its share of the row."""
    return 0 if cell <= 0 else max(1, min(10, math.ceil(10 * cell / total)))


BACKENDS = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """Return the columns as a frame of `backend`; without it pandas if it is installed, else polars, else pyarrow."""
    import narwhals as nw

    if backend is not None and backend not in BACKENDS:
        raise InputError(unknown_name("backend", backend, BACKENDS))
    chosen = backend or next((name for name in BACKENDS if find_spec(name)), None)
    if chosen is None:
        raise MissingExtra(
            "a data frame needs pandas, polars or pyarrow; install one, for example with: pip install pandas"
        )
    return nw.from_dict(dict(columns), backend=chosen).to_native()  # type: ignore[arg-type]


def columns_of(rows: Iterable[Any], kind: type) -> dict[str, list[Any]]:
    """Return the fields of instances of the dataclass `kind`, column by column."""
    given = list(rows)
    return {field.name: [getattr(row, field.name) for row in given] for field in fields(kind)}


class _Face(NamedTuple):
    told: Sequence[str]
    shown: Sequence[Table]

    def sentences(self) -> Sequence[str]:
        return self.told

    def tables(self) -> Sequence[Table]:
        return self.shown


def face(sentences: Sequence[str], *tables: Table) -> str:
    """Return what a notebook shows of an object that is no result: sentences, the most important first, and tables."""
    return render("result.html", _Face(sentences, tables))


class Framed:
    """Numbers that can be had as a data frame."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return what `to_frame` holds, column by column."""
        raise NotImplementedError

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the numbers as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Without it: pandas if it is installed, else polars, else pyarrow.
        """
        return make_frame(self.columns(), backend)


class Result(Framed):
    """Base of results: text, HTML, JSON, Markdown and data frame from one description.

    A subclass is a frozen dataclass that sets ``schema`` and gives

    - ``document()``: the numbers as plain data, begun by ``**self.heading()``; JSON writes NaN as null,
    - ``columns()``: the values of each column, one row per class, model or size,
    - ``sentences()``: the findings in words, the most important first; they may hold a user's text,
    - ``tables()``: instances of `Table`,

    and inherits ``str()``, `to_json`, `to_markdown`, `to_frame` and ``_repr_html_``. It overrides ``__str__`` for a text layout of
    its own (Weka's), and sets ``template`` for HTML of its own.
    """

    schema: ClassVar[str]
    template: ClassVar[str] = "result.html"

    def __init_subclass__(cls, **options: Any) -> None:
        """Keep dataclasses from printing every field, arrays and all."""
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Result._brief  # type: ignore[assignment]

    def _brief(self) -> str:
        lead = shown_label(next(iter(self.sentences()), ""))
        return f"<{type(self).__name__}{': ' * bool(lead)}{lead[:BRIEF]}{'…' * (len(lead) > BRIEF)}>"

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        raise NotImplementedError

    def sentences(self) -> Sequence[str]:
        """Return the findings in words, the most important first."""
        return ()

    def tables(self) -> Sequence[Table]:
        """Return the numbers as tables for people."""
        return ()

    def heading(self) -> dict[str, Any]:
        """Return how a document begins: its schema and the version of the library."""
        return {"schema": self.schema, "version": VERSION, "compromis": running_version()}

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the numbers as JSON of a versioned schema, NaN as null; with `path`, also write it there, atomically."""
        return written(msgspec.json.format(msgspec.json.encode(self.document()), indent=2).decode(), path, "\n")

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the result as GitHub-flavoured Markdown; with `path`, also write it there, atomically."""
        lead, *rest = self.sentences() or [""]
        parts = [f"**{prose(lead)}**"] if lead else []
        parts += ["\n".join(f"- {prose(sentence)}" for sentence in rest)] if rest else []
        for part in self.tables():
            text = "\n".join(
                markdown_table([*map(prose, part.header)], [[code(row[0]), *row[1:]] for row in part.rows])
            )
            summary = f"<details><summary>{part.title}</summary>\n\n{text}\n\n</details>"
            parts.append(summary if part.folded else text)
        return written("\n\n".join(parts) + "\n", path)

    def _repr_html_(self) -> str:
        return render(self.template, self)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields, not what is cached."""
        if not is_dataclass(self):
            return super().__getstate__()  # type: ignore[return-value]
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def text_tables(self) -> Sequence[Table]:
        """Return the tables of the text: those that Markdown does not fold."""
        return [table for table in self.tables() if not table.folded]

    def to_text(self, *, width: int = WIDTH, colour: bool = False) -> str:
        """Return the result for people: findings, tables, small print.

        Parameters
        ----------
        width : int
            The characters of a line; names are shortened for it, and tables lose their last columns.
        colour : bool
            Whether to mark findings by the codes of a terminal.
        """
        findings = [(paragraph(one, width, colour=colour), tone_of(one)) for one in self.sentences()]
        first = "\n".join(text for text, tone in findings if tone != "small")
        small = "\n".join(text for text, tone in findings if tone == "small")
        shown = ((f"=== {table.title} ===\n\n" if table.title else "", table) for table in self.text_tables())
        tables = [f"{title}{text_table(table, width)}" for title, table in shown]
        return "\n\n".join(part for part in (first, *tables, small) if part) + "\n"

    def __str__(self) -> str:
        return self.to_text()
