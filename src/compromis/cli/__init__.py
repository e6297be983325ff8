"""The command line: parse, one library call, print."""

from compromis.cli.app import main

__all__ = ["main"]
