"""One figure of a text beside ours."""

from __future__ import annotations

from dataclasses import dataclass

HEADER = ("source", "example", "quantity", "printed", "ours", "agrees", "note")


@dataclass(frozen=True, slots=True)
class Line:
    """A printed figure or statement, and what the library gives.

    Attributes
    ----------
    source, example, quantity : str
        Where it stands, and what it is.
    printed : str
        As printed, so that its digits say how it was rounded; empty where the text gives no figure.
    ours : float or str
        Computed; a statement is compared as text.
    note : str
        Why they differ, where they do.
    """

    source: str
    example: str
    quantity: str
    printed: str
    ours: float | str
    note: str = ""

    @property
    def agrees(self) -> str:
        """'yes', 'no', or nothing where nothing is printed: a figure agrees if ours, rounded to its digits, is it."""
        if not self.printed:
            return ""
        if isinstance(self.ours, str):
            return "yes" if self.ours == self.printed else "no"
        top, _, bottom = self.printed.partition("/")
        if bottom:
            return "yes" if abs(self.ours - int(top) / int(bottom)) < 1e-12 else "no"
        digits = len(self.printed.partition(".")[2])
        return "yes" if abs(round(self.ours, digits) - float(self.printed)) < 1e-9 else "no"

    def row(self) -> tuple[str, ...]:
        """The line as fields of the result file."""
        ours = self.ours if isinstance(self.ours, str) else f"{self.ours:.6g}"
        return self.source, self.example, self.quantity, self.printed, ours, self.agrees, self.note
