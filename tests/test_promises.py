"""Every promise at a tiny scale, so that the scripts of tests/stress never rot; `make stress` runs them whole."""

from __future__ import annotations

import pytest

from tests.stress.outcome import NotRun, Outcome, silent
from tests.stress.promises import Promise, all_promises
from tests.stress.table import BEGIN, END, Row, write_page


@pytest.mark.parametrize("promise", [pytest.param(one, id=f"{one.number} {one.title}") for one in all_promises()])
def test_the_promise_holds_at_a_tiny_scale(promise):
    try:
        outcome = promise.run(promise.quick, silent)
    except NotRun as reason:
        pytest.skip(str(reason))
    assert outcome.cases > 0
    assert outcome.failures == ()


def test_the_page_keeps_what_it_knows_and_counts_full_runs_only(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\n{END}\nafter\n")

    def row(number, outcome, scale, reason=""):
        return Row(Promise(number, "a | b", 1.0, lambda *_: outcome), outcome, 1.0, scale, reason)

    write_page([row("2", Outcome(7), 1), row("10", Outcome(7, ("wrong",)), 1), row("3", Outcome(7), 0.1)], page)
    assert "1 passed, 1 failed; 1 not run at full count." in page.read_text()
    write_page([row("3", Outcome(7, ("wrong",)), 0.1)], page)
    assert "1 passed, 2 failed." in page.read_text()  # one failure is enough
    write_page([row("3", Outcome(7), 0.1), row("10", Outcome(8), 1), row("+", None, 1, "no Java")], page)
    text = page.read_text()
    assert [line.split()[1] for line in text.splitlines() if line.startswith("| ")][2:] == ["2", "3", "10", "+"]
    assert "2 passed, 0 failed; 2 not run at full count." in text
    write_page([row("3", Outcome(70), 1), row("+", Outcome(2), 1)], page)
    assert "4 passed, 0 failed.\n" + END in page.read_text()
    assert page.read_text().startswith("before")
    assert page.read_text().endswith("after\n")
