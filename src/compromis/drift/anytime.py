"""A test of minima that may be looked at after every row: labels trickle in, and an alarm is false in 1 % of all streams at most.

Against a rate of wrong rows of at most 1 - minimum stand mixtures of likelihood ratios: over larger rates, and over the row from which
the larger rate holds. Such a mixture is a supermartingale that starts at 1, so it ever reaches 100 in at most 1 % of streams
(Ville's inequality), however long they are and however often one looks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec
import numpy as np

from compromis._files import Head, decode_document, file_bytes
from compromis._results import Result, columns_of
from compromis._text import Table, count, fixed
from compromis._typing import Floats, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.measures.rates import rows_and_wrong
from compromis.preferences import PreferenceArrays

SURE = 0.01
"""The chance that any of the tests ever raises a false alarm."""
TIMES = np.array([1.5, 2.5, 4.0, 8.0])
"""The odds of a wrong row that are mixed over, as multiples of those at the minimum."""
AT_ONCE, PACE = 0.3, 50
"""The weight of a start with the first row; of the rest, the square root of PACE / (PACE + t) is left for starts after row t."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnytimeTest:
    """The test of one minimum: how many rows were seen, how many were wrong, and the evidence against the minimum."""

    label: Label
    rate: str
    """recall (the rows of the class are seen) or precision (the rows predicted as it)."""
    minimum: float
    limit: float = 1 / SURE
    """The evidence at which there is an alarm."""
    rows: int = 0
    wrong: int = 0
    terms: tuple[float, ...] = (math.log(AT_ONCE),) * len(TIMES)
    """The logarithm of each term of the mixture, one for each of the larger rates."""
    largest: float = 1.0
    """The largest evidence so far."""
    alarm_rows: int | None = None
    """After so many rows the alarm was raised; None where there is none."""

    def after(self, rows: int, wrong: int) -> AnytimeTest:
        """Return the test after so many rows more, of which so many are wrong."""
        if not rows:
            return self
        chance = 1 - self.minimum
        other = chance * TIMES / (1 - chance + chance * TIMES)
        if chance == 0:  # a single wrong row disproves a minimum of 1
            other = np.full(len(TIMES), 0.5)
        with np.errstate(divide="ignore"):
            ratio = wrong * (np.log(other) - np.log(chance)) if wrong else 0.0
            ratio = ratio + (rows - wrong) * np.log((1 - other) / (1 - chance))
            started = np.log(_left(self.rows) - _left(self.rows + rows))
        terms = np.minimum(np.logaddexp(self.terms, started) + ratio, 1e6)
        seen = self.rows + rows
        largest = max(self.largest, _evidence(terms, seen))
        alarm = seen if self.alarm_rows is None and largest >= self.limit else self.alarm_rows
        added = replace(self, rows=seen, wrong=self.wrong + wrong, terms=tuple(terms.tolist()))
        return replace(added, largest=largest, alarm_rows=alarm)

    @property
    def evidence(self) -> float:
        """How many times more probable the rows are where the rate has fallen below its minimum than where it has not."""
        return _evidence(np.array(self.terms), self.rows)

    @property
    def alarm(self) -> bool:
        """Whether the rate has surely fallen below its minimum."""
        return self.alarm_rows is not None

    def __str__(self) -> str:
        of = "of the class" if self.rate == "recall" else "predicted as it"
        seen = f"{count(self.wrong)} of {count(self.rows)} labelled rows {of} are wrong"
        asked = f"{self.rate} of {self.label!r}"
        if self.alarm_rows is None:
            return f"{asked} at least {self.minimum:g}: {seen}, evidence {self.evidence:.3g} (alarm at {self.limit:g})"
        return (
            f"ALARM: {asked} has fallen below {self.minimum:g}: {seen}, the alarm was raised after {count(self.alarm_rows)}; "
            f"tune again on new labelled rows"
        )


def _left(rows: int) -> float:
    """Return the weight of all starts after so many rows."""
    return (1 - AT_ONCE) * math.sqrt(PACE / (PACE + rows))


def _evidence(terms: Floats, rows: int) -> float:
    with np.errstate(over="ignore"):
        return float(min(np.exp(terms).mean() + _left(rows), 1e300))


@dataclass(frozen=True, kw_only=True)
class AnytimeTests(Result):
    """The tests of all minima, to be carried on from day to day: ``tests.after("Monday", counts)``.

    All tests together raise a false alarm in at most 1 % of streams, however long, so that one may look after every row. The labelled
    rows of a class are to be drawn at random; a test of precision takes the class shares as a part of what it watches.

    Examples
    --------
    >>> import compromis as cp
    >>> preferences = cp.Preferences({"fraud": cp.Preference(min_recall=0.95, confidence=0.95)})
    >>> tests = cp.drift.AnytimeTests.of(["fraud", "ok"], preferences)
    >>> tests = tests.after("Monday", cp.Counts.from_matrix([[57, 3], [20, 900]], ["fraud", "ok"]))
    >>> print(tests.tests[0])
    recall of 'fraud' at least 0.95: 3 of 60 labelled rows of the class are wrong, evidence 0.602 (alarm at 100)
    >>> tests.after("Tuesday", cp.Counts.from_matrix([[46, 14], [20, 900]], ["fraud", "ok"])).alarm
    True
    """

    tests: tuple[AnytimeTest, ...]
    periods: tuple[str, ...] = ()
    """The periods that were added, each once."""

    schema = "compromis/anytime tests"

    @classmethod
    def of(cls, classes: Sequence[Any], preferences: Any) -> AnytimeTests:
        """Return the tests of the minima in preferences, before the first row."""
        return cls.on(preferences.on(tuple(classes)))

    @classmethod
    def on(cls, arrays: PreferenceArrays) -> AnytimeTests:
        """Return the tests of the minima that are laid out, before the first row."""
        asked, of = arrays.minima, arrays.classes
        limit = len(asked) / SURE
        return cls(
            tests=tuple(AnytimeTest(label=of[k], rate=rate, minimum=least, limit=limit) for rate, k, least in asked)
        )

    def after(self, period: str, counts: Counts) -> AnytimeTests:
        """Return the tests after the labelled rows of a period, each of which is added once."""
        if period in self.periods:
            raise InputError(
                f"the rows of {period!r} were added to the tests before, and rows that count twice are no evidence; leave it out, "
                f"or give the period another name"
            )
        if counts.matrix.dtype.kind == "f":
            raise InputError("the tests count rows that were drawn one by one; leave sample weights out")
        return replace(
            self,
            tests=tuple(test.after(*_added_rows(counts, test)) for test in self.tests),
            periods=(*self.periods, period),
        )

    @property
    def alarm(self) -> bool:
        """Whether any rate has surely fallen below its minimum."""
        return any(test.alarm for test in self.tests)

    @property
    def summary(self) -> dict[str, float]:
        """The evidence against each minimum."""
        return {f"{test.rate} of {test.label}": test.evidence for test in self.tests}

    def columns(self) -> dict[str, list[Any]]:
        """Return the tests, column by column."""
        columns = columns_of(self.tests, AnytimeTest)
        return {**columns, "evidence": [test.evidence for test in self.tests]}

    def document(self) -> dict[str, Any]:
        """Return what `to_json` writes, which `from_json` reads."""
        return {**self.heading(), "tests": [asdict(test) for test in self.tests], "periods": list(self.periods)}

    def sentences(self) -> list[str]:
        """Return each test in a sentence."""
        return list(map(str, self.tests))

    def tables(self) -> list[Table]:
        """Return the tests."""
        rows = []
        for test in self.tests:
            numbers = [count(test.rows), count(test.wrong), fixed(test.evidence), f"{test.limit:g}"]
            rows.append([f"{test.rate} of {test.label}", f"{test.minimum:g}", *numbers])
        return [Table("Anytime tests", ["Minimum of", "At least", "Rows", "Wrong", "Evidence", "Alarm at"], rows)]

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> AnytimeTests:
        """Read the tests from a file that `to_json` wrote; anything else is refused."""
        name, data = os.fspath(path), file_bytes(path)
        told = {"again": "begin the tests again", "refusal": "holds no anytime tests of compromis"}
        document = decode_document(data, name, _Document, schema=cls.schema, **told)
        tests = tuple(AnytimeTest(**msgspec.structs.asdict(test)) for test in document.tests)
        if not all(map(_holds_together, tests)):
            raise InputError(f"{name} does not hold together; begin the tests again")
        return cls(tests=tests, periods=tuple(document.periods))

    def check_for(self, arrays: PreferenceArrays) -> AnytimeTests:
        """Return the tests, if they are those of these minima; else say which differ."""
        wanted = AnytimeTests.on(arrays).tests
        for mine, other in zip(self.tests, wanted, strict=False):
            if (mine.label, mine.rate, mine.minimum) != (other.label, other.rate, other.minimum):
                break
        else:
            if len(self.tests) == len(wanted):
                return self
        minima = (
            ", ".join(f"{test.rate} of {test.label!r} at least {test.minimum:g}" for test in self.tests) or "nothing"
        )
        raise InputError(f"the tests are of other minima than the preferences set ({minima}); begin new ones", "tests")


def _added_rows(counts: Counts, test: AnytimeTest) -> tuple[int, int]:
    if test.label not in counts.classes:
        return 0, 0
    return rows_and_wrong(counts, test.rate, counts.classes.index(test.label))


def _holds_together(test: AnytimeTest) -> bool:
    return (
        test.rate in ("recall", "precision")
        and 0 < test.minimum <= 1
        and test.limit >= 1 / SURE
        and 0 <= test.wrong <= test.rows < 2**63
        and len(test.terms) == len(TIMES)
        and test.largest >= test.evidence * (1 - 1e-9)
        and (test.alarm_rows is None) == (test.largest < test.limit)
        and (test.alarm_rows is None or 0 < test.alarm_rows <= test.rows)
    )


class _Test(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    label: bool | int | float | str
    rate: str
    minimum: float
    limit: float
    rows: int
    wrong: int
    terms: tuple[float, ...]
    largest: float
    alarm_rows: int | None


class _Document(Head, kw_only=True):
    tests: list[_Test]
    periods: list[str]
