"""Models of tables: which columns are numbers, which are nominal, and the classifiers the command line offers."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import sklearn
from numpy.typing import NDArray

from compromis._files import UNPACKED, write_whole
from compromis._text import nearest, shown
from compromis.errors import CompromisError, InputError, MissingExtra
from compromis.frames.tables import Column, Table
from compromis.weights.decision import Decision

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


VERSION = 1
TRUSTED = frozenset(
    {
        "functools.partial",
        "numpy.dtype",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "sklearn.utils.validation.check_array",
    }
)
"""What our classifiers hold beyond the types that skops trusts by itself; none of them runs code when it is loaded."""


class _Header(msgspec.Struct):
    schema: str
    version: int
    target: str
    hard: bool
    columns: list[ColumnSpec]
    scikit_learn: str = ""
    """The version that wrote it; files of the first release do not say."""


class TableModel(msgspec.Struct, frozen=True):
    """A fitted classifier of a table, and how its votes become decisions."""

    classifier: Any
    decision: Decision
    columns: tuple[ColumnSpec, ...]
    target: str
    hard: bool
    """Whether the members' decisions are weighed, or probabilities."""

    def vote_shares(self, texts: Mapping[str, Column], source: str) -> NDArray[np.float64]:
        """Return the shares of the votes for each class of the decision; `source` is the table's name in errors."""
        from compromis.estimators.honest_votes import votes_of

        rows = encode(Table(source, texts), self.columns)
        return votes_of(self.classifier, rows, np.array(self.decision.classes), hard=self.hard)


def save_model(model: TableModel, path: str | os.PathLike[str]) -> None:
    """Write the model to the file, whole or not at all; it holds no code.

    Examples
    --------
    >>> import compromis as cp
    >>> texts = {"x": list("012345" * 5), "class": list("aaabbb" * 5)}
    >>> model, _ = cp.estimators.fit_table(texts, "class", cp.Preferences(), trees=5)
    >>> cp.estimators.save_model(model, "parts.model")
    >>> cp.estimators.load_model("parts.model").decision.classes
    ('a', 'b')
    """
    header = _Header("compromis/model", VERSION, model.target, model.hard, list(model.columns), sklearn.__version__)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", msgspec.json.encode(header))
        archive.writestr("decision.json", model.decision.to_json())
        archive.writestr("classifier.skops", _skops().dumps(model.classifier))
    write_whole(path, stream.getvalue())


def load_model(path: str | os.PathLike[str]) -> TableModel:
    """Read a model file; a classifier made of anything but scikit-learn's and numpy's own types is refused.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("parts.model", "w") as file:
    ...     _ = file.write("something else")
    >>> cp.estimators.load_model("parts.model")
    Traceback (most recent call last):
        ...
    compromis.errors.InputError: parts.model is not a model file of compromis: File is not a zip file
    """
    try:
        with zipfile.ZipFile(Path(path)) as archive:
            _check_sizes(archive, path)
            header = msgspec.json.decode(archive.read("model.json"), type=_Header)
            if header.version > VERSION:
                raise InputError(
                    f"{os.fspath(path)} has version {header.version}, this compromis reads up to {VERSION}; update compromis"
                )
            if is_later(header.scikit_learn):
                raise InputError(
                    f"{os.fspath(path)} was written with scikit-learn {header.scikit_learn}, this is {sklearn.__version__}; "
                    f"update scikit-learn"
                )
            decision = Decision.from_json(archive.read("decision.json").decode())
            classifier = _load_classifier(archive.read("classifier.skops"), path)
    except (CompromisError, OSError, MemoryError):
        raise
    except Exception as error:  # a damaged archive raises many kinds, and skops whatever its nodes do
        said = (str(error).splitlines() or [""])[0][:300] or type(error).__name__
        raise InputError(f"{os.fspath(path)} is not a model file of compromis: {said}") from error
    return TableModel(classifier, decision, tuple(header.columns), header.target, header.hard)


def is_later(version: str) -> bool:
    """Whether a version of scikit-learn is later than this one, whose objects may lack or hold what this one does not expect."""
    written, here = ([int(part) for part in one.split(".")[:2]] for one in (version or "0", sklearn.__version__))
    return written > here


def _load_classifier(data: bytes, path: str | os.PathLike[str]) -> Any:
    skops = _skops()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_sizes(archive, path)
    unknown = set(skops.get_untrusted_types(data=data)) - TRUSTED
    if unknown:
        raise InputError(
            f"{os.fspath(path)} holds types that are not trusted ({', '.join(sorted(unknown)[:5])}); it was not written by compromis fit"
        )
    return skops.loads(data, trusted=sorted(TRUSTED))


def _check_sizes(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
    """Refuse an archive that would fill the memory; zipfile reads no more of a member than it announces."""
    size = sum(member.file_size for member in archive.infolist())
    UNPACKED.check(size, f"{os.fspath(path)} becomes {size:,} bytes when it is decompressed")


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise MissingExtra("model files need skops; install it with: pip install 'compromis[skops]'") from None
    return skops.io
