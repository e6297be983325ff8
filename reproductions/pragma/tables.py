"""Tables 1 to 4 of the PRAGMA paper beside ours, from the confusion counts of five cross-validations each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compromis as cp
from compromis.measures.baselines import constant_losses
from compromis.measures.rates import precision, recall
from reproductions.pragma.experiments import EXPERIMENTS, SEARCHES, SEEDS, Outcome
from reproductions.pragma.printed import (
    PAPER_METHODS,
    PAPER_NAMES,
    TABLE_1,
    TABLE_1_COLUMNS,
    TABLE_2,
    TABLE_2_COLUMNS,
    TABLE_3,
)
from reproductions.sheets import write
from reproductions.slips import TABLE_4, accuracy

RATES: dict[str, Callable[[cp.Counts], NDArray[np.float64]]] = {"recall": recall, "precision": precision}
RATE_HEADER = ("method", "rate", "column", "paper", "ours mean", "ours sd")


def loss(outcome: Outcome, method: str) -> float:
    """PRAGMA of the ten test folds together."""
    preferences = EXPERIMENTS[outcome.data].preferences
    return float(cp.evaluate(outcome.counts[method], preferences=preferences).summary.loss)


def accuracy_of(counts: cp.Counts) -> float:
    """The share of rows predicted right."""
    return float(np.trace(counts.matrix) / counts.matrix.sum())


def weighted(counts: cp.Counts, rate: str, labels: Sequence[str]) -> float:
    """Mean of a rate over classes, weighted by class sizes; a class never predicted has precision 0."""
    places = [counts.classes.index(label) for label in labels]
    sizes = counts.matrix.sum(axis=1)[places]
    return float(np.average(np.nan_to_num(RATES[rate](counts)[places]), weights=sizes))


def column_value(counts: cp.Counts, rate: str, column: str, priority: Sequence[str]) -> float:
    """A cell of table 1 or 2 in per cent: a class, or the mean of the priority classes, of the others, or of all."""
    others = [label for label in counts.classes if label not in priority]
    groups = {"priority": list(priority), "others": others, "all": list(counts.classes)}
    return 100 * weighted(counts, rate, groups.get(column, [column]))


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over seeds."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def rate_rows(outcomes: Sequence[Outcome], printed: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Table 1 or 2: what is printed for each method, rate and column, and ours; every search beside 'tuned'."""
    priority = EXPERIMENTS[outcomes[0].data].priority
    for method in outcomes[0].counts:
        for rate in RATES:
            figures = printed["forest" if method == "forest" else "tuned", rate]
            for column, figure in zip(columns, figures, strict=True):
                ours = [column_value(one.counts[method], rate, column, priority) for one in outcomes]
                yield (method, rate, column, f"{figure:.1f}", *spread(ours))


def table_3_rows() -> Iterator[tuple[Any, ...]]:
    """Rows, variables and minority share of the two-class problems; mammography has no counterpart in the paper."""
    for name in ("hypothyroid", "satimage", "mammography"):
        X, y = EXPERIMENTS[name].load()
        share = 100 * float(np.mean(y == EXPERIMENTS[name].priority[0]))
        ours = (len(y), X.shape[1], round(share, 2))
        paper = TABLE_3.get(name)
        yield (name, *((f"{value:g}" for value in paper) if paper else ("", "", "")), *(f"{value:g}" for value in ours))


def table_4_rows(found: dict[str, list[Outcome]]) -> Iterator[tuple[Any, ...]]:
    """Recall and precision of the minority, and accuracy; what the paper's own recall and precision imply as accuracy."""
    for name in ("hypothyroid", "satimage", "mammography"):
        label = EXPERIMENTS[name].priority[0]
        for method in ("C4.5", "forest", *SEARCHES):
            printed = TABLE_4.get(
                (PAPER_NAMES.get(name, ""), PAPER_METHODS[method if method in PAPER_METHODS else "tuned"])
            )
            counts = [one.counts[method] for one in found[name]]
            implied = accuracy(printed[0], printed[1], TABLE_3[name][2]) if printed else float("nan")
            measured = {
                "recall": [100 * weighted(one, "recall", [label]) for one in counts],
                "precision": [100 * weighted(one, "precision", [label]) for one in counts],
                "accuracy": [100 * accuracy_of(one) for one in counts],
            }
            for place, (rate, values) in enumerate(measured.items()):
                follows = implied if rate == "accuracy" else float("nan")
                yield (name, method, rate, f"{printed[place]:.1f}" if printed else "", follows, *spread(values))


def loss_rows(found: dict[str, list[Outcome]]) -> Iterator[tuple[Any, ...]]:
    """PRAGMA of every data set, seed and method; what the search promised; the best constant decision."""
    for name, outcomes in found.items():
        experiment = EXPERIMENTS[name]
        for one in outcomes:
            preferences = experiment.preferences.on(one.classes)
            constant = float(constant_losses(one.counts["forest"], preferences).min())
            for method, counts in one.counts.items():
                rates = [weighted(counts, rate, experiment.priority) for rate in RATES]
                promised, blind = one.search_loss.get(method, float("nan")), one.uninformative.get(method, "")
                yield (
                    name,
                    one.seed,
                    method,
                    loss(one, method),
                    promised,
                    constant,
                    *rates,
                    accuracy_of(counts),
                    blind,
                )


def summary_rows(found: dict[str, list[Outcome]]) -> Iterator[tuple[Any, ...]]:
    """Mean loss over seeds, and the paired difference from the classic forest."""
    for name, outcomes in found.items():
        for method in outcomes[0].counts:
            losses = np.array([loss(one, method) for one in outcomes])
            gained = losses - np.array([loss(one, "forest") for one in outcomes])
            better = int((gained < 0).sum())
            yield (name, method, *spread(losses), *spread(gained), better, len(outcomes))


def count_rows(found: dict[str, list[Outcome]]) -> Iterator[tuple[Any, ...]]:
    """Every confusion count that is not 0: all tables follow from these."""
    for name, outcomes in found.items():
        for one in outcomes:
            for method, counts in one.counts.items():
                for truth, predicted in np.argwhere(counts.matrix):
                    rows = int(counts.matrix[truth, predicted])
                    yield (name, one.seed, method, counts.classes[truth], counts.classes[predicted], rows)


def write_tables(found: dict[str, list[Outcome]], folder: Path) -> None:
    """Write the counts, the losses and tables 1 to 4."""
    assert all(len(outcomes) == len(SEEDS) for outcomes in found.values())
    write(folder / "counts.csv", ("data", "seed", "method", "truth", "decision", "rows"), count_rows(found))
    header = (
        "data",
        "seed",
        "method",
        "loss",
        "loss in search",
        "loss of the best constant decision",
        "priority recall",
    )
    header += (
        "priority precision",
        "accuracy",
        "folds in which the search is no better than a decision without a model",
    )
    write(folder / "losses.csv", header, loss_rows(found))
    header = (
        "data",
        "method",
        "loss mean",
        "loss sd",
        "against forest mean",
        "against forest sd",
        "seeds better",
        "seeds",
    )
    write(folder / "summary.csv", header, summary_rows(found))
    write(folder / "table_1.csv", RATE_HEADER, rate_rows(found["autos"], TABLE_1, TABLE_1_COLUMNS), 2)
    write(folder / "table_2.csv", RATE_HEADER, rate_rows(found["letter"], TABLE_2, TABLE_2_COLUMNS), 2)
    sizes = ("rows", "variables", "minority per cent")
    header = ("data", *(f"paper {name}" for name in sizes), *(f"ours {name}" for name in sizes))
    write(folder / "table_3.csv", header, table_3_rows())
    header = (
        "data",
        "method",
        "rate",
        "paper",
        "follows from the paper's recall and precision",
        "ours mean",
        "ours sd",
    )
    write(folder / "table_4.csv", header, table_4_rows(found), 2)
