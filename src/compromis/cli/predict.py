"""compromis predict: the predictions of a model for the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compromis.cli import options
from compromis.cli.inputs import as_written, is_json, opened_file, telling

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    import compromis as cp
    from compromis.frames import Table

PREDICTED, NEEDS_REVIEW = "predicted", "needs_review"


@click.command("predict")
@click.argument("model_file")
@click.argument("data")
@click.option(
    "--append", is_flag=True, help="Write the columns of DATA too, and the prediction after them as 'predicted'."
)
@click.option(
    "--proba",
    metavar="PREFIX",
    help="Write the share of votes for each class too, in columns PREFIX and the class; with weights, the columns that they decide.",
)
@options.answers
@options.output("FILE.csv", "Where to write; without it, standard output.")
def command(
    model_file: str, data: str, append: bool, proba: str | None, answers: options.AnswerChoice, output: str | None
) -> None:
    """Predict the rows of DATA with the model that 'compromis fit' wrote to MODEL_FILE.

    \b
      compromis predict forest.model new.csv --append --proba p_ \\
        --output predicted.csv

    A model that was fitted with --review writes a second column, 'needs_review': true for the rows that a person should look at. The
    class beside it is what counts where nobody does.

    MODEL_FILE may also hold the weights that 'compromis tune --output' wrote: they decide the columns --proba of DATA, or with --answers
    columns of answers. A row without a vote gets no prediction, and with --unanswered even one by the weights.

    With --append --proba p_ the output is what 'evaluate --prediction predicted' and 'report --proba p_' take.
    """  # noqa: D301 (click reads the backspace)
    import compromis as cp

    if answers:
        columns = _from_answers(model_file, data, append, proba, answers)
    elif is_json(model_file):
        columns = _from_votes(model_file, data, append, proba)
    else:
        columns = _from_model(model_file, data, append, proba)
    text = cp.frames.to_csv(columns, output)
    if output is None:
        click.echo(text, nl=False)


def _from_model(model_file: str, data: str, append: bool, proba: str | None) -> dict[str, list[Any]]:
    import compromis as cp

    model = cp.estimators.load_model(model_file)

    def choose(names: list[str]) -> list[str]:
        used = [cp.frames.pick_column(spec.name, names) for spec in model.columns]
        return names if append else used

    with telling(f"reading {data}"):
        table = cp.frames.read_table(data, choose)
    with telling(f"predicting {len(table):,} rows"):
        shares = model.vote_shares(table.texts(), table.source)
        labels, review = model.decision.decide(shares, return_review=True)
        made: dict[str, list[Any]] = {PREDICTED if append else model.target: labels.tolist()}
    made |= _to_review(model.decision, review, made)
    return _beside(table, made, shares, model.decision.classes, append, proba)


def _from_answers(
    weights: str, data: str, append: bool, proba: str | None, answers: options.AnswerChoice
) -> dict[str, list[Any]]:
    import compromis as cp

    decision = cp.Decision.from_json(weights)
    with opened_file(data) as scan:
        names = scan.pick_scores(answers.columns, [])
        table = scan.read(scan.names if append else names)
    votes = answers.votes(table, names, decision.classes)
    matrix = votes.dense()
    shares = matrix / matrix.sum(axis=1, keepdims=True).clip(min=1.0)
    return _beside(table, _decided(decision, matrix), shares, decision.classes, append, proba)


def _from_votes(weights: str, data: str, append: bool, proba: str | None) -> dict[str, list[Any]]:
    import compromis as cp

    if proba is None:
        raise click.UsageError(
            f"{weights} holds weights; give --proba, the columns of {data} that they decide, or --answers"
        )
    decision = as_written(cp.Decision.from_json(weights), weights)
    with opened_file(data) as scan:
        class_of = scan.pick_scores([proba], [])
        table = scan.read(scan.names if append else [*class_of])
    matrix = table.scores(class_of, decision.classes)  # type: ignore[arg-type]
    return _beside(table, _decided(decision, matrix), matrix, decision.classes, append, None)


def _decided(decision: cp.Decision, votes: NDArray[np.float64]) -> dict[str, list[Any]]:
    """Return what is predicted, None in rows without votes, and what is to be reviewed."""
    labels, review = decision.decide(votes, return_review=True)
    voted = votes.max(axis=1) > 0
    made = {PREDICTED: [label if one else None for label, one in zip(labels.tolist(), voted.tolist(), strict=True)]}
    return made | _to_review(decision, review, made)


def _to_review(decision: cp.Decision, review: NDArray[np.bool_], made: Collection[str]) -> dict[str, list[Any]]:
    """Return the column of rows that a person should look at, where the decision has a review."""
    import compromis as cp

    if decision.review is None:
        return {}
    if NEEDS_REVIEW in made:
        raise cp.InputError(f"the classes stand in {NEEDS_REVIEW!r} too; with --append they are called {PREDICTED!r}")
    return {NEEDS_REVIEW: ["true" if one else "false" for one in review]}


def _beside(
    table: Table,
    made: dict[str, list[Any]],
    shares: NDArray[np.float64],
    classes: Sequence[Any],
    append: bool,
    proba: str | None,
) -> dict[str, list[Any]]:
    """Return the predictions with the shares of votes, and beside the columns of the table, as far as these are wanted."""
    import compromis as cp

    if proba is not None:
        made |= {f"{proba}{label}": shares[:, k].tolist() for k, label in enumerate(classes)}
    kept = table.texts() if append else {}
    for name in made:
        if name in kept:
            raise cp.InputError(f"{table.source} has a column {name!r} already; rename it, or leave out --append")
    return {**kept, **made}
