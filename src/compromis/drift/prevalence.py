"""Estimates of class shares without labels: from probabilities by expectation maximisation, from decisions by the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from compromis._results import Result, columns_of
from compromis._text import Table, shown, shown_label
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.readers import read_shares
from compromis.evidence.scores import as_dense, check_order_is_said, check_scores, read_scores
from compromis.labels import by_label, plain_label, positions_in
from compromis.measures.rates import effective_rows
from compromis.uncertainty.intervals import Interval, normal_quantile, read_confidence


@dataclass(frozen=True, eq=False, kw_only=True)
class PrevalenceEstimate(Result):
    """The class shares of rows without labels, estimated under the assumption that only the shares have changed."""

    method: str
    """``"em"`` or ``"confusion"``."""
    classes: tuple[Label, ...]
    """The classes."""
    intervals: tuple[Interval, ...]
    """The share of each class with its bounds."""
    confidence: float
    """The confidence of the bounds."""
    rows: int
    """The rows it was estimated from."""
    plausible: bool = True
    """False where no class shares explain the rows: more than the shares has changed."""

    schema: ClassVar[str] = "compromis/prevalence"

    @cached_property
    def shares(self) -> Floats:
        """The shares, in the order of the classes; they sum to 1."""
        return np.array([interval.value for interval in self.intervals])

    @cached_property
    def by_class(self) -> Mapping[Label, Interval]:
        """The share of each class with its bounds, by label."""
        return MappingProxyType(dict(zip(self.classes, self.intervals, strict=True)))

    @property
    def summary(self) -> dict[Label, float]:
        """The share of each class."""
        return {label: share.value for label, share in self.by_class.items()}

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the share of each class with its bounds, column by column."""
        numbers = columns_of(self.intervals, Interval)
        return {"label": self.classes, "share": numbers.pop("value"), **numbers}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        kept = {name: getattr(self, name) for name in ("method", "classes", "confidence", "rows", "plausible")}
        return self.heading() | kept | {"shares": self.intervals}

    def sentences(self) -> list[str]:
        """Return what was estimated how, and whether shares explain the rows."""
        how = {"em": "expectation maximisation", "confusion": "inversion of the confusion matrix"}[self.method]
        lines = [f"class shares of {self.rows:,} rows by {how} ({100 * self.confidence:g} % confidence)"]
        if not self.plausible:
            lines.append("no class shares explain these rows: more than the shares has changed; label a sample of them")
        return lines

    def tables(self) -> list[Table]:
        """Return the shares in percent."""
        rows = [
            [shown_label(label), f"{100 * share.value:.2f} %", f"{100 * share.low:.2f} to {100 * share.high:.2f} %"]
            for label, share in self.by_class.items()
        ]
        return [Table("", ["Class", "Share", "Interval"], rows)]


def prevalence_by_em(
    y_proba: Any,
    *,
    priors: Mapping[Any, float] | Sequence[float],
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
) -> PrevalenceEstimate:
    """Estimate class shares from calibrated probabilities by expectation maximisation (Saerens, Latinne, Decaestecker 2002).

    Parameters
    ----------
    y_proba : array or frame of shape (n, K)
        Calibrated probabilities of the new rows, by a model trained where the shares were `priors`; rows without votes are left out.
    priors : mapping by class, or sequence in the order of the columns
        The class shares that the probabilities are calibrated to.
    labels : sequence, optional
        The classes in the order of the columns; without it those of `priors` if it is a mapping, else 0, 1, ...
    pos_label : label, optional
        The class of one column alone; needed unless the classes are 0 and 1, -1 and 1, or False and True.
    confidence : float
        The confidence of the bounds.

    Notes
    -----
    Maximises sum_i log sum_k share_k p_ik / prior_k, which has one maximum. Bounds come from the observed information, on the scale of
    logits; where few rows are of the class, or none, from the fall of the likelihood with the other shares at their best. They
    take the probabilities for exact: how well these are calibrated is not in them.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> sick = rng.random(5000) < 0.20
    >>> odds = np.exp(2 * (rng.normal(2.0 * sick) - 1)) * 0.05 / 0.95  # calibrated to a share of 5 %
    >>> estimate = cp.drift.prevalence_by_em(odds / (1 + odds), priors={"healthy": 0.95, "sick": 0.05}, pos_label="sick")
    >>> 0.20 in estimate.by_class["sick"]
    True
    """
    classes = _classes(priors, labels)
    old = read_shares(priors, classes, "priors")
    if not old.all():
        never = [label for label, share in zip(classes, old, strict=True) if share == 0]
        raise InputError(f"the prior share of {shown(never)} is 0; probabilities say nothing of such a class")
    level = read_confidence(confidence)
    shares = _read_probabilities(y_proba, classes, pos_label)
    check_order_is_said(y_proba, classes, labels)
    fit = fit_mixture(shares / old)
    intervals = tuple(fit.interval(k, normal_quantile(level)) for k in range(len(classes)))
    return PrevalenceEstimate(method="em", classes=classes, intervals=intervals, confidence=level, rows=len(shares))


def _classes(priors: Any, labels: Sequence[Any] | None) -> tuple[Label, ...]:
    if labels is not None:
        return tuple(plain_label(label) for label in labels)
    return tuple(by_label(priors) or range(len(priors)))


def _read_probabilities(y_proba: Any, classes: tuple[Label, ...], pos_label: Any) -> Floats:
    values = as_dense(read_scores(y_proba, classes, pos_label=pos_label))
    check_scores(values)
    total = values.sum(axis=1, keepdims=True)
    kept = total[:, 0] > 0
    if not kept.any():
        raise InputError("there is no row with votes to estimate shares from")
    shares: Floats = values[kept] / total[kept]
    return shares


_SURE = 3.5
"""Standard errors below 0 from which on a negative solution is not chance: no class shares explain the decisions."""


def prevalence_by_confusion(predicted: Any, *, reference: Counts, confidence: float = 0.95) -> PrevalenceEstimate:
    """Estimate class shares from decisions alone, by what the same decisions came to on rows with labels.

    Parameters
    ----------
    predicted : labels
        The predicted class of each new row.
    reference : Counts
        True against predicted classes of labelled rows, predicted in the same way by a model that did not see them.
    confidence : float
        The confidence of the bounds, which count both the new rows and the labelled ones.

    Notes
    -----
    With C[d, k] = P(predicted d | true k) from the labelled rows and q the shares predicted among the new ones, the shares solve
    C share = q. Bounds by the delta method: cov = C^-1 (cov(q) + sum_k share_k^2 cov(C_k)) C^-T. Shares below 0 are set to 0.

    Examples
    --------
    >>> import compromis as cp
    >>> reference = cp.Counts.from_matrix([[900, 100], [20, 180]], ["no", "yes"])
    >>> estimate = cp.drift.prevalence_by_confusion(["no"] * 740 + ["yes"] * 260, reference=reference)
    >>> estimate.shares.round(2).tolist()
    [0.8, 0.2]
    """
    if not isinstance(reference, Counts):
        raise InputError(f"reference is compromis.Counts of labelled rows, got {type(reference).__name__}")
    positions = positions_in(predicted, reference.classes, "predicted")
    return from_predicted(
        np.bincount(positions, minlength=len(reference.classes)), reference, read_confidence(confidence)
    )


def from_predicted(predicted: Ints, reference: Counts, level: float) -> PrevalenceEstimate:
    """Return the estimate from the number of new rows predicted as each class."""
    rows, support = float(predicted.sum()), reference.support.astype(np.float64)
    if rows == 0:
        raise InputError("there is no new row to estimate shares from")
    present = support > 0
    if not present.any():
        raise InputError("the reference has no rows; give counts of labelled rows")
    classes = [label for label, there in zip(reference.classes, present, strict=True) if there]
    rates = (reference.matrix[present] / support[present, np.newaxis]).T
    q = predicted / rows
    solver = np.linalg.pinv(rates)
    if np.linalg.matrix_rank(rates, tol=1e-6) < len(classes):
        raise InputError(
            f"the decisions for {shown(classes)} do not tell the classes apart, so they say nothing of their shares; "
            f"use other weights, or probabilities with prevalence_by_em"
        )
    raw = solver @ q
    if not (raw > 0).any():
        raise InputError(
            "the new rows are predicted as classes that no labelled row is predicted as, so the reference says nothing of their "
            "shares; label some of them"
        )
    labelled = effective_rows(reference, axis=1)[present]
    spread = np.diag(solver @ _decision_noise(q, rates, raw, rows, labelled) @ solver.T) ** 0.5
    values = np.zeros((3, len(support)))  # the share, its lower and its upper bound
    share, reach = np.clip(raw, 0, None) / np.clip(raw, 0, None).sum(), normal_quantile(level) * spread
    low, high = np.clip(raw - reach, 0, 1), np.clip(raw + reach, 0, 1)
    values[:, present] = share, np.minimum(low, share), np.maximum(high, share)
    intervals = tuple(Interval(*column) for column in values.T.tolist())
    return PrevalenceEstimate(
        method="confusion",
        classes=reference.classes,
        intervals=intervals,
        confidence=level,
        rows=round(rows),
        plausible=bool((raw >= -_SURE * spread).all()),
    )


def _decision_noise(q: Floats, rates: Floats, shares: Floats, rows: float, support: Floats) -> Floats:
    """Return the covariance of the shares predicted, given rates and shares: of the new rows, and of the labelled ones."""
    noise = _multinomial(q) / rows
    for k, share in enumerate(shares):
        smoothed = (rates[:, k] * support[k] + 0.5) / (support[k] + 0.5 * len(q))  # a rate of 0 is not known to be 0
        noise = noise + share**2 * _multinomial(smoothed) / support[k]
    return noise


def _multinomial(shares: Floats) -> Floats:
    covariance: Floats = np.diag(shares) - np.outer(shares, shares)
    return covariance


_TINY = 1e-300
_STEPS = 2_000
_FLAT = 0.2
"""Standard error of the logit above which the curvature is not used: so few rows do not determine the other end of the interval."""
_NEAR = 1e-4
"""Convergence of a bound: so small a change of the log-likelihood does not move it."""
_DROP = 1e-3
"""Floor of extrapolated shares, relative: updates are multiplicative, so 0 would be absorbing."""


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """The most likely shares of K known densities; `density` holds each row's, up to a factor of the row's own."""

    density: Floats
    shares: Floats

    def interval(self, k: int, z: float) -> Interval:
        """Return a share with bounds z standard errors away on the scale of logits; where few rows determine it, by the likelihood."""
        share, spread = float(self.shares[k]), float(self.shares[k] * (1 - self.shares[k]))
        error = self.errors[k]
        if share < 1e-6 or share > 1 - 1e-6 or not 0 < error <= _FLAT * spread:
            return self._likelihood_interval(k, z)
        logit, step = math.log(share / (1 - share)), z * error / spread
        return Interval(share, 1 / (1 + math.exp(step - logit)), 1 / (1 + math.exp(-step - logit)))

    @cached_property
    def errors(self) -> Floats:
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

    def _likelihood_interval(self, k: int, z: float) -> Interval:
        """Return the shares that the likelihood falls to by at most z^2 / 2, the others at their best."""
        share, lowest = float(self.shares[k]), _log_likelihood(self.density, self.shares) - z * z / 2
        others = np.delete(self.shares, k)
        rest = others / others.sum() if others.sum() > 0 else np.full(len(others), 1 / len(others))
        path = [
            (share, rest)
        ] * 2  # the last two shares tried, and the others at their best: the next ones lie about ahead

        def above(other: float) -> float:
            (before, far), (last, near) = path
            ahead = near + (near - far) * (other - last) / (last - before) if last != before else near
            # class k at this share is a part of each of the others, so their best is the best of a mixture without it
            mixed = np.delete(other * self.density[:, [k]] + (1 - other) * self.density, k, axis=1)
            best = fit_mixture(mixed, start=np.maximum(ahead, _DROP / len(mixed)), still=_NEAR).shares
            path[:] = path[1], (other, best)
            return _log_likelihood(mixed, best) - lowest

        return Interval(share, _crossing(above, share, 0.0), _crossing(above, share, 1.0))


def _crossing(above: Callable[[float], float], inside: float, end: float) -> float:
    """Return where a concave function that is above 0 `inside` falls to 0 towards `end`, or the end."""
    from scipy.optimize import brentq

    if above(end) >= 0 or above(inside) <= 0:
        return end
    return float(brentq(above, inside, end, xtol=1e-10, rtol=1e-5))


def fit_mixture(density: Floats, start: Floats | None = None, still: float = 1e-9) -> MixtureFit:
    """Return the most likely shares by expectation maximisation, every third step extrapolated (SQUAREM).

    The likelihood is concave, so there is a single maximum; where many classes overlap it is so flat that the iteration may stop
    short of it, at a likelihood that is next to the same. It ends at a change below `still` of the shares and of the likelihood.
    """
    given = np.ones(density.shape[1]) if start is None else start
    shares = given / given.sum()
    height = _log_likelihood(density, shares)
    for _ in range(_STEPS):
        first = _step(density, shares)
        second = _step(density, first)
        change, bend = first - shares, second - first - (first - shares)
        best, best_height = second, _log_likelihood(density, second)
        if (curved := float(np.abs(bend).sum())) > _TINY:  # both are scaled by it, as their squares would underflow
            stride = max(1.0, float(np.linalg.norm(change / curved) / np.linalg.norm(bend / curved)))
            leap = np.maximum(shares + 2 * stride * change + stride**2 * bend, _DROP * second)
            leap = _step(density, leap / leap.sum())
            leap_height = _log_likelihood(density, leap)
            if leap_height > best_height:
                best, best_height = leap, leap_height
        moved, risen = float(np.abs(best - shares).max()), best_height - height
        shares, height = best, best_height
        if risen < still and (moved < still or start is not None):
            break
    return MixtureFit(density, shares)


def _step(density: Floats, shares: Floats) -> Floats:
    joint = density * shares
    posterior: Floats = (joint / np.maximum(joint.sum(axis=1, keepdims=True), _TINY)).mean(axis=0)
    total = posterior.sum()
    return posterior / total if total > 0 else shares  # no class here could have made any row


def _log_likelihood(density: Floats, shares: Floats) -> float:
    return float(np.log(np.maximum(density @ shares, _TINY)).sum())
