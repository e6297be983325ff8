"""What a person wants of one class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from compromis.errors import InputError
from compromis.metrics import Metric, get_metric


@dataclass(frozen=True, slots=True, repr=False)
class Preference:
    """What a person wants of one class: its importance, and how much precision they would give for recall.

    Parameters
    ----------
    importance : float
        How much the class counts beside the others (PRAGMA's theta).
    precision_at_full_recall : float in [0, 1)
        The answer to 'what precision would you accept for a recall of 1?' (PRAGMA's x).
    recall_at_full_precision : float in [0, 1)
        The answer to 'what recall would you accept for a precision of 1?' (PRAGMA's y).
    min_precision, min_recall : float in [0, 1], optional
        Results below are not acceptable at any price.
    given_recall_weight : float in [0, 1], optional
        The recall weight itself, in place of the two answers; see `from_recall_weight`.

    Notes
    -----
    The answers say that (precision x, recall 1) and (precision 1, recall y) are worth the same; each metric turns
    that into its recall weight.

    Examples
    --------
    >>> import compromis as cp
    >>> cancer = cp.Preference(importance=10, precision_at_full_recall=0.10, recall_at_full_precision=0.90)
    >>> round(cancer.recall_weight(), 3)
    0.9
    >>> print(cancer.describe("cancer"))
    'cancer': importance 10; for a recall of 1 you accept a precision of 10 %; for a precision of 1 you accept a recall of 90 %.
    """

    importance: float = 1.0
    precision_at_full_recall: float | None = 0.8
    recall_at_full_precision: float | None = 0.8
    min_precision: float | None = None
    min_recall: float | None = None
    given_recall_weight: float | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.importance, Real) and 0 <= self.importance < math.inf):
            raise InputError(f"importance is a finite number of at least 0, got {self.importance!r}")
        if self.given_recall_weight is None:
            _check_share("precision_at_full_recall", self.precision_at_full_recall, one_allowed=False)
            _check_share("recall_at_full_precision", self.recall_at_full_precision, one_allowed=False)
        else:
            _check_share("recall_weight", self.given_recall_weight)
            if self.precision_at_full_recall is not None or self.recall_at_full_precision is not None:
                raise InputError(
                    "give either the two answers or a recall weight, not both; use Preference.from_recall_weight"
                )
        for name in ("min_precision", "min_recall"):
            if getattr(self, name) is not None:
                _check_share(name, getattr(self, name))

    @classmethod
    def from_recall_weight(
        cls,
        recall_weight: float,
        importance: float = 1.0,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
    ) -> Preference:
        """Return a preference that has this recall weight whatever the metric; it is stored as given.

        Examples
        --------
        >>> import compromis as cp
        >>> cp.Preference.from_recall_weight(0.7).recall_weight("f")
        0.7
        """
        return cls(importance, None, None, min_precision, min_recall, recall_weight)

    def recall_weight(self, metric: str | Metric = "kulczynski") -> float:
        """Return the recall weight l in [0, 1] that the answers mean for `metric`: 0 precision alone, 1 recall alone."""
        if self.given_recall_weight is not None:
            return self.given_recall_weight
        assert self.precision_at_full_recall is not None
        assert self.recall_at_full_precision is not None
        return get_metric(metric).recall_weight(self.precision_at_full_recall, self.recall_at_full_precision)

    def describe(self, label: object = None) -> str:
        """Return in a sentence what the preference means."""
        return (
            f"{'' if label is None else f'{label!r}: '}importance {self.importance:g}; {self._trade()}{self._floors()}."
        )

    def __repr__(self) -> str:
        shown = {
            "importance": self.importance,
            "precision_at_full_recall": self.precision_at_full_recall,
            "recall_at_full_precision": self.recall_at_full_precision,
        }
        shown |= {"min_precision": self.min_precision, "min_recall": self.min_recall}
        arguments = ", ".join(f"{name}={value!r}" for name, value in shown.items() if value is not None)
        if self.given_recall_weight is None:
            return f"Preference({arguments})"
        return f"Preference.from_recall_weight({self.given_recall_weight!r}, {arguments})"

    def _trade(self) -> str:
        if self.given_recall_weight is not None:
            return f"recall weighs {100 * self.given_recall_weight:g} %, precision {100 * (1 - self.given_recall_weight):g} %"
        return (
            f"for a recall of 1 you accept a precision of {_percent(self.precision_at_full_recall)}; "
            f"for a precision of 1 you accept a recall of {_percent(self.recall_at_full_precision)}"
        )

    def _floors(self) -> str:
        floors = [
            f"{name} never below {_percent(floor)}"
            for name, floor in (("precision", self.min_precision), ("recall", self.min_recall))
            if floor is not None
        ]
        return "; " + ", ".join(floors) if floors else ""


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.6g} %"


def _check_share(name: str, value: float | None, *, one_allowed: bool = True) -> None:
    if isinstance(value, Real) and (0 <= value < 1 or (one_allowed and value == 1)):
        return
    if value == 1:
        raise InputError(
            f"{name} must be below 1: accepting nothing less than 1 trades nothing away, got {value}; write 0.99 for 'almost 1'"
        )
    if isinstance(value, Real) and 1 < value <= 100:
        raise InputError(f"{name} is a share between 0 and 1, got {value:g}; for {value:g} % write {value / 100:.4g}")
    raise InputError(f"{name} is a share between 0 and 1, got {value!r}; for 10 % write 0.10")
