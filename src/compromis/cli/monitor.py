"""compromis monitor: the same decision over time, judged by what matters."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compromis.cli.options import preference_options, read_preferences
from compromis.cli.run import say_dropped

if TYPE_CHECKING:
    from compromis.cli.inputs import Predicted
    from compromis.drift.monitoring import Unlabelled
    from compromis.evidence import Counts


@click.command("monitor")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--truth", metavar="COL", help="The column of true classes; files without it are taken to have no labels."
)
@click.option("--prediction", metavar="COL", help="The column of predicted classes.")
@click.option(
    "--proba",
    "votes",
    multiple=True,
    metavar="PREFIX|COL",
    help="Columns of calibrated probabilities, decided by --weights; without --weights, by the highest.",
)
@click.option("--weights", metavar="FILE.json", help="The weights that 'compromis tune --output' wrote.")
@click.option(
    "--reference", metavar="FILE", help="Labelled rows on which the decision was accepted; without it the first FILE."
)
@preference_options
@click.option("--max-loss", type=float, metavar="LOSS", help="The largest loss that meets the preferences.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose true or predicted class is missing.")
@click.option("--markdown", is_flag=True, help="Print GitHub-flavoured Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(
    files: tuple[str, ...],
    truth: str | None,
    prediction: str | None,
    votes: tuple[str, ...],
    weights: str | None,
    reference: str | None,
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    max_loss: float | None,
    drop_missing: bool,
    markdown: bool,
    as_json: bool,
) -> None:
    """Judge the same decision in one FILE per period, in the order of time.

    Says for each period what the preferences comes to, whether the class shares have moved or the rows themselves, and what to do.
    Without labels the class shares are estimated. The exit code is 1 when the last period does not meet the preferences, 2 when
    nothing could be judged.
    """
    from compromis.cli.inputs import check_options, read_predicted
    from compromis.drift.monitoring import monitor

    check_options(prediction, votes, weights)
    preferences = read_preferences(preferences_file, prioritise, metric, required=True)
    if truth is None:
        raise click.UsageError("give --truth, the column of true classes in --reference or in the first FILE")
    accepted = read_predicted(reference or files[0], truth, prediction, votes, weights, drop=drop_missing)
    assert accepted.counts is not None
    periods: dict[str, Counts | Unlabelled] = {}
    for name, file in zip(_names(files), files, strict=True):
        known = truth if _has_column(file, truth) else None
        one = read_predicted(file, known, prediction, votes, weights, drop=drop_missing)
        say_dropped(one.dropped)
        periods[name] = one.counts if one.counts is not None else _unlabelled(one, accepted.counts)
    found = monitor(periods, preferences=preferences, reference=accepted.counts, max_loss=max_loss)
    text: Any = found.to_json() if as_json else found.to_markdown() if markdown else found
    click.echo(text, nl=as_json)
    last = found.periods[-1]
    if last.retune and votes and not (as_json or markdown):
        click.echo(_command(reference or files[0], truth, votes, found.classes, last.shares))
    if not found.met:
        raise click.exceptions.Exit(1)


def _command(file: str, truth: str, votes: tuple[str, ...], classes: Sequence[Any], shares: Sequence[float]) -> str:
    """The command that searches weights for the shares, ready to be copied."""
    words = ["compromis", "tune", file, "--truth", truth]
    words += [word for one in votes for word in ("--proba", one)]
    for label, share in zip(classes, shares, strict=True):
        words += ["--prevalence", f"{label}={share:.4g}"]
    return "for example: " + shlex.join(words) + " --preferences ... --output ..."


def _names(files: tuple[str, ...]) -> list[str]:
    """The names of the files without their folders where that tells them apart."""
    short = [Path(file).name for file in files]
    return short if len(set(short)) == len(short) else list(files)


def _has_column(file: str, name: str) -> bool:
    from compromis.frames.reading import column_names

    return name in column_names(file)


def _unlabelled(one: Predicted, reference: Counts) -> Unlabelled:
    import numpy as np

    from compromis.drift.monitoring import Unlabelled
    from compromis.drift.prevalence import prevalence_by_em
    from compromis.labels import positions_in

    predicted = np.bincount(positions_in(one.labels, reference.classes, "prediction"), minlength=len(reference.classes))
    support = reference.support / reference.support.sum()
    if one.votes is None or one.classes != reference.classes or not support.all():
        return Unlabelled(predicted)
    return Unlabelled(predicted, prevalence_by_em(one.votes, priors=support.tolist(), labels=reference.classes))
