"""python -m tests.stress: put the promises to the test, print one table, exit 1 if any is broken."""

from __future__ import annotations

import argparse
import sys
import time

from tests.stress.counting import described
from tests.stress.outcome import NotRun, Outcome
from tests.stress.promises import Promise, all_promises
from tests.stress.table import Row, printed, write_page

_SHOWN = 20
"""Failures of one promise that are printed."""


def main(arguments: list[str] | None = None) -> int:
    """Run the promises asked for; return the exit code."""
    asked = _read(arguments)
    left_out = asked.without.split(",")
    wanted = [
        one
        for one in all_promises()
        if one.number not in left_out and (not asked.only or one.number in asked.only.split(","))
    ]
    rows = []
    for promise in wanted:
        rows.append(put_to_the_test(promise, asked.scale))
        for failure in rows[-1].outcome.failures[:_SHOWN] if rows[-1].outcome else ():
            print(f"  broken, promise {promise.number}, {failure}")
        if asked.write:  # each as it is known: the whole takes more than an hour
            write_page(rows[-1:])
    print(printed(rows))
    return 0 if rows and all(row.passed or row.outcome is None for row in rows) else 1


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("--only", help="numbers of promises, separated by commas")
    parser.add_argument("--without", default="", help="numbers of promises to leave out, separated by commas")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of cases")
    parser.add_argument("--write", action="store_true", help="write the results into docs/reliability.md")
    return parser.parse_args(arguments)


def put_to_the_test(promise: Promise, scale: float) -> Row:
    """Run one promise; what it raises is a failure, and a reason not to run is shown as such."""
    begin = time.perf_counter()

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(
                f"\r{promise.number:>3} {done:,} of {total:,}, {time.perf_counter() - begin:.0f} s ",
                end="",
                file=sys.stderr,
            )

    print(f"{promise.number:>3} {promise.title} ...", file=sys.stderr, flush=True)
    try:
        outcome, reason = promise.run(scale, show), ""
    except NotRun as why:
        outcome, reason = None, str(why)
    except Exception as error:
        outcome, reason = Outcome(1, (described(error, "the script itself"),)), ""
    return Row(promise, outcome, time.perf_counter() - begin, scale, reason)


if __name__ == "__main__":
    sys.exit(main())
