"""Weights for votes in files of any size, by passes of an engine."""

from __future__ import annotations

from typing import Any

import click

from compromis.cli.engine_options import label_texts, opened, score_columns
from compromis.cli.gather import by_class, without_missing
from compromis.cli.saying import say_dropped


def tune_large(
    file: str,
    truth: str,
    votes: tuple[str, ...],
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    wish: Any,
    output: str | None,
    settings: dict[str, Any],
) -> None:
    """Search, write and say."""
    from compromis.engines.searching import search_frame
    from compromis.reporting.change import Change

    chosen: dict[str, str] = {}

    def numbers(names: list[str]) -> list[str]:
        chosen.update(score_columns(votes, names, [truth]))
        return list(chosen)

    with opened(file, engine, cluster, numbers) as scan:
        frame, dropped = without_missing(scan.frame, truth, drop_missing)
        found = search_frame(
            frame, truth=truth, votes=by_class(chosen), preferences=wish, spell=label_texts, **settings
        )
    if output is not None:
        found.search.decision.to_json(output)
    say_dropped(dropped)
    click.echo(Change(found.before, found.search.counts, wish))
    click.echo(found.summary())
    if output is not None:
        click.echo(f"weights written to {output}")
