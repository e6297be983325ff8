"""Results of this room that are one table with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar

from compromis._results import Result
from compromis._text import Table


class Tabular(Result):
    """A frozen dataclass whose arrays are the columns of one table."""

    title: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    """The arrays that are columns."""

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists by column name."""
        return {name: getattr(self, name).tolist() for name in self.names}

    def tables(self) -> Sequence[Table]:
        """Return the columns, numbers with four digits."""
        return [number_table(self.title, self.columns())]

    @property
    def summary(self) -> dict[str, float]:
        """The numbers beside the table, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if isinstance(value, float)}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes: every field, as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return self.heading() | {
            k: value.tolist() if hasattr(value, "tolist") else value for k, value in values.items()
        }


def number_table(title: str, columns: dict[str, list[Any]]) -> Table:
    """Return columns of numbers as a table, with four digits."""
    return Table(
        title, list(columns), [[f"{value:.4g}" for value in row] for row in zip(*columns.values(), strict=True)]
    )


def span(low: float, high: float) -> str:
    """Write a range of recall weights."""
    return f"{low:.4f} to {high:.4f}"
