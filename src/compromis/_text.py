"""Texts that messages and tables share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

_COMPARED, _LONG = 1000, 200
"""How many choices are compared with a mistyped name, and how many characters of a name are shown."""


def nearest(name: object, choices: Iterable[object]) -> str:
    """Return ``"; did you mean 'x'?"`` for the choice most like `name`, or an empty string."""
    wanted, likely = str(name), [str(choice) for choice in islice(choices, _COMPARED)]
    if len(wanted) > _LONG:  # nobody mistypes a text, and comparing two takes the product of their lengths
        return ""
    close = difflib.get_close_matches(wanted, [one for one in likely if len(one) <= _LONG], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def shown(items: Iterable[object], limit: int = 8) -> str:
    """Return the first items as a readable list, and how many more there are."""
    texts = [_short(repr(item)) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}... ({len(text):,} characters)"


def shown_label(label: object) -> str:
    """Return a label as one line of text: control characters are spelled out, so that a name cannot forge lines or steer a terminal."""
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in str(label))
