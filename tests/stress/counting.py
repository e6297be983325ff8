"""Counting over seeds: one check, many seeds, two processes when there are many."""

from __future__ import annotations

import os
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

from compromis.errors import FewRowsWarning
from tests.stress.outcome import Outcome, Progress, silent

Check = Callable[[int], Mapping[str, int] | None]
"""Raises where the promise is broken; may return notes to be added up."""

WORKERS = int(os.environ.get("STRESS_WORKERS", "2"))
_INLINE = 400
"""Up to so many cases starting processes costs more than it saves."""
_BLOCKS = 50


def count_seeds(check: Check, seeds: Iterable[int], progress: Progress = silent) -> Outcome:
    """Call `check` for every seed and count; a check of a module's top level runs in processes when there are many seeds."""
    wanted = list(seeds)
    blocks = [wanted[start :: min(_BLOCKS, len(wanted))] for start in range(min(_BLOCKS, len(wanted)))]
    total = Outcome(0)
    for block in _blocks_done(check, blocks, inline=len(wanted) <= _INLINE or WORKERS < 2):
        total += block
        progress(total.cases, len(wanted))
    return total


def _blocks_done(check: Check, blocks: list[list[int]], *, inline: bool) -> Iterator[Outcome]:
    if inline:
        yield from (count_block(check, block) for block in blocks)
        return
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        yield from pool.map(count_block, [check] * len(blocks), blocks)


def count_block(check: Check, seeds: list[int]) -> Outcome:
    """Call `check` for every seed, in this process; warnings are failures."""
    failures, notes = [], Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", message="the weighted Jaccard metric"
        )  # every metric is tried on all preferences
        warnings.simplefilter("ignore", FewRowsWarning)  # small cases are what is counted
        for seed in seeds:
            try:
                notes.update(check(seed) or {})
            except Exception as error:  # whatever it is, it breaks the promise
                failures.append(described(error, f"seed {seed}"))
    return Outcome(len(seeds), tuple(failures), notes)


def described(error: BaseException, case: str) -> str:
    """Return the case, the error in one line, and where it arose."""
    places = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "compromis" in frame.filename or "tests" in frame.filename
    ]
    where = f" ({places[-1].filename.rsplit('/', 1)[-1]}:{places[-1].lineno})" if places else ""
    text = " ".join(str(error).split())
    return f"{case}: {type(error).__name__}: {text[:300]}{where}"


def in_programs(check: Callable[..., Outcome], blocks: Sequence[tuple[Any, ...]], progress: Progress) -> Outcome:
    """Return the sum of `check(*block)`, which starts a program of its own for each block: as many at once as there are workers."""
    total = Outcome(0)
    with ThreadPoolExecutor(WORKERS) as pool:
        for done, outcome in enumerate(pool.map(lambda block: check(*block), blocks), start=1):
            total += outcome
            progress(done, len(blocks))
    return total
