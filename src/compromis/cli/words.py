"""The library's words in those of the command line: an option where the library names a parameter."""

from __future__ import annotations

import re

_WORDS = (
    (r"pass (?:priors|y_train)= for", "give --train-file for"),
    (r"for labels use compromis\.training_priors\(y_train\)", "for labels give --train-file"),
    (r"\bpriors (misses|has|are)\b", r"--priors \1"),
    (r"pass preferences= or choose another measure", "give --preferences or choose another --measure"),
    (r"pass labels= and a column of votes for each", "give a column of votes for each"),
    (r"and labels= if a class does not occur(?: in y)?", "and --label for each class if one does not occur"),
    (r"\blabels misses\b", "--label misses"),
    (r"; add (it|them) to labels", r"; give \1 with --label too"),
    (r"neither in the data nor in labels", "neither in the data nor given with --label"),
    (r"\bgive reference=", "give --reference"),
    (r"use other weights, or prevalence_by_em", "use other --weights"),
    (r"\bor use metric f\b", "or use --metric f"),
    (r"pass them as y_proba, or decide first with predict", "give their columns with --proba"),
    (r"\by_true\b", "the column of --truth"),
    (r"\by_pred\b", "the column of --prediction"),
    (r"\by_proba\b", "the columns of --proba"),
    (r"\bsample_weight\b", "the column of --weight"),
)
_NOTES = _WORDS[:1]


def in_options(sentence: str) -> str:
    """Return an error or a warning in the words of the command line."""
    return _replaced(sentence, _WORDS)


def report_in_options(report: str) -> str:
    """Return a report in the words of the command line: only its fixed notes are touched, never what the data brings."""
    return _replaced(report, _NOTES)


def report_without_advice(report: str) -> str:
    """Return the report of evidence files, whose training rows nobody can give any more."""
    return re.sub(r"; pass priors= for those of the training rows\)", ")", report)


def _replaced(text: str, words: tuple[tuple[str, str], ...]) -> str:
    for pattern, option in words:
        text = re.sub(pattern, option, text)
    return text
