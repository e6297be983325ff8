"""Answers in words as votes: how a text is read as a class, and the count of those that name none."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from compromis._results import Result
from compromis._text import Table, count, nearest, shown, shown_label
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.scores import column_labels
from compromis.labels import is_missing, plain_label

AnswerMapping = Mapping[Any, Any] | Callable[[Any], Any]

_REFUSED, _UNREAD = -1, -2
"""What an answer is that names no class: nothing was said, or something that is no class."""
_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u200c\u200d\u2060\ufeff"
_AROUND = _SPACE + "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d()[]{}*_"
_AFTER = _AROUND + ".,;:!?\u2026\u3002\uff0c\uff01\uff1f"
"""White space; quotes, brackets and emphasis, which are left out around an answer; the marks left out after it."""
_LONGER = 4
"""No text of so many times the letters of the longest class is equal to it after case-folding and composing."""
_LONG = 1000
"""Longer texts are compared as they are: composing takes the square of the marks that follow one letter."""
_SHOWN = 5
"""Texts that name no class, told in a sentence."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerCounts(Result):
    """How answers were read as votes: how many name a class, how many are refused, how many name none. They add up with ``+``.

    Examples
    --------
    >>> import compromis as cp
    >>> answers = [["Bug.", "bug", "Feature"], ["a feature?", None, "feature"], ["I cannot say", "", None]]
    >>> votes = cp.Votes.from_answers(answers, labels=["bug", "feature"], y_true=["bug", "feature", "bug"])
    >>> print(votes.answers.sentences()[0])
    9 answers for 3 rows: 4 name a class, 3 are refused or empty, 2 name no class
    >>> votes.answers.texts
    {'a feature?': 1, 'I cannot say': 1}
    """

    members: tuple[Label, ...]
    """Who answered: the columns of the answers or, for rows of answers, their places 1, 2, ..."""
    read: Ints
    refused: Ints
    unread: Ints
    """Of each member the answers that name a class, those that are empty (or that the mapping calls so with None), and those that name
    no class."""
    rows: int
    unanswered: int
    """The rows, and those of them without any answer that names a class."""
    texts: Mapping[str, int]
    """Every text that names no class, and how often it came, the most frequent first."""

    schema = "compromis/answer-counts"

    @property
    def answers(self) -> int:
        """The answers of all members."""
        return int(self.read.sum() + self.refused.sum() + self.unread.sum())

    @property
    def summary(self) -> dict[str, int]:
        """Rows, answers, and what became of them."""
        parts = {name: int(getattr(self, name).sum()) for name in ("read", "refused", "unread")}
        return {"rows": self.rows, "answers": self.answers, **parts, "unanswered": self.unanswered}

    def columns(self) -> dict[str, list[Any]]:
        """Return the answers of each member, column by column."""
        numbers = {name: getattr(self, name).tolist() for name in ("read", "refused", "unread")}
        return {"member": list(self.members), **numbers}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain values; texts with control characters and lone surrogates escaped."""
        texts = [{"text": shown_label(text), "times": times} for text, times in self.texts.items()]
        return {**self.heading(), "summary": self.summary, "members": self.columns(), "texts": texts}

    def sentences(self) -> list[str]:
        """Return what became of the answers, and the texts that name no class."""
        found = self.summary
        parts = f"{found['read']:,} name a class, {found['refused']:,} are refused or empty, {found['unread']:,} name no class"
        sentences = [f"{_number(self.answers, 'answer')} for {_number(self.rows, 'row')}: {parts}"]
        if self.texts:
            first = [f"{shown([text])} ({times:,})" for text, times in [*self.texts.items()][:_SHOWN]]
            more = f" and {len(self.texts) - _SHOWN:,} other texts" if len(self.texts) > _SHOWN else ""
            sentences.append(f"no class: {', '.join(first)}{more}")
        if self.unanswered:
            have = "has" if self.unanswered == 1 else "have"
            sentences.append(f"{_number(self.unanswered, 'row')} {have} no answer that names a class")
        return sentences

    def tables(self) -> list[Table]:
        """Return the answers of each member."""
        rows = [[str(member), *map(count, numbers)] for member, *numbers in zip(*self.columns().values(), strict=True)]
        return [Table("Answers", ["Member", "Name a class", "Refused", "Name none"], rows)]

    def __add__(self, other: AnswerCounts) -> AnswerCounts:
        if not isinstance(other, AnswerCounts):
            return NotImplemented
        members = tuple(dict.fromkeys((*self.members, *other.members)))
        sums = {name: self._of(members, name) + other._of(members, name) for name in ("read", "refused", "unread")}
        return AnswerCounts(
            members=members,
            **sums,
            rows=self.rows + other.rows,
            unanswered=self.unanswered + other.unanswered,
            texts=_by_frequency(Counter(self.texts) + Counter(other.texts)),
        )

    def _of(self, members: Sequence[Label], name: str) -> Ints:
        numbers = dict(zip(self.members, getattr(self, name).tolist(), strict=True))
        return np.array([numbers.get(member, 0) for member in members], dtype=np.int64)


def read_answers(
    answers: Any, classes: Sequence[Label], mapping: AnswerMapping | None = None, *, log_proba: bool = False
) -> tuple[Floats, AnswerCounts]:
    """Return the votes of each row for each class, and how the answers were read; see `Votes.from_answers`."""
    laid_out = _lay_out(answers, numbers=log_proba)
    reader = _Reader(classes, mapping)
    votes = np.zeros((laid_out.rows, len(classes)))
    texts: Counter[str] = Counter()
    if log_proba:
        shares, state = _shares(laid_out, reader, len(classes), texts)
        np.add.at(votes, laid_out.row, shares)
    else:
        state = reader.codes(laid_out.answers)
        texts.update(str(laid_out.answers[k]) for k in np.flatnonzero(state == _UNREAD).tolist())
        named = state >= 0
        np.add.at(votes, (laid_out.row[named], state[named]), 1.0)

    def by_member(chosen: Any) -> Ints:
        return np.bincount(laid_out.member[chosen], minlength=len(laid_out.members)).astype(np.int64)

    return votes, AnswerCounts(
        members=laid_out.members,
        read=by_member(state >= 0),
        refused=by_member(state == _REFUSED),
        unread=by_member(state == _UNREAD),
        rows=laid_out.rows,
        unanswered=int((~votes.any(axis=1)).sum()),
        texts=_by_frequency(texts),
    )


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _by_frequency(texts: Counter[str]) -> dict[str, int]:
    return dict(texts.most_common())


class _Answers(NamedTuple):
    """Answers one after the other, each with the positions of its row and of its member."""

    members: tuple[Label, ...]
    answers: list[Any]
    row: Ints
    member: Ints
    rows: int


def _lay_out(answers: Any, *, numbers: bool) -> _Answers:
    columns = _columns(answers)
    given = [_as_list(answers)] if columns is None else [*columns.values()]
    rows = len(given[0]) if given else 0
    if any(len(column) != rows for column in given):
        raise InputError(
            f"answers has columns of {shown(sorted({*map(len, given)}))} rows; each member answers every row, with None where it does not",
            "answers",
        )
    if not rows:
        raise InputError("answers is empty; there are no rows", "answers")
    cells = [_cell(cell, numbers) for column in given for cell in column]
    sizes = np.fromiter(map(len, cells), dtype=np.int64, count=len(cells))
    cell = np.repeat(np.arange(len(cells)), sizes)
    if columns is None:  # of a list of rows, the members are the places in a row
        members: tuple[Label, ...] = tuple(range(1, int(sizes.max()) + 1))
        member = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    else:
        members, member = tuple(columns), cell // rows
    return _Answers(members, [*chain.from_iterable(cells)], cell % rows, member, rows)


def _columns(answers: Any) -> dict[Label, list[Any]] | None:
    """Return the answers of each member where they are columns, of a frame or of a mapping."""
    if not isinstance(answers, Mapping) and column_labels(answers) is None:
        return None
    names = answers if isinstance(answers, Mapping) else getattr(answers, "column_names", answers.columns)
    try:
        return {plain_label(name): _as_list(answers[name]) for name in names}
    except TypeError:
        raise InputError(
            f"answers is a {type(answers).__name__}, whose rows are not in memory; collect it first", "answers"
        ) from None


def _as_list(values: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(
            f"answers must be rows of answers, or columns of them by name, got {type(values).__name__}", "answers"
        )
    return list(values)


def _cell(cell: Any, numbers: bool) -> list[Any]:
    """Return the answers of a cell: one, or several; log-probabilities of all classes are one."""
    if isinstance(cell, (str, bytes, Mapping)) or not isinstance(cell, Iterable):
        return [cell]
    found = _as_list(cell)
    return [found] if numbers and found and isinstance(found[0], (int, float, np.number)) else found


class _Reader(dict[Any, int]):
    """The position of the class that an answer names; each distinct answer is read once."""

    def __init__(self, classes: Sequence[Label], mapping: AnswerMapping | None) -> None:
        self._position: dict[Any, int] = {label: k for k, label in enumerate(classes)}
        texts = {str(label): k for label, k in self._position.items()}
        if not (mapping is None or callable(mapping) or isinstance(mapping, Mapping)):
            raise InputError(
                f"mapping is a table of texts and classes, or a function of a text, got {type(mapping).__name__}",
                "mapping",
            )
        self._function = mapping if callable(mapping) else None
        if isinstance(mapping, Mapping):
            texts |= {str(text): self._class_of(label) for text, label in mapping.items()}
        self._exact = texts
        self._folded, self._bare = (_unlike(texts, form) for form in (_folded, _bare))
        self._longest = _LONGER * max(map(len, texts), default=0)

    def codes(self, answers: Sequence[Any]) -> Ints:
        """Return the position of the class of each answer, or why there is none."""
        try:
            return np.fromiter(map(self.__getitem__, answers), dtype=np.int64, count=len(answers))
        except TypeError as error:
            wrong = [one for one in answers if not isinstance(one, Hashable)]
            raise InputError(
                f"an answer is a text, got {shown(wrong[:1])}; log-probabilities of the classes are read with log_proba=True",
                "answers",
            ) from error

    def __missing__(self, answer: Any) -> int:
        self[answer] = code = self._read(answer)
        return code

    def _read(self, answer: Any) -> int:
        if is_missing(answer) or (isinstance(answer, str) and not answer.strip(_SPACE) and answer not in self._exact):
            return _REFUSED
        if self._function is not None:
            try:
                answer = self._function(answer)
            except Exception as error:
                raise InputError(
                    f"mapping fails at the answer {shown([answer])} ({type(error).__name__}: {shown([str(error)])}); "
                    f"let it return the answer itself where it knows no class",
                    "mapping",
                ) from error
            if is_missing(answer):
                return _REFUSED
        return self._named(plain_label(answer))

    def _named(self, answer: Any) -> int:
        text = str(answer)
        if isinstance(answer, Hashable) and answer in self._position:
            return self._position[answer]
        if text in self._exact:
            return self._exact[text]
        if not text.strip(_SPACE):
            return _REFUSED  # of the mapping
        bare = text.rstrip(_AFTER).lstrip(_AROUND)
        if len(bare) > self._longest:
            return _UNREAD
        return self._folded.get(_folded(text), self._bare.get(_bare(text), _UNREAD))

    def _class_of(self, label: Any) -> int:
        if label is None:
            return _REFUSED
        plain = plain_label(label)
        if plain not in self._position:
            classes = tuple(self._position)
            raise InputError(
                f"mapping names the class {plain!r}, but the classes are {shown(classes)}{nearest(plain, classes)}",
                "mapping",
            )
        return self._position[plain]


def _folded(text: str) -> str:
    bare = text.strip(_SPACE)
    return bare if len(bare) > _LONG else unicodedata.normalize("NFC", bare.casefold())


def _bare(text: str) -> str:
    return _folded(text.rstrip(_AFTER).lstrip(_AROUND))


def _unlike(texts: Mapping[str, int], form: Callable[[str], str]) -> dict[str, int]:
    """Return what each text stands for by its form, without forms that stand for several."""
    by_form: dict[str, set[int]] = {}
    for text, code in texts.items():
        by_form.setdefault(form(text), set()).add(code)
    return {name: codes.pop() for name, codes in by_form.items() if len(codes) == 1 and name}


def _shares(laid_out: _Answers, reader: _Reader, classes: int, texts: Counter[str]) -> tuple[Floats, Ints]:
    """Return the probabilities of the classes in each answer, scaled to 1, and whether it names any; of no class go to `texts`."""
    logs = np.full((len(laid_out.answers), classes), -np.inf)
    state = np.zeros(len(laid_out.answers), dtype=np.int64)
    for k, answer in enumerate(laid_out.answers):
        if isinstance(answer, Mapping):
            codes = reader.codes([*answer])
            texts.update(str(text) for text, code in zip(answer, codes, strict=True) if code == _UNREAD)
            values = _log_values([*answer.values()], len(answer), laid_out.row[k])
            for code in np.unique(codes[codes >= 0]).tolist():
                logs[k, code] = np.logaddexp.reduce(values[codes == code])
        elif is_missing(answer):
            state[k] = _REFUSED
        else:
            logs[k] = _log_values(answer, classes, laid_out.row[k])
    top = logs.max(axis=1, keepdims=True)
    state[(state == 0) & np.isneginf(top[:, 0])] = _UNREAD
    with np.errstate(over="ignore"):  # to -inf, a share of 0
        shares = np.exp(logs - np.where(np.isneginf(top), 0.0, top))
    total = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, total, out=shares, where=total > 0), state


def _log_values(values: Any, number: int, row: int) -> Floats:
    try:
        logs = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        logs = np.empty(0)
    if logs.shape != (number,) or np.isnan(logs).any() or np.isposinf(logs).any():
        raise InputError(
            f"log-probabilities are numbers or -inf, one for each of {number} classes or texts, got {shown([values])} in row {row}",
            "answers",
        )
    return logs
