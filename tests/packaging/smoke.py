"""Build the wheel and the sdist, install each into a new environment, and use it there as a stranger would.

Run: make package. The files land in dist/. The wheel must hold what src holds but sources of kernels, be the same to the last byte when it
is built again, keep to the limited API, and work on every Python of this machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
USE = Path(__file__).with_name("use.py").read_text(encoding="utf-8")
ROWS = "truth,decision\n" + "good,good\n" * 94 + "good,bad\n" * 11 + "bad,good\n" * 37 + "bad,bad\n" * 23
SOURCES = (".pyx", ".pxi", ".c")
NOT_IN_SDIST = (".ci/", ".github/", ".gitignore", ".pre-commit-config.yaml")
LICENCES = """
import json
from importlib.metadata import distributions
def licence(about):
    told = about.get("License-Expression") or (about.get("License") or "").strip().partition("\\n")[0]
    return told or ", ".join(one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or [] if one.startswith("License"))
print(json.dumps({one.name: licence(one.metadata) for one in distributions()}))
"""
"""Prints the licence of each installed package, as its author wrote it."""
SAME_TIME = {"SOURCE_DATE_EPOCH": "1767225600"}


def run(*command: str, folder: Path, **changes: str) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(command, cwd=folder, env=clean | changes, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build both files from a clean dist/, the wheel from the sdist."""
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("compromis-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", str(DIST), folder=ROOT, **SAME_TIME)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def look_into(wheel: Path, sdist: Path) -> None:
    """Compare what both hold with the clone."""
    src = ROOT / "src"
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    tracked = set(run("git", "ls-files", folder=ROOT).splitlines()) if (ROOT / ".git").exists() else set()
    missing = sorted(name for name in tracked - packed if not name.startswith(NOT_IN_SDIST))
    assert not missing, f"not in the sdist: {missing}"
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {path.relative_to(src).as_posix() for path in (src / "compromis").rglob("*") if path.is_file()}
    wanted = {name for name in wanted if not name.endswith((*SOURCES, ".so", ".pyd", ".pyc"))}
    kernels = {path.relative_to(src).parent.as_posix() for path in src.rglob("_kernels.pyx")}
    compiled = {name for name in held - wanted if name.rpartition("/")[2].startswith("_kernels.")}
    assert wanted <= held, f"not in the wheel: {sorted(wanted - held)}"
    assert held == wanted | compiled, f"should not be in the wheel: {sorted(held - wanted - compiled)}"
    assert {name.rpartition("/")[0] for name in compiled} == kernels, f"extensions: {sorted(compiled)}"


def look_at_interface(wheel: Path, sdist: Path) -> None:
    """Check the tag, the use of the limited API and of the system's libraries, and that a second build is the same file."""
    assert "-cp311-abi3-" in wheel.name, wheel.name
    run(sys.executable, "-m", "abi3audit", "--strict", str(wheel), folder=ROOT)
    print("abi3audit: nothing but the limited API of Python 3.11")
    if sys.platform == "linux":
        lines = run(sys.executable, "-m", "auditwheel", "show", str(wheel), folder=ROOT).splitlines()
        print(" ".join(" ".join(line.split()) for line in lines if line.strip()))
    with tempfile.TemporaryDirectory() as folder:
        again = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(sdist))
        run(sys.executable, *again, folder=Path(folder), **SAME_TIME)
        (second,) = Path(folder).glob("*.whl")
        hashes = {hashlib.sha256(one.read_bytes()).hexdigest() for one in (wheel, second)}
    assert len(hashes) == 1, f"two builds differ: {hashes}"
    print(f"two builds have one hash: {hashes.pop()}")


def environment_for(python: str, file: Path, folder: Path) -> str:
    """Install a file into an environment of its own, use it there, and return that environment's Python."""
    run(python, "-m", "venv", str(folder / "env"), folder=folder)
    inside = str(folder / "env" / "bin" / "python")
    run(inside, "-m", "pip", "install", "--quiet", str(file), folder=folder)
    version = run(inside, "-W", "error", "-c", USE, folder=folder).strip()
    print(f"{file.name}: version {version} works on {run(inside, '-V', folder=folder).strip()}")
    return inside


def try_out(file: Path, folder: Path) -> None:
    """Import, tune, command line, from an empty folder."""
    python = environment_for(sys.executable, file, folder)
    command = str(Path(python).with_name("compromis"))
    (folder / "rows.csv").write_text(ROWS)
    printed = run(command, "evaluate", "rows.csv", "--truth", "truth", "--prediction", "decision", folder=folder)
    assert "117 of 165 rows right" in printed, printed
    run(command, "demo", folder=folder)
    run(python, "-m", "pip", "check", folder=folder)
    run(python, "-m", "pip", "install", "--quiet", "--dry-run", f"compromis[all] @ {file.as_uri()}", folder=folder)
    print(f"{file.name}: installs, evaluates a file; compromis[all] resolves")
    if file.suffix == ".whl":
        describe(python, file)


def describe(python: str, wheel: Path) -> None:
    """Write what an environment holds that the wheel was installed into: a bill of materials, and a list of licences."""
    bill = wheel.with_name(f"compromis-{wheel.name.split('-')[1]}.cdx.json")
    command = ("-m", "cyclonedx_py", "environment", "--output-reproducible", "--output-file", str(bill), python)
    run(sys.executable, *command, folder=ROOT)
    licences = json.loads(run(python, "-c", LICENCES, folder=ROOT))
    named = {one["name"] for one in json.loads(bill.read_text(encoding="utf-8"))["components"]}
    assert "numpy" in named
    assert named <= set(licences), f"not looked at: {sorted(named - set(licences))}"
    unknown = sorted(name for name, text in licences.items() if not text)
    assert not unknown, f"no licence is known of: {unknown}"
    lines = [f"{name}: {text}\n" for name, text in sorted(licences.items())]
    bill.with_name(bill.name.replace(".cdx.json", ".licences.txt")).write_text(
        f"The wheel holds compromis (BSD-3-Clause) and, in its kernels, code that Cython wrote (Apache-2.0 allows any use of it).\n"
        f"An installation of it and its dependencies holds:\n\n{''.join(lines)}",
        encoding="utf-8",
    )
    print(f"{bill.name}: {len(licences)} packages, each with its licence")


def other_pythons() -> list[str]:
    """Return every other Python that pyenv or the search path knows and that is new enough."""
    versions = {f"3.{minor}" for minor in range(11, 30)} - {"{}.{}".format(*sys.version_info)}
    known = [*Path("~/.pyenv/versions").expanduser().glob("*/bin/python")]
    known += [Path(folder, f"python{one}") for folder in os.get_exec_path() for one in versions]
    found: dict[str, str] = {}
    for path in filter(os.path.exists, known):
        done = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
        )
        if done.stdout.strip() in versions:
            found.setdefault(done.stdout.strip(), str(path))
    return [found[one] for one in sorted(found)]


def main() -> None:
    wheel, sdist = build()
    look_into(wheel, sdist)
    look_at_interface(wheel, sdist)
    for file in (wheel, sdist):
        with tempfile.TemporaryDirectory() as folder:
            try_out(file, Path(folder))
    for python in other_pythons():
        with tempfile.TemporaryDirectory() as folder:
            environment_for(python, wheel, Path(folder))


if __name__ == "__main__":
    main()
