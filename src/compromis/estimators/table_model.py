"""Models of tables: which columns are numbers, which are nominal, and the classifiers the command line offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis.engines.table import Column, Table
from compromis.errors import InputError, nearest, shown

MOST_CATEGORIES = 254
"""More distinct texts than that are an identifier, not a category."""


class ColumnSpec(msgspec.Struct, frozen=True):
    """A column the model was trained on: numbers, or text with these categories."""

    name: str
    categories: tuple[str, ...] | None = None


def describe_columns(table: Table, names: Sequence[str]) -> tuple[ColumnSpec, ...]:
    """Return what each column holds: numbers if every value is one, else its distinct texts."""
    return tuple(_describe(name, table.columns[name], table.source) for name in names)


def encode(table: Table, columns: Sequence[ColumnSpec]) -> NDArray[np.float64]:
    """Return a matrix of numbers and category codes; missing values and categories not seen in training are NaN."""
    lacking = [spec.name for spec in columns if spec.name not in table.columns]
    if lacking:
        raise InputError(f"{table.source} lacks {shown(lacking)}, which the model was trained on")
    return np.column_stack([_encode(table.columns[spec.name], spec, table.source) for spec in columns])


def _describe(name: str, column: Column, source: str) -> ColumnSpec:
    if all(value is None or _is_number(value) for value in column):
        return ColumnSpec(name)
    categories = sorted({value for value in column if value is not None})
    if len(categories) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} of {source} has {len(categories):,} different texts; leave it out with --ignore {name!r} if it names the rows"
        )
    return ColumnSpec(name, tuple(categories))


def _encode(column: Column, spec: ColumnSpec, source: str) -> NDArray[np.float64]:
    if spec.categories is not None:
        code = {category: float(place) for place, category in enumerate(spec.categories)}
        return np.array([code.get(value, np.nan) if value is not None else np.nan for value in column])
    try:
        return np.array([np.nan if value is None else float(value) for value in column], dtype=np.float64)
    except ValueError as error:
        raise InputError(f"column {spec.name!r} of {source} held numbers in training: {error}") from None


def _is_number(value: str) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except ValueError:
        return False


def make_classifier(
    name: str, columns: Sequence[ColumnSpec], *, trees: int, random_state: int, n_jobs: int | None
) -> Any:
    """Return the classifier of that name for a table with such columns."""
    if name not in MODELS:
        raise InputError(f"there is no model {name!r}{nearest(name, MODELS)}; choose one of {', '.join(MODELS)}")
    nominal = [place for place, spec in enumerate(columns) if spec.categories is not None]
    return MODELS[name](nominal, trees, random_state, n_jobs)


def _forest(nominal: list[int], trees: int, random_state: int, n_jobs: int | None) -> Any:  # noqa: ARG001 (codes are ordered splits)
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(trees, random_state=random_state, n_jobs=n_jobs)


def _extra_trees(nominal: list[int], trees: int, random_state: int, n_jobs: int | None) -> Any:  # noqa: ARG001 (as for the forest)
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(trees, bootstrap=True, random_state=random_state, n_jobs=n_jobs)


def _boosting(nominal: list[int], trees: int, random_state: int, n_jobs: int | None) -> Any:  # noqa: ARG001 (threads are its own)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=trees, categorical_features=nominal, random_state=random_state)


def _logistic(nominal: list[int], trees: int, random_state: int, n_jobs: int | None) -> Any:  # noqa: ARG001 (there are no trees)
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), nominal), remainder=numbers)
    return make_pipeline(columns, LogisticRegression(max_iter=1000, random_state=random_state))


MODELS: dict[str, Callable[[list[int], int, int, int | None], Any]] = {
    "forest": _forest,
    "extra-trees": _extra_trees,
    "boosting": _boosting,
    "logistic": _logistic,
}
