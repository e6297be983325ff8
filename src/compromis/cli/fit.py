"""compromis fit: a classifier of a table, tuned to what matters, in a file."""

from __future__ import annotations

import click

from compromis.cli.preference_options import preference_options, read_preferences
from compromis.cli.saying import say_dropped


@click.command("fit")
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column of classes to learn.")
@click.option(
    "--model", default="forest", show_default=True, metavar="NAME", help="forest, extra-trees, boosting or logistic."
)
@click.option("--trees", default=100, show_default=True, help="The number of trees (or rounds of boosting).")
@preference_options
@click.option("--ignore", multiple=True, metavar="COL", help="A column to leave out; repeat for each.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same model.")
@click.option("--jobs", type=int, help="Trees or folds fitted at once.")
@click.option("--drop-missing", is_flag=True, help="Leave out rows whose class is missing.")
@click.option("--output", required=True, metavar="MODEL_FILE", help="Where to write the model.")
def command(
    data: str,
    target: str,
    model: str,
    trees: int,
    preferences_file: str | None,
    prioritise: tuple[str, ...],
    metric: str | None,
    ignore: tuple[str, ...],
    seed: int,
    jobs: int | None,
    drop_missing: bool,
    output: str,
) -> None:
    """Fit a classifier to DATA and tune its decision to your preferences.

    Columns of numbers are numbers, all others are nominal; missing values are handled. The model file holds no code.
    """
    from compromis.engines import columns
    from compromis.engines.reading import pick_column, read_table
    from compromis.estimators.model_file import save_model
    from compromis.estimators.table_fit import fit_table

    preferences = read_preferences(preferences_file, prioritise, metric, required=True)

    def choose(names: list[str]) -> list[str]:
        left_out = {pick_column(name, names) for name in ignore}
        return [pick_column(target, names), *(name for name in names if name != target and name not in left_out)]

    table, dropped = columns.drop_missing(read_table(data, choose), [target], drop=drop_missing)
    fitted, change, tuned = fit_table(
        table, target, preferences, name=model, trees=trees, random_state=seed, n_jobs=jobs
    )
    save_model(fitted, output)
    say_dropped(dropped)
    click.echo("Judged on honest votes (out-of-bag or out-of-fold), equal weights before, tuned weights after:\n")
    click.echo(change)
    click.echo(tuned.summary())
    click.echo(f"model written to {output}; use it with: compromis predict {output} DATA")
