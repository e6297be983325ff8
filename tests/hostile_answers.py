"""What a language model may answer at worst, and what somebody may make it answer."""

from __future__ import annotations

import numpy as np

_SEEDS = [
    "<script>document.title='run'</script>", "<img src=x onerror=alert(1)>", "'; DROP TABLE votes; --", "=cmd|' /C calc'!A0",
    "__import__('os').system('touch run')", "{0.__class__.__mro__}", "%s%n%x", "${jndi:ldap://x}", "{{7*7}}", "$(touch run)",
    "\x1b]0;title\x07\x1b[2J", "\r\nError: forged line", "\x00", "\u202egnillib", "\ud800", "\udfff\ud800", "C\u0489\u0489",
    "\uff1cscript\uff1e", "@everyone [x](javascript:alert(1))", "| a | b |\n| --- | --- |", "```\n</details>", "billing\nC",
    "billing and C", "not C", "{\"class\": \"C\"}", "<answer>C</answer>", "As an AI language model, I cannot", "nan", "None", "null",
    "inf", "1e400", "-0", "\u200bC\u200bC", "\u0421", "BILLING\u0131", "\ufffe", "a" * 5_000, "\u0301" * 3_000, "(" * 3_000 + "x",
    "C" * 4_000, "\U0001f600" * 500, "C\u0000", "&#67;", "%43", "\\u0043", "b'C'", "['C', 'C']", "C,C", "C;C", "C/C", "C|C", "C\\", "C=C",
]  # fmt: skip


def hostile_answers(number: int, seed: int = 0) -> list[str]:
    """So many different texts that name no class of billing, Bug report, C and C#, a few of them blank."""
    rng = np.random.default_rng(seed)
    texts = dict.fromkeys([*_SEEDS, "", " \t\n", "\u200b\ufeff"])
    while len(texts) < number:
        first, second = rng.choice(_SEEDS, 2)
        letters = "".join(map(chr, rng.integers(0x20, 0x2FFF, rng.integers(1, 9)).tolist()))
        texts[f"{first}{letters}{second}"[: rng.integers(20, 9_000)]] = None
    return list(texts)
