"""Weights for votes in files of any size, by passes of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from compromis.cli.engine_options import label_texts, opened, score_columns
from compromis.cli.gather import by_class, without_missing
from compromis.cli.saying import say_dropped, say_interrupted


def tune_large(
    file: str,
    truth: str,
    votes: tuple[str, ...],
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    preferences: Any,
    output: str | None,
    settings: dict[str, Any],
) -> None:
    """Search, write and say; Ctrl-C during a search says what it found, during a pass over the data it ends the program."""
    from compromis.cli.progress import SearchProgress, search_progress
    from compromis.engines.searching import search_frame
    from compromis.reporting.change import Change

    chosen: dict[str, str] = {}
    reported: list[SearchProgress] = []

    @contextmanager
    def report() -> Iterator[SearchProgress]:
        with search_progress() as one:
            reported.append(one)
            yield one

    def numbers(names: list[str]) -> list[str]:
        chosen.update(score_columns(votes, names, [truth]))
        return list(chosen)

    with opened(file, engine, cluster, numbers) as scan:
        frame, dropped = without_missing(scan.frame, truth, drop_missing)
        found = search_frame(
            frame,
            truth=truth,
            proba=by_class(chosen),
            preferences=preferences,
            spell=label_texts,
            reporter=report,
            **settings,
        )
    interrupted = any(one.interrupted for one in reported)
    if output is not None and not interrupted:
        found.search.decision.to_json(output)
    say_dropped(dropped)
    click.echo(Change(found.before, found.search.counts, preferences))
    click.echo(found.summary())
    if interrupted:
        say_interrupted()
    if output is not None:
        click.echo(f"weights written to {output}")
