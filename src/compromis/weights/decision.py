"""A decision that can be carried elsewhere: classes, weights, smoothing, and nothing else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError, shown
from compromis.evidence.vote_values import read_votes
from compromis.evidence.votes import decide_votes, read_class_weights
from compromis.files import write_whole
from compromis.preferences import Label

SCHEMA = "compromis/decision"
VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Votes in, labels out: the class of the largest weight x (votes + smoothing), the first one in a tie.

    Attributes
    ----------
    classes : tuple
        The labels, in the order of the votes' columns.
    weights : ndarray
        One positive weight per class.
    smoothing : float
        What is added to every vote.

    Examples
    --------
    >>> import compromis as cp
    >>> decision = cp.Decision(("good", "bad"), [1.0, 3.0])
    >>> decision.decide([[0.7, 0.3], [0.8, 0.2]]).tolist()
    ['bad', 'good']
    """

    classes: tuple[Label, ...]
    weights: NDArray[np.float64]
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        object.__setattr__(self, "weights", read_class_weights(self.weights, len(self.classes)))
        if not 0 <= self.smoothing < np.inf:
            raise InputError(f"smoothing is a number of at least 0, got {self.smoothing!r}")

    def decide(self, votes: Any) -> NDArray[Any]:
        """Return the label of each row; rows without any vote get the class that smoothing and weights prefer, else the first."""
        matrix = read_votes(votes, self.classes, None)
        labels = np.empty(len(self.classes), dtype=object)
        labels[:] = self.classes
        decided: NDArray[Any] = np.array(labels.tolist())[decide_votes(matrix, self.weights, self.smoothing)]
        return decided

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the decision as JSON of a versioned schema; with `path`, write it there too, whole or not at all."""
        classes: list[Any] = list(self.classes)
        document = _Document(SCHEMA, VERSION, classes, self.weights.tolist(), self.smoothing)
        text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
        if path is not None:
            write_whole(path, text + "\n")
        return text

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Decision:
        """Read a decision from JSON text or from a file."""
        text = (
            source if isinstance(source, str) and source.lstrip().startswith("{") else Path(source).read_text("utf-8")
        )
        try:
            document = msgspec.json.decode(text, type=_Document)
        except msgspec.DecodeError as error:
            raise InputError(f"this is not a decision of compromis: {error}") from error
        if document.schema != SCHEMA:
            raise InputError(f"this is {document.schema!r}, not {SCHEMA!r}")
        if document.version > VERSION:
            raise InputError(
                f"the decision has version {document.version}, this compromis reads up to {VERSION}; update compromis"
            )
        if len(set(map(repr, document.classes))) < len(document.classes):
            raise InputError(f"each class stands once in a decision, got {shown(document.classes)}")
        return cls(tuple(document.classes), np.array(document.weights), document.smoothing)


class _Document(msgspec.Struct):
    schema: str
    version: int
    classes: list[bool | int | float | str]
    weights: list[float]
    smoothing: float = 0.0
