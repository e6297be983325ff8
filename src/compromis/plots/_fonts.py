"""Fonts for names in any script: matplotlib's own font has no Chinese, Japanese or Korean letters and no emoji."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

_LIKELY = (
    "CJK",
    "Han ",
    "Hiragino",
    "Gothic",
    "YaHei",
    "PingFang",
    "Hei",
    "Ming",
    "Noto Sans",
    "Noto Emoji",
    "Symbol",
    "Unicode",
    "Emoji",
)
"""Parts of the names of fonts with many scripts."""
_MOST = 60
"""Fonts that are looked into."""


@cache
def _fonts() -> tuple[tuple[str, Any], ...]:
    """Return matplotlib's own font and those of the machine with many scripts that it can draw, by their names."""
    from matplotlib import font_manager, get_data_path

    known = {
        font.name: font.fname for font in font_manager.fontManager.ttflist if any(part in font.name for part in _LIKELY)
    }
    own = f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf"
    fonts = [("DejaVu Sans", font_manager.get_font(own))]
    for name in sorted(known)[:_MOST]:
        try:
            font = font_manager.get_font(known[name])
        except (OSError, RuntimeError):  # pictures instead of outlines, as in most fonts of emoji
            continue
        fonts.append((name, font))
    return tuple(fonts)


@cache
def _font_of(letter: str) -> str | None:
    """Return the first font that has a letter."""
    return next((name for name, font in _fonts() if font.get_char_index(ord(letter))), None)


def drawable(text: str) -> str:
    """Return the text with what no font has spelled out: a fox is [fox face], a Chinese letter U+72D0."""
    if text.isascii():
        return text
    return "".join(letter if letter.isascii() or _font_of(letter) else _spelled(letter) for letter in text)


def _spelled(letter: str) -> str:
    code = f"U+{ord(letter):04X}"
    return code if unicodedata.category(letter) == "Lo" else f"[{unicodedata.name(letter, code).lower()}]"


def set_fonts(figure: Any) -> None:
    """Let every text with letters beyond matplotlib's own font fall back on the fonts that have them."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        letters = text.get_text()
        if letters.isascii():
            continue
        needed = dict.fromkeys(font for letter in letters if (font := _font_of(letter)) and font != "DejaVu Sans")
        if needed:
            text.set_fontfamily(["DejaVu Sans", *needed])
