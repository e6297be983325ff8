"""The command line in this process."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from compromis.cli import main


def run(*arguments: Any, input: str | bytes | None = None) -> Result:
    """Run `compromis` with these arguments."""
    return CliRunner().invoke(main, [str(one) for one in arguments], input=input)
