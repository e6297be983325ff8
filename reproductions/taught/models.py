"""Examples without figures of their own: which regression is better, and too simple or learnt by heart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import compromis as cp
from examples import generalisation_boundaries, generalisation_polynomials
from reproductions.taught.line import Line


def regression() -> Iterator[Line]:
    """004 asks whether M1 (half of the rows within 0.1 %, half far off) or M2 (all within 1 %) is better."""
    truth = np.arange(100.0, 200.0)
    found = {
        "M1": cp.regression.evaluate(truth, np.where(truth % 2, truth * 1.001, truth * 3)),
        "M2": cp.regression.evaluate(truth, truth * 1.01),
    }
    errors = {name: one.summary.root_mean_squared_error for name, one in found.items()}
    yield Line(
        "004", "M1 or M2?", "better by the errors", "", min(errors, key=errors.__getitem__), "rows 100 to 199; ours"
    )
    yield Line("004", "M1 or M2?", "share of M1 within 0.1 %", "0.5", dict(found["M1"].within)["0.1 %"])
    yield Line("004", "M1 or M2?", "share of M2 within 1 %", "1", dict(found["M2"].within)["1 %"])


def formulas() -> Iterator[Line]:
    """MSE, RMSE, RMSLE and the normalised error, by the printed formulas on four rows of ours."""
    truth, predicted = np.array([12.0, 15.0, 21.0, 30.0]), np.array([11.0, 15.5, 20.0, 27.0])
    squares = np.square(predicted - truth)
    by_formula = {
        "root_mean_squared_error": float(np.sqrt(squares.mean())),
        "root_mean_squared_log_error": float(np.sqrt(np.square(np.log(predicted + 1) - np.log(truth + 1)).mean())),
        "root_relative_squared_error": float(np.sqrt(squares.sum() / np.square(truth - truth.mean()).sum())),
    }
    summary = cp.regression.evaluate(truth, predicted).summary
    for name, value in by_formula.items():
        ours = float(getattr(summary, name))
        yield Line("004", "regression errors", f"{name} is the formula's", "True", str(abs(ours - value) < 1e-12))


def generalisation() -> Iterator[Line]:
    """A boundary and a polynomial too simple, right, and learnt by heart; the data are ours, drawn as described."""
    words = ("underfits", "good", "overfits")
    for example, names, curve in (
        ("boundaries", generalisation_boundaries.NAMES, generalisation_boundaries.curve()),
        (
            "polynomials",
            [f"degree {one}" for one in generalisation_polynomials.DEGREES],
            generalisation_polynomials.curve(),
        ),
    ):
        for name, printed, fit in zip(names, words, curve.fits, strict=True):
            yield Line("004", f"generalisation, {example}", name, printed, fit.state)
    train = generalisation_polynomials.curve().losses.train.mean(axis=1)
    yield Line(
        "004",
        "generalisation, polynomials",
        "least error on the rows seen",
        "degree 13",
        f"degree {(2, 3, 13)[int(train.argmin())]}",
    )


def lines() -> list[Line]:
    """Every line of this file."""
    return [line for part in (regression, formulas, generalisation) for line in part()]
