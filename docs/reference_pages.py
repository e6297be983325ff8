"""The reference, made from the code: a page for every public name, and one for the command line.

``docs/conf.py`` calls `write` at the start of every build, so that the reference cannot be out of date.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import click

import compromis
from compromis.cli.regression import command as regression
from compromis.cli.run import COMMANDS, main

GROUPS = {
    "What matters": ("preferences", "indices"),
    "Evaluate": ("evaluation", "reporting", "measures", "drift", "studio"),
    "Decide: weights of votes": ("weights", "deployment"),
    "Models": ("estimators",),
    "Trade-offs, ROC, costs": ("tradeoffs",),
    "Uncertainty": ("uncertainty",),
    "Displays": ("plots",),
    "Evidence": ("evidence", "engines", "queries"),
    "Errors and warnings": ("errors",),
}
"""Heading and layers of the library; a layer that is not named here comes last, under 'Other'."""


def public_names() -> list[str]:
    """Return every public name."""
    return [name for name in compromis.__all__ if name != "__version__"]


def grouped_names() -> dict[str, list[str]]:
    """Return the public names under their headings, in the order in which the library lists them."""
    heading_of = {layer: heading for heading, layers in GROUPS.items() for layer in layers}
    groups: dict[str, list[str]] = {heading: [] for heading in [*GROUPS, "Other"]}
    for home, names in compromis._HOMES.items():  # noqa: SLF001
        groups[heading_of.get(home.split(".")[1], "Other")].extend(names)
    return {heading: names for heading, names in groups.items() if names}


def api_index() -> str:
    """Return the page that lists every public name with its first line."""
    parts = ["API reference", "=============", "", "Every public name, as ``import compromis as cp`` gives it.", ""]
    parts += [".. currentmodule:: compromis", ""]
    for heading, names in grouped_names().items():
        parts += [heading, "-" * len(heading), ""]
        functions = [name for name in names if not isinstance(getattr(compromis, name), dict)]
        parts += [".. autosummary::", "   :toctree: names", "", *(f"   {name}" for name in functions), ""]
        for name in sorted(set(names) - set(functions)):
            parts += [f".. autodata:: {name}", "   :no-value:", ""]
    return "\n".join(parts)


def command_line_page() -> str:
    """Return the page of every command: usage, what it does, its options."""
    context = click.Context(main, info_name="compromis")
    parts = ["# Command line", "", _sentences(main), ""]
    parts += ["This page is made from the commands themselves; `compromis COMMAND --help` prints the same.", ""]
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        parts += _command(command, click.Context(command, info_name=name, parent=context))
        if name == "evaluate":
            parts += _command(regression, click.Context(regression, info_name="evaluate --regression", parent=context))
    return "\n".join(parts)


def _command(command: click.Command, context: click.Context) -> list[str]:
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f"## {context.info_name}", "", "```text", usage, "```", "", _sentences(command), ""]
    options = [
        param for param in command.get_params(context) if isinstance(param, click.Option) and param.name != "help"
    ]
    rows = [record for option in options if (record := option.get_help_record(context))]
    if rows:
        parts += ["| option | meaning |", "| --- | --- |"]
        parts += [f"| `{_cell(names)}` | {_cell(text, code=False)} |" for names, text in rows]
        parts.append("")
    return parts


def _sentences(command: click.Command) -> str:
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return _escaped(text)


def _cell(text: str, *, code: bool = True) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if code else _escaped(text)


def _escaped(text: str) -> str:
    """Keep `<`, `[` and `*` from meaning something in Markdown."""
    for mark in "<[*_":
        text = text.replace(mark, "\\" + mark)
    return text


def write(folder: Path) -> None:
    """Write the pages, but leave a page alone that has not changed, so that Sphinx need not read it again."""
    folder.mkdir(exist_ok=True)
    for name, text in {"api.rst": api_index(), "command_line.md": command_line_page()}.items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
