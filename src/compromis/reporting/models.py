"""The comparison of several models on the same rows, and its text and JSON."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from compromis.errors import shown_label
from compromis.reporting.evaluation import Evaluation
from compromis.reporting.intervals_text import bounds
from compromis.reporting.version import running_version
from compromis.uncertainty.paired import LOWER_IS_BETTER, PairedComparison

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
        from compromis.reporting.json import write_json

        return write_json(self.document(), path)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        from compromis.reporting.json import plain

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
