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

ROOMS = (
    "evidence",
    "metrics",
    "weights",
    "estimators",
    "evaluation",
    "model_selection",
    "tradeoffs",
    "uncertainty",
    "plots",
    "reports",
    "frames",
    "drift",
    "regression",
    "deployment",
    "integrations",
)
"""Submodules with public names of their own, in the order of the page."""


def flat_names() -> list[str]:
    """Return the names that ``compromis`` itself has, without its submodules."""
    return [name for name in compromis.__all__ if not inspect.ismodule(getattr(compromis, name))]


def names_of(room: str) -> list[str]:
    """Return the public names of a submodule that ``compromis`` does not have itself."""
    module = getattr(compromis, room)
    names = ["METRICS"] if room == "metrics" else module.__all__
    return [name for name in names if name not in compromis.__all__ and not inspect.ismodule(getattr(module, name))]


def api_index() -> str:
    """Return the page that lists every public name with its first line."""
    parts = ["API reference", "=============", "", "``import compromis as cp`` gives these names, and submodules.", ""]
    parts += _listed("compromis", flat_names())
    for room in ROOMS:
        heading = f"compromis.{room}"
        parts += [heading, "-" * len(heading), "", *_listed(heading, names_of(room))]
    return "\n".join(parts)


def _listed(module: str, names: list[str]) -> list[str]:
    parts = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: names", ""]
    functions = [name for name in names if name != "METRICS"]
    parts = [*parts, *(f"   {name}" for name in functions), ""] if functions else parts[:2]
    return [*parts, ".. autodata:: METRICS", "   :no-value:", ""] if "METRICS" in names else parts


def command_line_page() -> str:
    """Return the page of every command: usage, what it does, its options."""
    context = click.Context(main, info_name="compromis")
    parts = ["# Command line", "", _sentences(main), ""]
    parts += ["This page is made from the commands themselves; `compromis COMMAND --help` prints the same.", ""]
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        parts += _command(command, click.Context(command, info_name=name, parent=context))
        if isinstance(command, click.Group):
            for part, under in command.commands.items():
                parts += _command(under, click.Context(under, info_name=f"{name} {part}", parent=context))
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
