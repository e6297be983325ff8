"""The truth that votes lead one to expect: a class of few rows is tuned on the fractions that many rows have of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from compromis._typing import Floats, Ints
from compromis.evidence.votes import Votes

BOLDEST, SOBER = 0.3, 1.0
"""Powers of the votes up to which they are not trusted, and from which on they are; boosting has 0.4 to 0.8, forests mostly 1 to 2."""
ENOUGH = 500
"""Rows of every class from which on there is nothing to gain."""
LEAST = 1e-4
"""Fractions of less than this are left out."""
MOST_NUMBERS = 50_000_000
"""In the votes returned, which hold a row up to once per class; of more rows a random part is taken."""


def with_expected_truth(votes: Votes, generator: np.random.Generator) -> tuple[Votes, float] | None:
    """Return the votes with the truth they lead one to expect, and how far to trust it, from 0 to 1; None where there is nothing to gain.

    Notes
    -----
    The probability of class k given votes v is softmax(e^t log v + c)_k, with t and c by maximum likelihood under a ridge (Kull et al.
    2019, cut down to K + 1 numbers); a row counts for each class by it (expected counts: Ye et al. 2012). Where e^t is below 1
    the votes are bolder than they should be, and weights searched on what they lead one to expect lose more on new rows.
    """
    support = votes.support
    chosen = np.flatnonzero(votes.multiplicity > 0)
    if support[support > 0].min(initial=ENOUGH) >= ENOUGH or np.count_nonzero(support) < 2:
        return None
    most = max(1, MOST_NUMBERS // len(votes.classes) ** 2)
    if len(chosen) > most:
        chosen = np.sort(generator.choice(chosen, most, replace=False))
    shares = votes.dense()[chosen]
    exponent = np.frexp(shares.max(axis=1, keepdims=True))[1]
    shares = np.ldexp(shares, -exponent)  # their sum is no overflow, the shares are the same
    shares = shares / shares.sum(axis=1, keepdims=True)
    weight = votes.multiplicity[chosen].astype(np.float64)
    logs = np.log(shares + max(0.5 * shares[shares > 0].min(), 0.5 / weight.sum()))
    probability, power = _calibrated(logs, votes.truth[chosen], weight)
    row, label = np.nonzero(probability > LEAST)
    expected = replace(
        votes,
        votes=votes.dense()[chosen[row]],
        truth=label.astype(np.int64),
        multiplicity=weight[row] * probability[row, label],
        merged=False,
        squares=None,
    )
    return expected, float(np.clip((power - BOLDEST) / (SOBER - BOLDEST), 0.0, 1.0))


def _calibrated(logs: Floats, truth: Ints, weight: Floats) -> tuple[Floats, float]:
    """Return softmax(e^t logs + c) of each row, and e^t."""
    own = np.zeros_like(logs)
    own[np.arange(len(logs)), truth] = 1.0

    def loss(at: Floats) -> tuple[float, Floats]:
        power = np.exp(at[0])
        likelihood = log_softmax(power * logs + at[1:], axis=1)
        off = weight[:, np.newaxis] * (np.exp(likelihood) - own)
        slope = np.concatenate([[power * (off * logs).sum()], off.sum(axis=0)]) + at
        return float(-weight @ (own * likelihood).sum(axis=1) + at @ at / 2), slope

    # threads that wait for each other over a dozen numbers take ten times as long
    with _linear_algebra().limit(limits=1):
        at = minimize(loss, np.zeros(logs.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return np.exp(log_softmax(np.exp(at[0]) * logs + at[1:], axis=1)), float(np.exp(at[0]))


@cache
def _linear_algebra() -> Any:
    """Return the control of the BLAS libraries of numpy and scipy; to look for them takes longer than a calibration."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
