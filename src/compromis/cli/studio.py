"""compromis studio: the local app."""

from __future__ import annotations

import os

import click


@click.command("studio")
@click.argument("files", nargs=-1, metavar="[FILE|FOLDER]...", type=click.Path())
@click.option("--demo", is_flag=True, help="Start with a made-up screening of 4,000 people, judged by two models.")
@click.option(
    "--output",
    default=".",
    show_default=True,
    metavar="FOLDER",
    help="Where preferences, weights and reports are saved.",
)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port; without it a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@click.option(
    "--max-upload",
    default=2000,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="MB",
    help="The largest upload.",
)
def command(files: tuple[str, ...], demo: bool, output: str, port: int, no_browser: bool, max_upload: int) -> None:
    """Look at votes in the browser: say what matters, watch what it does, compare models, save.

    FILE is a table of true classes and votes or probabilities (CSV, TSV, ARFF or Parquet, also gzip), or a model that
    'compromis fit' wrote; a FOLDER offers all such files in it. More files can be loaded in the page.

    \b
      compromis studio --demo
      compromis studio votes.csv
      compromis studio forest.model test.csv --output results

    The app runs on this machine only (127.0.0.1) and sends nothing anywhere. The address printed holds a token: who has
    it can use the studio. COMPROMIS_STUDIO_TOKEN sets the token, so that a page stays valid over a restart on one --port.
    Ctrl-C stops it.
    """  # noqa: D301 (click reads the backspace)
    from compromis.studio import launch

    def started(address: str, folder: str) -> None:
        click.echo(f"The studio is open at\n\n    {address}\n\nFiles are saved into {folder}. Ctrl-C stops it.")

    launch(
        files,
        output=output,
        demo=demo,
        port=port,
        browser=not no_browser,
        max_upload=max_upload * 1_000_000,
        token=os.environ.get("COMPROMIS_STUDIO_TOKEN"),
        started=started,
    )
    click.echo("The studio is closed.")
