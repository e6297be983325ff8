"""Compare several models on the same rows, or two cross-validations on the same folds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from numpy.typing import ArrayLike

from compromis._results import Result
from compromis._text import Finding, Table, Tone, bounds, capitalised, class_name, count, fixed, uncapitalised
from compromis._typing import Ints
from compromis.errors import InputError
from compromis.evaluation.cross_validation import CrossEvaluation
from compromis.evaluation.evaluate import Evaluation, Summary, Terms
from compromis.evaluation.scored_rows import ScoredRows, TrueRows
from compromis.evidence.paired import encode_models
from compromis.evidence.scores import check_order_is_said, read_distributions
from compromis.evidence.strata import Sample
from compromis.labels import check_row_order, encode_classes, read_labels
from compromis.measures.headline import Headline, headline_of
from compromis.measures.probability import smoothed_shares
from compromis.measures.rates import counts_of, lower_is_better
from compromis.preferences import Preferences, read_preferences
from compromis.uncertainty.intervals import Interval, read_confidence
from compromis.uncertainty.paired_tests import FoldMean, PairedComparison, compare_paired, fold_mean

MOST_TOLD = 4
"""Models that the text tells in rows, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdict:
    """Which model is best, and beside which others that is sure; ``str()`` is the sentence."""

    best: str
    """The model with the best value on these rows."""
    better_than: tuple[str, ...]
    """The models from which it surely differs, the number of pairs allowed for (Holm): the best of many looks better than it is."""
    not_told_apart: tuple[str, ...]
    """The other models."""
    sentence: str
    """The verdict in words."""

    @property
    def state(self) -> str:
        """Whether the best model is ``"better"`` than every other, or ``"not told apart"`` from some."""
        return "not told apart" if self.not_told_apart else "better"

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelComparison(Result):
    """Several models on the same rows, made by `compromis.compare_models`."""

    evaluations: Mapping[str, Evaluation]
    """Each model by itself, with intervals."""
    pairs: tuple[PairedComparison, ...]
    """Every pair of models."""
    p_values: tuple[float, ...]
    """McNemar's mid-p values of the pairs, adjusted for their number (Holm); NaN where rows have weights or groups."""
    confidence: float
    """The confidence of the intervals."""

    schema = "compromis/model-comparison"

    @property
    def measure(self) -> str:
        """The measure that decides."""
        return self.pairs[0].measure

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Each model's value of the measure that decides."""
        values: dict[str, float] = {}
        for pair in self.pairs:
            values |= {pair.first: pair.difference.first, pair.second: pair.difference.second}
        return values

    @cached_property
    def summary(self) -> Mapping[str, Summary]:
        """The numbers of each model."""
        return {name: evaluation.summary for name, evaluation in self.evaluations.items()}

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """The models, the best on these rows first."""
        sign = 1 if lower_is_better(self.measure) else -1
        values = {name: sign * value for name, value in self.values.items()}
        return tuple(sorted(values, key=lambda name: (math.isnan(values[name]), values[name])))

    @cached_property
    def verdict(self) -> ModelVerdict:
        """Which model is better, by how much, and how sure that is."""
        best, level = self.ranking[0], (1 - self.confidence) * (1 + 1e-9)
        chances = adjusted([pair.difference.p_value(self.confidence) for pair in self.pairs])
        clear = {
            pair.second if pair.first == best else pair.first: pair.difference.clear and chance <= level
            for pair, chance in zip(self.pairs, chances, strict=True)
            if best in (pair.first, pair.second)
        }
        sure, unsure = (tuple(name for name in clear if clear[name] is wanted) for wanted in (True, False))
        parts = [f"{best!r} has the best {self.measure.replace('_', ' ')}"]
        if sure:
            parts.append(f"it is better than {', '.join(map(repr, sure))}")
        if unsure:
            parts.append(f"these rows do not tell it apart from {', '.join(map(repr, unsure))}")
        sentence = self.pairs[0].sentence if len(self.pairs) == 1 else "; ".join(parts)
        return ModelVerdict(best=best, better_than=sure, not_told_apart=unsure, sentence=sentence)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        return {
            **self.heading(),
            "confidence": self.confidence,
            "measure": self.measure,
            "ranking": list(self.ranking),
            "verdict": asdict(self.verdict),
            "models": {name: evaluation.document() for name, evaluation in self.evaluations.items()},
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "sentence": pair.sentence,
                    "differences": [asdict(difference) for difference in pair.differences.values()],
                    "mcnemar": asdict(pair.mcnemar),
                    "adjusted_p_value": p_value,
                }
                for pair, p_value in zip(self.pairs, self.p_values, strict=True)
            ],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return the models, the best first, column by column."""
        intervals = [self._interval(name) for name in self.ranking]
        return {
            "model": list(self.ranking),
            self.measure: [self.values[name] for name in self.ranking],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            **{
                name: [getattr(self.summary[model], name) for model in self.ranking]
                for name in ("accuracy", "kappa", "balanced_accuracy", "loss")
                if name != self.measure
            },
        }

    @cached_property
    def headlines(self) -> Mapping[str, Headline]:
        """Each model in rows of the classes that matter, the best first."""
        models = {name: self.evaluations[name] for name in self.ranking}
        return {name: headline_of(model.counts, model.arrays) for name, model in models.items()}

    def sentences(self) -> list[str]:
        """Return the verdict, each model in rows, then what is known of each pair of three and more models."""
        state: Tone = "better" if self.verdict.state == "better" else "not told apart"
        told = [
            f"{name!r} {uncapitalised(one.sentences()[0])}" for name, one in list(self.headlines.items())[:MOST_TOLD]
        ]
        pairs = []
        if len(self.pairs) > 1:
            pairs = [f"the verdict allows for {len(self.pairs)} pairs (Holm); each taken alone:"]
            pairs += [pair.sentence for pair in self.pairs]
        small = [Finding(pair, "small") for pair in pairs]
        return [Finding(self.verdict.sentence, state), *told, *self._beside_no_model(), *small]

    def _beside_no_model(self) -> list[Finding]:
        """Say of the models that are told in rows whether they are better than no model: the best of several may be no good."""
        said: dict[tuple[str, Tone], list[str]] = {}
        for name in self.ranking[:MOST_TOLD]:
            verdict = self.evaluations[name].verdict
            if verdict is not None:
                said.setdefault((verdict.word, verdict.state), []).append(repr(name))
        return [Finding(f"{capitalised(word)}: {', '.join(names)}", tone) for (word, tone), names in said.items()]

    def tables(self) -> list[Table]:
        """Return the models, the best first, and the pairs."""
        level, title = f"{100 * self.confidence:g} % interval", self.measure.replace("_", " ")
        first = next(iter(self.headlines.values()))
        named = [f" of {count(first.classes[0].of)} {class_name(first.classes[0].label)}"] if first.matters else []
        models, pairs = [], []
        for name in self.ranking:
            in_rows = self.headlines[name].classes[0]
            cells = [count(in_rows.missed), count(in_rows.false_alarms)] if named else []
            value, accuracy = (fixed(number, 4) for number in (self.values[name], self.summary[name].accuracy))
            models.append([name, *cells, value, bounds(self._interval(name)), accuracy])
        for pair, p_value in zip(self.pairs, self.p_values, strict=True):
            difference, test = pair.difference.difference, pair.mcnemar
            alone = f"{test.only_first:g}", f"{test.only_second:g}"
            tests = ["?" if math.isnan(value) else f"{value:.3g}" for value in (test.mid_p, p_value)]
            pairs.append(
                [f"{pair.first} - {pair.second}", fixed(difference.value, 4), bounds(difference), *alone, *tests]
            )
        missed = [f"Missed{named[0]}", "False alarms"] if named else []
        header = ["Pair", "Difference", level, "Right alone: first", "second", "McNemar's mid-p", "Adjusted"]
        rows = next(iter(self.evaluations.values())).counts.rows
        return [
            Table(f"{count(rows)} rows", ["Model", *missed, capitalised(title), level, "Accuracy"], models),
            Table(f"Differences{f'; p-values adjusted for {len(pairs)} pairs' * (len(pairs) > 1)}", header, pairs),
        ]

    def __repr__(self) -> str:
        return f"<ModelComparison of {len(self.evaluations)} models by {self.measure}: {self.verdict}>"

    def _interval(self, name: str) -> Interval:
        intervals = self.evaluations[name].intervals
        assert intervals is not None
        return intervals.summary[self.measure]


def adjusted(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted for their number by Holm's method; NaN where one is undefined."""
    if any(math.isnan(value) for value in p_values):
        return tuple(math.nan for _ in p_values)
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    result, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        result[index] = highest
    return tuple(result)


def compare_models(
    y_true: Any,
    predictions: Mapping[str, Any],
    *,
    preferences: Preferences | Mapping[Any, Any] | None = None,
    measure: str | None = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    groups: Any = None,
    sample: Sample | None = None,
    confidence: float = 0.95,
) -> ModelComparison:
    """Compare models by their predictions for the same rows: which is better, by how much, and how sure that is.

    Parameters
    ----------
    y_true : labels
        The true classes.
    predictions : mapping of name to labels or probabilities
        The predicted classes of each model, for the rows of `y_true`, in their order; or a matrix of probabilities, a column per
        class, of which the most probable class is taken.
    preferences : Preferences or mapping by class, optional
        What matters; the models are then compared by the loss, or by the average cost where the preferences give costs.
    measure : str, optional
        Another measure to decide by, such as ``"accuracy"``, ``"kappa"`` or ``"macro_f_measure"``; without preferences it is the
        balanced accuracy.
    labels : sequence, optional
        The classes, absent ones included.
    sample_weight : array-like, optional
        A weight of at least 0 per row.
    groups : labels, optional
        A key per row: rows of one group (a customer, a day) belong together, and the intervals count groups, not rows.
    sample : Sample, optional
        The plan by which the rows were drawn, of `compromis.model_selection.plan_labels`.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    ModelComparison
        ``str()`` is a table and a verdict; ``.pairs`` has every pair with the difference of every measure and its interval.

    Notes
    -----
    The same draws of rows judge both models of a pair, so that what they share cancels; see `compromis.uncertainty.paired_tests`. The
    verdict and McNemar's mid-p values are adjusted for the number of pairs by Holm's method, the intervals are not.

    Examples
    --------
    >>> import compromis as cp
    >>> truth = ["bad"] * 40 + ["good"] * 160
    >>> eager = ["bad"] * 60 + ["good"] * 140
    >>> shy = ["bad"] * 10 + ["good"] * 190
    >>> result = cp.compare_models(truth, {"eager": eager, "shy": shy}, preferences=cp.Preferences.prioritise(["bad"], metric="kulczynski"))
    >>> print(result.verdict)
    'eager' (loss 0.0360) is better than 'shy' (0.6208), by 0.5848 (95 % interval 0.4... to 0.6...)
    """
    _check(predictions)
    check_row_order(y_true, sample_weight=sample_weight, groups=groups)
    wanted = read_preferences(preferences)
    if wanted is not None and wanted.costs_amounts:
        raise InputError(
            "compare_models knows no amounts of rows; give costs without 'amount', or evaluate each model with amount=",
            "preferences",
        )
    given = {name: _most_probable(name, values, y_true, labels) for name, values in predictions.items()}
    (truth, *codes), classes = encode_models(y_true, given, labels)
    predicted = dict(zip(predictions, codes, strict=True))
    rows = TrueRows.read(truth, classes, sample_weight=sample_weight, groups=groups, sample=sample)
    terms = Terms.read(classes, preferences, pos_label=None, confidence=read_confidence(confidence))
    pairs = tuple(
        compare_paired(
            rows.pair(predicted[first], predicted[second]),
            arrays=terms.arrays,
            measure=measure,
            names=(first, second),
            confidence=confidence,
        )
        for first, second in combinations(predicted, 2)
    )
    evaluations = {name: _evaluation(rows, predicted[name], values, terms) for name, values in predictions.items()}
    p_values = adjusted([pair.mcnemar.mid_p for pair in pairs])
    return ModelComparison(evaluations=evaluations, pairs=pairs, p_values=p_values, confidence=float(confidence))


def _evaluation(rows: TrueRows, predicted: Ints, values: Any, terms: Terms) -> Evaluation:
    """Return the evaluation of a model by itself; with its distributions where it gave some."""
    evidence = rows.count(predicted)
    scored = ScoredRows(rows, read_distributions(values, len(predicted), rows.classes)) if _is_matrix(values) else None
    return Evaluation(**terms.judge(evidence, scored, smoothed_shares(counts_of(evidence))))


def _check(predictions: Any) -> None:
    if not isinstance(predictions, Mapping):
        raise InputError(
            f"predictions is a mapping of names to predicted classes, got {type(predictions).__name__}", "predictions"
        )
    if len(predictions) < 2:
        raise InputError(
            f"there is nothing to compare: give the predictions of at least two models, got {len(predictions)}",
            "predictions",
        )


def _is_matrix(values: Any) -> bool:
    shape: tuple[int, ...] = getattr(values, "shape", ())
    return len(shape) == 2 and shape[-1] > 1


def _most_probable(name: str, values: Any, y_true: Any, labels: Sequence[Any] | None) -> Any:
    """Return the labels of the most probable classes, the first one in a tie; labels stay as they are."""
    if not _is_matrix(values):
        return values
    (truth,), classes = encode_classes(read_labels(y_true, "y_true"), labels=labels)
    shares = read_distributions(values, len(truth), classes)
    check_order_is_said(values, classes, labels, name)
    check_row_order(y_true, **{name: values})
    return [classes[code] for code in shares.argmax(axis=1)]


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
    folds = list(zip(first.folds, second.folds, strict=False))
    if first.test_rows != second.test_rows or any((a.counts.support != b.counts.support).any() for a, b in folds):
        raise InputError("the two cross-validations have different folds; run both with the same cv and the same rows")
    name = measure or ("loss" if first.preferences is not None else "balanced_accuracy")
    known = set(first.averages) & set(second.averages)
    if name not in known:
        raise InputError(f"there is no measure {name!r} in both; choose one of {', '.join(sorted(known))}", "measure")
    values = [getattr(a.summary, name) - getattr(b.summary, name) for a, b in folds]
    return fold_mean(values, first.test_share, confidence=confidence)
