"""compromis preferences: asks the two questions per class and writes the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from compromis.cli import options

if TYPE_CHECKING:
    import compromis as cp

MOST_CLASSES = 50
"""Nobody answers questions about more."""


@click.command("preferences")
@click.argument("file", required=False)
@click.option("--truth", metavar="COL", help="The column of FILE that holds the classes.")
@click.option("--label", multiple=True, metavar="LABEL", help="A class to ask about; repeat for each. Without FILE.")
@options.metric
@options.output("FILE.toml", "Where to write the answers.", default="preferences.toml", show_default=True)
@click.option("--force", is_flag=True, help="Overwrite the output file.")
def command(file: str | None, truth: str | None, label: tuple[str, ...], metric: str, output: str, force: bool) -> None:
    """Ask how much each class matters, and write the answers as TOML.

    The classes come from the column --truth of FILE, or from --label.
    """
    import compromis as cp

    plane = cp.metrics.get_metric(metric) is cp.metrics.KULCZYNSKI  # an unknown metric is refused before the questions
    if Path(output).exists() and not force:
        raise cp.InputError(f"{output} exists already; write elsewhere with --output, or overwrite it with --force")
    if not Path(output).absolute().parent.is_dir():
        raise cp.InputError(
            f"there is no folder {Path(output).parent}; make it first, or write elsewhere with --output"
        )
    classes = list(label) or _classes(file, truth)
    click.echo("For each class: how important it is, and what you would trade. Enter accepts the value in brackets.\n")
    preferences = cp.Preferences({name: _ask(name, floored=plane) for name in classes}, metric=metric)
    preferences.to_toml(output)
    click.echo(
        f"{preferences.describe()}\n\nwritten to {output}; use it with: compromis evaluate ... --preferences {output}"
    )


def _classes(file: str | None, truth: str | None) -> list[str]:
    import compromis as cp

    if file is None or truth is None:
        raise click.UsageError("give FILE and --truth COL, or --label for each class")
    if file == "-":
        raise cp.InputError(
            "standard input is where your answers come from; name a file, or give the classes with --label"
        )
    classes = sorted(cp.frames.read_table(file, [truth])[truth].labels)
    if not classes:
        raise cp.InputError(f"column {truth!r} of {file} holds no classes")
    if len(classes) > MOST_CLASSES:
        raise cp.InputError(
            f"column {truth!r} of {file} has {len(classes)} classes; name those that matter with --label"
        )
    return classes


def _ask(label: str, *, floored: bool) -> cp.Preference:
    import compromis as cp

    click.echo(f"Class {label!r}")
    importance = click.prompt(
        "  How important is it, beside 1 for an ordinary class?", default=1.0, value_proc=_importance
    )
    precision = click.prompt("  What precision would you accept for a recall of 1?", default=0.8, value_proc=_share)
    recall = click.prompt("  What recall would you accept for a precision of 1?", default=0.8, value_proc=_share)
    # on the plane preferences can be met by giving up, unless there is a floor: what one accepts for a recall of 1 is the natural one
    natural = precision if floored else 0.0
    floor = click.prompt("  Below which precision is a result useless? (0: none)", default=natural, value_proc=_share)
    preference = cp.Preference(importance, precision, recall, min_precision=floor or None)
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
