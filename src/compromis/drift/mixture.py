"""The shares of a mixture whose parts are known: the likelihood that expectation maximisation climbs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compromis._typing import Floats
from compromis.uncertainty.interval import Interval

_TINY = 1e-300
_STEPS = 2_000
_FLAT = 10.0
"""A standard error of the logit from which on there are so few rows that the curvature says nothing, whatever the confidence."""
_STILL = 1e-9
"""A change of the shares below which climbing ends."""
_DROP = 1e-3
"""What an extrapolation leaves of a share at least: steps multiply, so that from 0 there is no way back."""


@dataclass(frozen=True, slots=True, eq=False)
class MixtureFit:
    """The most likely shares of K known densities; `density` holds each row's, up to a factor of the row's own."""

    density: Floats
    shares: Floats

    def interval(self, k: int, z: float) -> Interval:
        """Return a share with bounds z standard errors away on the scale of logits; at the edge, where the likelihood has fallen."""
        share = float(self.shares[k])
        error = self._errors()[k]
        if share < 1e-6 or share > 1 - 1e-6 or not error > 0:
            return self._interval_at_edge(k, z)
        logit, unit = math.log(share / (1 - share)), error / (share * (1 - share))
        if unit > _FLAT:
            return self._interval_at_edge(k, z)
        step = z * unit
        low, high = (1 / (1 + math.exp(-(logit + side * step))) for side in (-1, 1))
        return Interval(share, low, high)

    def _errors(self) -> Floats:
        """The standard errors of the shares, from the observed information along the directions that keep their sum."""
        inside = self.shares > 1e-6
        errors = np.zeros(len(self.shares))
        if inside.sum() < 2:
            return errors
        ratio = self.density[:, inside] / np.maximum(self.density @ self.shares, _TINY)[:, np.newaxis]
        basis = np.linalg.qr(np.eye(inside.sum()) - 1 / inside.sum())[0][:, : inside.sum() - 1]
        covariance = basis @ np.linalg.pinv(basis.T @ (ratio.T @ ratio) @ basis) @ basis.T
        errors[inside] = np.sqrt(np.maximum(np.diag(covariance), 0))
        return errors

    def _interval_at_edge(self, k: int, z: float) -> Interval:
        share, best = float(self.shares[k]), self._height(k, float(self.shares[k]))

        def edge(end: float) -> float:
            near, far = share, end
            if self._height(k, far) >= best - z * z / 2:
                return end
            for _ in range(50):
                middle = (near + far) / 2
                near, far = (middle, far) if self._height(k, middle) >= best - z * z / 2 else (near, middle)
            return near

        return Interval(share, edge(0.0), edge(1.0))

    def _height(self, k: int, share: float) -> float:
        """The log-likelihood with class k at `share` and the others in proportion."""
        others = np.delete(self.shares, k)
        rest = others / others.sum() if others.sum() > 0 else np.full(len(others), 1 / len(others))
        moved = np.insert((1 - share) * rest, k, share)
        return float(np.log(np.maximum(self.density @ moved, _TINY)).sum())


def fit_mixture(density: Floats) -> MixtureFit:
    """Climb to the most likely shares by expectation maximisation, every third step extrapolated (SQUAREM).

    The likelihood is concave, so that climbing leads to its one maximum; where many classes overlap it is so flat that the steps
    may end before, next to no likelihood below it.
    """
    shares = np.full(density.shape[1], 1 / density.shape[1])
    height = _likelihood(density, shares)
    for _ in range(_STEPS):
        first = _step(density, shares)
        second = _step(density, first)
        change, bend = first - shares, second - first - (first - shares)
        best, best_height = second, _likelihood(density, second)
        if (curved := float(np.abs(bend).sum())) > _TINY:  # both scaled by it, as their squares would vanish
            stride = max(1.0, float(np.linalg.norm(change / curved) / np.linalg.norm(bend / curved)))
            leap = np.maximum(shares + 2 * stride * change + stride**2 * bend, _DROP * second)
            leap = _step(density, leap / leap.sum())
            leap_height = _likelihood(density, leap)
            if leap_height > best_height:
                best, best_height = leap, leap_height
        moved = float(np.abs(best - shares).max())
        shares, risen = best, best_height - height
        height = best_height
        if moved < _STILL and risen < 1e-9:
            break
    return MixtureFit(density, shares)


def _step(density: Floats, shares: Floats) -> Floats:
    joint = density * shares
    posterior: Floats = (joint / np.maximum(joint.sum(axis=1, keepdims=True), _TINY)).mean(axis=0)
    return posterior / posterior.sum()


def _likelihood(density: Floats, shares: Floats) -> float:
    return float(np.log(np.maximum(density @ shares, _TINY)).sum())
