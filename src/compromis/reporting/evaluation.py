"""The evaluation of a classifier: evidence and preferences in, every number of the report out."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.evidence import Counts
from compromis.evidence.distributions import DistributionErrors
from compromis.evidence.votes import Votes
from compromis.measures import agreement, rates
from compromis.measures.costs import average_cost, total_cost
from compromis.measures.pragma import PragmaLoss, pragma
from compromis.measures.probability import WekaErrors, weka_errors
from compromis.measures.screening import screening_sentence
from compromis.measures.verdict import Verdict, judge
from compromis.preferences import PreferenceArrays, Preferences
from compromis.reporting.summaries import Averages, ClassSummary, Summary
from compromis.uncertainty.intervals import ReportIntervals


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The evaluation of a classifier, made by `compromis.evaluate`.

    ``str(evaluation)`` is the report in Weka's layout, followed by what the preferences say.

    Attributes
    ----------
    counts : Counts
        The confusion counts.
    errors : DistributionErrors
        The sums behind Weka's probability errors.
    roc_areas : ndarray
        The area under each class's ROC curve.
    priors : ndarray
        The training shares that relative errors are relative to.
    priors_given : bool
        Whether they are the training shares, or only those of the evaluated rows.
    preferences : Preferences or None
        What matters.
    cost : ndarray or None
        The cost matrix, rows the truth.
    intervals : ReportIntervals or None
        The confidence intervals, where they were asked for.
    votes : Votes or None
        The distributions over the classes, where they were given: what reports draw curves and turn knobs with.

    Examples
    --------
    >>> import compromis as cp
    >>> result = cp.evaluate(["bad", "good", "good", "good"], ["bad", "bad", "good", "good"])
    >>> result.summary.accuracy, result.per_class["bad"].recall, result.per_class["bad"].precision
    (0.75, 1.0, 0.5)
    >>> print(str(result).splitlines()[2])
    Correctly Classified Instances           3               75      %
    """

    counts: Counts
    errors: DistributionErrors
    roc_areas: NDArray[np.float64]
    priors: NDArray[np.float64]
    priors_given: bool = False
    preferences: Preferences | None = None
    cost: NDArray[np.float64] | None = None
    intervals: ReportIntervals | None = None
    votes: Votes | None = None

    @cached_property
    def arrays(self) -> PreferenceArrays | None:
        """The preferences laid out for the classes."""
        return None if self.preferences is None else self.preferences.on(self.counts.classes)

    @cached_property
    def pragma(self) -> PragmaLoss | None:
        """The PRAGMA loss and its parts; None without preferences."""
        return None if self.arrays is None else pragma(self.counts, self.arrays)

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether the result is worth anything beside naive decisions; None without preferences."""
        return None if self.arrays is None else judge(self.counts, self.arrays)

    @cached_property
    def screening(self) -> str | None:
        """For two classes, what the test is good for; None for more, and without rows."""
        two = len(self.counts.classes) == 2 and self.counts.total > 0
        return screening_sentence(self.counts, self.arrays) if two else None

    @cached_property
    def per_class(self) -> Mapping[Label, ClassSummary]:
        """The numbers of each class, by label, in the order of the classes."""
        columns = self._columns()
        rows = zip(*columns.values(), strict=True)
        names = list(columns)
        return MappingProxyType(
            {
                label: ClassSummary(label, **{name: float(value) for name, value in zip(names, row, strict=True)})
                for label, row in zip(self.counts.classes, rows, strict=True)
            }
        )

    @cached_property
    def summary(self) -> Summary:
        """The numbers of the whole."""
        counts, accuracy = self.counts, agreement.accuracy(self.counts)
        weka: WekaErrors = weka_errors(self.errors, self.priors)
        correct = counts.matrix.trace().item()
        return Summary(
            rows=counts.rows,
            total=counts.total,
            correct=correct,
            incorrect=counts.total - correct,
            accuracy=accuracy,
            error_rate=1 - accuracy,
            kappa=agreement.kappa(counts),
            balanced_accuracy=agreement.balanced_accuracy(counts),
            matthews=agreement.matthews(counts),
            g_mean=agreement.g_mean(counts),
            mean_absolute_error=weka.mean_absolute,
            root_mean_squared_error=weka.root_mean_squared,
            relative_absolute_error=weka.relative_absolute,
            root_relative_squared_error=weka.root_relative_squared,
            macro=self._averages(agreement.macro_average),
            weighted=self._averages(agreement.weighted_average),
            total_cost=None if self.cost is None else total_cost(counts, self.cost),
            average_cost=None if self.cost is None else average_cost(counts, self.cost),
            loss=None if self.pragma is None else self.pragma.total,
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the numbers of each class as a data frame, one row per class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Without it: pandas if it is installed, else polars, else pyarrow.
        """
        from compromis.reporting.frame import to_frame

        return to_frame(self, backend)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the evaluation as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        from compromis.reporting.json import to_json

        return to_json(self, path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the evaluation as GitHub-flavoured Markdown; with `path`, write it there too, whole or not at all."""
        from compromis.files import write_whole
        from compromis.reporting.markdown import to_markdown

        text = to_markdown(self)
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """Return the report as one HTML page that needs no network; with `path`, write it there too, whole or not at all.

        Parameters
        ----------
        path : path, optional
            Where to write the page.
        **options
            Those of `compromis.report`: weights, smoothing, title and so on.
        """
        from compromis.reporting.report import make_report

        return make_report(self, **options).save(path)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values."""
        from compromis.reporting.json import evaluation_document

        return evaluation_document(self)

    def __str__(self) -> str:
        from compromis.reporting.text import to_text

        return to_text(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what is cached is worked out anew

    def __repr__(self) -> str:
        loss = "" if self.summary.loss is None else f", loss {self.summary.loss:.4f}"
        return f"<Evaluation of {self.counts.rows:,} rows, {len(self.counts.classes)} classes{loss}>"

    def _repr_html_(self) -> str:
        from compromis.reporting.html import to_fragment

        return to_fragment(self)

    def _columns(self) -> dict[str, NDArray[Any]]:
        counts, unknown = self.counts, np.full(len(self.counts.classes), math.nan)
        arrays, loss = self.arrays, self.pragma
        return {
            "support": counts.support,
            "predicted": counts.predicted,
            "share_predicted": rates.share_predicted(counts),
            "recall": rates.recall(counts),
            "precision": rates.precision(counts),
            "specificity": rates.specificity(counts),
            "negative_predictive_value": rates.negative_predictive_value(counts),
            "false_negative_rate": rates.false_negative_rate(counts),
            "false_positive_rate": rates.false_positive_rate(counts),
            "f_measure": rates.f_measure(counts),
            "roc_area": self.roc_areas,
            "importance": unknown if arrays is None else arrays.importance,
            "recall_weight": unknown if arrays is None else arrays.recall_weight,
            "loss": unknown if loss is None else loss.by_class,
            "loss_share": unknown if loss is None else loss.share,
        }

    def _averages(self, average: Any) -> Averages:
        counts = self.counts
        return Averages(
            recall=average(rates.recall(counts), counts),
            precision=average(rates.precision(counts), counts, undefined=0.0),
            f_measure=average(rates.f_measure(counts), counts),
            false_positive_rate=average(rates.false_positive_rate(counts), counts),
            specificity=average(rates.specificity(counts), counts),
            roc_area=average(self.roc_areas, counts),
        )
