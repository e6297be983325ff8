"""Pieces of GitHub-flavoured Markdown in which a user's text is never markup."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from compromis._text import shown_label

_CODE = {ord(mark): f"&#{ord(mark)};" for mark in string.punctuation if mark != "-"}
_PROSE = {mark: entity for mark, entity in _CODE.items() if chr(mark) not in "(),%';"} | {ord("@"): "&#64;&#8203;"}


def code(label: object) -> str:
    """Return a label as code whose every mark is an entity: it can neither break a table nor mention a person nor be a link."""
    return f"<code>{shown_label(label).translate(_CODE)}</code>"


def prose(sentence: str) -> str:
    """Return a sentence in which nothing is markup, a link or a mention; a mark at the end of a word stays as it is."""
    parts = re.split(r"(?<=[\w')%])([.,;:](?=\s|$)|(?<=\d)\.(?=\d))", shown_label(sentence))
    return "".join(part if index % 2 else part.translate(_PROSE) for index, part in enumerate(parts))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, the first column to the left and all others to the right."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return ["| " + " | ".join(row) + " |" for row in [header, rule, *rows]]
