"""Names cannot give orders to the terminal: control characters of labels, columns and files are spelled out."""

from __future__ import annotations

import csv

import pytest
from click.testing import CliRunner

import compromis as cp
from compromis.cli import main

BAD = "\x1b[2J\x07x\x9b31m"
COMMANDS = {
    "tune": ["tune", "FILE", "--truth", "truth", "--proba", "p_", "--prioritise", BAD],
    "evaluate": ["evaluate", "FILE", "--truth", "truth", "--prediction", "d", "--prioritise", BAD],
    "evaluate scores": ["evaluate", "FILE", "--truth", "truth", "--proba", "p_", "--confidence", "0.9"],
    "tradeoff": ["tradeoff", "FILE", "--truth", "truth", "--score", f"p_{BAD}", "--pos-label", BAD],
    "compare": ["compare", "FILE", "--truth", "truth", "--prediction", "d", "--prediction", f"e{BAD}"],
    "preferences": ["preferences", "--label", BAD, "--label", "b", "--output", "preferences.toml"],
    "count": ["count", "FILE", "--truth", "truth", "--prediction", "d", "--output", "part.json"],
    "a column that is not there": ["evaluate", "FILE", "--truth", BAD, "--prediction", "d"],
    "a file that is not there": ["evaluate", f"no{BAD}.csv", "--truth", "truth", "--prediction", "d"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_control_character_reaches_the_terminal(name, tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["truth", "d", f"e{BAD}", f"p_{BAD}", "p_b"])
        writer.writerows(
            [BAD if k % 2 else "b", BAD if k % 3 else "b", BAD if k % 5 else "b", 1 + k % 3, 2] for k in range(20)
        )
    arguments = [str(path) if part == "FILE" else part for part in COMMANDS[name]]
    # without color=True click leaves colours out itself
    done = CliRunner().invoke(main, arguments, input="\n" * 20, color=True)
    assert done.exit_code == (2 if "not there" in name else 0), done.output
    found = [line for line in done.output.splitlines() if not line.isprintable()]
    assert found == []


def test_a_name_of_two_lines_forges_none_in_a_comparison():
    points = cp.OperatingPoints.from_predictions([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6], pos_label=1)
    bad, plain = "a\nforged by a name", "a forged by a name "
    texts = [cp.compare_curves({name: points, "b": points}, metric="f").report() for name in (bad, plain)]
    assert [len(text.splitlines()) for text in texts] == [len(texts[1].splitlines())] * 2
    assert r"a\nforged by a name" in texts[0]
