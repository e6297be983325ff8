"""Labels of classes: one reader for every container, one coder."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from decimal import Decimal
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compromis._files import CLASSES, LABEL
from compromis._text import nearest, shown
from compromis._typing import Flags, Ints, Label
from compromis.errors import DeviceWarning, InputError

_warned = False


def on_host(values: Any) -> Any:
    """Return tensors of torch, cupy, jax and tensorflow as arrays of numpy; anything else as it is.

    Those on a graphics card are copied, with one warning per process.
    """
    package = type(values).__module__.partition(".")[0]
    if package == "torch" and hasattr(values, "detach"):
        return _from_torch(values)
    if package == "cupy" and hasattr(values, "get"):
        _warn("cupy")
        return values.get()
    if package in {"jax", "jaxlib", "tensorflow", "mlx"} and hasattr(values, "__array__"):
        return np.asarray(values)
    return values


def _from_torch(tensor: Any) -> Any:
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        _warn(f"torch ({tensor.device})")
        tensor = tensor.cpu()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        tensor = tensor.float()  # numpy has no bfloat16; float32 holds every half exactly
    return tensor.numpy()


def _warn(where: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"an array of {where} is copied to the host's memory, where compromis computes; for many calls move it once yourself",
            DeviceWarning,
            stacklevel=4,
        )


def plain_label(label: Any) -> Label:
    """Return the label as a plain Python value: scalars of numpy and Arrow and text of a class of its own are unwrapped."""
    if isinstance(label, np.generic):
        return label.item()
    if isinstance(label, str):
        return str.__str__(label)
    return label.as_py() if hasattr(label, "as_py") else label


_KINDS = {"i": "int", "u": "int", "b": "bool", "U": "str", "S": "bytes", "f": "float", "M": "datetime"}
"""What messages call numpy's kinds of labels; all others are objects."""
_NUMBERS = {"bool", "int", "float"}
"""The kinds that 1, 1.0 and True are of: one label."""
CHUNK = 1 << 16
"""Rows read together: small enough for the cache, large enough that Python's overhead vanishes."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """Labels of one kind, none missing.

    `values` holds integers or booleans (`kind` says which), or objects of that one kind; with `categories`, it holds
    their codes.
    """

    name: str
    values: NDArray[Any]
    kind: str
    _: KW_ONLY
    categories: tuple[Label, ...] | None = None
    index: Any = None
    """pandas' row labels, to notice rows that do not belong together."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_integer(self) -> bool:
        """Whether the column can be counted without looking labels up."""
        return self.values.dtype.kind in "iub"

    @property
    def number_type(self) -> type:
        """What integers stand for as labels."""
        return {"bool": bool, "float": float}.get(self.kind, int)

    def lists(self) -> Iterator[list[Any]]:
        """Yield the labels chunk by chunk as Python lists, categories spelled out."""
        for start in range(0, len(self.values), CHUNK):
            chunk = self.values[start : start + CHUNK].tolist()
            if self.categories is not None:
                chunk = [self.categories[code] for code in chunk]
            yield list(map(self.number_type, chunk)) if self.is_integer and self.kind in ("bool", "float") else chunk


def read_labels(values: Any, name: str) -> LabelColumn:
    """Return the labels as a checked column; `name` is what messages call it."""
    values = values if isinstance(values, (list, np.ndarray)) else on_host(values)  # most are on the host
    if type(values).__module__.partition(".")[0] in {"pandas", "polars", "pyarrow", "modin", "cudf"}:
        return _read_series(values, name)
    return _read_array(_as_array(values, name), name)


def read_classes(labels: Any, name: str = "labels") -> tuple[Label, ...]:
    """Return the classes in the order given, as plain values; refuse repeated ones. `name` is what messages call them.

    A decision or counts stand for their ``classes``, a fitted estimator for its ``classes_``.
    """
    labels = getattr(labels, "classes", getattr(labels, "classes_", labels))
    if not isinstance(labels, Iterable):
        raise InputError(f"{name} must be a list of classes, got {labels!r:.80}")
    try:
        order = tuple(plain_label(label) for label in labels)
        distinct = len(set(order))
    except TypeError:
        raise InputError(
            f"{name} must be a list of classes, text or numbers, got {type(labels).__name__} of something else"
        ) from None
    if distinct < len(order):
        raise InputError(f"each class stands once in {name}, got {shown(order)}")
    return order


def join_numbers(*columns: LabelColumn) -> tuple[LabelColumn, ...]:
    """Return columns of numbers as of one kind, the first one's, if they are all whole: 1, 1.0 and True are one label."""
    kinds = {column.kind for column in columns}
    if len(kinds) == 1 or not kinds <= _NUMBERS:
        return columns
    parts = [column if column.kind != "float" else _as_whole(column) for column in columns]
    whole = [part for part in parts if part is not None]
    if len(whole) < len(columns):
        return columns
    kind = columns[0].kind
    if kind == "bool" and not all(_holds_truth_values(part) for part in whole):
        kind = "int"
    return tuple(_of_kind(part, kind) for part in whole)


def _of_kind(column: LabelColumn, kind: str) -> LabelColumn:
    column = replace(column, kind=kind)
    if column.categories is None:
        return column
    return replace(column, categories=tuple(map(column.number_type, column.categories)))


def _as_whole(column: LabelColumn) -> LabelColumn | None:
    """Return a column of floats with integers in their place, None if one is not whole."""
    given = column.values if column.categories is None else column.categories
    floats = np.asarray(given, dtype=np.float64)
    if (
        not (np.abs(floats) < 2**53).all()
        or (whole := floats.astype(np.int64)).astype(np.float64).tobytes() != (floats + 0.0).tobytes()
    ):
        return None
    return (
        replace(column, values=whole)
        if column.categories is None
        else replace(column, categories=tuple(whole.tolist()))
    )


def _holds_truth_values(column: LabelColumn) -> bool:
    values = column.values if column.categories is None else np.array(column.categories)
    return len(values) == 0 or bool((values.min() >= 0) & (values.max() <= 1))


def check_same_rows(first: LabelColumn, second: LabelColumn) -> tuple[LabelColumn, ...]:
    """Return columns of one kind; refuse those of different length, kind or row labels."""
    if len(first) != len(second):
        raise InputError(
            f"{first.name} has {len(first):,} rows, {second.name} has {len(second):,}; they must describe the same rows"
        )
    if len(first) == 0:
        raise InputError(f"{first.name} and {second.name} are empty; there is nothing to evaluate")
    joined = (first, second) if first.kind == second.kind else join_numbers(first, second)
    if joined[0].kind != joined[1].kind:
        if second.kind == "float":
            shares = np.unique(np.asarray(second.values[:CHUNK], dtype=np.float64)).tolist()
            refuse_probabilities([share for share in shares if _is_share(share)], second.name)
        raise InputError(
            f"{first.name} has labels of type {first.kind}, {second.name} of type {second.kind}; convert one so that both are of one type"
        )
    check_same_index(first, second, first.name, second.name)
    return joined


def refuse_probabilities(never_true: Sequence[Label], name: str) -> None:
    """Refuse predictions of which three and more are never the true class, and are shares between 0 and 1."""
    if len(never_true) > 2 and all(map(_is_share, never_true)):
        raise InputError(
            f"{name} holds probabilities ({shown(never_true[:3])} ...), not classes; pass them as probabilities (y_proba), "
            "or decide first with predict",
            parameter=name,
        )


def check_predicted(
    prediction: LabelColumn,
    classes: Sequence[Label],
    occurs: tuple[Flags, Flags],
    labels: Sequence[Any] | None,
) -> None:
    """Refuse predictions that are probabilities or, unless `labels` are given, share no label with the truth.

    `occurs` says which of the classes are true, and which are predicted.
    """
    true, predicted = (sorted(compress(classes, part), key=str) for part in occurs)
    refuse_probabilities([*compress(classes, ~occurs[0] & occurs[1])], prediction.name)
    if labels is None and not (occurs[0] & occurs[1]).any():
        raise InputError(
            f"{prediction.name} has no label in common with the true classes: {shown(true)} and {shown(predicted)}; "
            "spell them alike, or give labels if every prediction is wrong",
            parameter=prediction.name,
        )
    if labels is None:
        _warn_of_spellings(classes, occurs, prediction.name)


def _warn_of_spellings(classes: Sequence[Label], occurs: tuple[Flags, Flags], name: str) -> None:
    """Warn of a class on one side alone that differs from one on the other in spaces or capitals alone; single letters may be meant."""
    for mine, other in (occurs, occurs[::-1]):
        spelt = {label.strip().casefold(): label for label in compress(classes, other) if isinstance(label, str)}
        for label in compress(classes, mine & ~other):
            key = label.strip().casefold() if isinstance(label, str) else ""
            if len(key) > 1 and key in spelt:
                warnings.warn(
                    f"{name} and the true classes hold {label!r} and {spelt[key]!r}, which differ in spaces or capitals alone; if they "
                    f"are one class, spell them alike",
                    UserWarning,
                    stacklevel=5,
                )
                return


def _is_share(label: Label) -> bool:
    """Whether a label is a number between 0 and 1, or the text of one."""
    try:
        return 0 < float(label) < 1  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def check_same_index(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Refuse pandas objects whose row labels do not belong together; anything else has none."""
    index, other = pandas_index(first), pandas_index(second)
    if index is not None and other is not None and not index.equals(other):
        raise InputError(
            f"{first_name} and {second_name} have different pandas indexes; align them with reindex, "
            f"or pass .to_numpy() if the rows are in the same order"
        )


def check_row_order(y: Any, **beside: Any) -> None:
    """Refuse what stands beside the true classes with the same pandas row labels in another order.

    Other row labels are no mistake: a frame made of an array of probabilities has its own. Where they happen to be those of shuffled
    true classes nobody can know which order is meant, so the sentence has both cures.
    """
    index = pandas_index(y)
    for name, values in beside.items():
        other = pandas_index(values)
        if index is None or other is None or len(index) != len(other) or index.equals(other):
            continue
        if index.isin(other).all():
            raise InputError(
                f"{name} has the pandas row labels of the true classes in another order; align them with reindex, or, if the rows "
                "are in the same order already, leave its labels out with to_numpy()",
                name,
            )


def by_label(values: Any) -> dict[Label, Any] | None:
    """Return what a mapping, or a series of pandas with labels of its own (value_counts), has for each; None for anything else."""
    index = pandas_index(values)
    if index is None and not isinstance(values, Mapping):
        return None
    given = {plain_label(label): value for label, value in values.items()}
    return None if index is not None and [*given] == [*range(len(values))] else given


def pandas_index(values: Any) -> Any:
    """Return the row labels of a pandas object or of a column read from one, None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def _as_array(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__len__"):
        raise InputError(f"{name} must be a list, array or series of labels, got {type(values).__name__}")
    array = values if isinstance(values, np.ndarray) else _plain_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    nested = array.dtype == object and len(array) > 0 and isinstance(array.flat[0], (list, np.ndarray))
    if array.ndim != 1 or nested:
        shape = (len(array), len(array.flat[0])) if nested else array.shape
        raise InputError(
            f"{name} must hold one label per row, got shape {shape}; pass probabilities as y_proba, and evaluate each output of a "
            "multi-label model by itself"
        )
    return array


def refuse_many_outputs(y: Any, name: str) -> None:
    """Raise if the target has several columns, and say what to do; `name` is the estimator's."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple)):
        shape = (len(y), len(y[0]))
    if shape is not None and len(shape) == 2 and shape[1] > 1:
        raise InputError(
            f"y should be a 1d array, got an array of shape {tuple(shape)}: {shape[1]} outputs; "
            f"fit one {name} per column, for example with sklearn.multioutput.MultiOutputClassifier"
        )


def _plain_array(values: Any) -> NDArray[Any]:
    """Return an array that holds the values as they are.

    numpy turns [1, "a"] into text, [2**64 - 1, 7] into floats, and members of an enumeration into shortened text.
    """
    kinds = {type(value) for value in values}
    if any(hasattr(kind, "as_py") for kind in kinds):  # scalars of Arrow
        return _plain_array([plain_label(value) for value in values])
    array = np.asarray(values) if kinds <= {bool} or kinds <= {int} or kinds <= {float} else None
    if array is None or (kinds == {int} and array.dtype.kind not in "iu"):
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    return array


def _read_array(array: NDArray[Any], name: str, index: Any = None) -> LabelColumn:
    if isinstance(array, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(array), name)
        array = array.data
    kind = _KINDS.get(array.dtype.kind)
    if kind is None:
        array, kind = _check_objects(array, name)
    elif kind == "bool":
        array = array.view(np.uint8)
    elif kind == "float":
        _refuse_missing(np.isnan(array), name)
    elif kind == "datetime":
        _refuse_missing(np.isnat(array), name)
        array = whole_microseconds(array, name)
    return LabelColumn(name, array, kind, index=index)


def python_values(series: Any, name: str) -> list[Any]:
    """Return the values of a series of narwhals; those of pandas and pyarrow keep nanoseconds, those of polars are refused."""
    if series.implementation.is_polars() and getattr(series.dtype, "time_unit", "") == "ns":
        whole_microseconds(series.to_numpy(), name)
    return list(series.to_list())


def whole_microseconds(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return dates or durations as Python can hold them; finer ones would become the same label."""
    cut = array.astype(f"{array.dtype.kind}8[us]")
    if ((cut != array) & ~np.isnat(array)).any():
        raise InputError(f"{name} holds nanoseconds, which dates of Python cannot hold; convert it to text")
    return cut


def _check_objects(array: NDArray[Any], name: str) -> tuple[NDArray[Any], str]:
    types: set[type] = set()
    for start in range(0, len(array), CHUNK):
        types |= set(map(type, array[start : start + CHUNK].tolist()))
    if any(_is_missing_type(kind) or issubclass(kind, (float, np.floating, Decimal)) for kind in types):
        _refuse_missing(np.fromiter((is_missing(value) for value in array), dtype=bool, count=len(array)), name)
    kinds = {_kind_of(kind) for kind in types}
    if kinds == {"int", "float"}:
        return _check_numbers(array), "float"
    if len(kinds) > 1:
        raise InputError(f"{name} mixes labels of types {' and '.join(sorted(kinds))}; convert them to one type")
    kind = kinds.pop() if kinds else "object"
    if kind not in {"int", "bool", "float", "str"}:
        _check_hashable(array, name)
    if kind in {"int", "bool"}:
        type_of = int if kind == "int" else bool
        plain = _plain_array([type_of(value) for value in array])
        return plain if plain.dtype == object else _read_array(plain, name).values, kind
    return array, kind


def _check_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of several types as floats, those that no float holds as they are."""
    floats = array.astype(np.float64)
    return floats if (floats == array).all() else array


def _check_hashable(array: NDArray[Any], name: str) -> None:
    try:
        for value in array:
            hash(value)
    except TypeError:
        raise InputError(
            f"{name} holds something that cannot be a label, such as a list; labels are text or numbers"
        ) from None


def _kind_of(kind: type) -> str:
    for plain in (bool, int, float, str):  # bool before int: it is one
        if issubclass(kind, plain):
            return plain.__name__
    if issubclass(kind, (np.integer, np.floating)):
        return "int" if issubclass(kind, np.integer) else "float"
    return "bool" if issubclass(kind, np.bool_) else kind.__name__


def _is_missing_type(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in {"NAType", "NaTType"}


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, and what pandas has for them."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return _is_missing_type(type(value)) or (isinstance(value, (float, np.floating)) and value != value)


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    count = int(missing.sum())
    if count:
        raise InputError(
            f"{name} has {count:,} missing label{'s' if count > 1 else ''} (the first in row {int(missing.argmax())}, counting from 0); "
            f"drop those rows or give them a label of their own"
        )


def _read_series(values: Any, name: str) -> LabelColumn:
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        if hasattr(values, "columns") and len(values.columns) == 1:
            return _read_series(values[values.columns[0]], name)
        if type(values).__module__.startswith("pandas") and getattr(values, "ndim", 0) == 1:  # an Index or a bare array
            import pandas

            return _read_series(pandas.Series(values), name)
        if hasattr(values, "dictionary_encode"):  # an array of pyarrow
            import pyarrow

            return _read_series(pyarrow.chunked_array([values]), name)
        raise InputError(f"{name} must be one column of labels, got {type(values).__name__}; select the column first")
    index = pandas_index(values)
    _refuse_missing(np.asarray(series.is_null().to_numpy(), dtype=bool), name)
    if isinstance(series.dtype, (nw.Categorical, nw.Enum)) and _has_order(values, series.dtype):
        return _read_categorical(series, name, index)
    if series.dtype.is_integer() or series.dtype == nw.Boolean:
        array = np.asarray(series.to_numpy())
        return _read_array(array if array.dtype.kind in "iub" else np.array(series.to_list()), name, index)
    if series.dtype.is_float():
        return _read_array(series.to_numpy(), name, index)
    objects = np.empty(len(series), dtype=object)
    objects[:] = python_values(series, name)
    return _read_array(objects, name, index)


def _has_order(values: Any, dtype: Any) -> bool:
    """Whether the categories are in an order of the user's: pandas' and Enum's are, a dictionary's is incidental."""
    return hasattr(dtype, "categories") or hasattr(getattr(values, "cat", None), "codes")


def _read_categorical(series: Any, name: str, index: Any) -> LabelColumn:
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas: the codes are there
        categories = tuple(plain_label(label) for label in native.cat.categories)
        codes = native.cat.codes.to_numpy()
    else:
        categories = tuple(series.dtype.categories)
        position = {label: code for code, label in enumerate(categories)}
        codes = np.fromiter(map(position.__getitem__, series.to_list()), dtype=np.int64, count=len(series))
    kinds = {_kind_of(type(label)) for label in categories}
    if len(kinds) > 1:
        raise InputError(
            f"{name} has categories of types {' and '.join(sorted(kinds))}; convert them to one type ({shown(categories)})"
        )
    return LabelColumn(name, codes, kinds.pop() if kinds else "object", categories=categories, index=index)


_WIDEST = 1 << 16
"""The widest range of integers that is coded by offset instead of by lookup."""


def encode(
    *columns: LabelColumn,
    labels: Sequence[Any] | None = None,
    categories: Sequence[Label] = (),
    most: int | None = None,
) -> tuple[list[Ints], tuple[Label, ...]]:
    """Return the position of each row's class, one array per column, and the classes, of which there may be `most`.

    The classes are `labels`, which must hold each that occurs. Without them: `categories`, else those of the first column that has
    some, then the other labels that occur, sorted.

    Examples
    --------
    >>> from compromis.labels import encode, read_labels
    >>> codes, classes = encode(read_labels(["b", "a"], "y_true"), read_labels(["c", "a"], "y_pred"))
    >>> [part.tolist() for part in codes], classes
    ([[1, 0], [2, 0]], ('a', 'b', 'c'))
    """
    columns = join_numbers(*columns)
    codes, occurring = number(*columns, most=most)
    known = categories or next((column.categories for column in columns if column.categories), ())
    name = columns[0].name if len(columns) == 1 else "the data"
    classes = class_order(occurring, labels, known, name)
    position = {label: number for number, label in enumerate(classes)}
    positions = np.array([position[label] for label in occurring], dtype=np.int64)
    if np.array_equal(positions, np.arange(len(occurring))):
        return codes, classes
    return [positions[part] for part in codes], classes


def encode_classes(
    truth: LabelColumn,
    *predictions: LabelColumn,
    labels: Sequence[Any] | None = None,
    categories: Sequence[Label] = (),
    absent: Iterable[Label] = (),
) -> tuple[list[Ints], tuple[Label, ...]]:
    """Encode true classes, and predicted ones of the same rows; refuse columns that do not fit together.

    Without `labels` the classes are those that occur, and the `absent` ones where there are some.
    """
    for prediction in predictions:
        check_same_rows(truth, prediction)
    if not len(truth):
        raise InputError(f"{truth.name} is empty; there is nothing to evaluate", parameter=truth.name)
    codes, classes = encode(truth, *predictions, labels=labels, categories=categories, most=CLASSES.most)
    refuse_many_classes(len(classes))
    true, *predicted = (_occurring(len(classes), part) for part in codes)
    for prediction, occurs in zip(predictions, predicted, strict=True):
        check_predicted(prediction, classes, (true, occurs), labels)
    if labels is None and not {*absent} <= {*classes}:
        return encode(truth, *predictions, labels=sorted_labels([*classes, *absent]))
    return codes, classes


def positions_in(values: Any, classes: Sequence[Label], name: str) -> Ints:
    """Return the position of each row's class in `classes`, which must hold them all; `name` is what messages call the rows."""
    (codes,), _ = encode(read_labels(values, name), labels=classes)
    return codes


def column_of_each_class(
    mapping: Mapping[Any, Any],
    *,
    classes: Sequence[Label] | None = None,
    columns: Iterable[Any] = (),
    class_first: bool = False,
) -> dict[Label, Any] | None:
    """Return the column of each class from a mapping of columns to classes, or of classes to columns; None if it is neither.

    One side must be the `classes` or, where nobody knows them, the other one be among the `columns`. `class_first` says which
    direction is meant where both are possible.
    """
    known = set(columns)
    pairs = [(plain_label(key), plain_label(value)) for key, value in mapping.items()]
    directions = [{value: key for key, value in pairs}, dict(pairs)]
    for by_class in reversed(directions) if class_first else directions:
        fits = set(by_class) == set(classes) if classes is not None else set(by_class.values()) <= known
        if fits and len(by_class) == len(mapping):
            return by_class
    return None


def without_prefix(columns: Sequence[Label], classes: Iterable[Label]) -> tuple[Label, ...]:
    """Return the names of columns without the prefix that stands before each class, p_good and p_bad; else as they are."""
    names, known = [str(column) for column in columns], [str(label) for label in classes]
    longest = max(known, key=len, default="")
    for prefix in {name.removesuffix(longest) for name in names if name.endswith(longest)}:
        if (
            prefix
            and all(name.startswith(prefix) for name in names)
            and {prefix + label for label in known} <= set(names)
        ):
            return tuple(name.removeprefix(prefix) for name in names)
    return tuple(columns)


def in_order_of(columns: Sequence[str], classes: Sequence[Label]) -> list[str]:
    """Return columns in the order of the classes that they are named after, with a common prefix or none; others as they are."""
    named = dict(zip(map(str, without_prefix(columns, classes)), columns, strict=True))
    wanted = [str(label) for label in classes]
    return [named[label] for label in wanted] if {*named} == {*wanted} else list(columns)


def positive_by_convention(classes: Sequence[Label]) -> Label | None:
    """Return 1 beside 0 or -1, and True beside False, of two classes; None where no convention says which is positive."""
    known = len(classes) == 2 and 1 in classes and not {0, -1}.isdisjoint(classes)
    return classes[classes.index(1)] if known else None


def positive_class(classes: Sequence[Label], pos_label: Any = None) -> Label:
    """Return which class is positive: `pos_label`, else 1 beside 0 or -1, and True beside False; raise if nothing says it."""
    if pos_label is None:
        if (known := positive_by_convention(classes)) is not None:
            return known
        raise InputError(f"which class is positive? pass pos_label, one of {shown(classes)}", "pos_label")
    positive = plain_label(pos_label)
    if positive not in classes:
        raise InputError(
            f"pos_label is {positive!r}, but the classes are {shown(classes)}{nearest(positive, classes)}", "pos_label"
        )
    return classes[classes.index(positive)]


def read_groups(groups: Any, rows: int, data: str = "the data") -> Ints:
    """Return the number of each row's group, from 0, by the order of the keys; keys without an order count as they appear."""
    column = read_labels(groups, "groups")
    if len(column) != rows:
        raise InputError(f"groups has {len(column):,} rows, {data} has {rows:,}; give one key per row")
    (codes,), keys = number(column)
    try:
        order = sorted(range(len(keys)), key=keys.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        return codes
    return np.argsort(order)[codes]


def class_order(
    occurring: Sequence[Label], labels: Any, categories: Sequence[Label], name: str = "the data"
) -> tuple[Label, ...]:
    """Return the classes in order: `labels`, else the categories and then the other labels that occur, sorted."""
    check_labels(occurring)
    if hasattr(labels, "by_class"):  # preferences name classes that may be absent, beside those that occur
        occurring, labels = [*occurring, *labels.by_class], None
    if labels is None:
        others = set(occurring).difference(categories)
        return (*categories, *sorted_labels(others, name))
    classes = read_classes(labels)
    missing = sorted(set(occurring).difference(classes), key=occurring.index)
    if missing:
        refuse_probabilities(missing, name)
        raise InputError(
            f"labels misses {shown(missing)}, which {name} has{nearest(missing[0], classes, aside=True)}; "
            f"add {'it' if len(missing) == 1 else 'them'}",
            parameter="labels",
        )
    return classes


def check_labels(labels: Iterable[object]) -> None:
    """Raise if a label exceeds the length limit."""
    longest = max((len(label) for label in labels if isinstance(label, (str, bytes))), default=0)
    if longest:
        LABEL.check(longest, f"a label has {longest:,} characters")


def sorted_labels(labels: Iterable[Label], name: str = "the data") -> tuple[Label, ...]:
    """Return the distinct labels, sorted."""
    distinct = set(labels)
    try:
        return tuple(sorted(distinct))  # type: ignore[type-var]
    except TypeError:
        kinds = sorted({type(label).__name__ for label in distinct})
        if len(kinds) > 1:
            raise InputError(
                f"the labels are of types {' and '.join(kinds)}, which have no common order; convert them to one type"
            ) from None
        raise InputError(
            f"the labels of {name} have no order ({shown(distinct)}); pass labels= in the order wanted"
        ) from None


def refuse_many_classes(classes: int) -> None:
    """Raise if there are more classes than a confusion matrix should have: its cells are their square."""
    if classes > CLASSES.most:
        raise InputError(
            f"there are more than {CLASSES.most:,} classes; is one of the columns an identifier or a number? "
            f"{CLASSES.setting} raises the limit"
        )


def number(*columns: LabelColumn, most: int | None = None) -> tuple[list[Ints], list[Label]]:
    """Number the labels of all columns alike, in any order; return the numbers, and the label that each stands for."""
    categories = columns[0].categories
    if categories is not None and all(column.categories == categories for column in columns):
        return _without_gaps([column.values.astype(np.int64) for column in columns], categories)
    if all(column.is_integer and column.categories is None and len(column) for column in columns):
        low = min(int(column.values.min()) for column in columns)
        high = max(int(column.values.max()) for column in columns)
        if high - low < _WIDEST and high < 2**63:
            kind = columns[0].number_type
            offsets = [_offsets(column.values, low) for column in columns]
            return _without_gaps(offsets, [kind(label) for label in range(low, high + 1)])
    return _number_by_lookup(columns, most)


def _offsets(values: NDArray[Any], low: int) -> Ints:
    if low:
        return values.astype(np.int64) - low
    return np.require(values, dtype=np.int64, requirements=["C", "A", "W"])


def _without_gaps(codes: list[Ints], labels: Sequence[Label]) -> tuple[list[Ints], list[Label]]:
    """Leave out labels that do not occur."""
    occurs = _occurring(len(labels), *codes)
    if occurs.all():
        return codes, list(labels)
    number = np.cumsum(occurs) - 1
    return [number[part] for part in codes], [*compress(labels, occurs)]


def _occurring(classes: int, *codes: Ints) -> NDArray[np.bool_]:
    """Return which classes occur."""
    occurs = np.zeros(classes, dtype=bool)
    for part in codes:
        occurs[part] = True
    return occurs


class _Vocabulary(dict[Any, int]):
    """Numbers labels in the order in which they appear."""

    def __missing__(self, label: Any) -> int:
        self[label] = code = len(self)
        return code


def _number_by_lookup(columns: Sequence[LabelColumn], most: int | None) -> tuple[list[Ints], list[Label]]:
    vocabulary, codes = _Vocabulary(), []
    for column in columns:
        part, start = np.empty(len(column), dtype=np.int64), 0
        for labels in column.lists():
            end = start + len(labels)
            part[start:end] = np.fromiter(map(vocabulary.__getitem__, labels), dtype=np.int64, count=len(labels))
            start = end
            if most is not None and len(vocabulary) > most:
                refuse_many_classes(len(vocabulary))
        codes.append(part)
    return codes, [plain_label(label) for label in vocabulary]
