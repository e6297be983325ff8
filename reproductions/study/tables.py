"""The tables of docs/study.md, from the study's result files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

import numpy as np
from scipy.stats import rankdata, wilcoxon

from reproductions.sheets import markdown, read
from reproductions.study import review
from reproductions.study.families import members
from reproductions.study.laboratory import RESULTS, SETTINGS
from reproductions.study.rows import Floats

Way = tuple[str, str]
"""Base model and name."""
METRICS = {"f": "f", "plane": "kulczynski"}
OLD = {
    "forest": "hard, library",
    "pragma": "hard, library",
    "lightgbm": "folds 5, library",
    "logistic": "folds 5, library",
}
"""0.1.0's default for each base model."""
BOOSTING: tuple[Way, Way] = ("boosting", "folds 5, library"), ("boosting", "folds 5, default")
"""scikit-learn's gradient boosting, which was too slow for developing: 0.1.0's default and today's."""
NEW: dict[str, Way] = {
    "forest": ("forest", "hard, default"), "pragma": ("pragma auto", "hard, default"),
    "lightgbm": ("lightgbm", "folds 5, default"), "logistic": ("logistic", "folds 5, default"),
}  # fmt: skip
"""The default that the developing sets chose."""
FIRST: dict[str, Way] = NEW | {"forest": ("forest", "hard, first"), "pragma": ("pragma auto", "hard, first")}
"""The default that they chose first, and that was judged before out-of-bag votes got a rule of their own."""
DEAF: tuple[Way, ...] = (
    ("forest", "plain"),
    ("forest", "class_weight"),
    ("forest", "BalancedRandomForest"),
    ("forest", "SMOTE"),
)
ANNEALED: Way = ("forest", "annealed")
TUNER: Way = ("forest", "threshold")
PLAIN = ("class_weight", "BalancedRandomForest", "SMOTE")
FEW, MANY = 25, 60
"""Training rows of the rarest class up to which they are few, and from which on they are many."""


@dataclass(frozen=True)
class Case:
    """What every way reached on one data set after one cut."""

    name: str
    family: str
    cut: int
    classes: int
    rarest: int
    lines: dict[Way, dict[str, str]]

    def figure(self, way: Way, metric: str, what: str = "loss") -> float:
        """The mean over preferences of a figure under a metric."""
        line = self.lines[way]
        return fmean(float(line[f"{name}: {what}"] or "nan") for name in SETTINGS if name.endswith(f" {metric}"))


@cache
def cases(role: str) -> list[Case]:
    """All cases of developing or of confirming."""
    found = []
    for one in members(role):
        file = RESULTS / f"{one.name}.csv"
        lines = read(file) if file.exists() else []
        for cut in dict.fromkeys(line["cut"] for line in lines):
            own = [line for line in lines if line["cut"] == cut]
            by_way = {(line["base"], line["way"]): line for line in own}
            found.append(Case(one.name, one.family, int(cut), int(own[0]["classes"]), int(own[0]["rarest"]), by_way))
    return found


def by_family(
    role: str, ways: Sequence[Way], metric: str, which: Callable[[Case], bool] = lambda _: True, what: str = "loss"
) -> Floats:
    """A row per family with the mean over its cases in which all ways ran; a column per way."""
    chosen = [case for case in cases(role) if which(case) and all(way in case.lines for way in ways)]
    families = dict.fromkeys(case.family for case in chosen)
    return np.array(
        [
            [fmean(case.figure(way, metric, what) for case in chosen if case.family == family) for way in ways]
            for family in families
        ]
    )


def ranks(losses: Floats) -> Floats:
    """The mean rank of each column."""
    return rankdata(losses.round(9), axis=1).mean(axis=0)


def shown(way: Way) -> str:
    """A way as tables name it."""
    named = {"forest": "tuned forest", "pragma": "PragmaForest"}
    for base, name in OLD.items():
        if way == NEW[base]:
            return f"**{named.get(base, base)}, default**"
        if way == FIRST[base]:
            return f"**{named.get(base, base)}, judged first**"
        if way == (base, name):
            return f"{named.get(base, base)}, 0.1.0"
    for known, name in zip(BOOSTING, ("boosting, 0.1.0", "**boosting, default**"), strict=True):
        if way == known:
            return name
    return {
        "forest, plain": "forest",
        "forest, annealed": "annealed probabilities",
        "forest, threshold": "threshold tuner",
    }.get(", ".join(way), way[1] if way[0] == "forest" and way[1] in PLAIN else ", ".join(way))


def ranked(role: str, ways: Sequence[Way], which: Callable[[Case], bool] = lambda _: True) -> str:
    """Mean rank and mean loss of ways over families under both metrics, the loss also relative to the first way, and constant decisions."""
    tables = {metric: by_family(role, ways, key, which) for metric, key in METRICS.items()}
    constant = sum(by_family(role, ways, key, which, "constant").sum(axis=0) for key in METRICS.values())
    rows = []
    for place, way in enumerate(ways):
        cells = []
        for losses in tables.values():
            means = losses.mean(axis=0)
            cells += [
                f"{ranks(losses)[place]:.2f}",
                f"{means[place]:.4f}",
                f"{100 * (means[place] / means[0] - 1):+.1f}",
            ]
        rows.append((shown(way), *cells, f"{constant[place]:.1f}"))
    header = ("", *(f"{metric}: {what}" for metric in METRICS for what in ("rank", "loss", "%")), "constant")
    return f"{markdown(header, rows)}\n{len(tables['f'])} families.\n"


def holm(
    role: str, ours: Way, peers: Sequence[Way], metric: str, which: Callable[[Case], bool] = lambda _: True
) -> list[float]:
    """Wilcoxon's p over families of ours against each peer, by Holm's correction."""
    losses = by_family(role, (ours, *peers), metric, which)
    raw = [float(wilcoxon(losses[:, 0], losses[:, place]).pvalue) for place in range(1, len(peers) + 1)]
    order, adjusted, highest = np.argsort(raw), list(raw), 0.0
    for step, place in enumerate(order):
        highest = max(highest, min(1.0, (len(raw) - step) * raw[place]))
        adjusted[place] = highest
    return adjusted


def _main(default: dict[str, Way]) -> tuple[Way, ...]:
    own = (way for base in ("forest", "pragma") for way in ((base, OLD[base]), default[base]))
    return (*DEAF, ANNEALED, *own)


MAIN, MAIN_FIRST = _main(NEW), _main(FIRST)
"""Ways with a forest, as pictures and tables show them: today's default, and the one that was judged first."""


def plain_name(way: Way) -> str:
    """A way's name without marks."""
    return shown(way).replace("*", "")


def ways_of(role: str, bases: Sequence[str]) -> list[Way]:
    """The ways of some base models that ran in every case of a role, 0.1.0's default first; the tuner runs with two classes only."""
    every = [set(case.lines) for case in cases(role)]
    ran = [
        way
        for way in cases(role)[0].lines
        if way[0] in bases and all(way in one for one in every) and way[1] != TUNER[1] and "judged" not in way[1]
    ]
    first = (bases[0], OLD[bases[0]])
    return [first, *(way for way in ran if way != first)]


def order(role: str, base: str) -> list[Way]:
    """The ways of `ways_of`, 0.1.0's default first, the others by their mean rank under f; all our forests are one base."""
    bases = [one for one in dict.fromkeys(way[0] for way in cases(role)[0].lines) if one.split()[0] == base]
    first, *others = ways_of(role, bases)
    found = dict(zip((first, *others), ranks(by_family(role, (first, *others), "f")), strict=True))
    return [first, *sorted(others, key=lambda way: found[way])]


def by_rows(role: str) -> str:
    """The loss of the defaults relative to 0.1.0's, by the number of training rows of the rarest class."""
    groups: dict[str, Callable[[Case], bool]] = {
        f"up to {FEW} rows": lambda case: case.rarest <= FEW,
        f"{FEW + 1} to {MANY - 1}": lambda case: FEW < case.rarest < MANY,
        f"{MANY} and more": lambda case: case.rarest >= MANY,
    }
    rows = []
    for base, name in OLD.items():
        cells = []
        for which in groups.values():
            for metric in METRICS.values():
                losses = by_family(role, ((base, name), NEW[base]), metric, which)
                old, new = losses.mean(axis=0) if len(losses) else (float("nan"), float("nan"))
                cells.append(f"{old:.4f} → {new:.4f} ({100 * (new / old - 1):+.1f} %)" if old == old else "")
        rows.append((base, *cells))
    return markdown(("", *(f"{group}, {metric}" for group in groups for metric in METRICS)), rows)


def promises(role: str) -> str:
    """The loss on new rows above the loss that the tuning promised, by base model and number of rows."""
    rows = []
    for base, name in OLD.items():
        judged = NEW[base][0], NEW[base][1].replace("default", "judged")
        for way, label in (((base, name), ""), (NEW[base], ", its own votes"), (judged, ", cross-fitted")):
            cells = []
            for which in (lambda case: case.rarest < 100, lambda case: case.rarest >= 100):
                for metric in METRICS.values():
                    new, promised = (by_family(role, (way,), metric, which, what) for what in ("loss", "promised"))
                    cells.append(f"{(new - promised).mean():+.4f}" if len(new) else "")
            rows.append((shown(NEW[base]) + label if label else shown(way), *cells))
    groups = ("fewer than 100 rows", "100 and more")
    return markdown(("new - promised", *(f"{group}, {metric}" for group in groups for metric in METRICS)), rows)


def seconds(role: str, ways: Sequence[Way]) -> str:
    """Seconds of processor time of fit and tuning, mean over folds and cases."""
    names = {one.name for one in cases(role)}
    lines = [line for name in names for line in read(RESULTS / "seconds" / f"{name}.csv")]
    rows = [
        (shown(way), f"{fmean(float(line['seconds']) for line in lines if (line['base'], line['way']) == way):.2f}")
        for way in ways
    ]
    return markdown(("", "seconds"), rows)


def two_classes(case: Case) -> bool:
    """Whether a case has two classes."""
    return case.classes == 2


def tested(role: str, default: dict[str, Way]) -> str:
    """Our forests against each peer: difference of mean loss, and Wilcoxon's p over families by Holm's correction."""
    rows = []
    for ours in (default["forest"], default["pragma"]):
        for name, metric in METRICS.items():
            for peers, which in (((*DEAF, ANNEALED), None), ((TUNER,), two_classes)):
                own = holm(role, ours, peers, metric, which or (lambda _: True))
                losses = by_family(role, (ours, *peers), metric, which or (lambda _: True))
                for place, peer in enumerate(peers, start=1):
                    better = int((losses[:, 0] < losses[:, place]).sum())
                    change = 100 * (losses[:, 0].mean() / losses[:, place].mean() - 1)
                    cells = (plain_name(ours), name, plain_name(peer), f"{change:+.1f}", f"{better} of {len(losses)}")
                    rows.append((*cells, f"{own[place - 1]:.4f}"))
    return markdown(("ours", "metric", "peer", "loss, %", "families better", "p"), rows)


def losses_by_set() -> str:
    """The loss of each confirming case under f, mean over preferences; the lowest in bold."""
    rows = []
    for case in cases("confirming"):
        values = [case.figure(way, "f") for way in MAIN]
        cells = [f"**{value:.3f}**" if value == min(values) else f"{value:.3f}" for value in values]
        rows.append((case.name, str(case.cut or ""), str(case.classes), str(case.rarest), *cells))
    return markdown(("data", "cut", "classes", "rows", *(plain_name(way) for way in MAIN)), rows)


def bases(base: str) -> tuple[Way, ...]:
    """The ways with another base model, 0.1.0's default first."""
    pair = BOOSTING if base == "boosting" else ((base, OLD[base]), NEW[base])
    return *pair, (base, "plain"), (base, "annealed")


RANKED: dict[str, tuple[str, Callable[[], Sequence[Way]]]] = {
    "study_ranked_confirming": ("confirming", lambda: MAIN),
    "study_ranked_confirming_first": ("confirming", lambda: MAIN_FIRST),
    **{
        f"study_ranked_confirming_{base}": ("confirming", lambda base=base: bases(base))
        for base in ("lightgbm", "boosting", "logistic")
    },
    **{f"study_ranked_developing_{base}": ("developing", lambda base=base: order("developing", base)) for base in OLD},
}
"""Role and ways of every table of ranks over all families of a role."""
BLOCKS: dict[str, Callable[[], str]] = {
    **{name: lambda role=role, ways=ways: ranked(role, ways()) for name, (role, ways) in RANKED.items()},
    "study_two_classes": lambda: ranked("confirming", (*MAIN, TUNER), two_classes),
    "study_two_classes_first": lambda: ranked("confirming", (*MAIN_FIRST, TUNER), two_classes),
    "study_tested": lambda: tested("confirming", NEW),
    "study_tested_first": lambda: tested("confirming", FIRST),
    "study_rows": lambda: by_rows("confirming"),
    "study_rows_developing": lambda: by_rows("developing"),
    "study_promises": lambda: promises("confirming"),
    "study_seconds": lambda: seconds(
        "confirming", (*MAIN, TUNER, *(way for base in ("lightgbm", "logistic") for way in bases(base)))
    ),
    "study_losses": losses_by_set,
    "study_review": review.table,
}
