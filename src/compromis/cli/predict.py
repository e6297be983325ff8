"""compromis predict: the decisions of a model for the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.errors import InputError

if TYPE_CHECKING:
    from compromis.estimators.model_file import TableModel
    from compromis.frames.tables import Table

PREDICTED = "predicted"


@click.command("predict")
@click.argument("model_file")
@click.argument("data")
@click.option(
    "--append", is_flag=True, help="Write the columns of DATA too, and the decision after them as 'predicted'."
)
@click.option(
    "--proba",
    "votes",
    metavar="PREFIX",
    help="Write the share of votes for each class too, in columns PREFIX and the class.",
)
@click.option("--output", metavar="FILE.csv", help="Where to write; without it, standard output.")
def command(model_file: str, data: str, append: bool, votes: str | None, output: str | None) -> None:
    """Decide the rows of DATA with the model that 'compromis fit' wrote to MODEL_FILE.

    With --append --proba p_ the output is what 'evaluate --prediction predicted' and 'report --proba p_' take.
    """
    from compromis._files import write_whole
    from compromis.estimators.model_file import load_model
    from compromis.frames.reading import pick_column, read_table
    from compromis.frames.tables import csv_text

    model = load_model(model_file)

    def choose(names: list[str]) -> list[str]:
        needed = [pick_column(column.name, names) for column in model.columns]
        return names if append else needed

    table = read_table(data, choose)
    text = csv_text(_columns(model, table, append, votes))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)


def _columns(model: TableModel, table: Table, append: bool, votes: str | None) -> dict[str, list[Any]]:
    shares = model.vote_shares(table.columns, table.source)
    made: dict[str, list[Any]] = {PREDICTED if append else model.target: model.decision.decide(shares).tolist()}
    if votes is not None:
        made |= {f"{votes}{label}": shares[:, k].tolist() for k, label in enumerate(model.decision.classes)}
    kept = table.columns if append else {}
    for name in made:
        if name in kept:
            raise InputError(f"{table.source} has a column {name!r} already; rename it, or leave out --append")
    return {**{name: list(values) for name, values in kept.items()}, **made}
