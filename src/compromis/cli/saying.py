"""Sentences that several commands say."""

from __future__ import annotations

import click


def say_dropped(rows: int) -> None:
    """Say on standard error how many rows were left out."""
    if rows:
        click.echo(f"left out {rows:,} {'row' if rows == 1 else 'rows'} without a class", err=True)
