"""A sample of rows, balanced over the true classes, that every engine draws alike."""

from __future__ import annotations

from typing import Any, cast

import narwhals as nw
import numpy as np

from compromis.engines.nearby import VoteSource
from compromis.evidence.votes import Votes
from compromis.evidence.votes_frame import TRUTH

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def sample_patterns(source: VoteSource, rows: int) -> Votes:
    """Return about `rows` rows, as many of each true class as there are or as its part of them, weighted back to all.

    Engines draw random numbers of their own kinds, if at all; here a row's number comes from its votes, by arithmetic that
    all engines round alike: the fractional part of a sum of the votes' shares times large irrational factors.
    """
    shares = _shares_drawn(source, rows)
    names = source.names
    total = nw.col(names[0])
    for name in names[1:]:
        total = total + nw.col(name)
    lazy = source.voting().with_columns(total.alias("total"))
    mix = nw.col(names[0]) / nw.col("total") * _factor(0)
    for place, name in enumerate(names[1:], start=1):
        mix = mix + nw.col(name) / nw.col("total") * _factor(place)
    lazy = lazy.with_columns(mix.alias("mix"))
    lazy = lazy.with_columns((nw.col("mix") - nw.col("mix").floor()).alias("mix"), nw.lit(0.0).alias("share"))
    for label, share in shares.items():
        drawn = nw.when(nw.col(TRUTH) == nw.lit(cast("Any", label))).then(nw.lit(share)).otherwise(nw.col("share"))
        lazy = lazy.with_columns(drawn.alias("share"))
    patterns = source.patterns(lazy.filter(nw.col("mix") < nw.col("share")))
    factors = np.array([1 / shares.get(label, 1.0) for label in source.raw_classes])
    return Votes(
        patterns.votes, patterns.truth, patterns.multiplicity * factors[patterns.truth], patterns.classes,
        patterns.rows, source.left_out, True,
    )  # fmt: skip


def _shares_drawn(source: VoteSource, rows: int) -> dict[Any, float]:
    """Return the share of each true class's rows to draw: small classes whole, the others an equal part of the rest."""
    shares: dict[Any, float] = {}
    left, waiting = rows, sorted(source.support.items(), key=lambda item: item[1])
    for place, (label, size) in enumerate(waiting):
        part = left / (len(waiting) - place)
        taken = min(float(size), part)
        shares[label] = 2.0 if taken >= size else taken / size  # 2: the fractional part is always below
        left -= int(taken)
    return shares


def _factor(place: int) -> float:
    return float(1e4 * np.sqrt(_PRIMES[place % len(_PRIMES)]) * (1 + place // len(_PRIMES)))
