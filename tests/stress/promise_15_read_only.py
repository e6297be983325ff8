"""15. Eight processes import a read-only installation and run kernels of every room at once, twenty times."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import compromis
from tests.stress.counting import described
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.programs import finished, start

TITLE = "eight processes on one read-only installation"
QUICK = 0.01
TIMES = 20
PROCESSES = 8
EXPECTED = "[[2, 1], [0, 1]] 0.75 [[1, 0], [0, 2]] [0, 1] [0, 1]"

PROGRAM = """
import compromis as cp
from compromis.measures.ranking import roc_area
counts = cp.Counts.from_predictions([0, 0, 0, 1], [0, 0, 1, 1])
area = roc_area(cp.OperatingPoints.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
search = cp.search_weights([0, 1, 1], [[9, 1], [6, 4], [2, 8]], preferences={1: 10}, labels=[0, 1])
X, y = [[i] for i in range(40)], [0] * 20 + [1] * 20
forest, tree = cp.PragmaForestClassifier(5, random_state=0).fit(X, y), cp.C45Classifier().fit(X, y)
found = (one.predict([[3], [38]]).tolist() for one in (forest, tree))
print(counts.matrix.tolist(), area, search.counts.matrix.tolist(), *found)
"""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count processes that fail, and files that they left in the installation."""
    times, total = scaled(TIMES, scale), Outcome(0)
    processes = PROCESSES if scale >= 0.05 else 2
    with tempfile.TemporaryDirectory() as folder:
        installation = Path(folder) / "installation"
        shutil.copytree(Path(compromis.__file__).parent, installation / "compromis")
        before = _freeze(installation)
        for done in range(times):
            total += all_at_once(installation, processes)
            progress(done + 1, times)
        left = sorted(set(installation.rglob("*")) - before)
        total += Outcome(1, tuple(f"left in the installation: {path.name}" for path in left))
        _freeze(installation, 0o755)
    return total


def all_at_once(installation: Path, processes: int) -> Outcome:
    """Start processes that all import and run at the same time."""
    failures = []
    # Root may write whatever the mode of a folder, so bytecode is not asked for.
    where = {"PYTHONPATH": str(installation), "PYTHONDONTWRITEBYTECODE": "1"}
    running = [start(PROGRAM, **where) for _ in range(processes)]
    for number, process in enumerate(running):
        try:
            found = finished(process, 900)
            assert found == EXPECTED, f"printed {found!r}"
        except AssertionError as error:
            failures.append(described(error, f"process {number} of {processes}"))
    return Outcome(processes, tuple(failures))


def _freeze(installation: Path, mode: int = 0o555) -> set[Path]:
    """Set the mode of all folders, and return everything that is there."""
    held = set(installation.rglob("*"))
    for folder in (installation, *(path for path in held if path.is_dir())):
        folder.chmod(mode)
    return held
