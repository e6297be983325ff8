"""Options of the form LABEL=NUMBER, and the file of a cost matrix."""

from __future__ import annotations

import click


def read_pairs(given: tuple[str, ...], option: str) -> dict[str, float] | None:
    """Return numbers by label, None where the option is not given; a label may hold '=' itself."""
    pairs: dict[str, float] = {}
    for one in given:
        label, mark, number = one.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            mark = ""
        if not mark:
            raise click.BadParameter(f"write LABEL=SHARE, for example bad=0.05, got {one!r}", param_hint=option)
        if label in pairs:
            raise click.BadParameter(f"the class {label!r} is given twice", param_hint=option)
        pairs[label] = value
    return pairs or None


def read_cost_file(path: str) -> tuple[list[str], list[list[float]]]:
    """Return the classes and the costs of a table: its first column names the true classes, its header the predicted ones."""
    from compromis.engines import columns
    from compromis.engines.reading import read_table
    from compromis.errors import InputError, shown

    table = read_table(path, lambda names: names)
    first, *predicted = table.columns
    true = [str(label) for label in table.columns[first]]
    if sorted(true) != sorted(predicted):
        raise InputError(
            f"{path} must name the same classes down its first column, {shown(true)}, and along its header, {shown(predicted)}"
        )
    costs = [columns.numbers(table, label).tolist() for label in true]
    return true, [list(row) for row in zip(*costs, strict=True)]
