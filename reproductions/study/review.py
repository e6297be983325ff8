"""What a review is worth: a tenth of the new rows looked at, as the rule says and in three other ways.

The others are the largest probability, all weighted votes against the decision, and chance. ``python -m reproductions.study.review
confirming`` (or ``developing``) writes the loss on each data set, reviewed rows counted as right. Ties at the border of the
tenth are broken at random, and random reviews are drawn, ``DRAWS`` times each.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import compromis as cp
from compromis.measures.pragma import pragma
from reproductions.sheets import markdown, read, write
from reproductions.study.families import members
from reproductions.study.rows import ASKED, Floats, Fold, Ints, Rows, folds

SHARE, DRAWS, TREES, SEED = 0.1, 20, 100, 0
ASKED_FOR = ("paper", "macro")
RESULTS = Path(__file__).parent / "results" / "review"
TABLE = {
    "no review": "no review", "random": "at random", "largest probability": "largest probability",
    "votes against": "weighted votes against", "best / second": "best / second",
}  # fmt: skip
"""The ways of the table of docs/review.md, with their headings."""
WAYS = (*TABLE, "plan", "share of the plan")

FORESTS: dict[str, Callable[..., Any]] = {
    "forest": lambda **options: cp.TunedDecisionClassifier(_forest(), **options, random_state=SEED),
    "PragmaForest": lambda **options: cp.PragmaForestClassifier(TREES, **options, random_state=SEED, n_jobs=1),
}


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=SEED, n_jobs=1)


def nearness(shares: Floats, weights: Floats) -> dict[str, Floats]:
    """What each way looks at first: the smallest number."""
    scores = np.sort(shares * weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(scores[:, -1] / scores[:, -2], nan=0.0, posinf=np.inf)
    against = scores.sum(axis=1) - scores[:, -1]
    others = {"largest probability": shares.max(axis=1), "votes against": -against, "random": np.zeros(len(shares))}
    return {"best / second": ratio, **others}


def looked_at(order_by: Floats, rng: np.random.Generator) -> Ints:
    """The rows of the tenth with the smallest numbers, ties broken at random."""
    return np.lexsort((rng.random(len(order_by)), order_by))[: round(SHARE * len(order_by))]


def losses_of(name: str, forest: str, asked: str) -> dict[str, float]:
    """The loss of each way on a data set, counts added over its folds; and of the plan, with the share it reviewed."""
    cells: dict[str, list[Floats]] = {}
    shared, parts = 0.0, folds(name, 0, SEED)
    preferences = ASKED[asked](Rows.of(name).rarest, "f")
    for fold in parts:
        for way, matrix, share in _of_fold(fold, forest, preferences):
            cells.setdefault(way, []).append(matrix)
            shared += share / len(parts)
    arrays = preferences.on(parts[0].labels)
    whole = {way: np.sum(matrices, axis=0) for way, matrices in cells.items()}
    found = {
        way: float(np.mean([_loss(one, arrays) for one in np.moveaxis(np.atleast_3d(matrix), -1, 0)]))
        for way, matrix in whole.items()
    }
    return {**found, "share of the plan": shared}


def _of_fold(fold: Fold, forest: str, preferences: cp.Preferences) -> Iterator[tuple[str, Floats, float]]:
    """Each way, the counts of its draws (K x K x draws), and the share that the plan reviewed."""
    model = FORESTS[forest](preferences=preferences, review=cp.Review(max_share=SHARE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(fold.train.codes, fold.train.y)
    shares = model.vote_shares(fold.test.codes)
    truth = np.searchsorted(fold.labels, fold.test.y)
    labels, flags = model.predict(fold.test.codes, return_review=True)
    predicted = np.searchsorted(fold.labels, labels)
    yield "no review", np.stack([fold.counts(predicted)] * DRAWS, axis=-1), 0.0
    yield "plan", np.stack([fold.counts(np.where(flags, truth, predicted))] * DRAWS, axis=-1), float(flags.mean())
    for way, order_by in nearness(shares, model.weights_).items():
        rng, draws = np.random.default_rng(SEED), []
        for _ in range(DRAWS):
            right = predicted.copy()
            rows = looked_at(order_by, rng)
            right[rows] = truth[rows]
            draws.append(fold.counts(right))
        yield way, np.stack(draws, axis=-1), 0.0


def _loss(matrix: Floats, arrays: Any) -> float:
    return pragma(cp.Counts.from_matrix(matrix, range(len(matrix))), arrays).total


def main(role: str) -> None:
    """Write what each way comes to, a line for each forest, preferences and data set."""
    rows: list[tuple[Any, ...]] = []
    for forest in FORESTS:
        for asked in ASKED_FOR:
            for one in members(role):
                found = losses_of(one.name, forest, asked)
                rows.append((forest, asked, one.name, *(found[way] for way in WAYS)))
                print(*rows[-1], flush=True)
    write(RESULTS / f"{role}.csv", ("forest", "preferences", "data", *WAYS), rows)


def table(role: str = "confirming") -> str:
    """The mean loss over the data sets; the lowest in bold."""
    lines, rows = read(RESULTS / f"{role}.csv"), []
    shown = {"paper": "the paper's preferences", "macro": "all classes alike"}
    for forest in FORESTS:
        for asked in ASKED_FOR:
            own = [line for line in lines if (line["forest"], line["preferences"]) == (forest, asked)]
            means = {way: fmean(float(line[way]) for line in own) for way in TABLE}
            cells = [f"**{mean:.4f}**" if mean == min(means.values()) else f"{mean:.4f}" for mean in means.values()]
            rows.append((f"{'random ' * (forest == 'forest')}{forest}, {shown[asked]}", *cells))
    return markdown(("", *TABLE.values()), rows)


if __name__ == "__main__":
    main(sys.argv[1])
