"""The table of docs/answers.md, from the result files."""

from __future__ import annotations

from statistics import fmean

from reproductions.answers import RESULTS
from reproductions.answers.deployments import LEVELS, SETS
from reproductions.sheets import markdown, read


def deployments() -> str:
    """Mean losses over the deployments of each set, and how many guarantees were given and broken."""
    rows = []
    for name in SETS:
        lines = [{key: float(value) for key, value in line.items()} for line in read(RESULTS / f"{name}.csv")]
        majority, tuned = (fmean(line[what] for line in lines) for what in ("majority", "tuned"))
        cells = [f"{majority:.3f}", f"{tuned:.3f}", change(tuned, majority)]
        for level in LEVELS:
            guaranteed = fmean(line[f"guaranteed {level}"] for line in lines)
            given = [line for line in lines if line[f"given {level}"]]
            broken = sum(line[f"recall {level}"] < level for line in given)
            cells += [f"{guaranteed:.3f}", change(guaranteed, majority), str(len(given)), str(broken)]
        rows.append([name, f"{fmean(line['rows of the class'] for line in lines):.0f}", *cells])
    header = ["data", "its labels", "majority", "tuned", "%"]
    for level in LEVELS:
        header += [f"recall {level}", "%", "given", "broken"]
    return markdown(header, rows)


def change(value: float, before: float) -> str:
    """The difference in per cent."""
    return f"{100 * (value / before - 1):+.0f}"
