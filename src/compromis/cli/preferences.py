"""compromis preferences: asks the two questions per class and writes the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from compromis.preferences import Preference


@click.command("preferences")
@click.argument("file", required=False)
@click.option("--truth", metavar="COL", help="The column of FILE that holds the classes.")
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL", help="A class to ask about; repeat for each. Without FILE."
)
@click.option(
    "--index",
    default="kulczynski",
    show_default=True,
    metavar="NAME",
    help="kulczynski, f, fowlkes_mallows or jaccard.",
)
@click.option(
    "--output", default="preferences.toml", show_default=True, metavar="FILE.toml", help="Where to write the answers."
)
@click.option("--force", is_flag=True, help="Overwrite the output file.")
def command(file: str | None, truth: str | None, labels: tuple[str, ...], index: str, output: str, force: bool) -> None:
    """Ask how much each class matters, and write the answers as TOML.

    The classes come from the column --truth of FILE, or from --label.
    """
    from pathlib import Path

    from compromis.errors import InputError
    from compromis.indices import get_index
    from compromis.preferences import Preferences

    get_index(index)  # a wrong name is said before the questions, not after
    if Path(output).exists() and not force:
        raise InputError(f"{output} exists already; write elsewhere with --output, or overwrite it with --force")
    classes = list(labels) or _classes(file, truth)
    click.echo("For each class: how important it is, and what you would trade. Enter accepts the value in brackets.\n")
    preferences = Preferences({label: _ask(label) for label in classes}, index=index)
    preferences.to_toml(output)
    click.echo(
        f"{preferences.describe()}\n\nwritten to {output}; use it with: compromis evaluate ... --preferences {output}"
    )


def _classes(file: str | None, truth: str | None) -> list[str]:
    from compromis.engines.reading import pick_column, read_table
    from compromis.errors import InputError

    if file is None or truth is None:
        raise click.UsageError("give FILE and --truth COL, or --label for each class")
    table = read_table(file, lambda names: [pick_column(truth, names)])
    found = sorted({label for label in table.columns[truth] if label is not None})
    if not found:
        raise InputError(f"column {truth!r} of {file} holds no classes")
    if len(found) > 50:
        raise InputError(f"column {truth!r} of {file} has {len(found)} classes; name those that matter with --label")
    return found


def _ask(label: str) -> Preference:
    from compromis.preferences import Preference

    click.echo(f"Class {label!r}")
    importance = click.prompt(
        "  How important is it, beside 1 for an ordinary class?", default=1.0, type=_number(0.0, None)
    )
    precision = click.prompt(
        "  What precision would you accept for a recall of 1?", default=0.8, type=_number(0.0, 1.0)
    )
    recall = click.prompt("  What recall would you accept for a precision of 1?", default=0.8, type=_number(0.0, 1.0))
    floor = click.prompt("  Below which precision is a result useless? (0: none)", default=0.0, type=_number(0.0, 1.0))
    preference = Preference(importance, precision, recall, min_precision=floor or None)
    click.echo(f"  {preference.describe()}\n")
    return preference


def _number(low: float, high: float | None) -> Any:
    return click.FloatRange(min=low, max=high, max_open=high is not None)
