"""`law`: which public names a property speaks of, and how many examples it tries."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

import compromis as cp

EFFORT = 1 if os.environ.get("COMPROMIS_SEED", "0") == "0" else 3
"""The quick tests try few examples, always the same; promise 12 tries three times as many on each of its seeds."""


def law(*names: str, examples: int = 20) -> Callable[[Any], Any]:
    """Say of which public names a property is a law; `test_every_name.py` counts that none is left out."""
    unknown = set(names) - set(cp.__all__)
    assert not unknown, f"a law of {unknown}, which are not public"
    assert names, "a law of nothing"
    return settings(max_examples=examples * EFFORT)


def refused(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the sentence with which input is refused; anything but one sentence of an InputError fails."""
    with pytest.raises(cp.InputError) as caught:
        function(*arguments, **options)
    return _sentence(caught.value)


def answer(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the result; None where the input is refused in one sentence."""
    try:
        return function(*arguments, **options)
    except cp.InputError as error:
        _sentence(error)
        return None


def _sentence(error: cp.InputError) -> str:
    message = str(error)
    assert message.strip()
    assert "\n" not in message
    assert not message.endswith(".")
    return message
