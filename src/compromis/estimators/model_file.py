"""Models of text tables, and their files: columns, the classifiers on offer, the fitted classifier and its decision."""

from __future__ import annotations

import io
import math
import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from compromis._files import UNPACKED, VERSION, Head, check_version, write_whole
from compromis._text import cure_of_commas, shown, unknown_name
from compromis._typing import Floats
from compromis.errors import CompromisError, InputError, MissingExtra
from compromis.estimators.honest_votes import votes_of
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.preferences import Preferences
from compromis.trees.columns import Column
from compromis.weights.decision import Decision
from compromis.weights.review import Review

MOST_CATEGORIES = 254
"""More distinct texts than that are an identifier, not a category."""


Texts = Mapping[str, Sequence[str | None]]
"""A table as text by column; None is a missing value."""


def describe_table(texts: Texts, names: Sequence[str], source: str) -> tuple[Column, ...]:
    """Return what each named column holds: numbers if every value is one, else its distinct texts; `source` is the table's name."""
    return tuple(_describe(name, texts[name], source) for name in names)


LARGEST = float(np.finfo(np.float32).max)
"""The largest number that scikit-learn's trees take."""


def encode_table(texts: Texts, columns: Sequence[Column], source: str) -> Floats:
    """Return a matrix of numbers and category codes; missing values and categories not seen in training are NaN."""
    lacking = [column.name for column in columns if column.name not in texts]
    if lacking:
        raise InputError(f"{source} lacks {shown(lacking)}, which the model was trained on")
    return np.column_stack([_encode(texts[column.name], column, source) for column in columns])


def _describe(name: str, values: Sequence[str | None], source: str) -> Column:
    if all(value is None or _is_number(value) for value in values):
        return Column(name)
    categories = sorted({value for value in values if value is not None})
    if all(_is_number(value) or cure_of_commas(value) for value in categories):
        example = next(value for value in categories if not _is_number(value))
        raise InputError(
            f"column {name!r} of {source} holds numbers such as {example!r}{cure_of_commas(example)}, or leave it out (--ignore {name!r})"
        )
    if len(categories) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} of {source} has {len(categories):,} different texts; leave it out if it names the rows (--ignore {name!r})"
        )
    return Column(name, tuple(categories))


def _encode(values: Sequence[str | None], column: Column, source: str) -> Floats:
    if column.is_nominal:
        codes = column.codes(values)
        unseen = [value for value, code in zip(values, codes.tolist(), strict=True) if code < 0 and value is not None]
        if unseen:
            warnings.warn(
                f"column {column.name!r} of {source} has {shown(sorted(set(unseen)), 3)} in {len(unseen):,} of {len(values):,} rows, which "
                f"training did not have; they count as missing",
                UserWarning,
                stacklevel=4,
            )
        return np.where(codes < 0, np.nan, codes)
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    except ValueError as error:
        wrong = next(value for value in values if value is not None and _number(value) is None)
        raise InputError(
            f"column {column.name!r} of {source} held numbers in training, now {wrong!r}{cure_of_commas(wrong)}"
        ) from error
    large = np.abs(numbers) > LARGEST
    if large.any():
        row = int(large.argmax())
        raise InputError(
            f"column {column.name!r} of {source} holds {numbers[row]:g} in data row {row + 1:,}; models take numbers up to {LARGEST:.3g}: "
            f"change its unit, or leave it out"
        )
    return numbers


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _is_number(value: str) -> bool:
    number = _number(value)
    return number is not None and math.isfinite(number)


MODELS = ("forest", "extra-trees", "boosting", "logistic")


def make_classifier(name: str, columns: Sequence[Column], *, trees: int, random_state: int, n_jobs: int | None) -> Any:
    """Return the classifier of that name for a table with such columns; forests split on the codes of categories."""
    from sklearn import ensemble

    nominal = [index for index, column in enumerate(columns) if column.is_nominal]
    if name == "forest":
        return ensemble.RandomForestClassifier(trees, random_state=random_state, n_jobs=n_jobs)
    if name == "extra-trees":
        return ensemble.ExtraTreesClassifier(trees, bootstrap=True, random_state=random_state, n_jobs=n_jobs)
    if name == "boosting":
        return ensemble.HistGradientBoostingClassifier(
            max_iter=trees, categorical_features=nominal, random_state=random_state
        )
    if name == "logistic":
        return _logistic(nominal, random_state)
    raise InputError(unknown_name("model", name, MODELS))


def _logistic(nominal: list[int], random_state: int) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), nominal), remainder=numbers)
    return make_pipeline(columns, LogisticRegression(max_iter=1000, random_state=random_state))


SCHEMA = "compromis/model"
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


class _Header(Head):
    target: str
    hard: bool
    columns: Annotated[dict[str, tuple[str, ...] | None], msgspec.Meta(min_length=1)]
    """Categories by name, None for a column of numbers; in the order of training."""
    scikit_learn: str
    """The version that wrote the classifier."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TableModel:
    """A fitted classifier of a table, and how its votes become decisions."""

    classifier: Any
    decision: Decision
    columns: tuple[Column, ...]
    target: str
    hard: bool
    """Whether the members' decisions are weighed, or probabilities."""

    def vote_shares(self, texts: Texts, source: str) -> Floats:
        """Return the shares of the votes for each class of the decision; `source` is the table's name in errors."""
        rows = encode_table(texts, self.columns, source)
        try:
            return votes_of(self.classifier, rows, np.array(self.decision.classes), hard=self.hard)
        except (CompromisError, MemoryError):
            raise
        except Exception as error:  # a file may have held anything in place of an attribute
            raise InputError(f"the model does not work on {source}, fit it again: {_first_line(error)}") from error


def save_model(model: TableModel, path: str | os.PathLike[str]) -> None:
    """Write the model to a file, which holds no code.

    Examples
    --------
    >>> import compromis as cp
    >>> texts = {"x": list("012345" * 5), "class": list("aaabbb" * 5)}
    >>> model, _ = cp.estimators.fit_table(texts, "class", cp.Preferences(), trees=5)
    >>> cp.estimators.save_model(model, "parts.model")
    >>> cp.estimators.load_model("parts.model").decision.classes
    ('a', 'b')
    """
    columns: dict[str, Any] = {column.name: column.categories for column in model.columns}
    header = _Header(
        schema=SCHEMA,
        version=VERSION,
        target=model.target,
        hard=model.hard,
        columns=columns,
        scikit_learn=sklearn.__version__,
    )
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
    compromis.errors.InputError: parts.model is not a model file that 'compromis fit' wrote
    """
    try:
        with zipfile.ZipFile(Path(path)) as archive:
            _check_sizes(archive, path)
            header = _read_header(archive.read("model.json"), os.fspath(path))
            decision = Decision.from_json(archive.read("decision.json").decode())
            classifier = _load_classifier(archive.read("classifier.skops"), path)
    except (CompromisError, OSError, MemoryError):
        raise
    except zipfile.BadZipFile as error:
        raise InputError(f"{os.fspath(path)} is not a model file that 'compromis fit' wrote") from error
    except Exception as error:  # a damaged archive raises many kinds, and skops whatever its nodes do
        raise InputError(f"{os.fspath(path)} is not a model file of compromis: {_first_line(error)}") from error
    columns = tuple(Column(name, categories) for name, categories in header.columns.items())
    return TableModel(classifier=classifier, decision=decision, columns=columns, target=header.target, hard=header.hard)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:300] or type(error).__name__


def _read_header(data: bytes, path: str) -> _Header:
    check_version(data, path, SCHEMA, "fit the model again")
    header = msgspec.json.decode(data, type=_Header)
    if is_later(header.scikit_learn):
        raise InputError(
            f"{path} was written with scikit-learn {header.scikit_learn}, this is {sklearn.__version__}; "
            f"update scikit-learn"
        )
    return header


def is_later(version: str) -> bool:
    """Whether a version of scikit-learn is later than this one, whose objects may lack or hold what this one does not expect."""
    written, here = ([int(part) for part in text.split(".")[:2]] for text in (version, sklearn.__version__))
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
    classifier = skops.loads(data, trusted=sorted(TRUSTED))
    for part in _parts(classifier):
        if isinstance(part, BaseEstimator) and not _is_sound(part):
            raise InputError(
                f"{os.fspath(path)} is not a model file of compromis: its {type(part).__name__} is none that compromis fit writes"
            )
    return classifier


_ESTIMATORS = {
    "ColumnTransformer",
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "ExtraTreesClassifier",
    "FunctionTransformer",
    "HistGradientBoostingClassifier",
    "LabelEncoder",
    "LogisticRegression",
    "MissingIndicator",
    "OneHotEncoder",
    "OrdinalEncoder",
    "Pipeline",
    "RandomForestClassifier",
    "SimpleImputer",
    "StandardScaler",
    "_BinMapper",
}
"""What `make_classifier` makes classifiers of; compiled code of others might believe numbers that are not looked at here."""


def _parts(classifier: Any) -> Iterator[Any]:
    """Yield every object that a classifier consists of."""
    seen: set[int] = set()
    waiting = [classifier]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.hasobject else []
        elif isinstance(part, (list, tuple, dict)):
            waiting += part.values() if isinstance(part, dict) else part
        elif not isinstance(part, type):
            waiting += getattr(part, "__dict__", {}).values()


def _is_sound(part: Any) -> bool:
    """Whether compiled code finds what a part of a classifier says of nodes, features and categories, which it believes."""
    name = type(part).__name__
    if name in {
        "RandomForestClassifier",
        "ExtraTreesClassifier",
    }:  # only the first tree is asked whether the columns fit
        return all(tree.n_features_in_ == part.n_features_in_ for tree in part.estimators_)
    if name in {"DecisionTreeClassifier", "ExtraTreeClassifier"} and hasattr(part, "tree_"):
        return part.tree_.n_features == part.n_features_in_ and _is_sound_tree(part.tree_)
    if name == "HistGradientBoostingClassifier":
        return _is_sound_boosting(part)
    if name == "OneHotEncoder" and hasattr(part, "categories_"):
        held = vars(part)
        moved = held.get("_infrequent_enabled", False) or held.get("_drop_idx_after_grouping") is not None
        return not moved and list(held["_n_features_outs"]) == [len(values) for values in part.categories_]
    return name in _ESTIMATORS


def _is_sound_tree(tree: Any) -> bool:
    if not 0 < tree.node_count == tree.capacity:
        return False
    return _leads_on(tree.children_left, tree.children_right, tree.feature, tree.children_left != -1, tree.n_features)


def _leads_on(left: Any, right: Any, feature: Any, inner: Any, features: int) -> bool:
    """Whether children of inner nodes come after them and exist, so that every way ends, and their features exist."""
    here = np.flatnonzero(inner)
    ahead = [bool(((child[inner] > here) & (child[inner] < len(inner))).all()) for child in (left, right)]
    return all(ahead) and bool(((feature[inner] >= 0) & (feature[inner] < features)).all())


def _is_sound_boosting(boosting: Any) -> bool:
    features, held = boosting.n_features_in_, vars(boosting)
    bins, before, stages = held["_bin_mapper"], held["_preprocessor"], held["_predictors"]
    if bins.is_categorical_.shape != (features,) or len(bins.bin_thresholds_) != features:
        return False
    sets = [bins.bin_thresholds_[k] for k in np.flatnonzero(bins.is_categorical_)]
    if not all(bool(((values >= 0) & (values < 256)).all()) for values in sets):  # a set of categories has 256 bits
        return False
    if before is not None and before.transform(np.zeros((1, features))).shape != (1, features):
        return False
    return all(_is_sound_predictor(one, bins) for stage in stages for one in stage)


def _is_sound_predictor(predictor: Any, bins: Any) -> bool:
    nodes, sets = predictor.nodes, predictor.raw_left_cat_bitsets
    inner = nodes["is_leaf"] == 0
    if not len(nodes) or sets.ndim != 2 or sets.shape[1] != 8:
        return False
    if not _leads_on(nodes["left"], nodes["right"], nodes["feature_idx"], inner, len(bins.is_categorical_)):
        return False
    nominal = nodes[inner & (nodes["is_categorical"] != 0)]
    return bool((nominal["bitset_idx"] < len(sets)).all() and bins.is_categorical_[nominal["feature_idx"]].all())


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


def fit_table(
    texts: Mapping[str, Any],
    target: str,
    preferences: Preferences,
    *,
    source: str = "the table",
    sample_weight: ArrayLike | None = None,
    by: Any = None,
    model: str = "forest",
    trees: int = 100,
    random_state: int = 0,
    n_jobs: int | None = None,
    review: Review | None = None,
) -> tuple[TableModel, TunedDecisionClassifier]:
    """Fit a classifier to columns of text, and tune its decision to the preferences.

    Parameters
    ----------
    texts : mapping of str to list
        The columns, None where a value is missing. Columns of numbers are numbers, all others are nominal.
    target : str
        The column of classes to learn.
    preferences : Preferences
        What matters.
    source : str
        What messages call the table.
    sample_weight : array-like, optional
        A weight per row.
    by : labels, optional
        A group per row, in each of which the minima of the preferences must hold.
    model : {"forest", "extra-trees", "boosting", "logistic"}
        The classifier.
    trees : int
        The number of trees, or of rounds of boosting.
    random_state, n_jobs
        As in scikit-learn.
    review : Review, optional
        How much a person may look at.

    Returns
    -------
    model : TableModel
        What `save_model` writes; its `vote_shares` votes for rows.
    tuned : TunedDecisionClassifier
        How it was tuned.

    Examples
    --------
    >>> import compromis as cp
    >>> texts = {"x": [str(k % 7) for k in range(60)], "class": ["bad" if k % 7 > 4 else "good" for k in range(60)]}
    >>> model, tuned = cp.estimators.fit_table(texts, "class", cp.Preferences.prioritise(["bad"]), trees=5)
    >>> model.decision.decide(model.vote_shares(texts, "parts")).tolist()[:6]
    ['good', 'good', 'good', 'good', 'good', 'bad']
    """
    names = [column for column in texts if column != target]
    if not names:
        raise InputError(f"{source} has no column besides {target!r} to learn from")
    preferences.on(sorted(set(texts[target])))  # the whole table is here: a label that it lacks is misspelt
    columns = describe_table(texts, names, source)
    classifier = make_classifier(model, columns, trees=trees, random_state=random_state, n_jobs=n_jobs)
    tuned = TunedDecisionClassifier(
        classifier, preferences=preferences, review=review, n_jobs=n_jobs, random_state=random_state
    )
    tuned.fit(encode_table(texts, columns, source), np.array(texts[target]), sample_weight=sample_weight, by=by)
    fitted = TableModel(
        classifier=tuned.estimator_,
        decision=tuned.decision_,
        columns=columns,
        target=target,
        hard=tuned.votes_are_hard_,
    )
    return fitted, tuned
