"""37. The anytime tests of minima: few false alarms however often one looks, and falls are found soon."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from compromis.drift import AnytimeTest
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "the anytime test: at most 1 % false alarms over streams of any length; falls found soon"
STREAMS, FALLS = 10_000, 1_000
QUICK = 0.002
FIRST = 34_000_000
MINIMA = (0.95, 0.9, 0.99, 0.6)
"""The first is that of the falls; a stream without a fall has a rate of exactly its minimum, the worst case."""
LONGEST = 1_000_000
ENOUGH = 200
"""Falls from which on their median is judged."""
GOOD = (0, 250, 1_000)
"""Good rows before a fall from 0.95 to 0.85."""
MOST_ROWS = {0: 90, 250: 160, 1_000: 160}
"""The median of the rows until the fall is found."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the false alarms, and the rows that falls take."""
    streams, falls = scaled(STREAMS, scale), scaled(FALLS, scale)
    total = count_seeds(check_stream, range(FIRST, FIRST + streams))
    alarms = total.notes["false alarms"]
    if alarms > max(0.01 * streams, 1 if streams < 1_000 else 0):
        total += Outcome(0, (f"{alarms} false alarms in {streams} streams",))
    for done, good in enumerate(GOOD, start=1):
        part = count_seeds(partial(check_fall, good), range(FIRST, FIRST + falls))
        rows = sorted(int(note) for note, times in part.notes.items() for _ in range(times) if note.isdecimal())
        early = part.notes["before the fall"]
        late = (
            ()
            if len(rows) < ENOUGH or np.median(rows) <= MOST_ROWS[good]
            else (f"median {np.median(rows)} rows after {good}",)
        )
        note = f"after {good:,} good rows: median {np.median(rows) if rows else np.nan:g} rows, {early} alarms before"
        total += Outcome(part.cases, (*part.failures, *late), Counter({note: 1}))
        progress(done, len(GOOD))
    return total


def check_stream(seed: int) -> dict[str, int]:
    """Look at a stream whose rate is its minimum: one in four after every row, the others after parts that grow."""
    rng = np.random.default_rng(seed)
    minimum = MINIMA[seed // 4 % len(MINIMA)]
    test = AnytimeTest(label="a", rate="recall", minimum=minimum)
    grown = rng.geometric(1 / np.geomspace(1, LONGEST / 20, 300))
    parts = np.ones(2_000, dtype=np.int64) if seed % 4 == 0 else grown
    for rows, wrong in zip(parts.tolist(), rng.binomial(parts, 1 - minimum).tolist(), strict=True):
        test = test.after(rows, wrong)
    assert test.rows == parts.sum()
    return {"false alarms": int(test.alarm), "rows": int(parts.sum())}


def check_fall(good: int, seed: int) -> dict[str, int]:
    """Let the rate fall from 0.95 to 0.85 after so many rows, and count the rows until the alarm."""
    rng = np.random.default_rng([seed, good])
    test = AnytimeTest(label="a", rate="recall", minimum=0.95)
    parts = [20] * (good // 20) + [1] * (good % 20)
    for rows, wrong in zip(parts, rng.binomial(parts, 0.05).tolist(), strict=True):
        test = test.after(rows, wrong)
    if test.alarm:
        return {"before the fall": 1}
    while not test.alarm:
        test = test.after(1, int(rng.random() < 0.15))
    return {str(test.rows - good): 1}
