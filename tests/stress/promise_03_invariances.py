"""3. What must not matter does not: order of rows, names and order of classes, kind of labels, containers, repetition."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import compromis as cp
from compromis.measures.ranking import average_precision, roc_area
from tests.stress.counting import count_seeds
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "invariances of labels, rows, weights and containers"
FULL = 5_000
QUICK = 0.004
NEAR = 1e-13
"""Relative; sums over classes or weights in another order differ by rounding."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the cases in which something that must not matter does."""
    return count_seeds(check, range(scaled(FULL, scale)), progress)


def check(seed: int) -> None:
    """One case, in every disguise."""
    rng = np.random.default_rng(seed)
    classes, rows = int(rng.integers(2, 6)), int(rng.integers(2, 40))
    truth, decision = rng.integers(0, classes, (2, rows))
    shares = rng.multinomial(16, np.ones(classes) / classes, rows) / 16  # sums of sixteenths are exact in any order
    preferences = cp.Preferences(
        {k: cp.Preference(float(rng.integers(1, 9)), float(rng.random()), float(rng.random())) for k in range(classes)},
        metric=["kulczynski", "f", "fowlkes_mallows"][seed % 3],
    )
    base = document(cp.evaluate(truth, decision, y_proba=shares, preferences=preferences, labels=range(classes)))
    order = rng.permutation(rows)
    shuffled = cp.evaluate(
        truth[order], decision[order], y_proba=shares[order], preferences=preferences, labels=range(classes)
    )
    alike(document(shuffled), base, "another order of the rows", exactly=True)
    check_names(rng, truth, decision, shares, preferences, base)
    check_repetition(rng, truth, decision, preferences)
    check_containers(truth, decision, classes)
    check_scores(rng, truth)
    if seed % 4 == 0 and classes < 4 and len(set(truth[:10].tolist())) > 1:
        check_search(rng, truth[:10], classes, preferences)


def check_names(
    rng: Any, truth: Any, decision: Any, shares: Any, preferences: cp.Preferences, base: dict[str, Any]
) -> None:
    """Strings in place of numbers change nothing; another order of the classes only the rounding of sums."""
    classes = shares.shape[1]
    names = np.array([f"c{k}" for k in range(classes)])
    named = cp.Preferences({f"c{k}": preferences.of(k) for k in range(classes)}, metric=preferences.metric)
    text = cp.evaluate(names[truth], names[decision], y_proba=shares, preferences=named, labels=names.tolist())
    alike(document(text), base, "strings in place of numbers", exactly=True)
    order = rng.permutation(classes)
    turned = cp.evaluate(truth, decision, y_proba=shares[:, order], preferences=preferences, labels=order.tolist())
    found = document(turned)
    for k, label in enumerate(order):
        alike(found["per_class"][k], base["per_class"][label], f"class {label} in another place")
    alike(found["summary"], base["summary"], "another order of the classes")


def check_repetition(rng: Any, truth: Any, decision: Any, preferences: cp.Preferences) -> None:
    """A whole weight is a repetition; half the weights are the same shares."""
    times = rng.integers(0, 4, len(truth))
    times[0] += 1
    labels = range(len(preferences.by_class))
    weighted = cp.evaluate(truth, decision, preferences=preferences, labels=labels, sample_weight=times)
    repeated = cp.evaluate(np.repeat(truth, times), np.repeat(decision, times), preferences=preferences, labels=labels)
    halved = cp.evaluate(truth, decision, preferences=preferences, labels=labels, sample_weight=times / 2)
    assert weighted.counts.matrix.tolist() == repeated.counts.matrix.tolist(), "weights and repetition differ in counts"
    found = document(weighted)
    for other, what in ((document(repeated), "repetition in place of weights"), (document(halved), "half the weights")):
        alike(found["per_class"], other["per_class"], what, but=("support", "predicted"))
        alike(found["summary"], other["summary"], what, but=SIZES)


SIZES = ("rows", "total", "correct", "incorrect", "relative_absolute_error", "root_relative_squared_error")
"""Numbers of rows, and errors relative to priors (count + 1) / (N + K), which know the number of rows."""


def containers(values: Any) -> Iterator[tuple[str, Any]]:
    """The same labels as every container we promise to read."""
    yield "list", values.tolist()
    yield "tuple", tuple(values.tolist())
    for dtype in (np.int8, np.uint16, np.int32, ">i8", "<i4", np.uint64):
        yield str(np.dtype(dtype)), values.astype(dtype)
    yield "strided", np.repeat(values, 3)[::3]
    yield "backwards", values[::-1].copy()[::-1]
    frozen = values.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "column", values.reshape(-1, 1)
    yield "objects", values.astype(object)
    yield "pandas", pd.Series(values)
    yield "pandas nullable", pd.Series(values, dtype="Int16")
    yield "pandas category", pd.Series(pd.Categorical(values, categories=sorted(set(values.tolist()))))
    yield "polars", pl.Series(values)
    yield "pyarrow", pa.array(values)
    yield "pyarrow chunks", pa.chunked_array([values[:1], values[1:]])


def check_containers(truth: Any, decision: Any, classes: int) -> None:
    """Every container of the same labels has the same counts."""
    expected = cp.Counts.from_predictions(truth, decision, labels=range(classes))
    for (name, one), (_, other) in zip(containers(truth), containers(decision), strict=True):
        found = cp.Counts.from_predictions(one, other, labels=range(classes))
        assert found.matrix.tolist() == expected.matrix.tolist(), f"labels in a container {name}"
        assert found.classes == expected.classes, f"classes in a container {name}"


def check_scores(rng: Any, truth: Any) -> None:
    """Ranks decide: an increasing change of the scores, another order or other containers leave all cuts alone."""
    flags, score = truth == truth[0], rng.integers(0, 9, len(truth)) / 4.0
    base = cp.OperatingPoints.from_predictions(flags, score)
    order = rng.permutation(len(truth))
    disguises: dict[str, Callable[[], cp.OperatingPoints]] = {
        "order": lambda: cp.OperatingPoints.from_predictions(flags[order], score[order]),
        "increasing": lambda: cp.OperatingPoints.from_predictions(flags, np.exp(score) * 1e-9),
        "float32": lambda: cp.OperatingPoints.from_predictions(flags, score.astype(np.float32)),
        "byte-swapped": lambda: cp.OperatingPoints.from_predictions(flags, score.astype(">f8")),
        "weight 2": lambda: cp.OperatingPoints.from_predictions(flags, score, sample_weight=np.full(len(flags), 2.0)),
        "list": lambda: cp.OperatingPoints.from_predictions(flags.tolist(), score.tolist()),
    }
    for name, make in disguises.items():
        points, times = make(), 2 if name == "weight 2" else 1
        assert (points.true_positives == times * base.true_positives).all(), f"true positives: {name}"
        assert (points.false_positives == times * base.false_positives).all(), f"false positives: {name}"
        alike(roc_area(points), roc_area(base), f"area under the ROC curve: {name}")
        alike(average_precision(points), average_precision(base), f"average precision: {name}")


def check_search(rng: Any, truth: Any, classes: int, preferences: cp.Preferences) -> None:
    """The loss found does not depend on the order of rows and classes, or on the scale of votes (up to three classes: proven)."""
    votes = rng.integers(0, 5, (len(truth), classes)) + 1
    found = cp.search_weights(truth, votes, preferences=preferences, labels=range(classes), random_state=0)
    order, turned = rng.permutation(len(truth)), list(range(classes))[::-1]
    others = (
        cp.search_weights(truth[order], votes[order], preferences=preferences, labels=range(classes), random_state=0),
        cp.search_weights(truth, votes / 8, preferences=preferences, labels=range(classes), random_state=0),
        cp.search_weights(truth, votes[:, turned], preferences=preferences, labels=turned, random_state=0),
    )
    for other in others:
        assert found.optimal
        assert other.optimal
        alike(other.loss, found.loss, "loss of the search in a disguise")


def document(evaluation: cp.Evaluation) -> dict[str, Any]:
    """Return every number of an evaluation, without the labels."""
    parts = json.loads(evaluation.to_json())
    for one in parts["per_class"]:
        one.pop("label")
    return {name: parts[name] for name in ("counts", "summary", "per_class")}


def alike(one: Any, other: Any, what: str, *, exactly: bool = False, but: tuple[str, ...] = ()) -> None:
    """Fail unless two nests of numbers are equal, or nearly so."""
    if isinstance(one, dict):
        for name in one.keys() - set(but):
            alike(one[name], other[name], f"{what}: {name}", exactly=exactly, but=but)
    elif isinstance(one, list):
        assert len(one) == len(other), what
        for first, second in zip(one, other, strict=True):
            alike(first, second, what, exactly=exactly, but=but)
    else:
        same = one == other or (one != one and other != other)
        near = not exactly and one is not None and other is not None and abs(one - other) <= NEAR * max(1.0, abs(one))
        assert same or near, f"{what}: {one!r} and {other!r}"
