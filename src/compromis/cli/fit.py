"""compromis fit: a classifier for a table, tuned to what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from compromis.cli import options
from compromis.cli.inputs import kept_rows, telling
from compromis.cli.show import show

if TYPE_CHECKING:
    import compromis as cp
    from compromis.frames import Table


def _without_index(table: Table) -> dict[str, list[str | None]]:
    """Return the columns but the one without a name that counts the rows: pandas writes its index so."""
    texts = table.texts()
    index, rows = texts.get(""), table.rows.tolist()
    if index is not None and any(index == [str(row - first) for row in rows] for first in (1, 0)):
        click.echo(f"left out the first column of {table.source}, which has no name and counts the rows", err=True)
        del texts[""]
    return texts


@click.command("fit")
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column of classes to learn.")
@click.option(
    "--model", default="forest", show_default=True, metavar="NAME", help="forest, extra-trees, boosting or logistic."
)
@click.option("--trees", default=100, show_default=True, help="The number of trees (or rounds of boosting).")
@options.preferences
@click.option("--ignore", multiple=True, metavar="COL", help="A column to leave out; repeat for each.")
@options.review
@options.by
@options.seed
@click.option("--jobs", type=int, help="Trees or folds fitted at once.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose class is missing.")
@options.output("MODEL_FILE", "Where to write the model.", required=True)
def command(
    data: str,
    target: str,
    model: str,
    trees: int,
    preferences: options.PreferenceChoice,
    ignore: tuple[str, ...],
    review: cp.Review | None,
    by: str | None,
    seed: int,
    jobs: int | None,
    drop_missing: bool,
    output: str,
) -> None:
    """Fit a classifier to DATA and tune its decision to your preferences.

    \b
      compromis fit train.csv --target class --prioritise fraud \\
        --output forest.model

    Columns of numbers are numbers, all others are nominal; missing values are handled. The model file holds no code.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    def choose(names: list[str]) -> list[str]:
        column = cp.frames.pick_column(target, names)  # a mistyped column is told before what else is missing
        preferences.required()
        left_out = {cp.frames.pick_column(name, names) for name in ignore}
        groups = [] if by is None else [cp.frames.pick_column(by, names)]
        others = [name for name in names if name not in (target, *groups) and name not in left_out]
        return [column, *groups, *others]

    with telling(f"reading {data}"):
        table = kept_rows(cp.frames.read_table(data, choose), [target, by], drop=drop_missing)
    wanted = preferences.required()
    texts = _without_index(table)
    group = None if by is None else table[by].array()
    if by in ignore:
        del texts[by]
    with telling(f"fitting and tuning {model} on {len(table):,} rows"):
        fitted, tuned = cp.estimators.fit_table(
            texts,
            target,
            wanted,
            source=table.source,
            sample_weight=table.weights,
            by=group,
            model=model,
            trees=trees,
            random_state=seed,
            n_jobs=jobs,
            review=review,
        )
    cp.estimators.save_model(fitted, output)
    assert tuned.tuning_ is not None
    show(tuned.tuning_)
    click.echo(f"\nmodel written to {output}; use it with: compromis predict {output} DATA")
