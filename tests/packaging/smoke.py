"""Build the wheel and the sdist, install each into a new environment, and use it there as a stranger would.

Run: make package (needs the package `build`). The files land in dist/.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
ROWS = "truth,decision\n" + "good,good\n" * 94 + "good,bad\n" * 11 + "bad,good\n" * 37 + "bad,bad\n" * 23
USE = """
import compromis as cp
assert "site-packages" in cp.__file__, cp.__file__
preferences = cp.Preferences.prioritise(["bad"])
report = cp.evaluate(["good", "bad", "bad"], ["good", "bad", "good"], preferences=preferences)
assert report.summary.accuracy == 2 / 3
search = cp.search_weights(["good", "bad", "bad"], [[9, 1], [6, 4], [2, 8]], preferences=preferences, labels=["good", "bad"])
assert search.optimal and search.counts.matrix.tolist() == [[1, 0], [0, 2]]
forest = cp.PragmaForestClassifier(10, preferences=preferences, random_state=0).fit([[i] for i in range(40)], ["good"] * 25 + ["bad"] * 15)
assert forest.predict([[3], [38]]).tolist() == ["good", "bad"]
assert "</table>" in report._repr_html_()
print(cp.__version__)
"""


def run(*command: str, folder: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build both files from a clean dist/ and look into them."""
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("compromis-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", str(DIST), folder=ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    held = zipfile.ZipFile(wheel).namelist()
    assert "compromis/py.typed" in held, "the wheel has no py.typed"
    assert any(name.startswith("compromis/_templates/") for name in held), "the wheel has no report template"
    assert not any(name.startswith(("tests/", "reproductions/")) for name in held), "the wheel holds tests"
    with tarfile.open(sdist) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "LICENSE",
        "CITATION.cff",
        "CHANGELOG.md",
        "README.md",
        "tests/test_papers.py",
        "reproductions/data.py",
    } <= files
    return wheel, sdist


def try_out(file: Path, folder: Path) -> None:
    """Install one file into an environment of its own; import, tune, command line, from an empty folder."""
    venv.create(folder / "env", with_pip=True)
    python, command = (str(folder / "env" / "bin" / name) for name in ("python", "compromis"))
    run(python, "-m", "pip", "install", "--quiet", str(file), folder=folder)
    version = run(python, "-W", "error", "-c", USE, folder=folder).strip()
    (folder / "rows.csv").write_text(ROWS)
    printed = run(command, "evaluate", "rows.csv", "--truth", "truth", "--prediction", "decision", folder=folder)
    assert "70.9091" in printed, printed
    run(command, "demo", folder=folder)
    run(python, "-m", "pip", "check", folder=folder)
    run(python, "-m", "pip", "install", "--quiet", "--dry-run", f"compromis[all] @ {file.as_uri()}", folder=folder)
    print(f"{file.name}: version {version} installs, imports, tunes, evaluates a file; compromis[all] resolves")


def main() -> None:
    for file in build():
        with tempfile.TemporaryDirectory() as folder:
            try_out(file, Path(folder))


if __name__ == "__main__":
    main()
