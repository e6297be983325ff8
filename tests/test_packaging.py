"""What the package says about itself is the same everywhere; `make package` tries the built files."""

from __future__ import annotations

import json
import re
import socket
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

import compromis
from tests.packaging.audit import judged, unanswered
from tests.packaging.lock import GROUPS, requirements

ROOT = Path(__file__).parents[1]


def test_the_version_stands_in_one_place():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["setuptools"]["dynamic"] == {"version": {"attr": "compromis.__version__"}}
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_package_is_typed():
    assert (Path(compromis.__file__).parent / "py.typed").is_file()


def test_everything_named_for_the_sdist_is_there():
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    named = [name for line in lines if line.startswith(("include", "graft")) for name in line.split()[1:]]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert {"reproductions", "CITATION.cff", "build_backend"} <= set(named)


def test_the_extra_for_all_names_every_other_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything)) - {"compromis"} == set(extras) - {"all"}


def bounds(requirements):
    """The lower bound of each requirement that has one."""
    found = (re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", one) for one in requirements)
    return {one[1]: one[2] for one in found if one}


def test_the_oldest_versions_tried_are_the_lower_bounds():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"].values()
    needed = bounds([*settings["project"]["dependencies"], *(one for extra in extras for one in extra)])
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))

    def plain(version):
        return re.sub(r"(\.0)+$", "", version)

    known = bounds(settings["dependency-groups"]["dev"]) | needed
    assert set(needed) - set(pinned) == set()
    assert {name: plain(version) for name, version in pinned.items()} == {name: plain(known[name]) for name in pinned}


def locked(group):
    """Return the versions of each package in a lock, and the packages without a hash."""
    text = (ROOT / "locks" / f"{group}.txt").read_text(encoding="utf-8")
    entries = re.findall(r"^([\w.-]+)==(\S+)((?:.*\\\n)(?: +--hash=sha256:[0-9a-f]{64}.*\n)*)?", text, re.MULTILINE)
    versions = {}
    for name, version, _ in entries:
        versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    return versions, [name for name, _, hashes in entries if "--hash=sha256:" not in hashes]


@pytest.mark.parametrize("group", GROUPS)
def test_the_lock_of_a_group_has_what_the_group_asks_for(group):
    """Each package by exact versions within the bounds, each with the hashes of its files; `make lock` writes them anew."""
    requirement = pytest.importorskip("packaging.requirements").Requirement
    versions, bare = locked(group)
    assert bare == []
    for one in map(requirement, requirements(group)):
        found = versions.get(re.sub(r"[-_.]+", "-", one.name).lower(), set())
        assert found, f"{one} is in no lock; run make lock"
        assert all(one.specifier.contains(version) for version in found)
    everywhere, _ = locked("dev")
    assert {
        name: versions[name] for name in versions if name in everywhere and not versions[name] <= everywhere[name]
    } == {}


def answer(*packages):
    return json.dumps({"dependencies": list(packages), "fixes": []})


CLEAN = {"name": "a", "version": "1", "vulns": []}
FLAWED = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]}
OURS = {"name": "compromis", "skip_reason": "distribution marked as editable"}
UNKNOWN = {"name": "c", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("found", "code", "sentence"),
    [
        (answer(CLEAN, OURS), 0, "no vulnerability is known in the 1 installed packages"),
        (answer(CLEAN, FLAWED, UNKNOWN), 1, "vulnerabilities are known in b 2 (PYSEC-1, PYSEC-2)"),
        (answer(CLEAN, UNKNOWN), 2, "the audit is not whole: could not look up c"),
        (answer(), 2, "the audit is not whole: could not look up any package"),
        ("", 2, "the audit failed: ERROR: no network"),
    ],
)
def test_an_audit_tells_flaws_from_what_could_not_be_looked_up(found, code, sentence):
    assert judged(found, "a line\nERROR: no network\n") == (code, sentence)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"vulnerabilities": [{"id": "PYSEC-1"}]}', ""),
        (b'{"vulnerabilities": []}', "lists no advisories, but there are some"),
        (b"<html>", "Expecting value"),
        (None, "answered 404"),
    ],
)
def test_a_service_without_advisories_is_noticed(body, reason):
    class Service(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        said = unanswered(f"http://127.0.0.1:{server.server_port}/", 10)
        thread.join()
    assert reason in said
    assert bool(said) is bool(reason)


def test_a_service_that_is_not_there_is_noticed():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert "refused" in unanswered(f"http://127.0.0.1:{closed.getsockname()[1]}/", 10)
