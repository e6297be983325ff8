"""What matters, and how much: the two answers and the importance of each class."""

from __future__ import annotations

import math
import os
import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis._files import write_whole
from compromis._text import nearest, shown
from compromis._typing import Label
from compromis.errors import InputError
from compromis.labels import plain_label
from compromis.metrics import JACCARD, METRICS, Metric, get_metric

__all__ = ["Preference", "PreferenceArrays", "Preferences"]


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


JACCARD_WARNING = (
    "the weighted Jaccard metric is lowest at a recall weight of 1/2, so the losses of classes with different recall weights "
    "are not comparable; use metric f, which orders results alike at 1/2 and has no such dip"
)


@dataclass(frozen=True, slots=True, eq=False)
class PreferenceArrays:
    """Preferences laid out for given classes: arrays that measures and searches read."""

    classes: tuple[Label, ...]
    importance: NDArray[np.float64]
    recall_weight: NDArray[np.float64]
    min_precision: NDArray[np.float64]
    """0 where there is no minimum."""
    min_recall: NDArray[np.float64]
    metric: Metric


class Preferences:
    """What a person wants of each class, and the metric that turns precision and recall into one number.

    Immutable, hashable and equal by value, so that estimators can hold it as a parameter.

    Parameters
    ----------
    by_class : mapping of label to Preference
        The classes that are special.
    default : Preference
        What holds for every other class.
    metric : str or Metric
        ``"kulczynski"`` (PRAGMA's plane), ``"f"``, ``"fowlkes_mallows"``, ``"jaccard"`` or one's own `Metric`.

    Examples
    --------
    >>> import compromis as cp
    >>> arrays = cp.Preferences({"bad": cp.Preference(10, precision_at_full_recall=0.1, recall_at_full_precision=0.9)})
    >>> print(arrays.describe())
    metric kulczynski
    'bad': importance 10; for a recall of 1 you accept a precision of 10 %; for a precision of 1 you accept a recall of 90 %.
    every other class: importance 1; for a recall of 1 you accept a precision of 80 %; for a precision of 1 you accept a recall of 80 %.
    """

    __slots__ = ("_by_class", "_default", "_metric")

    def __init__(
        self,
        by_class: Mapping[Any, Preference] | None = None,
        default: Preference | None = None,
        metric: str | Metric = "kulczynski",
    ) -> None:
        if by_class is not None and not isinstance(by_class, Mapping):
            raise InputError(f"by_class maps labels to preferences, got {type(by_class).__name__}")
        self._by_class = {
            plain_label(label): _checked(label, preference) for label, preference in (by_class or {}).items()
        }
        self._default = _checked("default", Preference() if default is None else default)
        self._metric = get_metric(metric)

    @property
    def by_class(self) -> Mapping[Label, Preference]:
        """The special classes and their preferences, read-only."""
        return MappingProxyType(self._by_class)

    @property
    def default(self) -> Preference:
        """What holds for every other class."""
        return self._default

    @property
    def metric(self) -> Metric:
        """The metric that turns precision and recall into one number."""
        return self._metric

    @classmethod
    def prioritise(cls, labels: Iterable[Any] | str, *, metric: str | Metric = "kulczynski") -> Preferences:
        """Return the PRAGMA paper's setting: importance 10 and answers (0.1, 0.9) for `labels`, 1 and (0.8, 0.8) for the rest.

        Examples
        --------
        >>> import compromis as cp
        >>> cp.Preferences.prioritise(["A", "E"]).by_class["A"].importance
        10.0
        """
        chosen = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else [labels]
        return cls({label: Preference(10.0, 0.1, 0.9) for label in chosen}, Preference(1.0, 0.8, 0.8), metric)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Preferences:
        """Return the preferences that `to_toml` wrote, or a person by hand."""
        return read_preferences(path)

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write the preferences as TOML, labels typed, so that 1 and "1" stay different."""
        write_preferences(self, path)

    def of(self, label: Any) -> Preference:
        """Return the preference that holds for `label`."""
        return self._by_class.get(plain_label(label), self._default)

    def with_metric(self, metric: str | Metric) -> Preferences:
        """Return the same preferences under another metric."""
        return Preferences(self._by_class, self._default, metric)

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
        recall_weight = np.array([preference.recall_weight(self._metric) for preference in each], dtype=np.float64)
        if strict and self._metric is JACCARD and len(set(recall_weight[importance > 0])) > 1:
            warnings.warn(JACCARD_WARNING, UserWarning, stacklevel=2)
        return PreferenceArrays(
            classes=known,
            importance=importance,
            recall_weight=recall_weight,
            min_precision=np.array([preference.min_precision or 0.0 for preference in each], dtype=np.float64),
            min_recall=np.array([preference.min_recall or 0.0 for preference in each], dtype=np.float64),
            metric=self._metric,
        )

    def describe(self) -> str:
        """Return in sentences what the preferences mean."""
        special = [preference.describe(label) for label, preference in self._by_class.items()]
        others = "every other class" if special else "every class"
        return "\n".join([f"metric {self._metric.name}", *special, f"{others}: {self._default.describe()}"])

    def _check_types(self, classes: tuple[Label, ...]) -> None:
        """A preference for "1" where the class is 1 is a slip, never a class that happens to be absent."""
        by_text = {str(other): other for other in classes}
        for label in self._by_class:
            twin = by_text.get(str(label))
            if twin is not None and twin != label:
                raise InputError(
                    f"there is a preference for {label!r} ({type(label).__name__}), "
                    f"but the class is {twin!r} ({type(twin).__name__}); write the label as the data has it"
                )

    def _check_known(self, classes: tuple[Label, ...]) -> None:
        for label in self._by_class:
            if label in classes:
                continue
            raise InputError(
                f"there is a preference for {label!r}, which is neither in the data nor in labels{nearest(label, classes)}; "
                f"the classes are {shown(classes)}"
            )

    def _key(self) -> tuple[Any, ...]:
        # 1, 1.0 and True are equal as labels; the type keeps them apart
        items = frozenset((type(label), label, preference) for label, preference in self._by_class.items())
        return items, self._default, self._metric

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Preferences) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        metric: str | Metric = self._metric.name if self._metric.code >= 0 else self._metric
        return Preferences, (self._by_class, self._default, metric)

    def __repr__(self) -> str:
        metric = repr(self._metric.name) if self._metric.code >= 0 else f"<metric {self._metric.name}>"
        return f"Preferences({self._by_class!r}, default={self._default!r}, metric={metric})"


def _checked(label: object, preference: object) -> Preference:
    if not isinstance(preference, Preference):
        raise InputError(f"a preference is a compromis.Preference, got {type(preference).__name__} for {label!r}")
    return preference


class _Answers(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    importance: float = 1.0
    precision_at_full_recall: float | None = None
    recall_at_full_precision: float | None = None
    recall_weight: float | None = None
    min_precision: float | None = None
    min_recall: float | None = None

    def preference(self) -> Preference:
        if self.recall_weight is not None:
            return Preference(
                self.importance,
                self.precision_at_full_recall,
                self.recall_at_full_precision,
                self.min_precision,
                self.min_recall,
                self.recall_weight,
            )
        fallback = Preference()
        return Preference(
            self.importance,
            fallback.precision_at_full_recall
            if self.precision_at_full_recall is None
            else self.precision_at_full_recall,
            fallback.recall_at_full_precision
            if self.recall_at_full_precision is None
            else self.recall_at_full_precision,
            self.min_precision,
            self.min_recall,
        )


class _ClassAnswers(_Answers, kw_only=True, forbid_unknown_fields=True):
    label: bool | int | float | str


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    metric: str = "kulczynski"
    default: _Answers = msgspec.field(default_factory=_Answers)
    classes: list[_ClassAnswers] = msgspec.field(name="class", default_factory=list)


def read_preferences(path: str | os.PathLike[str]) -> Preferences:
    """Return the preferences in the file."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        document = msgspec.convert(table, _Document)
        return Preferences(_unique(document.classes), document.default.preference(), document.metric)
    except msgspec.ValidationError as error:
        raise InputError(f"{os.fspath(path)} is not a preferences file: {_in_words(str(error))}") from error
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise InputError(f"{os.fspath(path)} is not a preferences file: {error}") from error


_COMPLAINT = re.compile(
    r"(?:Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`|Object contains unknown field `(?P<unknown>.*?)`|"
    r"Object missing required field `(?P<missing>\w+)`)"
    r"(?: - at `\$\.?(?P<table>default|class)?(?:\[(?P<number>\d+)\])?\.?(?P<name>\w*)`)?",
    re.DOTALL,
)
_TABLES: dict[str | None, tuple[str, type[msgspec.Struct]]] = {
    None: ("the head of the file", _Document), "default": ("[default]", _Answers), "class": ("[[class]]", _ClassAnswers),
}  # fmt: skip
_KINDS = {
    "str": "text", "int": "a number", "float": "a number", "bool": "true or false", "object": "a table", "array": "a list",
    "date": "a date", "datetime": "a date", "time": "a time",
}  # fmt: skip


def _in_words(complaint: str) -> str:
    """Return what msgspec says about the document in the words of somebody who wrote it by hand."""
    found = _COMPLAINT.fullmatch(complaint)
    if found is None:
        return complaint
    title, fields = _TABLES[found["table"]]
    place = title if found["number"] is None else f"{title} number {int(found['number']) + 1}"
    if found["unknown"] is not None:
        return _unknown(found["unknown"], place, fields)
    if found["missing"] is not None:
        return f"{place} lacks its {found['missing']}"
    if found["name"]:
        place = found["name"] if found["table"] is None else f"{found['name']} of {place}"
    elif found["table"] == "class" and found["number"] is None:
        return f"each class is a table of its own under [[class]], with two brackets, got {_kind(found['got'])}"
    return f"{place} must be {_kind(found['wanted'])}, got {_kind(found['got'])}"


def _unknown(name: str, place: str, fields: type[msgspec.Struct]) -> str:
    titles = [title for title, other in _TABLES.values() if name in _names(other)]
    if titles:
        return f"{place} has {name!r}, which belongs in {' or '.join(titles)}"
    return f"{place} has {shown([name])}, which means nothing here{nearest(name, _names(fields))}"


def _names(fields: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(fields)]


def _kind(name: str) -> str:
    kinds = dict.fromkeys(_KINDS.get(one, one) for one in name.split(" | ") if one != "null")
    return " or ".join(kinds)


def write_preferences(preferences: Preferences, path: str | os.PathLike[str]) -> None:
    """Write the preferences to the file, whole or not at all."""
    write_whole(path, preferences_text(preferences))


def preferences_text(preferences: Preferences) -> str:
    """Return the preferences as TOML text."""
    import tomli_w

    if METRICS.get(preferences.metric.name) is not preferences.metric:
        raise InputError(
            f"the metric {preferences.metric.name!r} is your own code, which a file cannot hold; write it with one of {', '.join(METRICS)}"
        )
    classes = [
        {"label": _writable(label), **_answers(preference)} for label, preference in preferences.by_class.items()
    ]
    return tomli_w.dumps(
        {"metric": preferences.metric.name, "default": _answers(preferences.default), "class": classes}
    )


def _unique(classes: list[_ClassAnswers]) -> dict[Any, Preference]:
    by_class: dict[Any, Preference] = {}
    for answers in classes:
        if answers.label in by_class:
            raise InputError(f"the class {answers.label!r} stands there twice; keep one of the two")
        by_class[answers.label] = answers.preference()
    return by_class


def _answers(preference: Preference) -> dict[str, float]:
    fields = {
        "importance": float(preference.importance),
        "precision_at_full_recall": preference.precision_at_full_recall,
        "recall_at_full_precision": preference.recall_at_full_precision,
        "recall_weight": preference.given_recall_weight,
        "min_precision": preference.min_precision,
        "min_recall": preference.min_recall,
    }
    return {name: float(value) for name, value in fields.items() if value is not None}


def _writable(label: Any) -> bool | int | float | str:
    if not isinstance(label, (bool, int, float, str)):
        raise InputError(
            f"a preferences file holds labels that are text, numbers or true/false, got {label!r} ({type(label).__name__})"
        )
    return label
