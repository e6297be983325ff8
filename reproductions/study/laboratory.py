"""Run ways and peers on data sets: ``python -m reproductions.study.laboratory developing [--sets ...] [--bases ...]``.

A line of results/<data set>.csv holds what one way reaches after one cut, from the counts of all test folds together; lines that
stand there are not run again. Seconds are kept apart, in seconds.csv, as they differ from run to run.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from reproductions.sheets import read, write
from reproductions.study.ballots import Ballots
from reproductions.study.families import members
from reproductions.study.peers import DEAF, annealed, deaf, threshold
from reproductions.study.rows import CUTS, METRICS, Asked, Clock, Floats, Fold, folds
from reproductions.study.ways import CHOSEN, WAYS, Evidence, Searches

RESULTS = Path(__file__).parent / "results"
SETTINGS = tuple(f"{name} {metric}" for metric, names in METRICS.items() for name in names)
HEADER = (
    "cut",
    "base",
    "way",
    "classes",
    "rarest",
    *(f"{name}: {what}" for name in SETTINGS for what in ("loss", "promised", "constant")),
)
Key = tuple[str, str, str]
EVERY = tuple(dict.fromkeys([*WAYS, *CHOSEN]))
LEFT_OUT = (
    "letter", "satimage", "contraceptive", "vowel", "penbased", "optdigits", "splice", "led7digit", "automobile", "car", "car-vgood",
    "ecoli", "kr-vs-k", "newthyroid", "poker-8-9_vs_5", "poker-9_vs_7", "ada", "crx", "flare", "kddcup-buffer_overflow_vs_back",
    "kddcup-rootkit-imap_vs_back", "movement_libras", "nursery",
)  # fmt: skip
"""Developing sets that were left out to stay within the time."""
PEERS = ("plain", "threshold", "annealed")


class Tally:
    """Counts and promises of one way, summed over folds."""

    def __init__(self) -> None:
        self.counts: dict[str, list[Floats]] = {}
        self.promised: dict[str, list[float]] = {}
        self.seconds = 0.0

    def add(self, fold: Fold, asked: Asked, predicted: Any, promised: float = float("nan")) -> None:
        """Count the decisions about the test rows of a fold."""
        self.counts.setdefault(asked.name, []).append(fold.counts(predicted))
        self.promised.setdefault(asked.name, []).append(promised)

    def figures(self, every: list[Asked]) -> Iterator[Any]:
        """Loss on new rows, loss promised, and folds decided constantly, of every preferences and metric."""
        for asked in every:
            counts = self.counts[asked.name]
            yield asked.loss(np.sum(counts, axis=0))
            yield float(np.mean(self.promised[asked.name]))
            yield sum(bool((one.sum(axis=0) > 0).sum() == 1) for one in counts)


def included() -> list[str]:
    """The data sets that are run."""
    return [one.name for one in members() if one.name not in LEFT_OUT]


def wanted(role: str, bases: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """Base model and name of every way and peer: all that were tried for developing, the chosen ones for confirming."""
    found = [(way.base, way.name) for way in EVERY if way in (WAYS if role == "developing" else CHOSEN)]
    found += [("forest", name) for name in DEAF]
    others = ("boosting",) if role == "confirming" else ()  # too slow for developing
    found += [(base, peer) for base in ("forest", "lightgbm", "logistic", *others) for peer in PEERS]
    return [one for one in found if bases is None or one[0] in bases]


def run(
    name: str, cut: int, seed: int, todo: list[tuple[str, str]]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Lines of results and of seconds, of what is to be done on one data set after one cut."""
    parts = folds(name, cut, seed)
    if not parts or not todo:
        return [], []
    labels, sizes = np.unique(np.concatenate([part.test.y for part in parts]), return_counts=True)
    every = Asked.every(parts[0].labels, str(labels[sizes.argmin()]))
    tallies: dict[tuple[str, str], Tally] = {one: Tally() for one in todo}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in parts:
            one_fold(part, every, tallies)
    rarest = int(np.mean([(part.train.y == labels[sizes.argmin()]).sum() for part in parts]))
    done = {key: tally for key, tally in tallies.items() if tally.counts}
    return (
        [(cut, *key, len(labels), rarest, *tally.figures(every)) for key, tally in done.items()],
        [(name, cut, *key, tally.seconds / len(parts)) for key, tally in done.items()],
    )


def one_fold(fold: Fold, every: list[Asked], tallies: dict[tuple[str, str], Tally]) -> None:
    """Add what every way does on one fold."""
    ballots = Ballots(fold)
    evidences: dict[tuple[str, str], Evidence] = {}
    searches: dict[tuple[str, str, bool, str], Searches] = {}
    for way in EVERY:
        tally = tallies.get((way.base, way.name))
        if tally is None:
            continue
        if (way.base, way.votes) not in evidences:
            calibration = "out-of-fold" if way.votes.startswith("folds") else "out-of-bag"
            evidences[way.base, way.votes] = Evidence(ballots.get(way.base, way.votes), fold, calibration)
        evidence, clock = evidences[way.base, way.votes], Clock()
        for asked in every:
            key = (way.base, way.votes, way.half_a_vote, asked.name)
            smoothing = evidence.ballot.half if way.half_a_vote else 0.0
            with clock.running():
                found = searches.setdefault(key, Searches(evidence, asked, smoothing, fold.seed))
                predicted, promised = way.decide(found)
            tally.add(fold, asked, predicted, promised)
        tally.seconds += evidence.ballot.seconds + clock.seconds / len(every)
    for base, name in tallies:
        if name in DEAF:
            _deaf(fold, every, tallies[base, name], name)
        elif name in PEERS:
            _peer(ballots, every, tallies[base, name], base, name)


def _deaf(fold: Fold, every: list[Asked], tally: Tally, name: str) -> None:
    clock = Clock()
    with clock.running():
        predicted = deaf(name, fold)
    tally.seconds += clock.seconds
    for asked in every:
        tally.add(fold, asked, predicted)


def _peer(ballots: Ballots, every: list[Asked], tally: Tally, base: str, name: str) -> None:
    fold = ballots.fold
    if name == "threshold" and len(fold.labels) > 2:
        return
    ballot, clock = ballots.get(base, "folds 5"), Clock()
    for asked in every:
        with clock.running():
            if name == "plain":
                predicted, promised = np.argmax(ballot.new, axis=1), float("nan")
            else:
                predicted, promised = (threshold if name == "threshold" else annealed)(ballot, fold, asked)
        tally.add(fold, asked, predicted, promised)
    tally.seconds += ballot.seconds + clock.seconds / len(every)


def run_set(name: str, cuts: Iterable[int], bases: Iterable[str] | None, folder: Path) -> str:
    """Complete the results of one data set."""
    file, timing = folder / f"{name}.csv", folder / "seconds" / f"{name}.csv"
    lines: dict[Key, list[Any]] = (
        {(one["cut"], one["base"], one["way"]): list(one.values()) for one in read(file)} if file.exists() else {}
    )
    times = {tuple(one.values())[1:4]: list(one.values()) for one in read(timing)} if timing.exists() else {}
    role = next(one.role for one in members() if one.name == name)
    place = {one: number for number, one in enumerate(wanted(role))}
    for cut in cuts:
        todo = [one for one in wanted(role, bases) if (str(cut), *one) not in lines]
        done, seconds = run(name, cut, 0, todo)
        lines |= {(str(cut), *line[1:3]): list(line) for line in done}
        times |= {(str(cut), *line[2:4]): list(line) for line in seconds}
        order = sorted(lines, key=lambda key: (int(key[0]), place.get(key[1:], -1)))
        if lines:
            write(file, HEADER, [lines[key] for key in order], digits=5)
            write(
                timing,
                ("data", "cut", "base", "way", "seconds"),
                [times[key] for key in order if key in times],
                digits=3,
            )
    return name


def cut_of(name: str) -> int:
    """To how many rows the rarest class of a set is cut: 8, 25 and 60 in turn, so that every set costs two runs, not four."""
    return CUTS[1 + [one.name for one in members()].index(name) % (len(CUTS) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=("developing", "confirming"))
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--bases", nargs="*")
    parser.add_argument("--folder", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    names = [one.name for one in members(asked.role) if one.name in (asked.sets or included())]
    tasks = (delayed(run_set)(name, (0, cut_of(name)), asked.bases, asked.folder) for name in names)
    for name in Parallel(n_jobs=asked.jobs, return_as="generator")(tasks):
        print(name, flush=True)


if __name__ == "__main__":
    main()
