"""How commands print results: JSON, Markdown, or text for the terminal at hand."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import click

NARROWEST, WIDEST = 40, 120
"""Lines of text are no shorter and no longer than that, whatever the terminal."""


def show(result: Any, *, as_json: bool = False, markdown: bool = False) -> None:
    """Print a result on standard output."""
    click.echo(text_of(result, as_json=as_json, markdown=markdown))


def text_of(result: Any, *, as_json: bool = False, markdown: bool = False) -> str:
    """Return what `show` prints."""
    if as_json:
        return str(result.to_json())
    text = result.to_markdown() if markdown else result.to_text(width=line_width(), colour=has_colour())
    return str(text).rstrip("\n")


def line_width() -> int:
    """Return the characters of a line: COLUMNS, else the terminal's width, else 80."""
    return min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)


def has_colour() -> bool:
    """Return whether standard output is a terminal with colours, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
