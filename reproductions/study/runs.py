"""Every rival on one data set: three repetitions of five stratified folds, under all four metrics."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

import compromis as cp
from compromis.measures.baselines import naive_baselines
from compromis.measures.pragma import pragma
from reproductions.study.remedies import remedies
from reproductions.study.rivals import RIVALS
from reproductions.study.rows import Answers, Rows, Settings

HEADER = (
    "repetition",
    "rival",
    "metric",
    "loss",
    "recall",
    "precision",
    "predicted",
    "constant",
    "promised",
    "without a model",
    "seconds",
    "rarest rows",
)
FOLDS, REPETITIONS = 5, 3


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Counts of one test fold, the loss that training promised, seconds of training."""

    counts: cp.Counts
    promised: float
    seconds: float


def lines(name: str, repetitions: int = REPETITIONS) -> list[tuple[Any, ...]]:
    """A line per repetition, rival and metric, from the counts of all test folds together."""
    rows = Rows.of(name)
    tasks = [
        (repetition, fold)
        for repetition in range(repetitions)
        for fold in StratifiedKFold(FOLDS, shuffle=True, random_state=repetition).split(rows.codes, rows.y)
    ]
    done = Parallel(n_jobs=int(os.environ.get("STUDY_JOBS", "2")))(
        delayed(outcomes)(rows, *fold, repetition) for repetition, fold in tasks
    )
    found: dict[tuple[int, str, str], list[Outcome]] = {}
    for (repetition, _), parts in zip(tasks, done, strict=True):
        for (rival, metric), part in parts.items():
            found.setdefault((repetition, rival, metric), []).append(part)
    return [
        (repetition, rival, metric, *figures(parts, rows.rarest, metric))
        for (repetition, rival, metric), parts in found.items()
    ]


def outcomes(rows: Rows, train: Any, test: Any, repetition: int) -> dict[tuple[str, str], Outcome]:
    """By rival and metric what comes of one test fold."""
    given = rows.part(train), rows.part(test), Settings.about(rows.rarest, repetition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # preferences met by giving up are counted, not said
        found: dict[str, Answers] = {name: rival(*given) for name, rival in RIVALS.items()} | remedies(*given)
    labels = np.unique(rows.y).tolist()
    return {
        (rival, metric): Outcome(
            cp.Counts.from_predictions(rows.y[test], answer.predicted, labels=labels), answer.promised, answer.seconds
        )
        for rival, answers in found.items()
        for metric, answer in answers.items()
    }


def figures(parts: list[Outcome], rarest: str, metric: str) -> tuple[float | int, ...]:
    """The columns after the first three: rates are of the rarest class, the loss is of all classes."""
    every = [part.counts for part in parts]
    counts = sum(every[1:], every[0])
    place = counts.classes.index(rarest)
    right, predicted, all_rows = counts.matrix[place, place], counts.matrix[:, place].sum(), counts.matrix.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Jaccard's dip: ranks are within one metric
        preferences = Settings.about(rarest, 0).by_metric[metric].on(counts.classes)
        loss, naive = pragma(counts, preferences).total, min(one.loss for one in naive_baselines(counts, preferences))
    return (
        loss,
        float(right / counts.matrix[place].sum()),
        float(right / predicted) if predicted else float("nan"),
        float(predicted / all_rows),
        sum(bool((one.matrix.sum(axis=0) > 0).sum() == 1) for one in every),
        float(np.mean([part.promised for part in parts])),
        naive,
        float(np.mean([part.seconds for part in parts])),
        int(counts.matrix[place].sum()),
    )
