"""35. A record is verified by its evidence alone; whatever is changed in either is refused, and a mutated record is one sentence."""

from __future__ import annotations

import random
import tempfile
import time
import warnings
from collections import Counter
from functools import cache, partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

import compromis as cp
from compromis.evaluation.record import fingerprint
from tests.stress.counting import count_seeds
from tests.stress.mutations import bent, spoiled
from tests.stress.outcome import Outcome, Progress, scaled, silent
from tests.stress.spoiled_files import complaint

TITLE = (
    "the record: 1,000 of 1,000 random changes to record or evidence are refused, 10,000 mutated records one sentence"
)
CHANGES, MUTATED, QUICK = 1_000, 10_000, 0.003
FIRST = 35_000_000
SLOWEST = 1.0
"""Seconds of processor time for a verification."""
KINDS = ("a byte of the record", "a byte of the evidence", "a cut", "a number, sealed again")


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the changes that are not refused."""
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), *_files())
        cp.evaluation.Record.verify(Path(folder, "record.json"), Path(folder, "evidence.json"))
        begun = time.process_time()
        cp.evaluation.Record.verify(Path(folder, "record.json"), Path(folder, "evidence.json"))
        seconds = time.process_time() - begun
        number = scaled(CHANGES, scale)
        total = count_seeds(partial(check_change, folder), range(FIRST, FIRST + number))
        mutated = scaled(MUTATED, scale)
        total += count_seeds(partial(check_mutated, folder), range(FIRST, FIRST + mutated), progress)
    slow = (f"a verification takes {seconds:.2f} s",) if seconds > SLOWEST else ()
    note = f"verified in {seconds:.2f} s of processor time, {time.process_time() - started:.0f} s in all"
    return total + Outcome(0, slow, Counter({note: 1}))


def check_change(folder: str, seed: int) -> dict[str, int]:
    """Change record or evidence at random; the verification must refuse it in a sentence."""
    rng, kind = random.Random(seed), KINDS[seed % len(KINDS)]
    record, evidence = _files()
    if kind == "a byte of the record":
        record = _with_byte(record, rng)
    elif kind == "a byte of the evidence":
        evidence = _with_byte(evidence, rng)
    elif kind == "a cut":
        start, length = rng.randrange(len(record) - 1), rng.randrange(1, 200)
        record = record[:start] + record[start + length :]
    else:
        record = _forged(record, rng)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        _write(Path(place), record, evidence)
        with pytest.raises(cp.InputError, match=r"^[^\n]+$"):
            cp.evaluation.Record.verify(Path(place, "record.json"), Path(place, "evidence.json"))
    return {kind: 1}


def check_mutated(folder: str, seed: int) -> dict[str, int]:
    """Change values or bytes of a record, and seal every second again; both commands that read it end in a sentence, and nothing runs."""
    record, evidence = _files()
    data = spoiled(record, seed) if seed % 8 == 7 else bent("record.json", record, np.random.default_rng([seed, 3]))
    if seed // 2 % 2:
        data = _sealed(data)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        _write(Path(place), data, evidence)
        complained = complaint("record.json", Path(place, "record.json"), seed)
    assert complained is None, complained
    return {"mutated": 1}


def _sealed(data: bytes) -> bytes:
    """Seal a document again, where it still is one."""
    try:
        document = msgspec.json.decode(data)
        document.pop("seal", None)
        document["seal"] = fingerprint(_canonical(document))
        return _canonical(document)
    except (AttributeError, TypeError, ValueError):
        return data


def _with_byte(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 + rng.randrange(255))]) + data[place + 1 :]


def _forged(record: bytes, rng: random.Random) -> bytes:
    """Change one number that evidence and decision give, and seal the record again; another decision would be another record."""
    document = msgspec.json.decode(record)
    numbers = [
        (place, key)
        for part in (
            document["evidence"],
            document["numbers"],
            document["verdict"],
            document["guarantee"]["items"],
            document["guarantee"]["price"],
        )
        for place, key in _numbers_in(part)
    ]
    place, key = rng.choice(numbers)
    value = place[key]
    place[key] = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 1.01 + 0.001
    return _sealed(_canonical(document))


def _numbers_in(part: object) -> list[tuple[object, object]]:
    if isinstance(part, dict):
        items = list(part.items())
    elif isinstance(part, list):
        items = list(enumerate(part))
    else:
        return []
    found: list[tuple[object, object]] = []
    for key, value in items:
        if isinstance(value, bool | int | float) and key != "version":
            found.append((part, key))
        found += _numbers_in(value)
    return found


def _canonical(document: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _write(folder: Path, record: bytes, evidence: bytes) -> None:
    (folder / "record.json").write_bytes(record)
    (folder / "evidence.json").write_bytes(evidence)


@cache
def _files() -> tuple[bytes, bytes]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [400, 300, 300])
    votes = cp.Votes.from_proba(y, rng.multinomial(9, [1 / 3] * 3, size=1000) + 5 * np.eye(3)[y])
    preferences = cp.Preferences({0: cp.Preference(3, 0.3, 0.8, min_recall=0.8, min_precision=0.3, confidence=0.9)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cp.GuaranteeWarning)
        search = cp.search_weights(votes, preferences=preferences, random_state=0)
    record = search.decision.record(votes, preferences=preferences, search=search, made="2026-11-19")
    with tempfile.TemporaryDirectory() as folder:
        cp.evidence.write(votes, Path(folder, "evidence.json"))
        return record.to_json(Path(folder, "r")).encode() + b"\n", Path(folder, "evidence.json").read_bytes()
