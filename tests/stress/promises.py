"""The promises there are: the modules of this folder whose names begin with 'promise_' or 'marked_'."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.stress.outcome import Outcome, Progress


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise by its number, with the script that counts."""

    number: str
    title: str
    quick: float
    """The scale at which it takes about a second, for the ordinary tests."""
    run: Callable[[float, Progress], Outcome]


def all_promises() -> list[Promise]:
    """Return the promises in the order of their numbers; further tests come last."""
    names = [path.stem for path in Path(__file__).parent.glob("*.py") if re.match(r"(promise|marked)_", path.stem)]
    found = [_promise(name) for name in names]
    return sorted(
        found, key=lambda one: (not one.number[0].isdigit(), int(re.sub(r"\D", "", one.number) or 0), one.number)
    )


def _promise(name: str) -> Promise:
    module = import_module(f"tests.stress.{name}")
    number = name.split("_")[1].lstrip("0") if name.startswith("promise_") else "+"
    return Promise(number, module.TITLE, module.QUICK, module.run)
