"""make coverage: which lines of the kernels ran, by gcov, after tests with the build of COMPROMIS_BUILD=coverage.

gcov counts lines of C; Cython names above each piece of C the line of the kernel that it stands for. Lines, not branches:
the C of one line holds branches of its own, for errors and reference counts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST = 95


def main() -> int:
    """Print a line for each file of kernels; exit code 1 if fewer than 95 % of all lines ran."""
    counted = sorted((ROOT / "build" / "coverage").rglob("*.gcda"))
    if not counted:
        print("nothing was counted: run make coverage")
        return 1
    ran: dict[str, dict[int, bool]] = defaultdict(dict)
    for file, line, did in lines_of(counted):
        ran[file][line] = did or ran[file].get(line, False)
    for file, lines in sorted(ran.items()):
        missed = [line for line in sorted(lines) if not lines[line]]
        print(f"{file:50} {len(lines):5} lines {1 - len(missed) / len(lines):7.1%}  {' '.join(map(str, missed))}")
    total, hit = (sum(part(lines.values()) for lines in ran.values()) for part in (len, sum))
    print(f"{'all kernels':50} {total:5} lines {hit / total:7.1%}, at least {LEAST} % is wanted")
    return int(100 * hit < LEAST * total)


def lines_of(counted: list[Path]) -> Iterator[tuple[str, int, bool]]:
    """Yield kernel file, line, and whether it ran, for each line of C that gcov counts in a kernel."""
    command = ["gcov", "--json-format", "--stdout", *map(str, counted)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for document in printed.splitlines():
        for file in json.loads(document)["files"]:
            path = ROOT / file["file"]
            places = kernel_lines(path.read_text(encoding="utf-8")) if path.suffix == ".c" else {}
            for line in file["lines"]:
                if place := places.get(line["line_number"]):
                    yield *place, line["count"] > 0


def kernel_lines(translated: str) -> dict[int, tuple[str, int]]:
    """Return file and line of the kernel for each line of C that stands for one; what Cython adds at ends of functions does not."""
    places, place = {}, None
    for number, line in enumerate(translated.splitlines(), 1):
        if named := re.match(r'\s*/\* "(.+\.p(?:yx|xi))":(\d+)$', line):
            place = (named[1], int(named[2]))
        elif line == "}" or "/* function exit code */" in line:
            place = None
        elif place:
            places[number] = place
    return places


if __name__ == "__main__":
    sys.exit(main())
