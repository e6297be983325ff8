"""The program: its commands, and the one place where errors and warnings leave it."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from compromis.errors import CompromisError, shortened

GROUPS = {
    "Start here": {
        "demo": "See what tuning does, in people, in a few seconds.",
        "studio": "Do all of it in the browser; --demo brings data.",
    },
    "Ask": {"preferences": "Say what matters to you; the answers become a file."},
    "Judge": {
        "evaluate": "Say what predictions find, miss and are worth.",
        "compare": "Say which of several models is better, and how sure that is.",
        "tradeoff": "Say which threshold, or model, is best for which trade-off.",
        "labels": "Plan which rows to label, and say whether labels are enough.",
        "report": "Write all of it as one HTML page.",
    },
    "Decide": {
        "tune": "Find the weights with which votes serve your preferences.",
        "fit": "Fit a classifier to a table, and tune its decision.",
        "predict": "Predict rows with a model that 'fit' wrote.",
    },
    "Ship": {
        "record": "Write down what a decision rests on, or verify it.",
        "check": "Fail a build where a constraint is missed.",
        "monitor": "Judge the same decision period by period.",
        "count": "Count a file into evidence that can be merged.",
        "merge": "Add up evidence that 'count' wrote.",
    },
}
"""What each command does, by what people want."""
COMMANDS = {name: what for group in GROUPS.values() for name, what in group.items()}
"""Each command; it lives in a module of its name, which imports nothing heavy before it runs and is not loaded for --help."""

OPTIONS = {
    "y_true": "the column of --truth",
    "y_pred": "the column of --prediction",
    "y_proba": "the columns of --proba",
    "sample_weight": "the column of --weight",
    "groups": "the column of --group",
    "needs_review": "the column of --needs-review",
    "labels": "--label",
    "priors": "--priors",
    "pos_label": "--pos-label",
    "bins": "--bins",
    "within": "--within",
    "width": "--width",
}
"""What the command line calls a parameter of the library: the sentence of an error begins with the parameter's name."""
SCORED = {**OPTIONS, "labels": "--proba (one column per class)"}
"""The same where columns of scores name the classes."""


class _Failure(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    """Loads a command when it is asked for; a user's error becomes one sentence and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _load(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *rest = args
        ctx.meta["written"] = shlex.join(["compromis", *args])  # a report shows the command that made it
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(COMMANDS)}."
            raise click.UsageError(f"there is no command {name!r}; {advice}", ctx)
        if name == "evaluate" and "--regression" in rest:  # numbers have options of their own
            return name, _load("regression"), rest
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<11}", what) for name, what in commands.items()])

    def main(self, *args: Any, **settings: Any) -> Any:
        _check_output()
        try:
            return super().main(*args, **settings)
        except OSError as error:  # of the help, or of the sentence itself
            try:
                _failure(error).show()
            except OSError:
                sys.stderr = _Closed()
            sys.exit(_Failure.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("once")
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (CompromisError, OSError) as error:
            if os.environ.get("COMPROMIS_DEBUG"):
                raise
            options = {
                word.partition("=")[0] for word in shlex.split(ctx.meta.get("written", "")) if word.startswith("--")
            }
            raise _failure(error, SCORED if "--proba" in options and "--label" not in options else OPTIONS) from error
        except MemoryError as error:
            raise _Failure("this does not fit into memory; use fewer rows or classes") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="compromis")
def main() -> None:
    """Evaluate, tune and compare classifiers by what matters to you.

    \b
      compromis demo
      compromis evaluate results.csv --truth actual --prediction model \\
        --prioritise fraud

    Errors are one sentence; set COMPROMIS_DEBUG=1 for the traceback.
    """  # noqa: D301 (click reads the backspace)


def _load(module: str) -> click.Command:
    command: click.Command = import_module(f"compromis.cli.{module}").command
    return command


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {shortened(_with_options(str(message)))}", err=True)


def _with_options(text: str) -> str:
    """Return the text with options in place of parameters, where they stand outside of quotes."""
    return re.sub(r"(?<![\w'\"])y_(?:true|pred|proba)(?![\w'\"])", lambda name: OPTIONS[name[0]], text)


def _failure(error: Exception, options: Mapping[str, str] = OPTIONS) -> _Failure:
    if isinstance(error, OSError) and error.filename is None:
        sys.stdout = _Closed()  # at the end Python would try again to write what is left
    return _Failure(_sentence(error, options))


def _sentence(error: Exception, options: Mapping[str, str]) -> str:
    """Return an error in the words of the command line, on one line: a file's name may hold a line end, or orders to the terminal."""
    text, parameter = str(error), getattr(error, "parameter", None) or ""
    if isinstance(error, OSError) and error.strerror and not isinstance(error, CompromisError):
        text = f"{error.filename or 'the output'}: {error.strerror}"
    elif parameter in options and text.startswith(parameter):
        text = options[parameter] + text.removeprefix(parameter)
    text = text.replace("labels=[...]", OPTIONS["labels"])
    text = _with_options(text)
    return shortened("".join(letter if letter.isprintable() else " " for letter in text))


def _check_output() -> None:
    """Let nothing of the output be lost: letters that its encoding lacks are escaped, and what cannot be written is an error."""
    stream = sys.stdout
    if stream is None:
        sys.stdout = _Closed()
    elif isinstance(stream, io.TextIOWrapper):
        if isinstance(
            stream.buffer, io.RawIOBase
        ):  # PYTHONUNBUFFERED: a write that ends halfway, on a full disk, is no error there
            sys.stdout = stream = io.TextIOWrapper(io.BufferedWriter(stream.buffer), stream.encoding)
        stream.reconfigure(errors="compromis")


class _Closed(io.TextIOBase):
    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, "it is closed")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return what cannot be encoded as JSON and Python write it."""
    import json

    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("compromis", _escaped)
