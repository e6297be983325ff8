"""compromis preferences: asks the two questions per class and writes the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from compromis.preferences import Preference


MOST_CLASSES = 50
"""Nobody answers questions about more."""


@click.command("preferences")
@click.argument("file", required=False)
@click.option("--truth", metavar="COL", help="The column of FILE that holds the classes.")
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL", help="A class to ask about; repeat for each. Without FILE."
)
@click.option(
    "--metric",
    default="kulczynski",
    show_default=True,
    metavar="NAME",
    help="kulczynski, f, fowlkes_mallows or jaccard.",
)
@click.option(
    "--output", default="preferences.toml", show_default=True, metavar="FILE.toml", help="Where to write the answers."
)
@click.option("--force", is_flag=True, help="Overwrite the output file.")
def command(
    file: str | None, truth: str | None, labels: tuple[str, ...], metric: str, output: str, force: bool
) -> None:
    """Ask how much each class matters, and write the answers as TOML.

    The classes come from the column --truth of FILE, or from --label.
    """
    from pathlib import Path

    from compromis.errors import InputError
    from compromis.metrics import KULCZYNSKI, get_metric
    from compromis.preferences import Preferences

    chosen = get_metric(metric)  # what would fail is said before the questions, not after
    if Path(output).exists() and not force:
        raise InputError(f"{output} exists already; write elsewhere with --output, or overwrite it with --force")
    if not Path(output).absolute().parent.is_dir():
        raise InputError(f"there is no folder {Path(output).parent}; make it first, or write elsewhere with --output")
    classes = list(labels) or _classes(file, truth)
    click.echo("For each class: how important it is, and what you would trade. Enter accepts the value in brackets.\n")
    preferences = Preferences({label: _ask(label, floored=chosen is KULCZYNSKI) for label in classes}, metric=metric)
    preferences.to_toml(output)
    click.echo(
        f"{preferences.describe()}\n\nwritten to {output}; use it with: compromis evaluate ... --preferences {output}"
    )


def _classes(file: str | None, truth: str | None) -> list[str]:
    from compromis.errors import InputError
    from compromis.frames.reading import pick_column, read_table

    if file is None or truth is None:
        raise click.UsageError("give FILE and --truth COL, or --label for each class")
    if file == "-":
        raise InputError(
            "standard input is where your answers come from; name a file, or give the classes with --label"
        )
    table = read_table(file, lambda names: [pick_column(truth, names)])
    found = sorted({label for label in table.columns[truth] if label is not None})
    if not found:
        raise InputError(f"column {truth!r} of {file} holds no classes")
    if len(found) > MOST_CLASSES:
        raise InputError(f"column {truth!r} of {file} has {len(found)} classes; name those that matter with --label")
    return found


def _ask(label: str, *, floored: bool) -> Preference:
    from compromis.preferences import Preference

    click.echo(f"Class {label!r}")
    importance = click.prompt(
        "  How important is it, beside 1 for an ordinary class?", default=1.0, value_proc=_importance
    )
    precision = click.prompt("  What precision would you accept for a recall of 1?", default=0.8, value_proc=_share)
    recall = click.prompt("  What recall would you accept for a precision of 1?", default=0.8, value_proc=_share)
    # on the plane preferences can be met by giving up, unless there is a floor: what one accepts for a recall of 1 is the natural one
    natural = precision if floored else 0.0
    floor = click.prompt("  Below which precision is a result useless? (0: none)", default=natural, value_proc=_share)
    preference = Preference(importance, precision, recall, min_precision=floor or None)
    click.echo(f"  {preference.describe()}\n")
    return preference


def _importance(answer: str) -> float:
    number = _number(answer)
    if not 0 <= number < float("inf"):
        raise click.BadParameter(f"importance is a number of at least 0, got {answer}")
    return number


def _share(answer: str) -> float:
    number = _number(answer)
    if 1 < number <= 100:
        raise click.BadParameter(f"this is a share between 0 and 1; for {number:g} % write {number / 100:.4g}")
    if not 0 <= number < 1:
        raise click.BadParameter(f"this is a share of at least 0 and below 1, got {answer}")
    return number


def _number(answer: str) -> float:
    try:
        return float(answer)
    except ValueError:
        raise click.BadParameter(f"this is a number, written like 0.1, got {answer!r}") from None
