"""compromis predict: the decisions of a model for the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import telling

if TYPE_CHECKING:
    from compromis.frames import Table

PREDICTED = "predicted"


@click.command("predict")
@click.argument("model_file")
@click.argument("data")
@click.option(
    "--append", is_flag=True, help="Write the columns of DATA too, and the decision after them as 'predicted'."
)
@click.option(
    "--proba", metavar="PREFIX", help="Write the share of votes for each class too, in columns PREFIX and the class."
)
@options.output("FILE.csv", "Where to write; without it, standard output.")
def command(model_file: str, data: str, append: bool, proba: str | None, output: str | None) -> None:
    """Decide the rows of DATA with the model that 'compromis fit' wrote to MODEL_FILE.

    With --append --proba p_ the output is what 'evaluate --prediction predicted' and 'report --proba p_' take.
    """
    import compromis as cp

    model = cp.estimators.load_model(model_file)

    def choose(names: list[str]) -> list[str]:
        used = [cp.frames.pick_column(spec.name, names) for spec in model.columns]
        return names if append else used

    with telling(f"reading {data}"):
        table = cp.frames.read_table(data, choose)
    with telling(f"deciding {len(table):,} rows"):
        columns = _columns(model, table, append, proba)
    text = cp.frames.to_csv(columns, output)
    if output is None:
        click.echo(text, nl=False)


def _columns(model: Any, table: Table, append: bool, proba: str | None) -> dict[str, list[Any]]:
    import compromis as cp

    texts = table.texts()
    shares = model.vote_shares(texts, table.source)
    made: dict[str, list[Any]] = {PREDICTED if append else model.target: model.decision.decide(shares).tolist()}
    if proba is not None:
        made |= {f"{proba}{label}": shares[:, k].tolist() for k, label in enumerate(model.decision.classes)}
    kept = texts if append else {}
    for name in made:
        if name in kept:
            raise cp.InputError(f"{table.source} has a column {name!r} already; rename it, or leave out --append")
    return {**kept, **made}
