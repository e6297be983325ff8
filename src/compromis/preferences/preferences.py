"""What a person wants of all classes together."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._typing import Label
from compromis.errors import InputError, nearest, shown
from compromis.labels import plain_label
from compromis.metrics import JACCARD, Metric, get_metric
from compromis.preferences.preference import Preference

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
        from compromis.preferences.toml import read_preferences

        return read_preferences(path)

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write the preferences as TOML, labels typed, so that 1 and "1" stay different."""
        from compromis.preferences.toml import write_preferences

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
