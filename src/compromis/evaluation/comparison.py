"""The comparison of several models on the same rows, and its text and JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from numpy.typing import ArrayLike

from compromis._text import shown_label
from compromis.errors import InputError
from compromis.evaluation.cross_validation import CrossEvaluation
from compromis.evaluation.evaluate import Evaluation, evaluate
from compromis.evaluation.render.json import running_version
from compromis.evaluation.render.text import bounds
from compromis.evidence.counts import Counts
from compromis.evidence.inputs import read_weights
from compromis.evidence.paired import PairedCounts, encode_models
from compromis.preferences import Preferences
from compromis.uncertainty.folds import FoldMean, fold_mean
from compromis.uncertainty.intervals import read_confidence
from compromis.uncertainty.paired import LOWER_IS_BETTER, PairedComparison, compare_paired

SCHEMA, VERSION = "compromis/model-comparison", 1


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Several models on the same rows, made by `compromis.compare_models`.

    Attributes
    ----------
    evaluations : mapping of name to Evaluation
        Each model by itself, with intervals.
    pairs : tuple of PairedComparison
        Every pair of models.
    p_values : tuple of float
        McNemar's mid-p values of the pairs, adjusted for their number (Holm); NaN where rows have weights.
    confidence : float
        The confidence of the intervals.

    Examples
    --------
    >>> import compromis as cp
    >>> truth = ["bad"] * 20 + ["good"] * 80
    >>> sharp, blunt = ["bad"] * 18 + ["good"] * 82, ["bad"] * 8 + ["good"] * 92
    >>> comparison = cp.compare_models({"sharp": sharp, "blunt": blunt}, truth)
    >>> len(comparison.pairs), comparison.evaluations["sharp"].per_class["bad"].recall
    (1, 0.9)
    """

    evaluations: Mapping[str, Evaluation]
    pairs: tuple[PairedComparison, ...]
    p_values: tuple[float, ...]
    confidence: float

    @property
    def measure(self) -> str:
        """The measure that decides."""
        return self.pairs[0].measure

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """The models, the best on these rows first."""
        sign = 1 if self.measure in LOWER_IS_BETTER else -1
        values = {name: sign * value for name, value in self.values.items()}
        return tuple(sorted(values, key=lambda name: (math.isnan(values[name]), values[name])))

    @cached_property
    def verdict(self) -> str:
        """Which model is better, by how much, and how sure that is."""
        best = self.ranking[0]
        beside = [pair for pair in self.pairs if best in (pair.first, pair.second)]
        if len(self.evaluations) == 2:
            return beside[0].sentence
        sure = [_other(pair, best) for pair in beside if pair.difference.clear]
        open_ = [_other(pair, best) for pair in beside if not pair.difference.clear]
        parts = [f"{best!r} has the best {self.measure.replace('_', ' ')}"]
        if sure:
            parts.append(f"it is better than {', '.join(map(repr, sure))}")
        if open_:
            parts.append(f"these rows do not tell it apart from {', '.join(map(repr, open_))}")
        return "; ".join(parts)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the comparison as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        from compromis.evaluation.render.json import write_json

        return write_json(self.document(), path)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        from compromis.evaluation.render.json import plain

        return {
            "schema": SCHEMA,
            "version": VERSION,
            "compromis": running_version(),
            "confidence": self.confidence,
            "measure": self.measure,
            "ranking": list(self.ranking),
            "verdict": self.verdict,
            "models": {name: one.document() for name, one in self.evaluations.items()},
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "sentence": pair.sentence,
                    "differences": [plain(asdict(one)) for one in pair.differences.values()],
                    "mcnemar": plain(asdict(pair.mcnemar)),
                    "adjusted_p_value": plain(p_value),
                }
                for pair, p_value in zip(self.pairs, self.p_values, strict=True)
            ],
        }

    def __str__(self) -> str:
        return _text(self)

    def __repr__(self) -> str:
        return f"<ModelComparison of {len(self.evaluations)} models by {self.measure}: {self.verdict}>"

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Each model's value of the measure that decides."""
        values: dict[str, float] = {}
        for pair in self.pairs:
            values |= {pair.first: pair.difference.first, pair.second: pair.difference.second}
        return values


def adjusted(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted for their number by Holm's method; NaN where one is undefined."""
    if any(math.isnan(value) for value in p_values):
        return tuple(math.nan for _ in p_values)
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    result, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        result[place] = highest
    return tuple(result)


def _other(pair: PairedComparison, name: str) -> str:
    return pair.second if pair.first == name else pair.first


def _text(comparison: ModelComparison) -> str:
    title, level = comparison.measure.replace("_", " "), f"{100 * comparison.confidence:g} %"
    names = [shown_label(name) for name in comparison.evaluations]
    width = max(len(name) for name in [*names, "Model"])
    lines = [
        f"=== Models on {next(iter(comparison.evaluations.values())).counts.rows:,} rows, by {title} ===\n",
        f"{'Model':<{width}}   Value   {level} interval    Accuracy   Kappa",
    ]
    for name in comparison.ranking:
        one = comparison.evaluations[name]
        assert one.intervals is not None
        lines.append(
            f"{shown_label(name):<{width}}  {comparison.values[name]:6.4f}   {bounds(one.intervals.summary[comparison.measure]):<16}"
            f"  {one.summary.accuracy:7.4f}  {one.summary.kappa:7.4f}"
        )
    lines += [f"\n=== Differences ({level} intervals) ===\n"]
    for pair, p_value in zip(comparison.pairs, comparison.p_values, strict=True):
        lines.append(f"{_sentence_case(shown_label(pair.sentence))}.")
        lines.append(f"   {_right_alone(pair)}; {_mcnemar(pair.mcnemar.mid_p, p_value, len(comparison.pairs))}")
    return "\n".join([*lines, "", f"Verdict: {shown_label(comparison.verdict)}."]) + "\n"


def _right_alone(pair: PairedComparison) -> str:
    test, first, second = pair.mcnemar, shown_label(repr(pair.first)), shown_label(repr(pair.second))
    return f"right alone: {first} on {test.only_first:g} rows, {second} on {test.only_second:g}"


def _mcnemar(mid_p: float, adjusted_p: float, pairs: int) -> str:
    if math.isnan(mid_p):
        return "McNemar's test needs rows without weights"
    return f"McNemar's mid-p {mid_p:.3g}" + (f", adjusted for {pairs} pairs {adjusted_p:.3g}" if pairs > 1 else "")


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def compare_models(
    decisions: Mapping[str, Any],
    y_true: Any,
    *,
    preferences: Preferences | None = None,
    measure: str | None = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ModelComparison:
    """Compare models by their decisions on the same rows: which is better, by how much, and how sure that is.

    Parameters
    ----------
    decisions : mapping of name to labels
        The predicted classes of each model, for the rows of `y_true`, in their order.
    y_true : labels
        The true classes.
    preferences : Preferences, optional
        What matters; the models are then compared by the loss.
    measure : str, optional
        Another measure to decide by, such as ``"accuracy"``, ``"kappa"`` or ``"macro_f_measure"``; without preferences it is the
        balanced accuracy.
    labels : sequence, optional
        The classes, absent ones included.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    ModelComparison
        ``str()`` is a table and a verdict; ``.pairs`` has every pair with the difference of every measure and its interval.

    Notes
    -----
    The same draws of rows judge both models of a pair, so that what they share cancels; see `compromis.uncertainty.paired`. McNemar's
    mid-p values are adjusted for the number of pairs by Holm's method.

    Examples
    --------
    >>> import compromis as cp
    >>> truth = ["bad"] * 40 + ["good"] * 160
    >>> eager = ["bad"] * 60 + ["good"] * 140
    >>> shy = ["bad"] * 10 + ["good"] * 190
    >>> result = cp.compare_models({"eager": eager, "shy": shy}, truth, preferences=cp.Preferences.prioritise(["bad"]))
    >>> print(result.verdict)
    'eager' is better than 'shy': loss 0.0360 against 0.6208, difference -0.5848 (95 % interval -0.6... to -0.4...)
    """
    level = read_confidence(confidence)
    _check(decisions)
    (truth, *codes), classes = encode_models(y_true, decisions, labels)
    predicted = dict(zip(decisions, codes, strict=True))
    weight = read_weights(sample_weight, len(truth))
    arrays = None if preferences is None else preferences.on(classes)
    evaluations = {
        name: evaluate(Counts.from_positions(truth, one, classes, weight), preferences=preferences, confidence=level)
        for name, one in predicted.items()
    }
    pairs = tuple(
        compare_paired(
            PairedCounts.from_positions(truth, predicted[first], predicted[second], classes, weight),
            arrays=arrays,
            measure=measure,
            names=(first, second),
            confidence=level,
        )
        for first, second in combinations(predicted, 2)
    )
    return ModelComparison(evaluations, pairs, adjusted([pair.mcnemar.mid_p for pair in pairs]), level)


def compare_folds(
    first: CrossEvaluation, second: CrossEvaluation, *, measure: str | None = None, confidence: float = 0.95
) -> FoldMean:
    """Compare two cross-validations on the same folds: the mean difference, first minus second, and the corrected t-test.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> bayes, dummy = (cp.cross_evaluate(one, *load_iris(return_X_y=True)) for one in (GaussianNB(), DummyClassifier()))
    >>> difference = cp.evaluation.compare_folds(bayes, dummy, measure="accuracy")
    >>> bool(difference.mean.low > 0.5 and difference.p_value < 0.001)
    True
    """
    if first.test_rows != second.test_rows or any(
        (one.counts.support != other.counts.support).any() for one, other in zip(first.folds, second.folds, strict=True)
    ):
        raise InputError("the two cross-validations have different folds; run both with the same cv and the same rows")
    name = measure or ("loss" if first.preferences is not None else "balanced_accuracy")
    known = set(first.averages) & set(second.averages)
    if name not in known:
        raise InputError(f"there is no measure {name!r} in both; choose one of {', '.join(sorted(known))}")
    values = [
        getattr(one.summary, name) - getattr(other.summary, name)
        for one, other in zip(first.folds, second.folds, strict=True)
    ]
    shares = [test / train for test, train in zip(first.test_rows, first.train_rows, strict=True)]
    return fold_mean(values, sum(shares) / len(shares), confidence=confidence)


def _check(decisions: Any) -> None:
    if not isinstance(decisions, Mapping):
        raise InputError(f"decisions is a mapping of names to predicted classes, got {type(decisions).__name__}")
    if len(decisions) < 2:
        raise InputError(
            f"there is nothing to compare: give the decisions of at least two models, got {len(decisions)}"
        )
