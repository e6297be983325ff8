"""`law`: how many examples a property tries; `refused` and `answer`: the one sentence of an error."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

import compromis as cp

EFFORT = 1 if os.environ.get("COMPROMIS_SEED", "0") == "0" else 3
"""The quick tests try few examples, always the same; promise 12 tries three times as many on each of its seeds."""


def law(*, examples: int = 20) -> Callable[[Any], Any]:
    """Return Hypothesis' settings for a property."""
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
