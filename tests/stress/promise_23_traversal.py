"""23. A corpus of paths that lead elsewhere: no byte outside is served, none is written."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from urllib.parse import quote

from tests.stress.counting import described
from tests.stress.outcome import NotRun, Outcome, Progress, silent

TITLE = "paths that lead elsewhere, to read and to write"
QUICK = 0.002
SECRET = "c0ffee-secret-c0ffee"
DOTS = (
    "..",
    "%2e%2e",
    ".%2e",
    "%252e%252e",
    "..;",
    "....",
    "%c0%ae%c0%ae",
    "\uff0e\uff0e",
    "\u2025",
    "..%00",
    ". .",
    "..\u200b",
)
SLASHES = ("/", "\\", "%2f", "%5c", "%252f", "//", "%c0%af", "\u2215", "\uff0f", "/./", "/%09/")
DEPTHS = (1, 3, 8)
ENDS = ("secret.csv", "etc/passwd", "secret.csv%00.js", "secret.csv?x=.js", "secret.csv#.js")
PREFIXES = ("", "1/", "/", "static/", "file://", "panel/js/")
ABSOLUTE = (
    "/etc/passwd",
    "//etc/passwd",
    "file:///etc/passwd",
    "C:\\Windows\\win.ini",
    "\\\\host\\share\\x",
    "~/.ssh/id_rsa",
    "/proc/self/environ",
    "{secret}",
)


def corpus() -> list[str]:
    """Return the paths."""
    made = (
        prefix + slash.join([dots] * depth + end.split("/"))
        for dots, slash, depth, end, prefix in itertools.product(DOTS, SLASHES, DEPTHS, ENDS, PREFIXES)
    )
    return [*ABSOLUTE, *made]


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Read through both routes that take a name, then write under every name."""
    try:
        from tests.studio.running import Running
        from tests.studio.test_storage import SAVE_NAMES
    except ImportError as error:
        raise NotRun(f"the studio needs {error.name}") from None
    paths = corpus()
    paths = paths[:: max(1, round(1 / scale))]
    total = Outcome(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        running = _studio(Running, folder)
        try:
            for done, path in enumerate(paths, start=1):
                total += _read(running, path.replace("{secret}", str(folder / "secret.csv")))
                progress(done, len(paths))
            total += _written(
                running, folder, [*SAVE_NAMES, *(f"{path}.toml" for path in paths[:: max(1, len(paths) // 300)])]
            )
        finally:
            running.stop()
    return total


def _studio(running, folder: Path):
    from tests.studio.conftest import votes_csv

    (folder / "secret.csv").write_text(f"top,{SECRET}\n1,2\n")
    (folder / "offered").mkdir()
    (folder / "saved").mkdir()
    votes_csv(folder / "offered" / "votes.csv")
    (folder / "offered" / "link.csv").symlink_to(folder / "secret.csv")
    (folder / "offered" / "up").symlink_to(folder)
    return running([folder / "offered"], folder / "saved")


def _read(running, path: str) -> Outcome:
    from tests.studio.test_storage import raw_get

    total = Outcome(0)
    for route in (f"/api/sources/{path}", f"/static/{path}", f"/{path}"):
        try:
            status, text = raw_get(running, route)
        except Exception as error:
            total += Outcome(1, (described(error, quote(route)),))
            continue
        leaked = SECRET in text or "root:" in text or "PATH=" in text
        page = status == 200 and route.startswith("/") and "<html" in text
        total += Outcome(1, (f"{route!r}: {status}",) if leaked or (status == 200 and not page) else ())
    return total


def _written(running, folder: Path, names: list[str]) -> Outcome:
    from tests.studio.test_storage import loaded, preferences

    asked = {
        "model": loaded(running)["id"],
        "preferences": preferences("good", "bad", "ugly"),
        "weights": [1.0] * 3,
        "kind": "preferences",
        "replace": True,
    }
    total = Outcome(0)
    for name in names:
        before = _state(folder)
        try:
            answer = running.client.post("/api/save", json={**asked, "name": name}).json()
        except UnicodeEncodeError:
            continue
        inside = folder / "saved" / name if "/" not in name and "\0" not in name else None
        after = {path: content for path, content in _state(folder).items() if path != inside}
        total += Outcome(
            1,
            ()
            if after == {path: content for path, content in before.items() if path != inside}
            else (f"{name!r} wrote outside",),
        )
        if "error" not in answer and inside is not None:
            inside.unlink(missing_ok=True)
    return total


def _state(folder: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes()
        for path in [*folder.iterdir(), *(folder / "saved").iterdir(), *(folder / "offered").iterdir()]
        if path.is_file()
    }
