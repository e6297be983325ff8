"""A comparison in words: its table and its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compromis.errors import shown_label

if TYPE_CHECKING:
    from compromis.tradeoffs.comparison import Comparison, Winner


def verdict(comparison: Comparison) -> str:
    """Return who is best where, and who has the largest area."""
    if not comparison.intervals:
        reasons = "; ".join(f"{shown_label(name)}: {curve.reason}" for name, curve in comparison.curves.items())
        return f"Nothing can be compared ({reasons})."
    where = "; ".join(_clause(part, comparison) for part in comparison.intervals)
    sentence = f"By {comparison.metric.name}, {where}."
    return " ".join(part for part in (sentence, _area_sentence(comparison), _prevalence_sentence(comparison)) if part)


def _clause(part: Winner, comparison: Comparison) -> str:
    everywhere = part.low == 0 and part.high == 1
    span = "at every recall weight" if everywhere else f"for recall weights from {part.low:.3g} to {part.high:.3g}"
    best = [shown_label(name) for name in part.best]
    if len(best) == 1:
        return f"{best[0]} is best {span}" if len(comparison.curves) > 1 else f"{best[0]} is alone"
    return f"{' and '.join(best)} are equal {span}"


def _area_sentence(comparison: Comparison) -> str:
    areas = {shown_label(name): area for name, area in comparison.areas.items()}
    if len(areas) < 2:
        return ""
    ranked = sorted(areas, key=lambda name: -areas[name] if areas[name] == areas[name] else 1.0)
    if areas[ranked[0]] == areas[ranked[1]]:
        return f"Over all recall weights {ranked[0]} and {ranked[1]} are level (area {areas[ranked[0]]:.4g})."
    first, second = ranked[:2]
    return f"Over all recall weights {first} has the largest area ({areas[first]:.4g}; {second} {areas[second]:.4g})."


def _prevalence_sentence(comparison: Comparison) -> str:
    prevalences = {curve.points.prevalence for curve in comparison.curves.values()}
    if len(prevalences) == 1:
        return ""
    return "The positives' share differs between them, and precision depends on it: compare on the same rows."


def table(comparison: Comparison) -> str:
    """Return the intervals, the areas and the verdict as text."""
    winners = [(part, shown_label(part.name)) for part in comparison.intervals]
    names = {name: shown_label(name) for name in comparison.curves}
    wide = max(map(len, [*(name for _, name in winners), *names.values(), "algorithm"]))
    lines = [f"recall weight      {'best':<{wide}}"]
    lines += [f"{part.low:.4f} to {part.high:.4f}   {name:<{wide}}".rstrip() for part, name in winners]
    lines += ["", f"{'algorithm':<{wide}}   area    best on"]
    shares = comparison.shares
    lines += [f"{names[name]:<{wide}}   {area:.4f}  {shares[name]:7.1%}" for name, area in comparison.areas.items()]
    return "\n".join([*lines, "", comparison.verdict])
