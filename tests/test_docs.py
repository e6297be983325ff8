"""The documentation says what is true: every public name has an example that runs, and so has every page."""

from __future__ import annotations

import doctest
import functools
import importlib.util
import inspect
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import compromis as cp
from compromis.cli.run import COMMANDS, main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
FLAT = [name for name in cp.__all__ if not inspect.ismodule(getattr(cp, name))]
ROOMS = [name for name in cp.__all__ if inspect.ismodule(getattr(cp, name))]
NAMES = FLAT + [
    f"{room}.{name}" for room in ROOMS for name in getattr(getattr(cp, room), "__all__", ()) if name not in cp.__all__
]
ROOMS_OF_RESULTS = ("drift.", "evaluation.", "frames.", "model_selection.", "regression.", "tradeoffs.", "uncertainty.")
RESULTS = [name for name in NAMES if name.startswith(ROOMS_OF_RESULTS) and name.split(".")[1][0].isupper()]
"""Classes that nobody builds by hand: the function that makes them has the example."""
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {"python": "as a doctest", "bash": "by the tests below"}
RUN_BY = {
    "any_model.md": "tests/integration/test_any_model.py",
    "deploy.md": "tests/integration/test_deploy.py",
}
"""Pages with Python that is no doctest session, because it needs other packages, and the test that runs it."""
SHOWN_ONLY = {"text", "toml", "json", "sql", "html", "yaml", "sh", "{toctree}", "{image}"}
"""A server's commands, which do not end, stand in sh blocks."""


def blocks(page, language):
    return [body for found, body in FENCE.findall(page.read_text(encoding="utf-8")) if found.strip() == language]


def value_of(name):
    """A public name, such as evaluate or weights.Sweep."""
    return functools.reduce(getattr, name.split("."), cp)


def docstring(name):
    return inspect.getdoc(value_of(name))


def examples(text):
    return doctest.DocTestParser().get_examples(text)


def sections(text):
    """The headings of a numpydoc docstring: lines underlined to their own length."""
    lines = text.splitlines()
    return [
        line for line, below in itertools.pairwise(lines) if line and below == "-" * len(line)
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_numpydoc_docstring(name):
    first, *rest = docstring(name).splitlines()
    assert first.rstrip().endswith("."), "the first line is a sentence"
    assert not rest or rest[0] == "", "the first line stands alone"
    assert name in RESULTS or "Examples" in sections(docstring(name))


def test_every_public_name_has_an_example_that_can_fail():
    """An example without an expected value checks nothing; imports alone are none."""
    counted = [name for name in NAMES if any(example.want for example in examples(docstring(name)))]
    assert sorted(set(NAMES) - set(counted) - set(RESULTS)) == []


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isfunction(value_of(name))])
def test_parameters_that_are_described_exist(name):
    described = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", docstring(name), re.MULTILINE | re.DOTALL)
    if described is None:
        return
    heads = re.findall(r"^([\w*, ]+)(?: :|$)", described[1], re.MULTILINE)
    told = {one.strip().lstrip("*") for head in heads for one in head.split(",") if one.strip()}
    assert told <= set(inspect.signature(value_of(name)).parameters)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_code_block_runs(page):
    """Python is a doctest session, which pytest runs; commands run below; the rest is shown only."""
    for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
        assert language.strip().partition(" ")[0] in RUN_ELSEWHERE.keys() | SHOWN_ONLY, f"who runs a {language!r} block?"
        if language.strip() == "python" and page.name in RUN_BY and not body.startswith(">>>"):
            assert page.name in (ROOT / RUN_BY[page.name]).read_text(encoding="utf-8")
        elif language.strip() == "python":
            assert body.startswith(">>>"), f"not a doctest session: {body[:60]!r}"
            assert body.endswith("\n\n"), f"the fence would be read as output, leave a line empty: {body[-60:]!r}"


def test_pages_with_unfenced_sessions_are_none():
    """Markdown takes >>> at the start of a line for a quotation."""
    for page in PAGES:
        assert not re.search(r"^>>>", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE), page.name


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            made_in_the_build = target.startswith(("gallery/", "reference/"))
            assert "://" in target or made_in_the_build or (page.parent / target).exists(), (page.name, target)


def test_every_page_is_in_the_table_of_contents():
    listed = set()
    for page in DOCS.glob("*.md"):
        for body in blocks(page, "{toctree}"):
            listed |= {re.sub(r".*<(.*)>", r"\1", line.strip()) for line in body.splitlines()}
    assert {page.stem for page in DOCS.glob("*.md")} - listed == {"index"}


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("reference_pages", DOCS / "reference_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_api_reference_has_every_name_once(reference):
    found = re.findall(r"^(?:   |\.\. autodata:: )(\w+)$", reference.api_index(), re.MULTILINE)
    assert sorted(found) == sorted([*(name.split(".")[-1] for name in NAMES), "METRICS"])


def test_the_command_line_reference_has_every_option(reference):
    page = reference.command_line_page()
    context = click.Context(main, info_name="compromis")
    for name in COMMANDS:
        part = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)[1]
        for parameter in main.get_command(context, name).params:
            assert parameter.opts[-1] in part or parameter.human_readable_name in part


# what follows runs the commands of the pages in a shell, as a reader would


@pytest.fixture
def shell(tmp_path):
    """Run lines in an empty folder, with this compromis as the command, and return what they print."""
    tools = tmp_path / "tools"
    folder = tmp_path / "empty"
    tools.mkdir()
    folder.mkdir()
    command = tools / "compromis"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compromis "$@"\n')
    command.chmod(0o755)
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": source, "COLUMNS": "200"}

    def run(lines, **options):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", lines],
            cwd=folder, env=environment | options, capture_output=True, text=True, input="\n" * 100,
        )  # fmt: skip
        assert done.returncode == 0, f"{lines}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    run.folder = folder
    return run


FILES = {
    "results.csv": "truth,model_a,model_b,predicted\n"
    + "sick,sick,well,sick\nwell,well,well,well\nwell,sick,well,well\n" * 20,
    "votes.csv": "truth,p_sick,p_well\n" + "sick,0.6,0.4\nsick,0.3,0.7\nwell,0.1,0.9\nwell,0.35,0.65\n" * 20,
    "scores.csv": "truth,model_a,model_b\n" + "sick,0.9,0.4\nsick,0.3,0.7\nwell,0.1,0.5\nwell,0.35,0.1\n" * 20,
    "train.csv": "size,colour,class\n" + "1.5,red,sick\n2.5,blue,well\n2.0,blue,well\n1.2,red,well\n" * 20,
    "new.csv": "size,colour\n1.4,red\n2.6,blue\n",
}
"""Files such as the commands of the pages name."""


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "start.md"], ids=lambda page: page.name)
def test_the_commands_of_the_pages_run(page, shell):
    lines = blocks(page, "bash")
    if not lines:
        return
    for name, text in FILES.items():
        (shell.folder / name).write_text(text)
    if page.name != "README.md":  # its own commands make them
        shell("compromis preferences results.csv --truth truth --output preferences.toml")
        shell("compromis tune votes.csv --truth truth --proba p_ --preferences preferences.toml --output weights.json")
    for body in lines:
        if "make " in body:  # what they do takes minutes; that they exist is checked here, that they work by their use
            targets = re.findall(r"^make (\w+)", body, re.MULTILINE)
            subprocess.run(["make", "-n", *targets], cwd=ROOT, check=True, capture_output=True)
        else:
            shell(body)


@pytest.mark.slow
def test_the_first_steps_run_from_an_empty_folder_in_a_new_environment(shell):
    """Every command of docs/start.md as it stands, the installation included; what the page shows is what they print."""
    text = (DOCS / "start.md").read_text(encoding="utf-8")
    lines, shown = [], []
    for language, body in FENCE.findall(text):
        if language == "bash":
            lines.append(body)
        elif language == "text":
            shown.append(body)
    printed = shell("".join(lines), COMPROMIS=str(ROOT), PYTHONPATH="", PATH=os.environ["PATH"])
    checker = doctest.OutputChecker()
    for body in shown:
        assert checker.check_output(f"...{body}...", printed + "\n", doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), (
            body
        )
    assert (shell.folder / "report.html").stat().st_size > 10_000
