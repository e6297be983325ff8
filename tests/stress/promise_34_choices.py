"""34. Seven choices between results on real trade-off curves tell a person's recall weight, though some answers are random."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import compromis as cp
from tests.stress.outcome import NotRun, Outcome, Progress, scaled, silent

TITLE = "asking by choices finds the recall weight"
USERS = 200
"""For each set."""
QUICK = 0.1
SETS = "car-good", "led7digit", "optdigits", "penbased", "splice"
"""None of them was looked at when the questions were designed; ten others were."""
RANDOM = 0.1
"""The share of answers that a coin gives."""
MEDIAN, NINETIETH = 0.03, 0.10
"""The error of the recall weight."""
EXTREME = 0.95
LOSSES = {"up to": 0.02, "above": 0.05}
"""How much more the results chosen with the weights told may lose, all users together, than those with the true ones; EXTREME and below, above."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Let simulated users answer; each has a recall weight of its own, evenly spread."""
    total, users = Outcome(0), scaled(USERS, scale)
    sets = SETS if scale >= 1 else ("breast cancer",)
    for done, name in enumerate(sets):
        total += _on_set(name, users)
        progress((done + 1) * users, len(sets) * users)
    return total


def _on_set(name: str, users: int) -> Outcome:
    votes, label = _votes(name)
    interview = cp.tradeoffs.Interview(votes, [label])
    curve = cp.TradeoffCurve(votes.points([label], weights=np.ones(len(votes.classes)))[label])
    generator = np.random.default_rng([34, len(name)])
    true = np.r_[generator.uniform(0.02, 0.99, users), generator.uniform(EXTREME, 0.99, users)]
    told = np.array([_answers(interview, weight, generator) for weight in true])
    error = np.abs(told - true)[:users]
    measured = {
        "median error of the recall weight": (float(np.median(error)), MEDIAN),
        "90th percentile of the error": (float(np.quantile(error, 0.9)), NINETIETH),
    }
    lost = np.array(
        [(_loss(curve, one, weight), _loss(curve, weight, weight)) for one, weight in zip(told, true, strict=True)]
    )
    for where, most in LOSSES.items():
        mine, best = lost[(true > EXTREME) == (where == "above")].sum(axis=0)
        measured[f"loss more than the best, recall weights {where} {EXTREME}"] = mine / best - 1, most
    failures = tuple(
        f"{name}: {what}: {value:.4f}, at most {most:g}" for what, (value, most) in measured.items() if value > most
    )
    notes = Counter({f"{name}: {what}, in 1/10,000": round(10_000 * value) for what, (value, _) in measured.items()})
    return Outcome(2 * users, failures if users >= USERS else (), notes)


def _answers(interview: cp.tradeoffs.Interview, weight: float, generator: np.random.Generator) -> float:
    """Return the recall weight that the answers of one user tell."""
    topic = interview.question.topic
    while interview.question is not None and interview.question.topic == topic:
        first, second = (
            _value(one[0].found, one[0].false_alarms, one[0].of, weight)
            for one in (interview.question.first, interview.question.second)
        )
        answer = "first" if first > second else "second"
        if generator.random() < RANDOM:
            answer = ("first", "second")[generator.integers(2)]
        interview = interview.answer(answer)
    return interview.known[0].value


def _value(found: float, alarms: float, rows: float, weight: float) -> float:
    """Return the F measure of a result, written out."""
    return 1 / (weight * rows / found + (1 - weight) * (found + alarms) / found)


def _loss(curve: cp.TradeoffCurve, told: float, true: float) -> float:
    """Return the loss, under the true recall weight, of the result that is best under the one told."""
    chosen = curve.best(told)
    return max(1 - 1 / (true / chosen.recall + (1 - true) / chosen.precision), 1e-9)


def _votes(name: str) -> tuple[cp.Votes, object]:
    """Return out-of-fold votes on a set, and its rarest class of twenty rows and more."""
    if name == "breast cancer":
        from sklearn.datasets import load_breast_cancer

        matrix, y = load_breast_cancer(return_X_y=True)
        model = make_pipeline(StandardScaler(), LogisticRegression())
    else:
        matrix, y = _data(name)
        model = RandomForestClassifier(100, min_samples_leaf=2, random_state=0)
    labels, rows = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[rows >= 5])
    proba = cross_val_predict(model, matrix[kept], y[kept], cv=5, method="predict_proba")
    rarest = min(np.flatnonzero(rows >= 20), key=lambda k: rows[k])
    return cp.Votes.from_proba(y[kept].tolist(), proba, labels=labels[rows >= 5].tolist()), labels[rarest].item()


def _data(name: str) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    import pandas

    from reproductions import data

    try:
        frame, y = data.load(name)
    except (data.DataError, OSError) as error:
        raise NotRun(str(error)) from error
    matrix = pandas.get_dummies(frame).to_numpy(dtype=np.float64)
    return np.nan_to_num(matrix, nan=-999.0), np.asarray(y)
