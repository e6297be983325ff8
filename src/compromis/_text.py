"""Texts that messages and tables share: names, numbers, sentences, tables."""

from __future__ import annotations

import difflib
import math
import re
import string
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, Self

LONG_NAME = 40
"""The characters of a class's name in a sentence."""
_COMPARED, _LONG = 1000, 200
"""How many choices are compared with a mistyped name, and how many characters of a name are shown."""


def nearest(name: object, choices: Iterable[object], *, aside: bool = False) -> str:
    """Return ``"; did you mean 'x'?"`` for the choice most like `name`, in brackets where the sentence goes on, or an empty string."""
    wanted, likely = str(name), [str(choice) for choice in islice(choices, _COMPARED)]
    if len(wanted) > _LONG:  # no typing error, and slow to compare
        return ""
    close = difflib.get_close_matches(wanted, [choice for choice in likely if len(choice) <= _LONG], n=1, cutoff=0.5)
    if not close:
        return ""
    return f" (did you mean {close[0]!r}?)" if aside else f"; did you mean {close[0]!r}?"


_COMMAS = re.compile(r"[+-]?\d[\d.]*(,\d+)+(\.\d+)?")


def cure_of_commas(text: str) -> str:
    """Return what to do about a number with a decimal comma or with commas between thousands, which nobody can tell apart; else nothing."""
    return "; write numbers with a point, and without commas" if _COMMAS.fullmatch(text) else ""


def unknown_name(what: str, name: object, choices: Iterable[str]) -> str:
    """Return the sentence for a name that is none of the choices."""
    known = list(choices)
    return f"there is no {what} {name!r}{nearest(name, known, aside=True)}; choose one of {', '.join(known)}"


def shown(items: Iterable[object], limit: int = 8) -> str:
    """Return the first items as a readable list, and how many more there are."""
    texts = [_short(repr(item)) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}... ({len(text):,} characters)"


def shown_label(label: object) -> str:
    """Return a label as one line of text, control characters escaped, so that a name cannot forge lines or control a terminal."""
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(label))


def shortened_middle(text: str, width: int) -> str:
    """Return the text in at most `width` characters, its middle left out: names that differ often do so at an end."""
    if len(text) <= width:
        return text
    kept = max(width - 1, 1)
    return f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"


def short_names(labels: Iterable[object], width: int = 28) -> list[str]:
    """Return labels in at most `width` characters each; of names that would read alike the part in which they differ is kept."""
    names = [shown_label(label) for label in labels]
    short = [shortened_middle(name, width) for name in names]
    for text in [text for text, times in Counter(short).items() if times > 1]:
        alike = [k for k, one in enumerate(short) if one == text]
        if len({names[k] for k in alike}) == 1:
            continue
        start = _alike([names[k] for k in alike])
        end = _alike([names[k][start:][::-1] for k in alike])
        for k in alike:
            own = shortened_middle(names[k][start : len(names[k]) - end], max(width - 2, 1))
            kept = names[k][: min(start, width - len(own) - 2)]
            short[k] = f"{kept}…{own}{'…' * (end > 0)}"
    known: dict[str, set[str]] = {}
    for name, text in zip(names, short, strict=True):
        known.setdefault(text, set()).add(name)
    return [
        text if len(known[text]) == 1 else f"{shortened_middle(name, width - len(str(number)) - 3)} ({number})"
        for number, (name, text) in enumerate(zip(names, short, strict=True), start=1)
    ]


def _alike(names: Sequence[str]) -> int:
    """Return how many characters the names begin with alike, to the begin of the word in which they differ."""
    first, last = min(names), max(names)
    alike = next((k for k, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return next((k for k in range(alike, max(alike - 8, 0), -1) if not first[k - 1].isalnum()), alike)


_MARKS = frozenset(",;:.()\\'\"")


def class_name(label: object, short: str | None = None) -> str:
    """Return a label as it reads in a sentence, or its shortened name: words stand alone, anything else is said to be a class."""
    text = short or shortened_middle(shown_label(label), LONG_NAME)
    reads = (
        isinstance(label, str)
        and text[:1].isalpha()
        and text[-1:].isalnum() | (text[-1:] == "…")
        and not set(text) & _MARKS
    )
    return text if reads else f"class '{text}'" if isinstance(label, str) and not text.isalnum() else f"class {text}"


def class_quoted(label: object) -> str:
    """Return a class as sentences beside numbers name it: text in quotes, anything else said to be a class."""
    return repr(label) if isinstance(label, str) else f"class {label!r}"


def rows_named(label: object, short: str | None = None) -> str:
    """Return what rows of a class are called after a number: '151 hypothyroid', or '151 rows of class 1'."""
    name = class_name(label, short)
    return f"rows of {name}" if name.startswith("class ") and not shown_label(label).startswith("class ") else name


def joined(items: Sequence[str], limit: int = 8) -> str:
    """Return items as a list in words, and how many more there are."""
    more = len(items) - limit
    told = [*items[:limit], f"{more} more"] if more > 0 else list(items)
    return " and ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else "".join(told)


_MARKUP = {ord(mark): f"&#{ord(mark)};" for mark in string.punctuation if mark != "-"}
_PROSE = {mark: entity for mark, entity in _MARKUP.items() if chr(mark) not in "(),%';"} | {ord("@"): "&#64;&#8203;"}


def code(label: object) -> str:
    """Return a label as Markdown code with every punctuation mark escaped: it cannot break a table, mention a person or be a link."""
    return f"<code>{shown_label(label).translate(_MARKUP)}</code>"


def prose(sentence: str) -> str:
    """Return a sentence with markup, links and mentions escaped; punctuation at the end of a word stays."""
    parts = re.split(r"(?<=[\w')%])([.,;:](?=\s|$)|(?<=\d)\.(?=\d))", shown_label(sentence))
    return "".join(part if index % 2 else part.translate(_PROSE) for index, part in enumerate(parts))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, the first column to the left and all others to the right."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return ["| " + " | ".join(row) + " |" for row in [header, rule, *rows]]


def fixed(value: float, decimals: int = 3) -> str:
    """Write a number with fixed decimals; '?' where it is undefined."""
    return "?" if math.isnan(value) else f"{value:.{decimals}f}"


def count(value: float) -> str:
    """Write a number of rows; a sum of weights has three digits, or all before the point."""
    return f"{value:,.0f}" if value == round(value) or value >= 99.95 else f"{value:.3g}"


def bounds(interval: Any) -> str:
    """Write the bounds of an interval; '?' where they are undefined."""
    return "?" if math.isnan(interval.low) else f"{interval.low:.3f} to {interval.high:.3f}"


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case and the rest unchanged, unlike `str.capitalize`."""
    return text[:1].upper() + text[1:]


def uncapitalised(text: str) -> str:
    """Return the text with its first letter in lower case."""
    return text[:1].lower() + text[1:]


def per_thousand(rows: float) -> str:
    """Write how many of 1,000 rows: three digits, no exponent."""
    return f"{rows:,.0f}" if rows >= 100 else f"{rows:.3g}"


Tone = Literal["", "headline", "better", "not told apart", "no better", "missed", "small"]
_STYLES = {
    "headline": "1",
    "better": "1;32",
    "not told apart": "1;33",
    "no better": "1;31",
    "missed": "33",
    "small": "2",
}
"""The codes of a terminal: bold, bold green, yellow and red, yellow, faint."""
WIDTH = 80
"""The characters of a line of text where nothing else is known."""


class Table(NamedTuple):
    """A table of a result, its cells formatted already.

    The header and the first cell of each row may be a user's text; the other cells are the library's own, such as numbers.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False
    """Whether Markdown hides it behind its title."""


class Finding(str):
    """A sentence with what it is: the headline, a state of a verdict, something missed, or small print (which text has last)."""

    __slots__ = ("tone",)
    tone: Tone

    def __new__(cls, text: str, tone: Tone) -> Self:
        made = super().__new__(cls, text)
        made.tone = tone
        return made


def tone_of(sentence: str) -> Tone:
    """Return what a sentence is; the empty text where nothing says so."""
    return sentence.tone if isinstance(sentence, Finding) else ""


def paragraph(sentence: str, width: int = WIDTH, *, colour: bool = False) -> str:
    """Return a sentence as lines of at most `width` characters, marked by what it is where a terminal has colours."""
    tone = tone_of(sentence)
    text, style = capitalised(shown_label(sentence)), _STYLES.get(tone, "") if colour else ""
    text = f"{'! ' * (tone == 'missed')}{text}{'' if text.endswith(('.', ':', '!', '?')) else '.'}"
    lines = _wrapped(text, max(width, 20), subsequent_indent="  ")
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if style else line for line in lines)


def _wrapped(text: str, width: int, **options: Any) -> list[str]:
    """Return the text as lines that fit a terminal; a per cent sign stays with its number."""
    text = text.replace(" %", "\u00a0%")
    if not text.isascii():  # what takes two cells counts as two characters
        text = "".join(f"{mark}\0" if cells(mark) > 1 else mark for mark in text)
    lines = textwrap.wrap(text, width, break_on_hyphens=False, **options)
    return [line.replace("\u00a0%", " %").replace("\0", "") for line in lines]


def cells(text: str) -> int:
    """Return the cells of a terminal that a text takes: wide letters and emoji two, marks upon letters none.

    Examples
    --------
    >>> from compromis._text import cells
    >>> cells("ill"), cells("病気"), cells("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(mark) in ("Mn", "Me") else 1 + (unicodedata.east_asian_width(mark) in "WF")
        for mark in text
    )


def _padded(text: str, size: int, *, right: bool) -> str:
    space = " " * (size - cells(text))
    return space + text if right else text + space


def _fitted(name: str, room: int) -> str:
    """Return the name in at most `room` cells: letters of two cells leave space for fewer."""
    sizes = range(min(len(name), room), 0, -1)
    return next(short for size in sizes if cells(short := shortened_middle(name, size)) <= room) if name else name


def text_table(table: Table, width: int | None = None) -> str:
    """Return aligned columns: the names to the left, everything else to the right.

    What is wider than `width` gets headers of several lines, then shorter names (a quarter of the width, no less), then loses its last
    columns.
    """
    names = [shown_label(row[0]) for row in table.rows]
    titles = [[shown_label(title)] for title in table.header]
    bodies = [[row[k] for row in table.rows] for k in range(1, len(titles))]
    widths = _widths(titles, [names, *bodies])
    if width is not None and _line(widths) > width:
        titles[1:] = [_broken(title, body) for (title,), body in zip(titles[1:], bodies, strict=True)]
        widths = _widths(titles, [names, *bodies])
        least, kept = max(width // 4, 12), len(widths)
        while kept > 2 and _line([min(widths[0], least), *widths[1:kept]]) > width:
            kept -= 1
        room = max(width - _line([0, *widths[1:kept]]), least)
        names = short_names([row[0] for row in table.rows], room)
        names = [_fitted(name, room) for name in names]
        widths = _widths(titles, [names, *bodies])[:kept]
    height = max(map(len, titles[: len(widths)]))
    columns = zip(titles, [names, *bodies], strict=True)
    lines = [[""] * (height - len(title)) + title + body for title, body in columns][: len(widths)]
    return "\n".join(
        "  ".join(
            _padded(cell, size, right=k > 0) for k, (cell, size) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in zip(*lines, strict=True)
    )


def _widths(titles: Sequence[Sequence[str]], bodies: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cells, [*title, *body])) for title, body in zip(titles, bodies, strict=True)]


def _line(widths: Sequence[int]) -> int:
    """Return the characters of a line of columns."""
    return sum(widths) + 2 * (len(widths) - 1)


def _broken(title: str, body: Sequence[str]) -> list[str]:
    """Return a header in lines no wider than its cells, words left whole."""
    return _wrapped(title, max([8, *map(len, body)]), break_long_words=False) or [""]
