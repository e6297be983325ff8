"""The numbers of an evaluation, named: what text, HTML, JSON and frames render."""

from __future__ import annotations

from dataclasses import dataclass

from compromis._typing import Label


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """The numbers of one class against the rest; NaN where a number is undefined."""

    label: Label
    support: float
    predicted: float
    share_predicted: float
    recall: float
    precision: float
    specificity: float
    negative_predictive_value: float
    false_negative_rate: float
    false_positive_rate: float
    f_measure: float
    roc_area: float
    importance: float
    recall_weight: float
    loss: float
    loss_share: float
    """What the class adds to the PRAGMA loss."""


@dataclass(frozen=True, slots=True)
class Averages:
    """Rates averaged over the classes that occur."""

    recall: float
    precision: float
    f_measure: float
    false_positive_rate: float
    specificity: float
    roc_area: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of the whole; NaN where a number is undefined."""

    rows: int
    total: float
    """The sum of the weights; the number of rows where there are none."""
    correct: float
    incorrect: float
    accuracy: float
    error_rate: float
    kappa: float
    balanced_accuracy: float
    matthews: float
    g_mean: float
    mean_absolute_error: float
    root_mean_squared_error: float
    relative_absolute_error: float
    root_relative_squared_error: float
    macro: Averages
    weighted: Averages
    total_cost: float | None
    average_cost: float | None
    loss: float | None
    """The PRAGMA loss under the preferences; None without them."""
