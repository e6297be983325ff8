"""python -m tests.stress.mutation: change the source a little, again and again, and count what the tests notice.

Works on a copy of the repository. Annotations are left out: changing them changes nothing that runs.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "tests" / "mutation.toml"
FOLDERS = ("measures", "tradeoffs", "weights")
LEAST = 0.90


def main(arguments: list[str] | None = None) -> int:
    """Try the changes; print what survived, and the score; exit code 1 if it is below 90 %."""
    asked = _read(arguments)
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        copy = _copied(Path(name))
        os.chdir(copy)
        os.environ["PYTHONPATH"] = os.pathsep.join([str(copy / "src"), str(copy)])
        items = [
            one
            for folder in FOLDERS
            for one in mutations(copy, folder)
            if asked.only is None or asked.only in one.module_path.as_posix()
        ]
        print(f"{len(items):,} changes are possible", flush=True)
        if asked.sample:
            items = random.Random(asked.seed).sample(items, min(asked.sample, len(items)))
        return _judged([_tried(one, config, copy) for one in items])


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.stress.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="how many changes are drawn; all without it")
    parser.add_argument("--seed", type=int, default=0, help="which are drawn")
    parser.add_argument("--only", help="a part of the module's path")
    return parser.parse_args(arguments)


def _copied(folder: Path) -> Path:
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def mutations(copy: Path, folder: str) -> Iterator[Any]:
    """Yield the changes of the modules of a folder that change what runs."""
    from cosmic_ray.commands.init import _all_work_items

    paths = sorted(
        path
        for path in (copy / "src" / "compromis" / folder).glob("*.py")
        if path.name not in {"__init__.py", "wording.py"}
    )
    for path in paths:
        still = _annotations(path.read_text(encoding="utf-8"))
        for item in _all_work_items([path], {}):
            (change,) = item.mutations
            if not any(begin <= tuple(change.start_pos) < end for begin, end in still):
                yield change


def _annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where annotations stand, as pairs of (line, column)."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id[0].isupper():
            parts.append(
                node.value if isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.BitOr) else None
            )  # names of types
        spans += [
            ((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset)) for one in parts if one is not None
        ]
    return spans


def _tried(change: Any, config: dict[str, Any], copy: Path) -> tuple[str, str]:
    """Return the outcome of one change, and the change in words."""
    from cosmic_ray.mutating import mutate_and_test

    module = Path(change.module_path).relative_to(copy / "src" / "compromis").with_suffix("").as_posix()
    chosen = max((begin for begin in config["tests"] if module.startswith(begin)), key=len)
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider -p no:xdist {' '.join(config['tests'][chosen])}"
    result = mutate_and_test([change], command, config["timeout"])
    lines = [line for line in (result.diff or "").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    words = f"{module}:{change.start_pos[0]} {change.operator_name.rpartition('/')[2]}: {' -> '.join(line[1:].strip() for line in lines)}"
    outcome = _outcome(result, words, config)
    print(outcome, words, flush=True)
    return outcome, words


def _outcome(result: Any, words: str, config: dict[str, Any]) -> str:
    if result.test_outcome is not None and result.test_outcome.value == "killed":
        return "noticed"
    if result.worker_outcome.value != "normal":
        return "no change"
    return "explained" if any(one["change"] in words for one in config.get("survivor", [])) else "survived"


def _judged(outcomes: list[tuple[str, str]]) -> int:
    counts = {
        kind: sum(outcome == kind for outcome, _ in outcomes)
        for kind in ("noticed", "survived", "explained", "no change")
    }
    judged = counts["noticed"] + counts["survived"]
    score = counts["noticed"] / judged if judged else 0.0
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    print(f"mutation score {score:.1%}, at least {LEAST:.0%} is wanted")
    return 0 if score >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
