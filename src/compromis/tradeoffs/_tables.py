"""Results of this room: one table with a sentence below it."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from compromis._results import Result, written
from compromis._text import code, markdown_table, prose, shown_label


class Tabular(Result):
    """A result that is one table: `columns` gives the numbers, `_caption` a sentence about them."""

    _columns: ClassVar[tuple[str, ...]] = ()
    """The arrays that are the columns, where there is nothing else to say."""

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists by column name."""
        return {name: getattr(self, name).tolist() for name in self._columns}

    def _caption(self) -> str:
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes: the fields of a dataclass, else the columns."""
        if not is_dataclass(self):
            return dict(self.columns())
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}
        return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table as GitHub-flavoured Markdown; with `path`, write it there too, whole or not at all."""
        table = markdown_table(list(self.columns()), self._cells(code))
        return written("\n".join([prose(self._caption()), "", *table]) + "\n", path)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns())
        rows = ("".join(f"<td>{cell}</td>" for cell in row) for row in self._cells(_escaped))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        caption = f"<caption>{_escaped(self._caption())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        rows = [list(self.columns()), *self._cells(shown_label)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*lines, self._caption()])

    def _cells(self, label: Callable[[object], str]) -> list[list[str]]:
        return [[_cell(value, label) for value in row] for row in zip(*self.columns().values(), strict=True)]


def _escaped(text: object) -> str:
    return html.escape(shown_label(text))


def _cell(value: Any, label: Callable[[object], str]) -> str:
    """Return a number with four digits, nothing for None, the items of a tuple, and any other value as a label."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(_cell(item, label) for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value) if isinstance(value, int) else label(value)
