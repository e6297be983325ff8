"""Find files of any size, and count what is in them with an engine."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from compromis._text import shown
from compromis.errors import CompromisError, InputError
from compromis.evidence.counts import Counts
from compromis.evidence.points import OperatingPoints
from compromis.evidence.votes import Votes
from compromis.frames.content import FORMATS_BY_SUFFIX, Content, no_such_file, stamp
from compromis.frames.counts import count_text_frame
from compromis.frames.engines import CONNECT, OPENERS, choose_engine, read_layout
from compromis.frames.points import points_of_frame
from compromis.frames.query import TextLabels, drop_missing, first_line, is_failure, lazy_frame
from compromis.frames.reading import FileFrame
from compromis.frames.tables import pick_column, score_columns
from compromis.frames.votes import patterns_of_frame

if TYPE_CHECKING:
    from compromis.frames.search import FrameSearch

Where = str | os.PathLike[str]
Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format, in a fixed order."""

    paths: tuple[str, ...]
    """The files."""
    format: str
    """CSV (all delimited text) or Parquet."""
    partitions: tuple[str, ...]
    """The keys that folders of the kind key=value give; their values are text."""
    stamps: tuple[Stamp, ...]
    """What tells a file from a changed one."""

    @classmethod
    def find(cls, where: Where | Sequence[Where]) -> Files:
        """Return the files that a path, a pattern (``*``, ``**``), a folder or a list of them mean."""
        wanted = [where] if isinstance(where, (str, os.PathLike)) else list(where)
        paths = list(dict.fromkeys(path for given in wanted for path in _expand(os.fspath(given))))
        if not paths:
            raise InputError("no file is named; give a path, a pattern or a folder")
        formats = {path: _format_of(path) for path in paths}
        found = sorted(set(formats.values()))
        if len(found) > 1:
            raise InputError(f"the files are of several formats, {' and '.join(found)}; give files of one format")
        if found == ["ARFF"]:
            raise InputError(f"{paths[0]} is ARFF, which is read in memory only; export it as CSV or Parquet")
        return cls(tuple(paths), found[0], _partitions(paths), tuple(stamp(Path(path)) for path in paths))

    def check_unchanged(self) -> None:
        """Refuse what was read from files that changed meanwhile."""
        for path, before in zip(self.paths, self.stamps, strict=True):
            if stamp(Path(path)) != before:
                raise InputError(f"{path} changed while it was read; run again when it is complete")

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(stamp[0] for stamp in self.stamps if stamp)


def _format_of(path: str) -> str:
    content = Content(path)
    content.close()
    return content.format


def _expand(path: str) -> list[str]:
    # a file may be named with a star or a bracket: what exists is meant as it is written
    if Path(path).is_dir():
        found = [str(file) for file in sorted(Path(path).rglob("*")) if _is_data(file, Path(path))]
        if not found:
            raise InputError(f"the folder {path!r} holds no CSV, TSV or Parquet file")
        return found
    if Path(path).exists():
        return [path]
    if not glob.has_magic(path):
        raise no_such_file(path)
    found = sorted(file for file in glob.glob(path, recursive=True) if Path(file).is_file())  # noqa: PTH207 patterns may be absolute
    if not found:
        raise InputError(f"no file matches {path!r}; mind quotes and folders")
    return found


def _is_data(file: Path, root: Path) -> bool:
    """Whether a file of a folder is data: engines write marks and checksums beside it."""
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    suffixes = [suffix for suffix in file.suffixes if suffix.lower() not in {".gz", ".gzip"}]
    return file.is_file() and not hidden and bool(suffixes) and suffixes[-1].lower() in FORMATS_BY_SUFFIX


def _partitions(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of folders named key=value, which must be the same for every file."""
    keys = [tuple(part.partition("=")[0] for part in Path(path).parent.parts if "=" in part) for path in paths]
    if len(set(keys)) > 1:
        raise InputError(f"the folders give different keys, {shown(sorted(set(keys)))}; scan them one by one")
    return keys[0]


def scan(where: Where | Sequence[Where], *, engine: str | None = None, numbers: Sequence[str] = ()) -> Any:
    r"""Open files of any size as a lazy frame; nothing is kept of them, and delimited text is checked when an engine shall read it.

    Parameters
    ----------
    where : path, pattern, folder, or a list of them
        CSV, TSV (also gzip) or Parquet: ``"data/*.parquet"``, or a folder, whose subfolders named key=value become columns
        of text. A name that exists is meant as written, stars and brackets included.
    engine : {"polars", "duckdb", "dask", "spark"}, optional
        Without it one file of text (ARFF too) is read by compromis itself; Parquet goes to polars and folders of text to DuckDB,
        whichever is installed.
    numbers : sequence of str
        Columns of text files that hold numbers; all others stay text, so that 01, NA and null are what they are. An empty field is missing.

    Returns
    -------
    polars.LazyFrame, DuckDB relation, Dask or Spark data frame, or a file that stands for one
        For `Counts.from_frame`, `compromis.frames.evaluate`, `decide`, or the engine's own methods (`to_arrow` of a file).

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\nNA,NA\n")
    >>> counts = cp.Counts.from_frame(cp.frames.scan("sites.csv"), truth="true", prediction="predicted")
    >>> counts.classes
    ('01', '1', 'NA')
    """
    if engine is None and isinstance(where, (str, os.PathLike)) and _is_file(os.fspath(where)):
        frame = FileFrame(os.fspath(where), tuple(numbers))
        if frame.format != "Parquet" or not any(map(find_spec, ("polars", "duckdb"))):
            return frame
    return open_scan(where, engine=engine, numbers=numbers).frame


def _is_file(path: str) -> bool:
    """Return whether a file is meant, perhaps one that is not there, and no folder or pattern."""
    return Path(path).is_file() or not (Path(path).exists() or glob.has_magic(path))


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    r"""Files opened in an engine: their labels are text, as in a small file, and columns of scores hold numbers.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,p_a,p_b\na,0.9,0.1\nb,0.6,0.4\n,0.5,0.5\n")
    >>> opened = cp.frames.open_scan("sites.csv", engine="polars")
    >>> counts, dropped = opened.counts(truth="true", proba=["p_"], drop_missing=True)
    >>> counts.matrix.tolist(), dropped
    ([[1, 0], [1, 0]], 1)
    """

    frame: Any
    """What `scan` returns."""
    files: Files
    """The files behind it."""
    engine: str
    """Who reads them."""

    def counts(
        self,
        *,
        truth: str,
        prediction: str | None = None,
        proba: Sequence[str] = (),
        weight: str | None = None,
        labels: Sequence[str] | None = None,
        drop_missing: bool = False,
    ) -> tuple[Counts, int]:
        """Return the counts of a column of predictions, or of the highest scores, and the rows left out."""
        if prediction is None:
            from compromis.frames.deciding import decide

            class_of = self._class_of(proba, [truth, weight])
            frame = decide(self._numbers([*class_of, weight]), proba=class_of, name=_PREDICTED)
            labels = labels or tuple(class_of.values())
        else:
            frame = self._numbers([weight])
        counts, dropped = count_text_frame(
            frame, truth=truth, prediction=prediction or _PREDICTED, weight=weight, labels=labels or None
        )
        if dropped and not drop_missing:
            raise InputError(
                f"{dropped:,} {'row lacks its' if dropped == 1 else 'rows lack their'} true or predicted class; fill them in, "
                f"or leave those rows out with --drop-missing"
            )
        return Counts(*counts), dropped

    def votes(
        self,
        *,
        truth: str,
        proba: Sequence[str],
        weight: str | None = None,
        bins: int | None = None,
        drop_missing: bool = False,
    ) -> tuple[Votes, int]:
        """Return the vote patterns, and the rows left out."""
        class_of = self._class_of(proba, [truth, weight])
        frame, dropped = self._labelled([*class_of, weight], truth, drop_missing)
        return patterns_of_frame(TextLabels(frame), truth=truth, proba=class_of, weight=weight, bins=bins), dropped

    def points(
        self,
        *,
        truth: str,
        scores: Sequence[str],
        pos_label: str,
        weight: str | None = None,
        bins: int | None = None,
        within: tuple[float, float] | None = None,
        drop_missing: bool = False,
    ) -> tuple[dict[str, OperatingPoints], int]:
        """Return the operating points of each score, and the rows left out."""
        frame, dropped = self._labelled([*scores, weight], truth, drop_missing)
        label = _typed(pos_label, lazy_frame(frame).collect_schema()[truth])
        asked: dict[str, Any] = {"truth": truth, "pos_label": label, "weight": weight, "within": within}
        asked["bins"] = "auto" if bins is None else bins
        return {score: points_of_frame(frame, score=score, **asked) for score in scores}, dropped

    def search_weights(
        self, *, truth: str, proba: Sequence[str], drop_missing: bool = False, **settings: Any
    ) -> tuple[FrameSearch, int]:
        """Return the weights that `compromis.frames.search_weights` finds with these settings, and the rows left out."""
        from compromis.frames.search import search_weights

        class_of = self._class_of(proba, [truth])
        frame, dropped = self._labelled([*class_of], truth, drop_missing)
        return search_weights(TextLabels(frame), truth=truth, proba=class_of, **settings), dropped

    def _class_of(self, proba: Sequence[str], taken: Sequence[str | None]) -> dict[str, str]:
        """Return the class of each column of scores, in the order of the classes."""
        names = [name for name in lazy_frame(self.frame).collect_schema().names() if name not in taken]
        return dict(sorted(score_columns(proba, names).items(), key=lambda item: item[1]))

    def _numbers(self, names: Sequence[str | None]) -> Any:
        return _with_numbers(self.frame, [name for name in names if name is not None])

    def _labelled(self, numbers: Sequence[str | None], truth: str, drop: bool) -> tuple[Any, int]:
        """Return the frame with its numbers and without rows that lack their true class, and the number of those."""
        frame = self._numbers(numbers)
        pick_column(truth, lazy_frame(frame).collect_schema().names())
        return drop_missing(frame, truth) if drop else (frame, 0)


_PREDICTED = "compromis decision"


def _typed(label: str, kind: Any) -> Any:
    """Return a label given as text in the type of its column."""
    try:
        if kind.is_integer():
            return int(label)
        if kind.is_float():
            return float(label)
    except ValueError:
        return label
    return {"true": True, "false": False}.get(label, label) if kind == nw.Boolean else label


def open_scan(
    where: Where | Sequence[Where],
    *,
    engine: str | None = None,
    numbers: Sequence[str] = (),
    cluster: str | None = None,
) -> Scan:
    r"""Open files as `scan` does, and keep what tells whether they changed meanwhile.

    Parameters
    ----------
    where, engine, numbers
        As in `scan`.
    cluster : str, optional
        The address of a Dask or Spark cluster, such as ``tcp://host:8786``.

    Examples
    --------
    >>> import compromis as cp
    >>> with open("sites.csv", "w") as file:
    ...     _ = file.write("true,predicted\n01,1\nNA,NA\n")
    >>> opened = cp.frames.open_scan("sites.csv", engine="polars")
    >>> opened.counts(truth="true", prediction="predicted")[0].classes
    ('01', '1', 'NA')
    >>> opened.files.check_unchanged()
    """
    files = Files.find(where)
    chosen = choose_engine(engine, files.format)
    if cluster is not None and chosen not in CONNECT:
        raise InputError(f"a cluster is for the engines {' and '.join(CONNECT)}, not for {chosen}")
    layout = read_layout(files, chosen)
    if cluster is not None:
        CONNECT[chosen](cluster)
    try:
        frame = OPENERS[chosen](files, layout)
        return Scan(_with_numbers(frame, numbers), files, chosen)
    except (CompromisError, MemoryError):
        raise
    except BaseException as error:  # every engine has its own tree of errors
        if not is_failure(error):
            raise
        raise InputError(f"{files.paths[0]} cannot be read as {files.format}: {first_line(error)}") from error


def _with_numbers(frame: Any, numbers: Sequence[str]) -> Any:
    """Return the frame with text columns as numbers; spaces around them do not matter."""
    lazy = lazy_frame(frame)
    schema = lazy.collect_schema()
    texts = [name for name in numbers if schema[pick_column(name, schema.names())] == nw.String]
    if not texts:
        return frame
    return lazy.with_columns(*(nw.col(name).str.strip_chars().cast(nw.Float64) for name in texts)).to_native()
