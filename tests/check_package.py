"""Install the wheel and the sdist, each into a clean environment, and use them from an empty folder: python tests/check_package.py dist."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SMOKE = """
import importlib.metadata, importlib.resources
import compromis as cp
assert cp.__version__ == importlib.metadata.version("compromis")
assert importlib.resources.files("compromis").joinpath("py.typed").is_file()
assert "src" not in cp.__file__, cp.__file__
for name in cp.__all__:
    getattr(cp, name)
result = cp.evaluate(["a", "b", "b"], ["a", "a", "b"], preferences=cp.Preferences.prioritise(["a"], index="f"))
assert result.summary.accuracy == 2 / 3 and "<html" in result.to_html("report.html")
print(cp.__version__, len(cp.__all__) - 1, "names")
"""


def check(archive: Path) -> None:
    """Install an archive with every extra, and run the library and the command line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "venv"), with_pip=True)
        tools, empty = Path(folder, "venv", "bin"), Path(folder, "empty")
        empty.mkdir()
        install = ["install", "--quiet", "--disable-pip-version-check", f"{archive}[all]"]
        subprocess.run([tools / "python", "-m", "pip", *install], check=True)
        subprocess.run([tools / "python", "-c", SMOKE], check=True, cwd=empty)
        demo = subprocess.run([tools / "compromis", "demo"], check=True, cwd=empty, capture_output=True, text=True)
        assert "informative" in demo.stdout
        print(f"{archive.name}: installs with [all], imports every name, runs the demo")


if __name__ == "__main__":
    archives = sorted(path.absolute() for path in Path(sys.argv[1]).iterdir())
    if [path.suffix for path in archives] != [".whl", ".gz"] and [path.suffix for path in archives] != [".gz", ".whl"]:
        sys.exit(f"expected one wheel and one sdist, found {[path.name for path in archives]}")
    for path in archives:
        check(path)
