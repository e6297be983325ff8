"""Split rows into training, validation and test sets: exact sizes, classes at their shares, groups whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from compromis._rows import count_both, take_rows
from compromis._typing import Floats, Ints, Label
from compromis.errors import InputError
from compromis.evidence.counts import Counts
from compromis.labels import encode_classes, read_groups, read_labels
from compromis.measures.probability import smoothed_shares
from compromis.model_selection.leaks import Leaks, find_leaks


def part_sizes(rows: int, shares: Floats) -> Ints:
    """Return the sizes of the parts, which sum to `rows`: rounded down, the rows left over to the largest remainders."""
    return _largest_remainders(rows * shares, rows, np.zeros(len(shares), dtype=np.int64))


def class_sizes(support: Ints, shares: Floats, classes: Sequence[Label], names: Sequence[str]) -> Ints:
    """Return the rows of each class (down) in each part (across): every class in every part, every part of its exact size.

    Notes
    -----
    Each class is apportioned by largest remainders, at least one row to each part; then single rows of a class move from
    a part that has one too many to a part that lacks one, always the move that is cheapest in squared distance from the
    exact shares relative to the size of the class.
    """
    _refuse_small(support, "has", "row", classes, names)
    quotas = support[:, np.newaxis] * shares
    least = np.ones(len(shares), dtype=np.int64)
    table = np.array(
        [_largest_remainders(quota, int(rows), least) for quota, rows in zip(quotas, support, strict=True)]
    )
    wanted = part_sizes(int(support.sum()), shares)
    while (excess := table.sum(axis=0) - wanted).any():
        from_part, to_part = int(excess.argmax()), int(excess.argmin())
        cost = (quotas - table)[:, from_part] - (quotas - table)[:, to_part]
        cost = np.where(table[:, from_part] > 1, cost / support, np.inf)
        chosen = int(cost.argmin())
        if not np.isfinite(cost[chosen]):
            raise InputError(
                f"the {names[from_part]} part gets {wanted[from_part]:,} rows, but there are {len(classes):,} classes, and each needs "
                f"at least one row there; make the part larger"
            )
        table[chosen, from_part] -= 1
        table[chosen, to_part] += 1
    return table


def _refuse_small(held: Ints, verb: str, noun: str, classes: Sequence[Label], names: Sequence[str]) -> None:
    """Raise if a class has fewer rows (or occurs in fewer groups) than there are parts."""
    small = [(label, rows) for label, rows in zip(classes, held.tolist(), strict=True) if rows < len(names)]
    if small:
        label, rows = small[0]
        more = f" (and {len(small) - 1} more classes are as small)" if len(small) > 1 else ""
        raise InputError(
            f"class {label!r} {verb} {rows} {noun if rows == 1 else noun + 's'}, too few to be in each of the {len(names)} parts "
            f"({', '.join(names)}){more}; merge or drop the class, or pass stratify=False"
        )


def _largest_remainders(quota: Floats, rows: int, least: Ints) -> Ints:
    size = np.maximum(np.floor(quota + 1e-9).astype(np.int64), least)
    while size.sum() > rows:
        size[np.argmax(np.where(size > least, size - quota, -np.inf))] -= 1
    left = rows - int(size.sum())
    size[np.argsort(size - quota, kind="stable")[:left]] += 1
    return size


ATTEMPTS = 20
"""How many orders of the groups are tried until every class occurs in every part, and as many that begin with rare classes."""


def assign_groups(
    groups: Ints,
    codes: Ints,
    classes: Sequence[Label],
    shares: Floats,
    names: Sequence[str],
    rng: np.random.Generator,
) -> Ints:
    """Return the part of each row: groups from large to small, each to the part that lacks its rows most, for its size.

    Where that leaves a part without a class, the classes that occur in few groups are dealt out first.
    """
    held = np.zeros((groups.max() + 1, len(classes)))
    np.add.at(held, (groups, codes), 1.0)
    if len(held) < len(names):
        raise InputError(
            f"there are {len(held)} groups for {len(names)} parts ({', '.join(names)}), so a part would stay empty; "
            f"use fewer parts or finer groups"
        )
    _refuse_small((held > 0).sum(axis=0), "stands in", "group", classes, names)
    for attempt in range(2 * ATTEMPTS):
        begun = np.full(len(held), -1) if attempt < ATTEMPTS else _each_class_once(held, len(names), rng)
        part_of = _fill(held, shares, begun, rng)
        filled = np.array([held[part_of == part].sum(axis=0) for part in range(len(names))])
        if filled.all():
            return part_of[groups]
    part, code = np.argwhere(filled == 0)[0]
    if filled[part].sum() == 0:
        raise InputError(
            f"the groups are so large that the {names[part]} part would stay empty (the largest has {int(held.sum(axis=1).max()):,} of "
            f"{len(groups):,} rows); make the part larger, or split without groups"
        )
    raise InputError(
        f"the groups leave the {names[part]} part without class {classes[code]!r}, which stands in "
        f"{int((held[:, code] > 0).sum())} groups; make the part larger, or pass stratify=False"
    )


def _each_class_once(held: Floats, parts: int, rng: np.random.Generator) -> Ints:
    """Deal groups out until every class occurs in every part, if there are enough; -1 for the others."""
    part_of = np.full(len(held), -1)
    for code in np.argsort((held > 0).sum(axis=0), kind="stable"):
        for part in rng.permutation(parts):
            if not held[part_of == part, code].any():
                free = np.flatnonzero((held[:, code] > 0) & (part_of < 0))
                part_of[rng.permutation(free)[:1]] = part
    return part_of


def _fill(held: Floats, shares: Floats, begun: Ints, rng: np.random.Generator) -> Ints:
    """Deal the groups out whose part is not known yet."""
    size = held.sum(axis=1)
    order = np.lexsort((rng.random(len(held)), -size))
    scale = 1 / held.sum(axis=0)
    lacking = np.outer(shares, held.sum(axis=0)) * scale
    part_of = begun.copy()
    for group, adds in zip(order.tolist(), (held[order] * scale), strict=True):
        # relative to the part's share, or the largest part would take every large group
        part = int(part_of[group]) if part_of[group] >= 0 else int(np.argmax((lacking @ adds) / shares))
        part_of[group] = part
        lacking[part] -= adds
    return part_of


PARTS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class SplitLeaks:
    """Rows that occur in two parts of a split; ``len()`` counts them all."""

    validation: Leaks
    """Rows of the validation set that also occur in the training set."""
    test: Leaks
    """Rows of the test set that also occur in the training set."""
    test_in_validation: Leaks

    def __len__(self) -> int:
        return len(self.validation) + len(self.test) + len(self.test_in_validation)

    def __str__(self) -> str:
        if not len(self):
            return "no row stands in two parts"
        findings = [str(leaks) for leaks in (self.validation, self.test, self.test_in_validation) if len(leaks)]
        cure = "pass groups=compromis.model_selection.row_groups(X) to keep equal rows together"
        return "; ".join([*findings, f"results on them flatter the model: {cure}"])


@dataclass(frozen=True, eq=False, kw_only=True)
class Split:
    """Training, validation and test rows, made by `compromis.model_selection.split`; iterating gives the six fields in order."""

    X_train: Any
    y_train: Any
    X_validation: Any
    y_validation: Any
    X_test: Any
    y_test: Any
    """The parts, in the containers that the data came in."""
    train: Ints
    validation: Ints
    test: Ints
    """The positions of their rows in the data, in the order of the data."""
    stratified: bool
    """Whether each part has each class at its share."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X_train, self.y_train, self.X_validation, self.y_validation, self.X_test, self.y_test))

    @cached_property
    def leaks(self) -> SplitLeaks:
        """The rows that occur in two parts."""
        return SplitLeaks(
            replace(find_leaks(self.X_train, self.X_validation), test="validation set"),
            find_leaks(self.X_train, self.X_test),
            replace(find_leaks(self.X_validation, self.X_test), train="validation set"),
        )

    def __str__(self) -> str:
        sizes = ", ".join(f"{len(getattr(self, name)):,} {name}" for name in PARTS)
        return f"{sizes} rows, {'stratified' if self.stratified else 'not stratified'}; {self.leaks}"

    def __repr__(self) -> str:
        return f"<Split into {len(self.train):,} training, {len(self.validation):,} validation and {len(self.test):,} test rows>"


def split(
    X: Any,
    y: Any,
    *,
    train: float = 0.6,
    validation: float = 0.2,
    test: float = 0.2,
    groups: Any = None,
    stratify: bool | None = None,
    random_state: int | None = None,
) -> Split:
    """Split rows into training, validation and test sets, each class at its share in each.

    Parameters
    ----------
    X, y : arrays, frames, sparse matrices or lists
        The rows and their classes (or numbers, for regression).
    train, validation, test : float
        The parts' shares, which sum to 1; 0 leaves a part empty.
    groups : list, array or series, optional
        Rows of one group stay in one part. Sizes and class shares are then as near as the groups allow.
    stratify : bool, optional
        Without it: yes, unless `y` holds numbers with fractions.
    random_state : int, optional
        The seed.

    Returns
    -------
    Split
        ``.X_train``, ``.y_train``, ``.X_validation``, ...; ``.leaks`` has the rows that occur in two parts.

    Examples
    --------
    >>> import compromis as cp
    >>> from sklearn.datasets import load_iris
    >>> parts = cp.model_selection.split(*load_iris(return_X_y=True), random_state=0)
    >>> parts
    <Split into 90 training, 30 validation and 30 test rows>
    >>> X_train, y_train, X_validation, y_validation, X_test, y_test = parts
    """
    rows = count_both(X, y)
    names, shares = _read_shares({"train": train, "validation": validation, "test": test}, rows)
    rng = np.random.default_rng(random_state)
    stratified = not _has_fractions(y) if stratify is None else stratify
    codes, classes = _classes(y) if stratified else (np.zeros(rows, dtype=np.int64), ("all rows",))
    if groups is None:
        part = _deal(codes, classes, shares, names, rng, stratified=stratified)
    else:
        part = assign_groups(read_groups(groups, rows, "X"), codes, classes, shares, names, rng)
    positions = {name: np.flatnonzero(part == names.index(name) if name in names else []) for name in PARTS}
    taken = {
        f"{axis}_{name}": take_rows(values, positions[name]) for name in PARTS for axis, values in (("X", X), ("y", y))
    }
    return Split(**taken, **positions, stratified=stratified)


def _read_shares(shares: dict[str, float], rows: int) -> tuple[list[str], Floats]:
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(f"{name} is a share between 0 and 1, got {share:g}; for 60 % write 0.6")
    if abs(sum(shares.values()) - 1) > 1e-9:
        raise InputError(
            f"train, validation and test sum to 1, got {sum(shares.values()):g}; give the shares of all three"
        )
    if shares["train"] == 0:
        raise InputError("train is 0; a model needs rows to learn from")
    if rows == 0:
        raise InputError("X has no rows; there is nothing to split")
    names = [name for name, share in shares.items() if share > 0]
    return names, np.array([shares[name] for name in names])


def _has_fractions(y: Any) -> bool:
    values = np.asarray(y)
    return values.dtype.kind == "f" and bool(np.any(values != np.floor(values)))


def _classes(y: Any) -> tuple[Ints, tuple[Label, ...]]:
    (codes,), classes = encode_classes(read_labels(y, "y"))
    present = np.bincount(codes, minlength=len(classes)) > 0
    return (np.cumsum(present) - 1)[codes], tuple(label for label, there in zip(classes, present, strict=True) if there)


def _deal(
    codes: Ints,
    classes: Sequence[Label],
    shares: Floats,
    names: Sequence[str],
    rng: np.random.Generator,
    *,
    stratified: bool,
) -> Ints:
    """Return the part of each row: within each class rows are shuffled and dealt out."""
    support = np.bincount(codes, minlength=len(classes))
    sizes = class_sizes(support, shares, classes, names) if stratified else part_sizes(len(codes), shares)[np.newaxis]
    if (sizes.sum(axis=0) == 0).any():
        raise InputError(
            f"{len(codes):,} rows are too few for {len(names)} parts: the {names[int(sizes.sum(axis=0).argmin())]} part would be empty"
        )
    part = np.empty(len(codes), dtype=np.int64)
    for code in range(len(classes)):
        rows = rng.permutation(np.flatnonzero(codes == code))
        part[rows] = np.repeat(np.arange(len(names)), sizes[code])
    return part


def training_priors(y_train: Any, *, labels: Sequence[Any] | None = None) -> dict[Label, float]:
    """Return Weka's priors of training labels, (count + 1) / (N + K), for `evaluate(..., priors=)`.

    Examples
    --------
    >>> import compromis as cp
    >>> cp.model_selection.training_priors(["good"] * 11 + ["bad"] * 6, labels=["good", "bad"])["good"] == 12 / 19
    True
    """
    counts = Counts.from_predictions(y_train, y_train, labels=labels)
    return dict(zip(counts.classes, smoothed_shares(counts).tolist(), strict=True))
