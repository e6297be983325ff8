"""What matters, and how much: the two answers and the importance of each class."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._costs import AMOUNT, LARGEST, read_cost
from compromis._files import file_bytes, write_whole
from compromis._results import face
from compromis._text import nearest, shown
from compromis._typing import Label
from compromis.errors import InputError
from compromis.labels import plain_label
from compromis.metrics import JACCARD, METRICS, F, Metric, get_metric

ASSUMED = 0.8
"""Counts as the answer where none was given."""


@dataclass(frozen=True, slots=True, repr=False)
class Preference:
    """What a person wants of one class: its importance, and how much precision they would give for recall.

    Parameters
    ----------
    importance : float
        How much the class counts beside the others (PRAGMA's theta).
    precision_at_full_recall : float in [0, 1), optional
        The answer to 'what precision would you accept for a recall of 1?' (PRAGMA's x); 0.8 counts where none is given.
    recall_at_full_precision : float in [0, 1), optional
        The answer to 'what recall would you accept for a precision of 1?' (PRAGMA's y); 0.8 counts where none is given.
    beta : float of at least 0, optional
        In place of the answers, for metric f: recall counts beta times as much as precision; F1 is beta 1, F2 beta 2.
    recall_weight : float in [0, 1], optional
        In place of the answers, for any metric: the recall weight itself.
    min_precision, min_recall : float in [0, 1], optional
        Constraints: results below are not acceptable at any price.
    max_share : float in [0, 1], optional
        A capacity, a constraint too: at most this share of all rows is predicted as the class.
    confidence : float in (0, 1), optional
        How surely `min_recall` and `min_precision` hold on new rows: a guarantee; see `compromis.weights.Guarantee`.

    Notes
    -----
    The answers say that (precision x, recall 1) and (precision 1, recall y) are worth the same; each metric turns
    that into its recall weight l. For metric f, l = beta^2 / (1 + beta^2).

    Examples
    --------
    >>> import compromis as cp
    >>> cancer = cp.Preference(importance=10, precision_at_full_recall=0.10, recall_at_full_precision=0.90)
    >>> round(cancer.recall_weight_for("kulczynski"), 3)
    0.9
    >>> print(cancer.describe("cancer"))
    'cancer': importance 10; for a recall of 1 you accept a precision of 10 %; for a precision of 1 you accept a recall of 90 %.
    >>> cp.Preference(beta=2).recall_weight_for("f")
    0.8
    """

    importance: float = 1.0
    precision_at_full_recall: float | None = None
    recall_at_full_precision: float | None = None
    _: KW_ONLY
    beta: float | None = None
    recall_weight: float | None = None
    min_precision: float | None = None
    min_recall: float | None = None
    max_share: float | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        for name in ("importance", "beta"):
            if name == "importance" or self.beta is not None:
                _check_factor(name, getattr(self, name))
        answers = ("precision_at_full_recall", "recall_at_full_precision")
        for name in (*answers, "recall_weight", "min_precision", "min_recall", "max_share"):
            if getattr(self, name) is not None:
                _check_share(name, getattr(self, name), one_allowed=name not in answers)
        self._check_one_trade()
        self._check_confidence()
        if self.max_share == 0 and (self.min_recall or self.min_precision):
            raise InputError(
                "max_share is 0, so the class is never predicted and can meet no minimum; raise max_share, or leave the minimum out",
                "max_share",
            )

    def _check_confidence(self) -> None:
        if self.confidence is None:
            return
        _check_share("confidence", self.confidence, one_allowed=False)
        if self.confidence == 0:
            raise InputError("confidence lies between 0 and 1, both excluded, got 0; 0.95 is usual", "confidence")
        if not (self.min_recall or self.min_precision):
            raise InputError(
                "confidence says how surely min_recall or min_precision holds on new rows; give one of them",
                "confidence",
            )
        if 1 in (self.min_recall, self.min_precision):
            raise InputError(
                "no number of rows shows that a rate is 1; guarantee 0.99, or leave confidence out", "confidence"
            )

    def _check_one_trade(self) -> None:
        """Raise if the trade of precision for recall is given in more than one way."""
        answered = self.precision_at_full_recall is not None or self.recall_at_full_precision is not None
        given = [name for name in ("beta", "recall_weight") if getattr(self, name) is not None]
        if len(given) + answered > 1:
            ways = [*(["the two answers"] if answered else []), *given]
            raise InputError(
                f"give either {' or '.join(ways)}, not both: each of them says what recall is worth", given[-1]
            )

    @property
    def answers(self) -> tuple[float, float] | None:
        """The two answers, 0.8 where none was given; None where beta or a recall weight stands in their place."""
        if self.beta is not None or self.recall_weight is not None:
            return None
        precision, recall = self.precision_at_full_recall, self.recall_at_full_precision
        return ASSUMED if precision is None else precision, ASSUMED if recall is None else recall

    def recall_weight_for(self, metric: str | Metric = "f") -> float:
        """Return the recall weight l in [0, 1] that this preference means for `metric`: 0 precision alone, 1 recall alone."""
        if self.recall_weight is not None:
            return self.recall_weight
        chosen = get_metric(metric)
        if self.beta is None:
            assert self.answers is not None
            return chosen.recall_weight(*self.answers)
        if chosen is not F:
            raise InputError(
                f"beta is for metric 'f', the metric is {chosen.name!r}; give the two answers or recall_weight", "beta"
            )
        return self.beta**2 / (1 + self.beta**2)

    def level(self, metric: Metric) -> float:
        """Return the value that both answers stand for, M(x, 1; l) = M(1, y; l); NaN unless both were given.

        With an answer of 0 one of the two is only a limit, and the smaller value is the level.
        """
        x, y = self.precision_at_full_recall, self.recall_at_full_precision
        return (
            math.nan
            if x is None or y is None
            else float(metric.value([x, 1], [1, y], self.recall_weight_for(metric)).min())
        )

    def describe(self, label: object = None) -> str:
        """Return in a sentence what the preference means."""
        name = "" if label is None else f"{label!r}: "
        trade = f"; {self._trade()}" if self.importance else ""
        return f"{name}importance {self.importance:g}{trade}{self._constraints()}."

    def _repr_html_(self) -> str:
        return face([self.describe().rstrip(".")])

    def __repr__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return f"Preference({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"

    def _trade(self) -> str:
        if self.beta is not None:
            return f"recall counts {self.beta:g} times as much as precision (beta)"
        if self.recall_weight is not None:
            return f"recall weighs {100 * self.recall_weight:g} %, precision {100 * (1 - self.recall_weight):g} %"
        if self.precision_at_full_recall is None and self.recall_at_full_precision is None:
            return "recall and precision count alike"
        assert self.answers is not None
        precision, recall = self.answers
        return (
            f"for a recall of 1 you accept a precision of {_percent(precision)}; "
            f"for a precision of 1 you accept a recall of {_percent(recall)}"
        )

    def _constraints(self) -> str:
        bounds = (("precision", self.min_precision), ("recall", self.min_recall))
        texts = [f"{name} never below {_percent(bound)}" for name, bound in bounds if bound is not None]
        if self.max_share is not None:
            texts.append(f"at most {_percent(self.max_share)} of all rows predicted as it")
        if self.confidence is not None:
            texts.append(f"which is to hold on new rows with a confidence of {_percent(self.confidence)}")
        return "; " + ", ".join(texts) if texts else ""


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"


def _check_factor(name: str, value: float) -> None:
    if not (isinstance(value, Real) and 0 <= value < math.inf):
        raise InputError(f"{name} is a finite number of at least 0, got {value!r}", name)
    if value > LARGEST:
        raise InputError(
            f"{name} is at most {LARGEST:g}, got {value}; what counts is how it compares with other classes", name
        )


def _check_share(name: str, value: float, *, one_allowed: bool) -> None:
    if isinstance(value, Real) and (0 <= value < 1 or (one_allowed and value == 1)):
        return
    if value == 1:
        raise InputError(
            f"{name} must be below 1: accepting nothing less than 1 trades nothing away, got {value}; write 0.99 for 'almost 1'",
            name,
        )
    if isinstance(value, Real) and 1 < value <= 100:
        raise InputError(
            f"{name} is a share between 0 and 1, got {value:g}; for {value:g} % write {value / 100:.4g}", name
        )
    raise InputError(f"{name} is a share between 0 and 1, got {value!r}; for 10 % write 0.10", name)


JACCARD_WARNING = (
    "the weighted Jaccard metric is lowest at a recall weight of 1/2, so the losses of classes with different recall weights "
    "are not comparable; use metric f, which orders results alike at 1/2 and has no such dip"
)


def _portable(metric: Metric) -> str | Metric:
    """Return the name of a built-in metric, whose formulas no file should hold; one's own as it is."""
    return metric.name if metric.built_in else metric


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PreferenceArrays:
    """Preferences laid out for given classes: arrays that measures and searches read."""

    classes: tuple[Label, ...]
    importance: NDArray[np.float64]
    recall_weight: NDArray[np.float64]
    min_precision: NDArray[np.float64]
    """0 where there is no minimum."""
    min_recall: NDArray[np.float64]
    max_share: NDArray[np.float64]
    """1 where there is no capacity."""
    confidence: NDArray[np.float64]
    """How surely the minima hold on new rows; 0 where no guarantee is wanted."""
    level: NDArray[np.float64]
    """The metric at the two answers, for classes whose answers were both given; NaN for the others."""
    metric: Metric
    cost: NDArray[np.float64] | None = None
    """What each decision costs, rows the truth; it stands in place of importances, recall weights and metric."""
    by_amount: NDArray[np.float64] | None = None
    """1 where a decision costs the amount of the row, 0 elsewhere; None where no cost depends on it."""
    blind_cost: NDArray[np.float64] | None = None
    """What a decision costs that knows nothing of the row's amount, where `cost` has those of a result's own cells."""
    varying_cost: NDArray[np.float64] | None = None
    """The part of `blind_cost` that is the mean of the rows' amounts."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"metric": _portable(self.metric)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "metric": get_metric(state["metric"])}.items():
            object.__setattr__(self, name, value)

    def in_order(self, order: NDArray[Any]) -> PreferenceArrays:
        """Return the same with the classes in another order."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
        moved: dict[str, Any] = {
            name: value[order] if value.ndim == 1 else value[np.ix_(order, order)] for name, value in arrays.items()
        }
        return replace(self, classes=tuple(self.classes[k] for k in order), **moved)

    @property
    def priority(self) -> NDArray[np.bool_]:
        """Which classes matter most: those more important than the least important; none where all are alike."""
        return self.importance > self.importance.min()

    @property
    def has_minimum(self) -> NDArray[np.bool_]:
        """Which classes have a minimal precision or recall."""
        return (self.min_precision > 0) | (self.min_recall > 0)

    @property
    def minima(self) -> list[tuple[str, int, float]]:
        """The minima: the rate, the position of its class and the least value; recalls first."""
        rates = (("recall", self.min_recall), ("precision", self.min_precision))
        return [(rate, k, float(least[k])) for rate, least in rates for k in np.flatnonzero(least > 0).tolist()]

    @property
    def constrained(self) -> bool:
        """Whether any class has a constraint."""
        return bool(self.min_precision.any() or self.min_recall.any() or (self.max_share < 1).any())


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Preferences:
    """What a person wants of each class, and the metric that turns precision and recall into one number.

    Immutable, hashable and equal by value, so that estimators can hold it as a parameter.

    Parameters
    ----------
    by_class : mapping of label to Preference
        The classes that are special. A mapping of arguments, or a number, its importance, stands for a `Preference`.
    default : Preference
        What holds for every other class.
    metric : str or Metric
        ``"kulczynski"`` (PRAGMA's plane), ``"f"``, ``"fowlkes_mallows"``, ``"jaccard"`` or one's own `Metric`.
    cost : matrix, or mapping of (true, predicted) to a number or "amount", optional
        What each decision costs, where that is known: the loss is then the average cost of a row, and importances, answers and metric
        have no say (together they are refused); constraints hold all the same. A matrix has its true classes down, in the order of
        `labels`; pairs that a mapping does not name cost nothing. A negative cost is a gain; ``"amount"`` is the amount of each row, which
        functions of rows take as ``amount=``. Kept as a tuple of rows.
    labels : sequence, optional
        The classes of a cost matrix; a data frame brings them as its index and columns.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences({"bad": cp.Preference(10, precision_at_full_recall=0.1, recall_at_full_precision=0.9)})
    >>> print(preferences.describe())
    metric f
    'bad': importance 10; for a recall of 1 you accept a precision of 10 %; for a precision of 1 you accept a recall of 90 %.
    every other class: importance 1; recall and precision count alike.
    """

    by_class: Mapping[Label, Preference]
    default: Preference
    metric: Metric
    cost: tuple[tuple[float | str, ...], ...] | None
    labels: tuple[Label, ...] | None

    def __init__(
        self,
        by_class: Mapping[Any, Preference | Mapping[str, Any] | float] | None = None,
        default: Preference | None = None,
        metric: str | Metric = "f",
        *,
        cost: Any = None,
        labels: Sequence[Any] | None = None,
    ) -> None:
        if by_class is not None and not isinstance(by_class, Mapping):
            raise InputError(f"by_class maps labels to preferences, got {type(by_class).__name__}")
        known = {plain_label(label): _as_preference(label, given) for label, given in (by_class or {}).items()}
        object.__setattr__(self, "by_class", MappingProxyType(known))
        object.__setattr__(self, "default", _as_preference("default", Preference() if default is None else default))
        object.__setattr__(self, "metric", get_metric(metric))
        names, rows = (None, None) if cost is None and labels is None else read_cost(cost, labels)
        object.__setattr__(self, "cost", rows)
        object.__setattr__(self, "labels", names)
        for label, preference in (*known.items(), ("default", self.default)):
            if preference.beta is not None:
                preference.recall_weight_for(self.metric)  # raises where the metric is not f
            if cost is not None:
                _refuse_beside_cost(label, preference)
        if cost is not None and self.metric is not F:
            raise InputError(f"costs need no metric, got {self.metric.name!r}; leave out metric, or cost", "metric")

    @classmethod
    def prioritise(cls, labels: Iterable[Any] | str, metric: str | Metric = "f") -> Preferences:
        """Return the PRAGMA paper's setting: importance 10 and answers (0.1, 0.9) for `labels`, 1 and (0.8, 0.8) for the rest.

        Examples
        --------
        >>> import compromis as cp
        >>> cp.Preferences.prioritise(["A", "E"]).by_class["A"].importance
        10.0
        """
        chosen = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else [labels]
        return cls({label: Preference(10.0, 0.1, 0.9) for label in chosen}, metric=metric)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Preferences:
        """Return the preferences in a file that `to_toml` wrote, or a person by hand."""
        try:
            text = file_bytes(path).decode("utf-8-sig")
        except ValueError as error:
            raise InputError(f"{os.fspath(path)} is not a preferences file: {error}") from error
        return cls.from_toml_text(text, name=os.fspath(path))

    @classmethod
    def from_toml_text(cls, text: str, *, name: str = "this text") -> Preferences:
        r"""Return the preferences in TOML text; `name` is what error messages call it.

        Examples
        --------
        >>> import compromis as cp
        >>> cp.Preferences.from_toml_text('metric = "f"\n[[class]]\nlabel = "bad"\nimportance = 10').of("bad").importance
        10.0
        """
        from compromis._preference_files import read_document

        try:
            given = read_document(text)
            return cls(**{**given, "default": Preference(**given["default"])})
        except (ValueError, RecursionError) as error:  # no TOML, a value out of range, a number of thousands of digits
            raise InputError(f"{name} is not a preferences file: {error}") from error

    def to_toml_text(self) -> str:
        """Return the preferences as TOML text, labels typed, so that 1 and "1" stay different."""
        from compromis._preference_files import write_document

        if METRICS.get(self.metric.name) is not self.metric:
            raise InputError(
                f"the metric {self.metric.name!r} is your own code, which a file cannot hold; write it with one of {', '.join(METRICS)}"
            )
        by_class = {label: _given(preference) for label, preference in self.by_class.items()}
        return write_document(by_class, _given(self.default), self.metric.name, self.cost, self.labels)

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write `to_toml_text` to a file, completely or not at all."""
        write_whole(path, self.to_toml_text())

    def of(self, label: Any) -> Preference:
        """Return the preference that holds for `label`."""
        return self.by_class.get(plain_label(label), self.default)

    def with_metric(self, metric: str | Metric) -> Preferences:
        """Return the same preferences under another metric."""
        return Preferences(self.by_class, self.default, metric, cost=self.cost, labels=self.labels)

    def among(self, known: Iterable[Any]) -> Preferences:
        """Return the preferences for known classes; warn of one for any other class, and raise if there are only such.

        For estimators and scorers: they may see a fold that lacks a rare class, and cannot tell it from a misspelt one. Where no
        preference is for a known class, nothing that was asked for can be done.
        """
        classes = tuple(plain_label(label) for label in known)
        self._check_types(classes)
        kept = {label: preference for label, preference in self.by_class.items() if label in classes}
        if len(kept) == len(self.by_class):
            return self
        if not kept:
            self._check_known(classes)
        absent = next(label for label in self.by_class if label not in classes)
        warnings.warn(
            f"there is a preference for {absent!r}, a class that does not occur here{nearest(absent, classes, aside=True)}; "
            f"it is ignored, the classes are {shown(classes)}",
            UserWarning,
            stacklevel=3,
        )
        return Preferences(kept, self.default, self.metric, cost=self.cost, labels=self.labels)

    def on(self, classes: Sequence[Any], *, strict: bool = True) -> PreferenceArrays:
        """Lay the preferences out for `classes`; with `strict`, a preference for any other class is an error."""
        known = tuple(plain_label(label) for label in classes)
        self._check_types(known)
        if strict:
            self._check_known(known)
        each = [self.of(label) for label in known]
        importance = np.array([preference.importance for preference in each], dtype=np.float64)
        if strict and not importance.any():
            raise InputError(
                f"the importances of all {len(known)} classes are 0; give at least one class an importance above 0"
            )
        recall_weight = np.array([preference.recall_weight_for(self.metric) for preference in each], dtype=np.float64)
        max_share = np.array([1.0 if one.max_share is None else one.max_share for one in each], dtype=np.float64)
        if strict and max_share.sum() < 1 - 1e-9:
            raise InputError(
                f"the capacities (max_share) of the classes add up to {_percent(float(max_share.sum()))}, but every row is "
                "predicted as one of them; leave at least one class without max_share",
                "preferences",
            )
        if strict and self.metric is JACCARD and len(set(recall_weight[importance > 0])) > 1:
            warnings.warn(JACCARD_WARNING, UserWarning, stacklevel=2)
        return PreferenceArrays(
            classes=known,
            importance=importance,
            recall_weight=recall_weight,
            min_precision=np.array([preference.min_precision or 0.0 for preference in each], dtype=np.float64),
            min_recall=np.array([preference.min_recall or 0.0 for preference in each], dtype=np.float64),
            max_share=max_share,
            confidence=np.array([preference.confidence or 0.0 for preference in each], dtype=np.float64),
            level=np.array([preference.level(self.metric) for preference in each], dtype=np.float64),
            metric=self.metric,
            **self._costs_on(known),
        )

    @property
    def costs_amounts(self) -> bool:
        """Whether some decision costs the amount of the row."""
        return self.cost is not None and any(cell == AMOUNT for row in self.cost for cell in row)

    def _costs_on(self, classes: tuple[Label, ...]) -> dict[str, NDArray[np.float64]]:
        """Return the costs of `classes`, each of which must have some: an unnamed class would cost nothing in silence."""
        if self.cost is None or self.labels is None:
            return {}
        for label in classes:
            if label not in self.labels:
                raise InputError(
                    f"no cost names the class {label!r}: give it costs, of 0 if that is meant; the costs are of "
                    f"{shown(self.labels)}{nearest(label, self.labels)}",
                    "preferences",
                )
        order = [self.labels.index(label) for label in classes]
        cells = np.array(self.cost, dtype=object)[np.ix_(order, order)]
        varies = cells == AMOUNT
        fixed = {"cost": np.where(varies, 0.0, cells).astype(np.float64)}
        return {**fixed, "by_amount": varies.astype(np.float64)} if varies.any() else fixed

    def describe(self) -> str:
        """Return in sentences what the preferences mean."""
        if self.cost is not None:
            return "\n".join(self._describe_costs())
        special = [preference.describe(label) for label, preference in self.by_class.items()]
        others = "every other class" if special else "every class"
        return "\n".join([f"metric {self.metric.name}", *special, f"{others}: {self.default.describe()}"])

    def _describe_costs(self) -> list[str]:
        assert self.cost is not None
        assert self.labels is not None
        pairs = [
            f"{true!r} predicted as {predicted!r} costs {f'{value:g}' if isinstance(value, float) else 'the amount of the row'}"
            for true, row in zip(self.labels, self.cost, strict=True)
            for predicted, value in zip(self.labels, row, strict=True)
            if value
        ]
        more = [f"and {len(pairs) - MOST_COSTS} costs more"] if len(pairs) > MOST_COSTS else []
        bound = [*self.by_class.items(), ("every other class", self.default)]
        constraints = [(label, preference._constraints()) for label, preference in bound]  # noqa: SLF001 (a class of this file)
        limits = [f"{label!r}: {text.removeprefix('; ')}" for label, text in constraints if text]
        return ["average cost of a row", *pairs[:MOST_COSTS], *more, *limits]

    def _check_types(self, classes: tuple[Label, ...]) -> None:
        """Raise on a preference for "1" where the class is 1: a mistake, never a class that happens to be absent."""
        by_text = {str(other): other for other in classes}
        for label in (*self.by_class, *(self.labels or ())):
            twin = by_text.get(str(label))
            if twin is not None and twin != label:
                raise InputError(
                    f"there is a preference for {label!r} ({type(label).__name__}), "
                    f"but the class is {twin!r} ({type(twin).__name__}); write the label as the data has it"
                )

    def _check_known(self, classes: tuple[Label, ...]) -> None:
        alike = {str(label).strip().casefold(): label for label in classes}
        for label in (
            self.labels or ()
        ):  # a class that has costs may be absent, one that is written in two ways is a mistake
            twin = alike.get(str(label).strip().casefold())
            if twin is not None and label not in classes:
                raise InputError(
                    f"a cost names {label!r}, but the class is {twin!r}; write the label as the data has it"
                )
        for label in self.by_class:
            if label in classes:
                continue
            meant = nearest(label, classes, aside=True)
            cure = "" if meant else "; if it may be absent, pass labels=[...] with it"
            if isinstance(label, str) and classes == tuple(range(len(classes))):
                cure = "; StackingClassifier, VotingClassifier and OneVsRestClassifier number the classes for their members: name numbers"
            raise InputError(
                f"there is a preference for {label!r}, which is neither in the data nor in labels{meant}; "
                f"the classes are {shown(classes)}{cure}"
            )

    def _key(self) -> tuple[Any, ...]:
        # 1, 1.0 and True are equal as labels; the type keeps them apart
        items = frozenset((type(label), label, preference) for label, preference in self.by_class.items())
        if self.cost is None or self.labels is None:
            return items, self.default, self.metric
        names = [(type(label), label) for label in self.labels]
        rows = zip(names, self.cost, strict=True)
        cells = frozenset((true, other, cell) for true, row in rows for other, cell in zip(names, row, strict=True))
        return items, self.default, self.metric, cells

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Preferences) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:
        given = {"by_class": dict(self.by_class), "default": self.default, "metric": _portable(self.metric)}
        return given if self.cost is None else {"cost": self.cost, "labels": self.labels, **given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _repr_html_(self) -> str:
        return face([line.rstrip(".") for line in self.describe().split("\n")])

    def __repr__(self) -> str:
        metric = repr(self.metric.name) if self.metric.built_in else f"<metric {self.metric.name}>"
        costs = "" if self.cost is None else f", cost={self.cost!r}, labels={self.labels!r}"
        return f"Preferences({dict(self.by_class)!r}, default={self.default!r}, metric={metric}{costs})"


MOST_COSTS = 12
"""Costs that a description names."""


def _refuse_beside_cost(label: Any, preference: Preference) -> None:
    given = {field.name: getattr(preference, field.name) for field in fields(preference)}
    bounds = ("min_precision", "min_recall", "max_share", "confidence")
    idle = [
        name
        for name, value in given.items()
        if name not in bounds and value is not None and (name, value) != ("importance", 1)
    ]
    if idle:
        raise InputError(
            f"costs say what each decision is worth, so they take no {idle[0]} (that of {label!r}); leave it out, or cost",
            idle[0],
        )


def _given(preference: Preference) -> dict[str, float]:
    given = {field.name: getattr(preference, field.name) for field in fields(preference)}
    return {name: float(value) for name, value in given.items() if value is not None}


def _as_preference(label: object, given: object) -> Preference:
    if isinstance(given, Preference):
        return given
    if isinstance(given, Real) and not isinstance(given, bool):
        return Preference(float(given))
    if not isinstance(given, Mapping):
        raise InputError(f"a preference is a compromis.Preference, got {type(given).__name__} for {label!r}")
    known = [field.name for field in fields(Preference)]
    for name in given:
        if name not in known:
            raise InputError(
                f"the preference for {label!r} has {name!r}, which means nothing here{nearest(name, known)}"
            )
    return Preference(**given)


def read_preferences(preferences: object) -> Preferences | None:
    """Return preferences given as `Preferences` or as a plain mapping by class; None stays None.

    The one door for every function and estimator that takes ``preferences=``.
    """
    if preferences is None or isinstance(preferences, Preferences):
        return preferences
    if isinstance(preferences, Mapping):
        return Preferences(preferences)
    raise InputError(
        f"preferences is a compromis.Preferences or a mapping by class, got {type(preferences).__name__}; for classes that matter ten "
        f"times as much write {{label: 10}}, or Preferences.prioritise(labels)",
        "preferences",
    )


def refuse_amounts_of_groups(amount: object, groups: object) -> None:
    """Raise if there are amounts and groups: the evidence of groups holds none."""
    if amount is not None and groups is not None:
        raise InputError(
            "amount and groups do not go together, as amounts are not counted by group; leave one of them out", "amount"
        )


def refuse_idle_amount(preferences: object, amount: object) -> None:
    """Raise if there are amounts that no cost depends on."""
    if amount is None:
        return
    wanted = read_preferences(preferences)
    if wanted is None or not wanted.costs_amounts:
        raise InputError(
            "amount is given, but no decision costs it; write 'amount' in Preferences(cost=...), or leave it out",
            "amount",
        )
