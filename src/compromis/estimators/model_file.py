"""Model files: a zip of the decision as JSON and the classifier as skops; nothing in it is ever unpickled."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import sklearn

from compromis.deployment.decision import Decision
from compromis.errors import CompromisError, InputError, MissingExtra
from compromis.estimators.table_model import ColumnSpec
from compromis.files import write_whole
from compromis.limits import UNPACKED

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


def save_model(model: TableModel, path: str | os.PathLike[str]) -> None:
    """Write the model to the file, whole or not at all."""
    header = _Header("compromis/model", VERSION, model.target, model.hard, list(model.columns), sklearn.__version__)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", msgspec.json.encode(header))
        archive.writestr("decision.json", model.decision.to_json())
        archive.writestr("classifier.skops", _skops().dumps(model.classifier))
    write_whole(path, stream.getvalue())


def load_model(path: str | os.PathLike[str]) -> TableModel:
    """Read a model file; a classifier made of anything but scikit-learn's and numpy's own types is refused."""
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
