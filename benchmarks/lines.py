"""What a benchmark reports: each figure with its target, printed and written to benchmarks/results/NAME.csv.

    with Lines("weights") as lines:
        lines.add("search / np.argsort", seconds / sort, at_most(3), f"{seconds:.2f} s")

Whether a target is met is computed wherever it is shown. The file is written when the block ends without an error; until then, and
for what cannot be measured here (`leave_out`), the rows of an earlier run stay, with their date and machine.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks import machine
from reproductions.sheets import read, write

RESULTS = Path(__file__).parent / "results"
FIELDS = ("what", "reached", "unit", "direction", "target", "beside", "missed_because", *machine.FIELDS)
MET = {"at most": operator.le, "below": operator.lt, "at least": operator.ge, "above": operator.gt}


@dataclass(frozen=True, slots=True)
class Target:
    """A number and on which side of it a figure should be."""

    direction: str
    number: float

    def met_by(self, reached: float) -> bool:
        return bool(MET[self.direction](reached, self.number))


def at_most(number: float) -> Target:
    return Target("at most", number)


def below(number: float) -> Target:
    return Target("below", number)


def at_least(number: float) -> Target:
    return Target("at least", number)


def above(number: float) -> Target:
    return Target("above", number)


def waiting(processor: float, target: Target) -> str:
    """Why a time by the wall clock missed its target, if the processor time alone meets it."""
    return "the processor time alone meets it, the rest is waiting for a core" if target.met_by(processor) else ""


def shown(number: float, target: Target | None = None) -> str:
    """The number with three digits, or as many more as it takes not to contradict the verdict."""
    size = math.floor(math.log10(abs(number))) if math.isfinite(number) and number else 0
    text = ""
    for digits in range(3, 17):
        text = f"{number:,.{max(0, digits - 1 - size)}f}"
        if target is None or target.met_by(float(text.replace(",", ""))) == target.met_by(number):
            break
    return text


@dataclass(frozen=True, slots=True)
class Line:
    """One figure: what it is of, in which unit, its target, figures beside it, and why the target may be missed."""

    what: str
    reached: float
    target: Target | None = None
    beside: str = ""
    unit: str = ""
    missed_because: str = ""

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Line:
        target = Target(row["direction"], float(row["target"])) if row["direction"] else None
        return cls(row["what"], float(row["reached"]), target, row["beside"], row["unit"], row["missed_because"])

    def to_row(self) -> dict[str, str]:
        direction, number = (self.target.direction, repr(self.target.number)) if self.target else ("", "")
        return {
            "what": self.what,
            "reached": repr(float(self.reached)),
            "unit": self.unit,
            "direction": direction,
            "target": number,
            "beside": self.beside,
            "missed_because": self.missed_because,
        }

    @property
    def result(self) -> str:
        return f"{shown(self.reached, self.target)} {self.unit}".rstrip()

    @property
    def wanted(self) -> str:
        if self.target is None:
            return ""
        unit = self.unit.partition(" ")[0]  # at least 5 times, not 5 times faster
        return f"{self.target.direction} {self.target.number:,g} {unit}".rstrip()

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "met" if self.target.met_by(self.reached) else "missed"


class Lines:
    """The lines of one benchmark, printed as they come."""

    def __init__(self, name: str, folder: Path = RESULTS) -> None:
        self.file = folder / f"{name}.csv"
        self._old = read(self.file) if self.file.exists() else []
        self._rows: list[dict[str, str]] = []

    def __enter__(self) -> Self:
        self._now = machine.surroundings()
        return self

    def add(
        self,
        what: str,
        reached: float,
        target: Target | None = None,
        beside: str = "",
        *,
        unit: str = "",
        missed_because: str = "",
    ) -> None:
        """Report a figure; `missed_because` is shown only where the target is missed."""
        line = Line(what, reached, target, beside, unit, missed_because)
        self._rows.append(line.to_row())
        figures = f" ({beside})" if beside else ""
        print(f"{line.verdict:<6} {line.result:>18}   {line.wanted:<24} {what}{figures}", flush=True)

    def leave_out(self, beginning: str, reason: str) -> None:
        """Say that the lines that begin so cannot be measured here; those of an earlier run stay."""
        kept = [row for row in self._old if row["what"].startswith(beginning)]
        self._rows += kept
        print(f"{beginning or 'all'}: left out, {reason}; rows kept from an earlier run: {len(kept)}", flush=True)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self._now["load_end"] = machine.load()
            write(self.file, FIELDS, [[(self._now | row)[field] for field in FIELDS] for row in self._rows])
