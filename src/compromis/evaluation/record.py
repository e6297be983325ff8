"""The record of a decision: what was wanted, on which evidence, what holds, at what price; anybody with the evidence can compute it again.

A record is JSON in one form only, sealed by its own SHA-256, and names the SHA-256 of the evidence file. Whoever verifies it trusts
no number in it: decision, preferences and evidence give them all once more.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date
from importlib.metadata import version
from typing import Any

import msgspec

from compromis._files import check_version, file_bytes
from compromis._results import Result, environment, shared_style, written
from compromis._text import Finding, Table, count, fixed, shown, shown_label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.evidence.files import EvidenceFile, encoded
from compromis.evidence.votes import Votes
from compromis.measures.headline import headline_of
from compromis.measures.pragma import pragma
from compromis.preferences import PreferenceArrays, Preferences, read_preferences
from compromis.uncertainty.verdict import Verdict, verdict_on
from compromis.weights.decision import Decision
from compromis.weights.guarantee import CALIBRATIONS, Guarantee, by_order_statistic, demands_of
from compromis.weights.guarded import what_holds
from compromis.weights.problem import SearchProblem
from compromis.weights.review import Reviewed
from compromis.weights.search import columns_under

_APART = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
"""What parts raise that do not go together; an InputError is a ValueError."""
_NEAR = 1e-9
"""Relative: numbers that differ by less are one on any machine."""
_SOFTWARE = ("numpy", "scipy", "scikit-learn")
ROWS = ("own", "new")
"""Whether the evidence is the rows that chose the weights, or others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What no evidence tells: who calls it what, when, and how the weights were found."""

    title: str
    made: str
    """The date of the record."""
    collected: str | None
    """When and where the rows were collected, in the words of who did."""
    valid_until: str | None
    """The date after which `check` asks for a new record."""
    rows: str
    """own: the evidence chose the weights; new: it did not."""
    method: str
    """How the weights were found."""
    software: dict[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(Result):
    """The record of a decision; `to_json` writes what `verify` reads, `to_html` a page to sign.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["bad"] * 60 + ["good"] * 90, [[0.8, 0.2]] * 60 + [[0.3, 0.7]] * 90)
    >>> preferences = cp.Preferences({"bad": cp.Preference(10, min_recall=0.95, confidence=0.95)})
    >>> search = cp.search_weights(votes, preferences=preferences)
    >>> record = search.decision.record(votes, preferences=preferences, search=search, title="Parts, line 3")
    >>> record.guarantee.given
    True
    >>> _ = record.to_json("record.json"), cp.evidence.write(votes, "evidence.json")
    >>> cp.evaluation.Record.verify("record.json", "evidence.json").facts.title
    'Parts, line 3'
    """

    decision: Decision
    preferences: Preferences
    evidence: Votes
    facts: Facts
    counts: Counts
    arrays: PreferenceArrays
    verdict: Verdict
    guarantee: Guarantee | None
    review: Reviewed | None
    """What a person looks at, where the decision has the third answer."""

    schema = "compromis/record"

    @classmethod
    def make(
        cls,
        decision: Decision,
        evidence: Votes,
        preferences: Preferences,
        facts: Facts,
        claimed: Mapping[str, Any] | None = None,
    ) -> Record:
        """Return the record; `claimed` is what of a guarantee cannot be computed again: the weights without it, halving, whose votes."""
        _check(decision, evidence, preferences, facts)
        counts = evidence.counts(decision.weights, smoothing=decision.smoothing)
        problem = SearchProblem.read(evidence, preferences, smoothing=decision.smoothing, max_ratio=None)
        return cls(
            decision=decision,
            preferences=preferences,
            evidence=evidence,
            facts=facts,
            counts=counts,
            arrays=problem.arrays,
            verdict=verdict_on(counts, problem.arrays, rows="own" if facts.rows == "own" else "given"),
            guarantee=None if claimed is None else _guarantee(problem, decision, claimed),
            review=None if decision.review is None else decision.review_on(evidence, preferences=preferences),
        )

    @property
    def summary(self) -> dict[str, float]:
        """Rows, loss, and whether there is a guarantee."""
        given = self.guarantee is not None and self.guarantee.given
        return {"rows": self.counts.rows, "loss": self.verdict.loss, "given": float(given)}

    def limits(self) -> list[str]:
        """Return what the record does not cover, in sentences."""
        lines = [
            "everything holds for new rows that are drawn like those of the evidence, not where the rows within a class change"
        ]
        if self.evidence.strata is not None:
            labelled, whole = count(self.evidence.rows), f"{self.counts.total:,.0f}"
            lines = [
                f"numbers are estimated for {whole} rows from {labelled} labelled ones, and hold for new rows like these {whole}"
            ]
        if self.arrays.min_precision.any():
            lines.append("a precision holds for the class shares of the evidence alone; a recall holds for any")
        if self.guarantee is None and self._unheld:
            lines.append(self._unheld)
        elif self.guarantee is None:
            lines += [_UNSURE] * bool(self.arrays.has_minimum.any())
        elif not self.guarantee.exact:
            lines.append(f"the confidence is {CALIBRATIONS[self.guarantee.calibration]}")
        if self.evidence.left_out:
            lines.append(f"{count(self.evidence.left_out)} rows without any vote are left out")
        if self.guarantee is not None:
            lines += self.guarantee.conditions()
        if self.review is not None:
            lines.append("verdict, rates and guarantee are of what is decided where nobody looks")
        if self.facts.rows == "own":
            lines.append(
                "loss, rates and verdict are of the rows that chose the weights, and look better there than on new rows"
            )
        return lines

    def columns(self) -> dict[str, list[Any]]:
        """Return the numbers of each class, column by column."""
        return columns_under(self.decision.weights, self.counts)

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, the seal last."""
        guarantee, review, votes = self.guarantee, self.review, self.evidence
        content = {
            **self.heading(),
            "facts": asdict(self.facts),
            "decision": self.decision.document(),
            "preferences": self.preferences.to_toml_text(),
            "evidence": {
                "sha256": fingerprint(encoded(votes)),
                "rows": votes.rows,
                "left_out": votes.left_out,
                "classes": [list(pair) for pair in zip(votes.classes, votes.support.tolist(), strict=True)],
            },
            "numbers": {
                "loss": pragma(self.counts, self.arrays).total,
                "matrix": self.counts.matrix.tolist(),
                "by_class": self.columns(),
            },
            "verdict": _without_heading(self.verdict),
            "guarantee": None if guarantee is None else _without_heading(guarantee),
            **({} if review is None else {"review": _without_heading(review)}),
            "limits": self.limits(),
        }
        return {**content, "seal": _seal(content)}

    def sentences(self) -> list[str]:
        """Return what is found and missed, the verdict, what was wanted, what is guaranteed, and the limits."""
        facts = self.facts
        until = f", valid until {facts.valid_until}" if facts.valid_until else ""
        collected = f", collected {facts.collected}" if facts.collected else ""
        guaranteed = [] if self.guarantee is None else [f"guarantee: {item}" for item in self.guarantee.items]
        reviewed = [] if self.review is None else self.review.sentences()
        first, *more = headline_of(self.counts, self.arrays, state=self.verdict.state).sentences()
        return [
            Finding(first, "headline"),
            *more,
            *self.verdict.findings(),
            f"{facts.title}: recorded {facts.made}{until}, on {count(self.evidence.rows)} rows{collected}; weights: {facts.method}",
            *(f"wanted: {line.rstrip('.')}" for line in self.preferences.describe().split("\n")),
            *guaranteed,
            *reviewed,
            *(f"limit: {limit}" for limit in self.limits()),
        ]

    def tables(self) -> list[Table]:
        """Return the classes, the price, and what names the evidence."""
        header = ["Class", "Weight", "Support", "Predicted", "Recall", "Precision"]
        rows = [
            [str(label), f"{weight:.4g}", count(support), count(predicted), *map(fixed, rates)]
            for label, weight, support, predicted, *rates in zip(*self.columns().values(), strict=True)
        ]
        document = self.document()
        names = [
            ["evidence", document["evidence"]["sha256"]],
            ["seal", document["seal"]],
            *([name, text] for name, text in {"compromis": document["compromis"], **self.facts.software}.items()),
        ]
        return [
            Table("Decision: the class of the largest weight x votes", header, rows),
            *([] if self.guarantee is None else self.guarantee.tables()),
            *([] if self.review is None else self.review.tables()),
            Table("Fingerprints and software", ["Of", "SHA-256 or version"], names),
        ]

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the record as one HTML page that needs no network; with `path`, also write it there, atomically."""
        page = environment().get_template("record.html").render(result=self, style=shared_style())
        return written(page, path)

    @property
    def lapsed(self) -> bool:
        """Whether the date until which it is valid has passed."""
        until = self.facts.valid_until
        return until is not None and date.today() > date.fromisoformat(until)

    @property
    def _unheld(self) -> str:
        """What is said where a confidence was asked for, and nobody knows whether the decision holds it; else nothing."""
        if self.guarantee is not None or not self.arrays.confidence.any():
            return ""
        return "a confidence was asked for, but the search that would hold it was not recorded: nothing is guaranteed"

    def failures(self) -> list[str]:
        """Return why the decision may not be used any more, or never might, in sentences; empty where it may."""
        lines = (
            [f"the record lapsed on {self.facts.valid_until}; record the decision again on new rows"]
            if self.lapsed
            else []
        )
        lines += [
            f"guarantee {item}" for item in ([] if self.guarantee is None else self.guarantee.items) if not item.given
        ]
        lines += [self._unheld] if self._unheld else []
        lines += [str(missed) for missed in self.verdict.constraints]
        return lines if self.verdict.state == "better" else [*lines, str(self.verdict)]

    @classmethod
    def verify(cls, record: str | os.PathLike[str], evidence: str | os.PathLike[str]) -> Record:
        """Return the record in a file if every number follows from the evidence file; else say in a sentence what does not.

        Parameters
        ----------
        record : path
            What `to_json` wrote.
        evidence : path
            The evidence that it names, as `compromis.evidence.write` wrote it.
        """
        name, data = os.fspath(record), file_bytes(record)
        stated = _read(name, data)
        found = file_bytes(evidence)
        if fingerprint(found) != stated["evidence"]["sha256"]:
            raise InputError(f"{os.fspath(evidence)} is not the evidence of {name}: its SHA-256 is another")
        votes = EvidenceFile.from_bytes(found, os.fspath(evidence)).evidence
        if not isinstance(votes, Votes):
            raise InputError(f"{os.fspath(evidence)} holds no votes; a record is of a decision on votes")
        try:
            again = cls._again(stated, votes)
        except _APART as error:
            raise InputError(f"{name} is refused, its parts do not go together: {error}") from error
        computed = msgspec.json.decode(msgspec.json.encode(again.document()))
        if stated["compromis"] != computed["compromis"]:  # another version may say the same in other words
            with suppress(LookupError, TypeError):  # what is not there is the first difference
                computed["limits"] = stated["limits"]
                computed["verdict"]["sentence"] = stated["verdict"]["sentence"]
        differing = _first_difference(stated, computed | {"compromis": stated["compromis"], "seal": stated["seal"]})
        if differing is not None:
            raise InputError(f"{name} is refused: {differing} does not follow from the evidence")
        return again

    @classmethod
    def parts(cls, record: str | os.PathLike[str]) -> tuple[Decision, Preferences]:
        """Return the decision and the preferences in a file, whose seal must fit; `verify` looks at the numbers too."""
        name = os.fspath(record)
        stated = _read(name, file_bytes(record))
        try:
            return _decision_in(stated), Preferences.from_toml_text(stated["preferences"], name=f"what {name} holds")
        except _APART as error:
            raise InputError(f"{name} is no record of compromis: {error}") from error

    @classmethod
    def _again(cls, stated: dict[str, Any], votes: Votes) -> Record:
        decision = _decision_in(stated)
        preferences = Preferences.from_toml_text(stated["preferences"], name="the record's preferences")
        facts = msgspec.convert(stated["facts"], Facts)
        return cls.make(decision, votes, preferences, facts, stated["guarantee"])


def record_of(
    decision: Decision,
    evidence: Votes,
    *,
    preferences: Preferences | Mapping[Any, Any],
    search: Any = None,
    title: str = "Decision",
    collected: str | None = None,
    valid_until: date | str | None = None,
    made: date | str | None = None,
    rows: str = "own",
) -> Record:
    """Return the record of a decision; see `Decision.record`."""
    wanted = read_preferences(preferences)
    if wanted is None:
        raise InputError("a record says what was wanted; give preferences", "preferences")
    found = None if search is None else _document_of(search)
    facts = Facts(
        title=title,
        made=str(date.today() if made is None else made),
        collected=collected,
        valid_until=None if valid_until is None else str(valid_until),
        rows=rows,
        method="given"
        if found is None
        else f"{found['method']} search{', proven best on these rows' if found['optimal'] else ''}",
        software={"python": platform.python_version(), **{name: version(name) for name in _SOFTWARE}},
    )
    claimed = None if found is None else found.get("guarantee")
    made_of = Record.make(decision, evidence, wanted, facts, claimed)
    if found is not None:
        _check_search(found, made_of)
    return made_of


_UNSURE = (
    "no confidence was asked for: about every second such decision misses on new rows the minima that it meets on these"
)


def fingerprint(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def _document_of(search: Any) -> dict[str, Any]:
    """Return a search as plain data: a WeightSearch, or the document that it wrote."""
    plain = search if isinstance(search, Mapping) else search.document()
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plain))
    if "by" in document:
        raise InputError(
            "one evidence file does not say which group a row is of, so nobody could verify minima by group from it; record each group's "
            "rows on their own",
            "search",
        )
    return document


def _check(decision: Decision, evidence: Any, preferences: Preferences, facts: Facts) -> None:
    if not isinstance(evidence, Votes):
        raise InputError(f"the evidence of a record is compromis.Votes, got {type(evidence).__name__}", "evidence")
    if decision.classes != evidence.classes:
        raise InputError(
            "the decision and the evidence have other classes, or another order; use Decision.for_classes", "evidence"
        )
    for name in ("made", "valid_until"):
        given = getattr(facts, name)
        try:
            date.fromisoformat(given or "2000-01-01")
        except ValueError:
            raise InputError(f"{name} is a date such as 2026-12-31, got {given!r}", name) from None
    if facts.rows not in ROWS:
        raise InputError(f"rows is 'own' (they chose the weights) or 'new', got {facts.rows!r}", "rows")
    preferences.to_toml_text()  # raises where a metric is one's own code


def _guarantee(problem: SearchProblem, decision: Decision, claimed: Mapping[str, Any]) -> Guarantee:
    """Return what the evidence gives, by the halving and beside the weights that were claimed."""
    demands, before = demands_of(problem.arrays), Decision(decision.classes, claimed["before"])
    if not demands or (claimed["half"] is None) != by_order_statistic(demands):
        raise InputError("the guarantee is not of what the preferences ask for")
    found = what_holds(problem, demands, decision.weights, before.weights, claimed["half"])
    if claimed["calibration"] not in CALIBRATIONS:
        raise InputError(f"there are no rows of the kind {claimed['calibration']!r}")
    return replace(found, calibration=claimed["calibration"])


def _check_search(found: Mapping[str, Any], record: Record) -> None:
    """Raise if the search was not of this decision, or what it found is not what the evidence gives."""
    computed = msgspec.json.decode(msgspec.json.encode(record.document()))
    for name, mine, other in (
        ("weights", found["weights"], computed["decision"]["weights"]),
        ("counts", found["counts"]["matrix"], computed["numbers"]["matrix"]),
        ("guarantees", (found.get("guarantee") or {}).get("items"), (computed["guarantee"] or {}).get("items")),
    ):
        if _first_difference(mine, other) is not None:
            raise InputError(
                f"search was not made on this evidence, for its {name} differ; give the Votes that were searched",
                "search",
            )
    if not math.isclose(found["loss"], record.verdict.loss, rel_tol=1e-9, abs_tol=1e-12):
        raise InputError(
            f"preferences are not those of the search: by them its {record.verdict.measure} is {record.verdict.loss:.4f}, but it found "
            f"{found['loss']:.4f}; give the preferences that it was made with",
            "preferences",
        )


def _decision_in(stated: Mapping[str, Any]) -> Decision:
    if not isinstance(stated["decision"], dict):  # a text would be the name of a file
        raise InputError(f"its decision is no decision but {shown([stated['decision']])}")
    return Decision.from_json(msgspec.json.encode(stated["decision"]).decode())


def _without_heading(result: Result) -> dict[str, Any]:
    return {name: value for name, value in result.document().items() if name not in result.heading()}


def _canonical(content: Mapping[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _seal(content: Mapping[str, Any]) -> str:
    return fingerprint(_canonical(content))


def _read(name: str, data: bytes) -> dict[str, Any]:
    """Return a record as plain data; anything that `to_json` did not write, to the last byte, is refused."""
    try:
        check_version(data, name, Record.schema, "record the decision again")
        stated = msgspec.json.decode(data)
        content = {field: value for field, value in stated.items() if field != "seal"}
        whole = _canonical(stated) == data and stated.get("seal") == _seal(content)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ArithmeticError) as error:
        raise InputError(f"{name} is no record of compromis: {error}") from error
    if not whole:
        raise InputError(f"{name} was changed after it was written: its seal does not fit")
    if not isinstance(stated.get("compromis"), str):
        raise InputError(f"{name} is no record of compromis: it does not say which version wrote it")
    if not isinstance(stated.get("evidence"), dict) or "sha256" not in stated["evidence"]:
        raise InputError(f"{name} is no record of compromis: it names no evidence")
    return dict(stated)


def _first_difference(stated: Any, computed: Any, where: str = "") -> str | None:
    """Return where two documents differ, numbers by more than rounding; None where they do not."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        if stated.keys() != computed.keys():
            return f"the set of fields of {where or 'the record'}"
        return next(
            filter(None, (_first_difference(stated[k], computed[k], f"{where}.{k}".strip(".")) for k in stated)), None
        )
    if isinstance(stated, list) and isinstance(computed, list) and len(stated) == len(computed):
        pairs = enumerate(zip(stated, computed, strict=True))
        return next(filter(None, (_first_difference(a, b, f"{where}[{i}]") for i, (a, b) in pairs)), None)
    if type(stated) is type(computed) is float:
        return None if math.isclose(stated, computed, rel_tol=_NEAR, abs_tol=1e-12) else where
    return None if type(stated) is type(computed) and stated == computed else shown_label(where or "it")
