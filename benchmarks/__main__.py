"""Run benchmarks and write their pages anew: ``python -m benchmarks [weights] [forest] ...``; all of them without names.

Each runs in a process of its own, with its lines on the terminal; one that fails or hangs keeps its old rows and does not stop the others.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter

from benchmarks import page

LONGEST = 1800
"""Seconds that one benchmark may take before it is given up."""


def run(name: str) -> bool:
    """Run one benchmark; say whether it came to its end."""
    command = [sys.executable, "-m", f"benchmarks.bench_{name}"]
    try:
        return subprocess.run(command, cwd=page.HERE.parent, timeout=LONGEST).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"{name} did not end within {LONGEST} s", file=sys.stderr, flush=True)
        return False


def main(chosen: list[str]) -> None:
    unknown = [name for name in chosen if name not in page.NAMES]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]!r}; choose among {', '.join(page.NAMES)}")
    names, failed, begun = chosen or page.NAMES, [], time.perf_counter()
    try:
        for place, name in enumerate(names, start=1):
            print(f"\n== {place} of {len(names)}: {name}", file=sys.stderr, flush=True)
            start = time.perf_counter()
            failed += [] if run(name) else [name]
            print(f"== {name} took {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    finally:
        page.main()  # also after Ctrl-C: the results of those that ended are written
    found = Counter(line.verdict for name in names for line in page.lines_of(name))
    print(
        f"\n{len(names)} benchmarks in {time.perf_counter() - begun:.0f} s: {found['met']} targets met, {found['missed']} missed"
    )
    if failed:
        sys.exit(f"these failed and keep their old rows: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
