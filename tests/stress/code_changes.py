"""Small changes of a module's source: cosmic-ray's operators, each applied to the parsed source in memory.

Left out are changes of annotations, which change nothing that runs, and bits and shifts in place of arithmetic:
on floats they end in a TypeError wherever the line runs at all, which would flatter the score.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "compromis"
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow")
_BITS = ("RShift", "LShift", "BitOr", "BitAnd", "BitXor")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """One operator at one node of a module's tree."""

    module: str
    """Such as measures/rates."""
    operator: str
    line: int
    column: int
    node: Any
    variant: int
    lines: tuple[int, ...]
    """The lines of the statement that runs."""
    inside: bool
    """Whether it is in the body of a function, so that nothing else has to be imported anew."""

    def apply(self) -> str:
        """Return the changed source; the tree is changed as well, so this is for a process that ends afterwards."""
        from cosmic_ray.plugins import get_operator

        node, parent = self.node, self.node.parent
        root = node.get_root_node()
        new = get_operator(f"core/{self.operator}")().mutate(node, self.variant)
        if new is not node:
            place = next(k for k, child in enumerate(parent.children) if child is node)
            parent.children[place : place + 1] = [] if new is None else [new]
        return str(root.get_code())


def changes(module: str, skip: Sequence[str] = ()) -> Iterator[Change]:
    """Yield all changes of a module but those of operators to skip."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = path_of(module).read_text(encoding="utf-8")
    tree = ast.parse(source)
    still, statements, bodies = _annotations(tree), _statements(tree), _bodies(tree)
    operators = [
        (name.partition("/")[2], get_operator(name)())
        for name in operator_names()
        if not get_operator(name).arguments() and not _flatters(name) and name.partition("/")[2] not in skip
    ]
    for node in ast_nodes(get_ast(source)):
        for name, operator in operators:
            for variant, (begin, _) in enumerate(operator.mutation_positions(node)):
                if not _within(tuple(begin), still):
                    inside = _within(tuple(begin), bodies)
                    yield Change(module, name, *begin, node, variant, _around(begin[0], statements), inside)


def path_of(module: str) -> Path:
    """Return the file of a module such as measures/rates."""
    return SOURCE / f"{module}.py"


def differs(before: str, after: str) -> bool:
    """Whether a changed source is a program, and another one."""
    try:
        return ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    except SyntaxError:
        return False


def in_words(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ, without their indents: as they were, and as they are."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return " ".join(" ".join(old).split()), " ".join(" ".join(new).split())


def _flatters(name: str) -> bool:
    kind, _, pair = name.partition("/")[2].partition("_")
    before, _, after = pair.partition("_")
    return kind == "ReplaceBinaryOperator" and before in _ARITHMETIC and after in _BITS


def _within(place: Place, spans: list[tuple[Place, Place]]) -> bool:
    return any(first <= place < last for first, last in spans)


def _bodies(tree: ast.Module) -> list[tuple[Place, Place]]:
    """Return where the bodies of functions stand."""
    return [
        ((node.body[0].lineno, node.body[0].col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]


def _statements(tree: ast.Module) -> list[tuple[int, int]]:
    """Return the first and the last line of every simple statement, and of the heads of the others."""
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            spans.append((first, max(node.lineno, end or 0)))
    return spans


def _around(line: int, statements: list[tuple[int, int]]) -> tuple[int, ...]:
    inside = [(last - first, first, last) for first, last in statements if first <= line <= last]
    _, first, last = min(inside, default=(0, line, line))
    return tuple(range(first, last + 1))


def _annotations(tree: ast.Module) -> list[tuple[Place, Place]]:
    """Return where annotations stand, as pairs of (line, column)."""
    spans = []
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id[0].isupper():
            union = isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.BitOr)
            parts.append(node.value if union else None)  # names of types
        spans += [
            ((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset)) for one in parts if one is not None
        ]
    return spans
