"""compromis predict: the decisions of a model for the rows of a file."""

from __future__ import annotations

import click


@click.command("predict")
@click.argument("model_file")
@click.argument("data")
@click.option("--output", metavar="FILE.csv", help="Where to write; without it, standard output.")
def command(model_file: str, data: str, output: str | None) -> None:
    """Decide the rows of DATA with the model that 'compromis fit' wrote to MODEL_FILE."""
    from compromis.engines.delimited import csv_text
    from compromis.engines.reading import pick_column, read_table
    from compromis.estimators.model_file import load_model
    from compromis.estimators.table_fit import decide_table
    from compromis.files import write_whole

    model = load_model(model_file)
    table = read_table(data, lambda names: [pick_column(spec.name, names) for spec in model.columns])
    text = csv_text({model.target: decide_table(model, table).tolist()})
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
