"""Weights for votes in files of any size, by passes of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from compromis.cli.inputs import by_class, without_missing
from compromis.cli.options import (
    engine_options,
    label_texts,
    opened,
    preference_options,
    read_pairs,
    read_preferences,
    score_columns,
    wants_engine,
)
from compromis.cli.run import say_dropped, say_interrupted


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
    from compromis.estimators.change import Change
    from compromis.frames.search import search_weights

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
        found = search_weights(
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


@click.command("tune")
@click.argument("file")
@click.option("--truth", required=True, metavar="COL", help="The column of true classes.")
@click.option(
    "--proba",
    "votes",
    multiple=True,
    required=True,
    metavar="PREFIX|COL",
    help="Columns of votes or probabilities: a prefix before the class names, or columns named as the classes.",
)
@preference_options
@click.option("--method", default="auto", show_default=True, metavar="NAME", help="auto, exact, sweep or annealing.")
@click.option("--smoothing", default=0.0, show_default=True, help="Votes added to every class.")
@click.option(
    "--prevalence",
    multiple=True,
    metavar="LABEL=SHARE",
    help="The class shares where decisions will be taken, if they differ from those of FILE; repeat for each.",
)
@click.option("--seconds", type=float, help="The time the search may take.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same weights.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true class is missing.")
@engine_options
@click.option("--output", metavar="FILE.json", help="Where to write the weights.")
def command(
    file: str,
    truth: str,
    votes: tuple[str, ...],
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    method: str,
    smoothing: float,
    prevalence: tuple[str, ...],
    seconds: float | None,
    seed: int,
    drop_missing: bool,
    engine: str | None,
    cluster: str | None,
    output: str | None,
) -> None:
    """Find the weights with which the votes in FILE serve your preferences best.

    The votes must be honest: of a model that did not see the rows (out-of-bag, out-of-fold, or held out).

    Ctrl-C during the search prints the best weights found so far, writes nothing, and exits with 130; while an engine
    reads the data there are none yet, and it just ends.
    """
    from compromis.cli.progress import search_progress
    from compromis.estimators.change import Change
    from compromis.evidence.votes import Votes
    from compromis.frames import tables as columns
    from compromis.frames.reading import read_scored
    from compromis.weights import search_weights

    preferences = read_preferences(preferences_file, prioritise, metric, required=True)
    if wants_engine(file, engine, cluster):
        settings = {"method": method, "smoothing": smoothing, "budget": seconds, "random_state": seed}
        tune_large(file, truth, votes, drop_missing, engine, cluster, preferences, output, settings)
        return
    table, class_of = read_scored(file, [truth], votes)
    table, dropped = columns.drop_missing(table, [truth], drop=drop_missing)
    classes = sorted(class_of.values())
    matrix = columns.score_matrix(table, class_of, classes)
    patterns = Votes.from_proba(table.columns[truth], matrix, labels=classes, sample_weight=table.weights)
    shares = read_pairs(prevalence, "--prevalence")
    patterns = patterns if shares is None else patterns.with_prevalence(shares)
    with search_progress() as progress:
        found = search_weights(
            patterns,
            preferences=preferences,
            method=method,
            smoothing=smoothing,
            budget=seconds,
            progress=progress,
            random_state=seed,
        )
    if output is not None and not progress.interrupted:
        found.decision.to_json(output)
    change = Change(patterns.counts([1.0] * len(classes)), found.counts, preferences)
    say_dropped(dropped)
    click.echo(change)
    click.echo(found.summary())
    if progress.interrupted:
        say_interrupted()
    if output is not None:
        click.echo(f"weights written to {output}")
