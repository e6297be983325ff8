"""Compare this version with release 0.1.0: processor time of the same work, in two processes that take turns.

``python -m benchmarks.beside_0_1_0 PATH [WORD]``: PATH is a clone at 26c1ac0 with its environment (``make .venv/.installed-from``);
with WORD only what has it in its name. Both get the same rows from one seed and are warm before anything counts, as 0.1.0 compiles
at its first call. A ratio is that of the best of nine turns. Nothing may be slower by more than 5 %.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

TURNS = 9
ROOM = 1.05

ROWS = """
import numpy as np, compromis as cp
rng = np.random.default_rng(0)
def rows(n, classes):
    y = rng.choice(classes, n, p=np.arange(1, classes + 1) / (classes * (classes + 1) / 2))
    p = rng.dirichlet(np.ones(classes), n) + 1.5 * np.eye(classes)[y] * rng.random((n, 1))
    p = np.round(p / p.sum(axis=1, keepdims=True), 3)
    return y, p, p.argmax(axis=1)
def table(n, columns, classes):
    X = rng.normal(size=(n, columns))
    y = np.digitize(X[:, :3].sum(axis=1) + rng.normal(size=n), np.linspace(-2, 2, classes + 1)[1:-1])
    return X, y
"""
WANTS = (
    "wants = cp.Preferences({0: cp.Preference(10, accept_precision=.1, accept_recall=.9)}, index='f')\n",
    "wants = cp.Preferences({0: cp.Preference(10, precision_at_full_recall=.1, recall_at_full_precision=.9)}, metric='f')\n",
)


def _search(n: int, k: int) -> tuple[str, str]:
    before = f"y, p, d = rows({n}, {k})\ncall = lambda: cp.search_weights(p, y, preferences=wants, random_state=0)"
    return before, before.replace("search_weights(p, y", "search_weights(y, p")


def _same(program: str) -> tuple[str, str]:
    return program, program


PROGRAMS = {
    "evaluate 1,000 rows": _same(
        "y, p, d = rows(1000, 3)\ncall = lambda: [cp.evaluate(y, d).summary for _ in range(50)]"
    ),
    "evaluate 1,000 rows of text": _same(
        "y, p, d = rows(1000, 3)\ny, d = [str(a) for a in y], [str(a) for a in d]\ncall = lambda: [cp.evaluate(y, d).summary for _ in range(50)]"
    ),
    "evaluate 5 M rows": _same("y, p, d = rows(5_000_000, 6)\ncall = lambda: cp.evaluate(y, d).summary"),
    "evaluate 200,000 rows with probabilities": _same(
        "y, p, d = rows(200_000, 4)\ncall = lambda: cp.evaluate(y, d, y_proba=p, preferences=wants).summary"
    ),
    "evaluate with intervals": _same(
        "y, p, d = rows(20_000, 4)\ncall = lambda: cp.evaluate(y, d, preferences=wants, confidence=.95).intervals"
    ),
    "search, 2 classes, 200,000 rows": _search(200_000, 2),
    "search, 3 classes, 3,000 rows": _search(3_000, 3),
    "search, 6 classes, 5,000 rows": _search(5_000, 6),
    "search, 26 classes, 10,000 rows": _search(10_000, 26),
    "points, curve and areas of 1 M scores": _same(
        "y = rng.random(1_000_000) < .1\ns = np.round(rng.normal(size=1_000_000) + y, 4)\n"
        "def call():\n    points = cp.OperatingPoints.from_predictions(y, s)\n    return cp.TradeoffCurve(points).intervals"
    ),
    "forest of 100 trees, 20,000 rows, untuned": _same(
        "X, y = table(20_000, 20, 2)\ncall = lambda: cp.PragmaForestClassifier(tune=False, random_state=0, n_jobs=1).fit(X, y)"
    ),
    "its probabilities": _same(
        "X, y = table(20_000, 20, 2)\nfitted = cp.PragmaForestClassifier(tune=False, random_state=0, n_jobs=1).fit(X, y)\n"
        "call = lambda: fitted.predict_proba(X)"
    ),
    "C4.5, 5,000 rows": _same("X, y = table(5_000, 20, 4)\ncall = lambda: cp.C45Classifier().fit(X, y)"),
    "cross_evaluate a tree": _same(
        "X, y = table(2_000, 10, 3)\ncall = lambda: cp.cross_evaluate(cp.PragmaTreeClassifier(), X, y, cv=5, preferences=wants).summary"
    ),
    "report of 5,000 rows": _same(
        "y, p, d = rows(5_000, 4)\nresult = cp.evaluate(y, d, y_proba=p, preferences=wants)\ncall = lambda: cp.report(result).html"
    ),
}

CHILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
{rows}
{wants}
{program}
call()
call()
print("ready", flush=True)
for _ in sys.stdin:
    begun = time.process_time()
    call()
    print(json.dumps(time.process_time() - begun), flush=True)
"""


def child(python: Path | str, wants: str, program: str) -> subprocess.Popen[str]:
    text = CHILD.format(rows=ROWS, wants=wants, program=program)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([str(python), "-c", text], text=True, cwd="/", **pipes)


def turns(pair: list[subprocess.Popen[str]]) -> list[list[float]]:
    """Let both take turns; return the seconds of each."""
    seconds: list[list[float]] = [[], []]
    for each in pair:
        if each.stdout.readline() != "ready\n":
            raise RuntimeError(f"did not run: {each.args[-1]}")
    for turn in range(TURNS):
        for place in (0, 1) if turn % 2 else (1, 0):
            pair[place].stdin.write("go\n")
            pair[place].stdin.flush()
            seconds[place].append(json.loads(pair[place].stdout.readline()))
    return seconds


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    before, slower = Path(sys.argv[1]) / ".venv/bin/python", []
    for name, programs in PROGRAMS.items():
        if len(sys.argv) > 2 and sys.argv[2] not in name:
            continue
        pair = [
            child(python, *code)
            for python, code in zip((before, sys.executable), zip(WANTS, programs, strict=True), strict=True)
        ]
        old, new = turns(pair)
        for each in pair:
            each.kill()
        ratio = min(new) / min(old)
        print(
            f"{name:45} {1000 * min(old):9.2f} ms in 0.1.0 {1000 * min(new):9.2f} ms now  ratio {ratio:.2f} (medians {statistics.median(new) / statistics.median(old):.2f})",
            flush=True,
        )
        slower += [name] if ratio > ROOM else []
    print(f"slower by more than 5 %: {', '.join(slower) or 'nothing'}")


if __name__ == "__main__":
    main()
