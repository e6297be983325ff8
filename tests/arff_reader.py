"""A small ARFF reader for tests: keeps the declared order of nominal values, and instance weights."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from compromis.trees.c45 import Column, Examples, Table

_TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*))\s*(?:,|$)""")


def split_fields(line: str) -> list[str]:
    """The comma-separated fields of a line; quotes removed, escapes undone."""
    fields, at = [], 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        assert match is not None, line
        single, double, bare = match.groups()
        quoted = single if single is not None else double
        fields.append(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else bare.strip())
        at = match.end()
    return fields


def _declaration(line: str) -> Column:
    match = re.match(r"""@attribute\s+(?:'([^']*)'|"([^"]*)"|(\S+))\s+(.*)$""", line, re.IGNORECASE)
    assert match is not None, line
    name = next(group for group in match.groups()[:3] if group is not None)
    kind = match.group(4).strip()
    if kind.startswith("{"):
        return Column(name, tuple(split_fields(kind[1 : kind.rindex("}")])))
    assert kind.lower() in ("numeric", "real", "integer"), kind
    return Column(name)


def read_arff(path: Path) -> tuple[list[Column], list[list[str]], list[float]]:
    """Attributes (the class among them), rows of fields ('?' is missing) and instance weights."""
    attributes, rows, weights, in_data = [], [], [], False
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            match = re.search(r",\s*\{([0-9.eE+-]+)\}$", line)
            weights.append(float(match.group(1)) if match else 1.0)
            rows.append(split_fields(line[: match.start()] if match else line))
        elif line.lower().startswith("@attribute"):
            attributes.append(_declaration(line))
        elif line.lower().startswith("@data"):
            in_data = True
    return attributes, rows, weights


def examples_of(
    attributes: list[Column], rows: list[list[str]], weights: list[float]
) -> tuple[Examples, tuple[str, ...]]:
    """The examples, the class being the last attribute, and the class labels in declared order."""
    *inputs, target = attributes
    assert target.categories is not None
    columns = list(zip(*rows, strict=True))
    numeric, nominal = [], []
    for attribute, column in zip(inputs, columns[:-1], strict=True):
        if attribute.categories is None:
            numeric.append([float("nan") if value == "?" else float(value) for value in column])
        else:
            code = {value: i for i, value in enumerate(attribute.categories)}
            nominal.append([-1 if value == "?" else code[value] for value in column])
    n = len(rows)
    table = Table(
        tuple(inputs),
        np.array(numeric, dtype=np.float64).reshape(len(numeric), n),
        np.array(nominal, dtype=np.int32).reshape(len(nominal), n),
    )
    code = {value: i for i, value in enumerate(target.categories)}
    classes = np.array([code[value] for value in columns[-1]], dtype=np.int32)
    return Examples(table, classes, len(target.categories), np.array(weights)), target.categories
