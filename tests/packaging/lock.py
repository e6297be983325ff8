"""Write locks/*.txt: the exact version of every package that `make` installs for a group, and the hashes of its files.

Run: make lock. Each lock is for every platform and every Python from 3.11; the other groups keep the versions of dev.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
GROUPS = ("dev", "lint", "docs", "hardening", "package")


def requirements(group: str) -> list[str]:
    """Return what a group needs, our own dependencies and extras in place of our name."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, extras = settings["project"], settings["project"]["optional-dependencies"]
    wanted, found = list(settings["dependency-groups"][group]), []
    while wanted:
        one = wanted.pop(0)
        ours = re.fullmatch(r"compromis\[([\w,]+)\]", one)
        if ours:
            wanted += [*project["dependencies"], *(needed for extra in ours[1].split(",") for needed in extras[extra])]
        else:
            found.append(one)
    return sorted(set(found))


def main() -> None:
    dev = ROOT / "locks" / "dev.txt"
    for group in GROUPS:
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--python-version",
            "3.11",
            "--generate-hashes",
        ]
        command += ["--no-annotate", "--no-header", "--upgrade", "--output-file", str(dev.with_name(f"{group}.txt"))]
        command += [] if group == "dev" else ["--constraint", str(dev)]
        lines = requirements(group) + (["pip>=25.1"] if group == "dev" else [])
        subprocess.run([*command, "-"], input="\n".join(lines), text=True, check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
