"""The votes for a class drawn by true class: how far apart the classes are before any weight is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis._text import shown_label
from compromis.errors import InputError
from compromis.evidence.vote_distribution import VoteDistribution, vote_distribution
from compromis.evidence.votes import Votes
from compromis.plots._base import ALARM, Display, beside, other_style, plain_names, stacked, tidy

NAMED = 3
"""So many other classes are drawn by themselves; the rest together."""
STEEP = 30
"""Numbers of rows that span more than this factor are drawn on a logarithmic scale."""


class VoteDisplay(Display):
    """How many rows of each true class got which share of the votes for one class (figure 2 of the PRAGMA paper).

    The class itself is drawn as bars, the classes it is most confused with as lines. Rows without any vote for the class
    are counted in the title: no weight can predict them as it.

    Parameters
    ----------
    distribution : VoteDistribution
        The numbers, from `compromis.evidence.vote_distribution.vote_distribution`.
    named : int
        How many other classes have a line of their own, those with the most votes first; the rest share one.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["sound", "sound", "faulty"], [[9, 1], [8, 2], [2, 8]], labels=["sound", "faulty"])
    >>> display = cp.plots.VoteDisplay.from_votes(votes, label="faulty")
    >>> int(display.to_frame("pandas")["rows"].sum())
    3
    """

    def __init__(self, distribution: VoteDistribution, *, named: int = NAMED) -> None:
        self.distribution = distribution
        self.named = named

    @classmethod
    def from_votes(cls, votes: Votes, *, label: Any, bins: int = 20, named: int = NAMED, ax: Any = None) -> Self:
        """Draw the votes for the class `label`; `bins` as for `vote_distribution`."""
        return cls(vote_distribution(votes, label, bins=bins), named=named).plot(ax=ax)

    @classmethod
    def from_proba(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        label: Any,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
        """Draw votes for the class `label`; see `Votes.from_proba` and `from_votes` for the parameters."""
        votes = Votes.from_proba(y_true, y_proba, labels=labels, sample_weight=sample_weight)
        return cls.from_votes(votes, label=label, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, label: Any, **options: Any) -> Self:
        """Draw a fitted classifier's votes on rows it has not seen: its `vote_shares`, else its `predict_proba`.

        The options are those of `from_proba` and `from_votes`: sample_weight, bins, named, ax.
        """
        vote = getattr(estimator, "vote_shares", None) or getattr(estimator, "predict_proba", None)
        if vote is None:
            raise InputError(
                f"{type(estimator).__name__} has neither vote_shares nor predict_proba; there are no votes"
            )
        return cls.from_proba(y, vote(X), label=label, labels=estimator.classes_.tolist(), **options)

    @cached_property
    def series(self) -> list[tuple[str, NDArray[Any]]]:
        """The rows drawn at each share: of the class itself, of the other classes named, and of the rest together."""
        votes = self.distribution
        others = [k for k in np.argsort(-votes.rows.sum(axis=0), kind="stable") if k != votes.place]
        chosen, rest = others[: self.named], others[self.named :]
        if len(rest) == 1:
            chosen, rest = others, []
        drawn = [(str(votes.classes[k]), votes.rows[:, k]) for k in (votes.place, *chosen)]
        return [*drawn, (f"{len(rest)} other classes", votes.rows[:, rest].sum(axis=1))] if rest else drawn

    def columns(self) -> dict[str, list[Any]]:
        """Return what is drawn: true class, share of votes, rows."""
        share = self.distribution.share
        return stacked({"truth": name, "share": share, "rows": rows} for name, rows in self.series)

    def _draw(self, ax: Any) -> None:
        ax = self._begin(ax, (7.2, 4.2))
        share, width = self.distribution.share, 1 / (len(self.distribution.share) - 1)
        (_, rows), *others = self.series
        own, *names = plain_names([name for name, _ in self.series])
        handles: list[Any] = [
            ax.bar(share, rows, width * 0.86, color=ALARM, alpha=0.85, label=f"truly {own}", zorder=2)
        ]
        for number, (name, (_, rows)) in enumerate(zip(names, others, strict=True)):
            style = other_style(number) | {"marker": ("o", "s", "^", "D")[number % 4]}
            drawn = np.where(rows > 0, rows, np.nan) if self._steep else rows
            start = int(rows[0] == 0)  # a share of 0 is no vote: the line must not climb from there
            handles += ax.plot(
                share[start:], drawn[start:], **style, markersize=4.5, linewidth=1.5, markerfacecolor="white", zorder=3,
                label=name if number == self.named else f"truly {name}",
            )  # fmt: skip
        if self._steep:
            ax.set_yscale("log")
        ax.set_xlim(-width, 1 + width)
        ax.set_xlabel(f"share of the votes for {own}")
        ax.set_ylabel("rows" + (" (logarithmic)" if self._steep else ""))
        tidy(ax)
        beside(ax, handles)

    @cached_property
    def _steep(self) -> bool:
        peaks = [rows.max() for _, rows in self.series if rows.max() > 0]
        return bool(peaks) and max(peaks) > STEEP * min(peaks)

    @property
    def caption(self) -> str:
        """How many rows are not drawn, because they have no vote for the class."""
        votes = self.distribution
        own, others = votes.unvoted[votes.place], votes.unvoted.sum() - votes.unvoted[votes.place]
        if not own + others:
            return ""
        lost = f"{own:,.6g} rows of the class itself" if own else "no row of the class itself"
        return f"Not drawn, without a vote for {shown_label(votes.label)}: {lost}, {others:,.6g} of others."
