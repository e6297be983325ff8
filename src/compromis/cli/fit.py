"""Fitting a tuned classifier to a table of text columns, and deciding with it."""

from __future__ import annotations

import click
import numpy as np

from compromis.cli.options import preference_options, read_preferences
from compromis.cli.run import say_dropped
from compromis.errors import InputError
from compromis.estimators.change import Change
from compromis.estimators.model_file import TableModel, describe_table, encode_table, make_classifier
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.estimators.tuning import Tuned
from compromis.frames.tables import Table
from compromis.preferences import Preferences


def fit_table(
    table: Table, target: str, preferences: Preferences, *, name: str, trees: int, random_state: int, n_jobs: int | None
) -> tuple[TableModel, Change, Tuned]:
    """Fit the classifier called `name` to the table; return the model, what tuning changed on honest votes, and the tuning."""
    names = [column for column in table.columns if column != target]
    if not names:
        raise InputError(f"{table.source} has no column besides {target!r} to learn from")
    columns = describe_table(table.columns, names, table.source)
    classifier = make_classifier(name, columns, trees=trees, random_state=random_state, n_jobs=n_jobs)
    tuned = TunedDecisionClassifier(classifier, preferences=preferences, n_jobs=n_jobs, random_state=random_state)
    rows = encode_table(table.columns, columns, table.source)
    tuned.fit(rows, np.array(table.columns[target]), sample_weight=table.weights)
    model = TableModel(
        classifier=tuned.estimator_,
        decision=tuned.decision_,
        columns=columns,
        target=target,
        hard=tuned.votes_are_hard_,
    )
    assert tuned.tuning_ is not None
    return model, change_by_tuning(tuned, preferences), tuned.tuning_


def change_by_tuning(tuned: TunedDecisionClassifier, preferences: Preferences) -> Change:
    """Return what the weights changed on the honest votes they were searched on."""
    assert tuned.patterns_ is not None
    assert tuned.tuning_ is not None
    return Change(tuned.patterns_.counts(np.ones(len(tuned.classes_))), tuned.tuning_.counts, preferences)


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
    from compromis.estimators.model_file import save_model
    from compromis.frames import tables as columns
    from compromis.frames.reading import pick_column, read_table

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
