"""What the package says about itself is the same everywhere; `make package` tries the built files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import compromis

ROOT = Path(__file__).parents[1]


def test_the_version_to_cite_is_that_of_the_package():
    stated = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert stated
    assert stated[1] == compromis.__version__


def test_the_package_is_typed():
    assert (Path(compromis.__file__).parent / "py.typed").is_file()


def test_everything_named_for_the_sdist_is_there():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert {"reproductions", "CITATION.cff", "LICENSE"} <= set(named)


def test_the_extra_for_all_names_every_other_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything)) - {"compromis"} == set(extras) - {"all"}
