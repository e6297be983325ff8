"""Texts fit the width they are given, whatever the classes are called; colours are codes and nothing else."""

from __future__ import annotations

import re

import numpy as np
import pytest

import compromis as cp
from compromis._text import short_names

NAMES = {
    "short": ["ill", "unsure", "well"],
    "numbers": [0, 1, 2],
    "long": [f"a rather long class name number {k} of the set" for k in range(12)],
    "endless": ["x" * 165 + str(k) for k in range(4)],
    "marks": ["a;b", "<script>", "🦊 fox", "日本語"],
    "fifty": [f"digit {k % 10}, writer {k // 10}" for k in range(50)],
}


def results(labels, rng):
    truth, predicted, other = (rng.choice(len(labels), 300) for _ in range(3))
    truth, predicted, other = ([labels[k] for k in codes] for codes in (truth, predicted, other))
    preferences = {labels[0]: cp.Preference(10, 0.1, 0.9, min_recall=0.9, max_share=0.01)}
    plain = cp.evaluate(truth, predicted, preferences=preferences, labels=labels)
    shares = rng.dirichlet(np.ones(len(labels)), 300)
    yield plain
    yield cp.evaluate(truth, predicted, labels=labels, confidence=0.95)
    yield cp.check(plain, max_loss=0.5)
    yield cp.compare_models(truth, {"first": predicted, "second": other}, preferences=preferences, labels=labels)
    yield cp.monitor({"may": plain, "june": plain}, preferences=preferences)
    yield cp.search_weights(truth, shares, preferences=preferences, labels=labels, method="sweep", random_state=0)


@pytest.mark.filterwarnings("ignore::compromis.errors.FewRowsWarning")
@pytest.mark.parametrize("kind", NAMES)
def test_no_line_is_wider_than_asked(kind, rng):
    for result in results(NAMES[kind], rng):
        for width in (50, 80, 120):
            text = result.to_text(width=width)
            assert max(map(len, text.splitlines())) <= width
            assert re.sub(r"\x1b\[[\d;]*m", "", result.to_text(width=width, colour=True)) == text
        assert str(result) == result.to_text()
        assert len(str(result).splitlines()) <= 45


def test_short_names_stay_apart(rng):
    for names in NAMES.values():
        for width in (12, 20, 28, 40):
            short = short_names(names, width)
            assert len(set(short)) == len(names)
            assert max(map(len, short)) <= width
    assert short_names(["same", "same"], 3) == ["s…e", "s…e"]


@pytest.mark.parametrize(("value", "coloured"), [(None, True), ("", True), ("1", False)])
def test_colours_are_for_terminals_that_have_them(monkeypatch, value, coloured):
    from compromis.cli import show

    monkeypatch.setattr("sys.stdout", type("Terminal", (), {"isatty": lambda self: True})())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if value is not None:
        monkeypatch.setenv("NO_COLOR", value)
    assert show.has_colour() is coloured
    monkeypatch.setenv("TERM", "dumb")
    assert not show.has_colour()
    for columns, width in (("20", 40), ("70", 70), ("300", 120)):
        monkeypatch.setenv("COLUMNS", columns)
        assert show.line_width() == width
