"""The command line: parse, one library call, print."""

from compromis.cli.run import main

__all__ = ["main"]
