"""compromis predict: the decisions of a model for the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import telling

if TYPE_CHECKING:
    from compromis.frames import Table

PREDICTED, NEEDS_REVIEW = "predicted", "needs_review"


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

    A model that was fitted with --review writes a second column, 'needs_review': true for the rows that a person should look at. The
    class beside it is what counts where nobody does.

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
    labels, review = model.decision.decide(shares, return_review=True)
    made: dict[str, list[Any]] = {PREDICTED if append else model.target: labels.tolist()}
    if model.decision.review is not None:
        if NEEDS_REVIEW in made:
            raise cp.InputError(
                f"the classes stand in {NEEDS_REVIEW!r} too; with --append they are called {PREDICTED!r}"
            )
        made[NEEDS_REVIEW] = ["true" if one else "false" for one in review]
    if proba is not None:
        made |= {f"{proba}{label}": shares[:, k].tolist() for k, label in enumerate(model.decision.classes)}
    kept = texts if append else {}
    for name in made:
        if name in kept:
            raise cp.InputError(f"{table.source} has a column {name!r} already; rename it, or leave out --append")
    return {**kept, **made}
