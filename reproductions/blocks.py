"""The tables of the READMEs and of docs/reproductions.md, made from the result files: no figure is typed by hand.

A page holds ``<!-- block NAME -->`` and ``<!-- end -->``; what stands between is replaced. Run: python -m reproductions.blocks
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reproductions.answers.table import deployments
from reproductions.sheets import markdown, read
from reproductions.slips import AUTOS, AUTOS_SUPPORT, TABLE_4, two_class_pragma
from reproductions.study import tables as study

HERE = Path(__file__).parent
PAGES = (
    *(HERE / source / "README.md" for source in ("pragma", "taught", "tradeoff_space")),
    *(HERE.parent / "docs" / page for page in ("reproductions.md", "study.md", "answers.md", "review.md")),
)
PRAGMA = HERE / "pragma" / "results"
BLOCK = re.compile(r"(<!-- block (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
Cells = dict[tuple[str, ...], dict[str, str]]


def by(file: str, *keys: str) -> Cells:
    """The rows of a result file by some of their columns."""
    return {tuple(row[key] for key in keys): row for row in read(PRAGMA / file)}


def measured(row: dict[str, str]) -> str:
    return f"{float(row['ours mean']):.1f} ± {float(row['ours sd']):.1f}"


def paper_losses() -> dict[str, tuple[str, str]]:
    """PRAGMA of the paper's classic and tuned forest, by its own formula from its own tables."""
    weights, importance = (0.9, 0.9, 0.5, 0.5, 0.5, 0.5), (10, 10, 1, 1, 1, 1)
    autos = []
    for right, predicted in AUTOS.values():
        cells = zip(importance, weights, right, AUTOS_SUPPORT, predicted, strict=True)
        autos.append(sum(theta * (1 - w * k / n - (1 - w) * k / d) for theta, w, k, n, d in cells) / sum(importance))
    found = {"autos": autos}
    for name, printed, share in (("hypothyroid", "Hypothyroid", 7.71), ("satimage", "Satimage", 9.73)):
        rates = [TABLE_4[printed, method][:2] for method in ("RF classique", "RF optimisée")]
        found[name] = [two_class_pragma(*rate, share)[2] for rate in rates]
    # letter: the terms are linear in the rates, so means weighted by (nearly equal) class sizes stand for the classes
    for vowels, consonants in (((0.885, 0.908), (0.880, 0.879)), ((0.950, 0.789), (0.848, 0.909))):
        terms = 1 - 0.9 * vowels[0] - 0.1 * vowels[1], 1 - 0.5 * sum(consonants)
        found.setdefault("letter", []).append((60 * terms[0] + 20 * terms[1]) / 80)
    return {name: (f"{losses[0]:.3f}", f"{losses[1]:.3f}") for name, losses in found.items()}


def losses() -> str:
    """PRAGMA: mean ± standard deviation over five seeds."""
    found, paper = by("summary.csv", "data", "method"), paper_losses()
    constant = {row["data"]: row["loss of the best constant decision"] for row in read(PRAGMA / "losses.csv")}
    rows = []
    for name in ("autos", "letter", "hypothyroid", "satimage", "mammography"):
        cells = [found[name, method] for method in ("forest", "annealing", "search", "default")]
        shown = [f"{float(cell['loss mean']):.4f} ± {float(cell['loss sd']):.4f}" for cell in cells]
        better = f"{cells[-1]['seeds better']} of {cells[-1]['seeds']}"
        rows.append((name, *paper.get(name, ("", "")), *shown, better, f"{float(constant[name]):.3f}"))
    header = (
        "data",
        "paper, classic",
        "paper, tuned",
        "forest",
        "annealing",
        "search",
        "default",
        "default better",
        "best constant decision",
    )
    return markdown(header, rows)


def rates(file: str, columns: Sequence[str]) -> str:
    """Recall and precision of table 1 or 2, the paper's beside ours."""
    found = by(file, "method", "rate", "column")
    methods = list(dict.fromkeys(key[0] for key in found))
    rows = []
    for rate in ("recall", "precision"):
        for column in columns:
            cells = [found[method, rate, column] for method in methods]
            rows.append(
                (rate, column, cells[0]["paper"], measured(cells[0]), cells[1]["paper"], *map(measured, cells[1:]))
            )
    searches = {"test rows": "searched on the test rows"}
    header = (
        "rate",
        "class",
        "paper, classic",
        "forest",
        "paper, tuned",
        *(searches.get(name, name) for name in methods[1:]),
    )
    return markdown(header, rows)


def letter_losses() -> str:
    """PRAGMA of the forests of table 2 with larger leaves."""
    rows = read(PRAGMA / "evidence_letter_losses.csv")
    means = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        values = [float(row["loss"]) for row in rows if row["method"] == method]
        means[method] = f"{sum(values) / len(values):.3f}"
    classic, tuned = paper_losses()["letter"]
    forest, *searches = means
    header = ("paper, classic", forest, "paper, tuned", *searches[:-1], "searched on the test rows")
    return markdown(header, [(classic, means[forest], tuned, *(means[name] for name in searches))])


def table_3() -> str:
    rows = [tuple(row.values()) for row in read(PRAGMA / "table_3.csv")]
    header = ("data", "paper rows", "variables", "minority %", "our rows", "variables", "minority %")
    return markdown(header, rows)


def table_4() -> str:
    found = by("table_4.csv", "data", "method", "rate")
    rows = []
    for name, method in dict.fromkeys(key[:2] for key in found):
        cells = [found[name, method, rate] for rate in ("recall", "precision", "accuracy")]
        follows = cells[2]["follows from the paper's recall and precision"]
        rows.append((name, method, *(cell["paper"] for cell in cells), follows, *map(measured, cells)))
    header = (
        "data",
        "method",
        "paper: recall",
        "precision",
        "accuracy",
        "accuracy that follows",
        "ours: recall",
        "precision",
        "accuracy",
    )
    return markdown(header, rows)


def satimage() -> str:
    shown = {"weight of class 4 / weight of the rest": "g", "recall": ".1f", "precision": ".1f", "loss": ".3f"}
    rows = [
        [f"{float(row[name]):{form}}" for name, form in shown.items()] for row in read(PRAGMA / "evidence_satimage.csv")
    ]
    return markdown(("weight ratio R", "recall", "precision", "PRAGMA"), rows)


def models() -> str:
    rows = [[row[name] for name in row] for row in read(PRAGMA / "evidence_models.csv")]
    return markdown(("data", "model", "accuracy", "recall, priority", "precision, priority"), rows)


def taught() -> str:
    """How many figures agree, by example, and those that do not."""
    lines = read(HERE / "taught" / "results" / "examples.csv")
    rows = []
    for source, example in dict.fromkeys((line["source"], line["example"].partition(",")[0]) for line in lines):
        own = [line for line in lines if line["source"] == source and line["example"].partition(",")[0] == example]
        printed = [line for line in own if line["printed"]]
        agree = sum(line["agrees"] == "yes" for line in printed)
        wrong = "; ".join(
            f"{line['quantity']} {line['printed']}, ours {line['ours']}: {line['note']}"
            for line in printed
            if line["agrees"] == "no"
        )
        rows.append((source, example, str(len(printed)), str(agree), wrong))
    return markdown(("source", "example", "printed", "agree", "the others"), rows)


def statements() -> str:
    rows = [tuple(row.values()) for row in read(HERE / "tradeoff_space" / "results" / "statements.csv")]
    return markdown(("figure", "statement", "metric", "ours"), rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "losses": losses,
    "table_1": lambda: rates("table_1.csv", ("3", "2", "1", "0", "-1", "-2", "priority", "others", "all")),
    "table_2": lambda: rates("table_2.csv", ("priority", "others", "all")),
    "letter_with_larger_leaves": lambda: rates("evidence_letter.csv", ("priority", "others", "all")),
    "letter_losses": letter_losses,
    "table_3": table_3,
    "table_4": table_4,
    "satimage": satimage,
    "models": models,
    "taught": taught,
    "statements": statements,
    "deployments": deployments,
    **study.BLOCKS,
}


def filled(text: str, blocks: Mapping[str, Callable[[], str]] = BLOCKS) -> str:
    """The page with every block made anew."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{blocks[found[2]]()}\n{found[3]}", text)


def main() -> None:
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
