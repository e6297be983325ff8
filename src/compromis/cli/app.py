"""The commands, and what becomes of errors."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import click

from compromis.cli.words import in_options
from compromis.errors import CompromisError

COMMANDS = {
    "evaluate": "compromis.cli.evaluate",
    "compare": "compromis.cli.compare",
    "preferences": "compromis.cli.preferences",
    "tune": "compromis.cli.tune",
    "tradeoff": "compromis.cli.tradeoff",
    "check": "compromis.cli.check",
    "watch": "compromis.cli.watch",
    "fit": "compromis.cli.fit",
    "predict": "compromis.cli.predict",
    "report": "compromis.cli.report",
    "studio": "compromis.cli.studio",
    "count": "compromis.cli.count",
    "merge": "compromis.cli.merge",
    "demo": "compromis.cli.demo",
}
"""Where each command lives; a command's module imports nothing heavy before it runs."""


class _Failure(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    """Loads a command when it is asked for; an error of the user's becomes one sentence and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("once")
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (CompromisError, OSError) as error:
            if os.environ.get("COMPROMIS_DEBUG"):
                raise
            raise _Failure(_sentence(error)) from error
        except MemoryError as error:
            raise _Failure("this does not fit into memory; use fewer rows or classes") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="compromis")
def main() -> None:
    """Evaluate, tune and compare classifiers by what matters to you.

    Errors are one sentence; set COMPROMIS_DEBUG=1 for the traceback.
    """


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {in_options(str(message))}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and not isinstance(error, CompromisError):
        return _one_line(f"{error.filename or 'the file'}: {error.strerror}")
    return _one_line(in_options(str(error)))


def _one_line(text: str) -> str:
    """Return the text without control characters: a file's name may hold a line end, or orders to the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
