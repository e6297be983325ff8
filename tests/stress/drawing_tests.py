"""A pytest plugin that keeps the tests that draw random numbers: by the fixture `rng` or by Hypothesis."""

from __future__ import annotations

from typing import Any


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Deselect everything else."""
    drawing = [one for one in items if "rng" in getattr(one, "fixturenames", ()) or _is_property(one)]
    kept = set(map(id, drawing))
    config.hook.pytest_deselected(items=[one for one in items if id(one) not in kept])
    items[:] = drawing


def _is_property(item: Any) -> bool:
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))
