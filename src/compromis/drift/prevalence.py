"""New class shares from predictions without labels: expectation maximisation, and inversion of the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Floats, Label
from compromis.drift.estimate import PrevalenceEstimate
from compromis.drift.mixture import fit_mixture
from compromis.errors import InputError, shown
from compromis.evidence import Counts
from compromis.evidence.positions import positions_in
from compromis.evidence.prevalence import read_shares
from compromis.evidence.vote_values import complain, is_sparse, read_votes
from compromis.labels import plain_label
from compromis.uncertainty.interval import Interval, normal_quantile, read_confidence

_SURE = 3.5
"""Standard errors below 0 after which a share is no longer taken for a 0 that was missed by chance."""


def prevalence_by_em(
    y_proba: Any,
    *,
    priors: Mapping[Any, float] | Sequence[float],
    labels: Sequence[Any] | None = None,
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
    confidence : float
        The confidence of the bounds.

    Notes
    -----
    Maximises sum_i log sum_k share_k p_ik / prior_k, which has one maximum. Bounds come from the observed information, on the scale of
    logits; at a share of 0 from the fall of the likelihood. They take the probabilities for exact: how well these are
    calibrated is not in them.

    Examples
    --------
    >>> import compromis as cp
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> sick = rng.random(5000) < 0.20
    >>> odds = np.exp(2 * (rng.normal(2.0 * sick) - 1)) * 0.05 / 0.95  # calibrated to a share of 5 %
    >>> found = cp.prevalence_by_em(odds / (1 + odds), priors={"healthy": 0.95, "sick": 0.05})
    >>> 0.20 in found.by_class["sick"]
    True
    """
    classes = _classes(priors, labels)
    old = read_shares(priors, classes)
    if not old.all():
        never = [label for label, share in zip(classes, old, strict=True) if share == 0]
        raise InputError(f"the prior share of {shown(never)} is 0; probabilities say nothing of such a class")
    level = read_confidence(confidence)
    shares = _read_probabilities(y_proba, classes)
    fit = fit_mixture(shares / old)
    intervals = tuple(fit.interval(k, normal_quantile(level)) for k in range(len(classes)))
    return PrevalenceEstimate("em", classes, intervals, level, len(shares))


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
    >>> found = cp.prevalence_by_confusion(["no"] * 740 + ["yes"] * 260, reference=reference)
    >>> found.shares.round(2).tolist()
    [0.8, 0.2]
    """
    if not isinstance(reference, Counts):
        raise InputError(f"reference is compromis.Counts of labelled rows, got {type(reference).__name__}")
    positions = positions_in(predicted, reference.classes, "predicted")
    return from_predicted(
        np.bincount(positions, minlength=len(reference.classes)), reference, read_confidence(confidence)
    )


def from_predicted(predicted: NDArray[Any], reference: Counts, level: float) -> PrevalenceEstimate:
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
            f"use other weights, or prevalence_by_em"
        )
    raw = solver @ q
    if not (raw > 0).any():
        raise InputError(
            "the new rows are predicted as classes that no labelled row is predicted as, so the reference says nothing of their "
            "shares; label some of them"
        )
    spread = np.diag(solver @ _decision_noise(q, rates, raw, rows, support[present]) @ solver.T) ** 0.5
    value, error = np.zeros(len(support)), np.zeros(len(support))
    value[present], error[present] = np.clip(raw, 0, None) / np.clip(raw, 0, None).sum(), spread
    bounds = np.zeros((2, len(support)))
    bounds[:, present] = np.clip(raw + normal_quantile(level) * spread * np.array([[-1], [1]]), 0, 1)
    intervals = tuple(
        Interval(float(one), float(min(low, one)), float(max(high, one)))
        for one, low, high in zip(value, *bounds, strict=True)
    )
    plausible = bool((raw >= -_SURE * spread).all())
    return PrevalenceEstimate("confusion", reference.classes, intervals, level, round(rows), plausible)


def _decision_noise(q: Floats, rates: Floats, shares: Floats, rows: float, support: Floats) -> Floats:
    noise = _multinomial(q) / rows
    for k, share in enumerate(shares):
        smoothed = (rates[:, k] * support[k] + 0.5) / (support[k] + 0.5 * len(q))  # a rate of 0 is not known to be 0
        noise = noise + share**2 * _multinomial(smoothed) / support[k]
    return noise


def _multinomial(shares: Floats) -> Floats:
    covariance: Floats = np.diag(shares) - np.outer(shares, shares)
    return covariance


def _classes(priors: Any, labels: Sequence[Any] | None) -> tuple[Label, ...]:
    if labels is not None:
        return tuple(plain_label(label) for label in labels)
    given = priors if isinstance(priors, Mapping) else range(len(priors))
    return tuple(plain_label(label) for label in given)


def _read_probabilities(votes: Any, classes: tuple[Label, ...]) -> Floats:
    matrix = read_votes(votes, classes)
    values = np.asarray(matrix.todense() if is_sparse(matrix) else matrix, dtype=np.float64)
    wrong = ~((values >= 0) & (values < np.inf))
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise complain(float(values[row, column]), row, column)
    total = values.sum(axis=1, keepdims=True)
    kept = total[:, 0] > 0
    if not kept.any():
        raise InputError("there is no row with votes to estimate shares from")
    shares: Floats = values[kept] / total[kept]
    return shares
