"""Sentences that several commands say."""

from __future__ import annotations

from typing import NoReturn

import click

INTERRUPTED = 130
"""The exit code of programs that Ctrl-C ended."""


def say_dropped(rows: int) -> None:
    """Say on standard error how many rows were left out."""
    if rows:
        click.echo(f"left out {rows:,} {'row' if rows == 1 else 'rows'} without a class", err=True)


def say_interrupted() -> NoReturn:
    """Say on standard error that Ctrl-C ended a search, and end the program."""
    click.echo("stopped by Ctrl-C: these are the best weights found so far, and nothing was written", err=True)
    raise click.exceptions.Exit(INTERRUPTED)
