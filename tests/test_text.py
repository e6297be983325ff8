"""Markdown of results: labels as they are, and nothing else."""

from __future__ import annotations

import re

import pytest

import compromis as cp
from compromis._text import Table, cells, code, paragraph, prose, text_table

HOSTILE = [
    "a|b",
    "<script>x</script>",
    "`tick`",
    "**bold**",
    "new\nline | x",
    "@someone",
    "#12",
    "[x](http://y)",
    "www.x.org",
    "a\\|b",
    "![i](j)",
    "&lt;",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_markdown_shows_labels_as_they_are_and_nothing_else(label):
    markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    result = cp.evaluate(
        [label, "x", label], [label, label, "x"], preferences=cp.Preferences({label: cp.Preference(min_precision=0.9)})
    )
    page = markdown_it.MarkdownIt("commonmark").enable("table").render(result.to_markdown())
    shown = label.replace("\n", "\\n")
    cells = [re.sub(r"</?code>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", page)]
    from html import unescape

    assert unescape(cells[0]) == shown or unescape(cells[10]) == shown
    assert len(re.findall(r"<tr>", page)) == 3 + 5 + 3  # the tables have the rows they should
    for mark in ("<script", "<strong>b", "<a ", "<img", "<em>"):
        assert mark not in page


def test_a_mention_is_none():
    assert "&#64;&#8203;someone" in prose("the recall of '@someone' is 0.5")
    assert code("@someone") == "<code>&#64;someone</code>"
    assert prose("loss 0.5, done.") == "loss 0.5, done."


def test_messages_stay_short():
    from compromis._text import nearest, shown

    assert len(shown(["x" * 100_000] * 3)) < 1000
    assert nearest("x" * 50_000, ["x" * 50_001]) == ""
    assert nearest("colum", ["column"]) == "; did you mean 'column'?"


def test_columns_stay_aligned_where_letters_take_two_cells():
    """On a terminal: each of the wide names' letters takes two cells; every number ends in the same one."""
    rows = [["病気の人々", "1,234"], ["well", "56"], ["é", "7"]]
    lines = text_table(Table("", ["Class", "Rows"], rows)).splitlines()
    assert [cells(line) for line in lines] == [17] * 4
    narrow = text_table(
        Table("", ["Class", "Rows"], [["病気の人々は長い名前です", "1"], ["a name of 18 chars", "2"]]), 24
    )
    assert max(map(cells, narrow.splitlines())) <= 24
    assert "a name of 18 chars" in narrow  # only the name that is too wide is shortened


def test_lines_fit_where_letters_take_two_cells():
    sentence = "Most confused: 17 Größe überschritten predicted as class '漏水（重大）', 15 rows of class '漏水（重大）' as '🔥 fire' (4.2 %)."
    for width in range(20, 100):
        lines = paragraph(sentence, width).split("\n")
        assert max(map(cells, lines)) <= width
        assert " ".join(line.strip() for line in lines) == sentence
