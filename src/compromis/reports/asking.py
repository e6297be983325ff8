"""An interview in notebooks: a widget with the two results as buttons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from compromis.errors import MissingExtra
from compromis.evidence.votes import Votes
from compromis.metrics import Metric
from compromis.preferences import Preferences
from compromis.tradeoffs.interview import Interview


def ask(votes: Votes, classes: Sequence[Any] | None = None, *, metric: str | Metric = "f") -> Any:
    """Ask for preferences by choices, in a notebook; what was said can be read from the result at any time.

    Parameters
    ----------
    votes, classes, metric : see `compromis.tradeoffs.Interview`

    Returns
    -------
    anywidget.AnyWidget
        Shows itself; ``.preferences`` are the present ones, ``.interview`` is the interview. Where no kernel runs, the question stands
        there as a table.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["ill", "ill", "well", "well", "well"], [[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8], [0.1, 0.9]])
    >>> asking = cp.reports.ask(votes, ["ill"])
    >>> asking.answers = ["second"]                       # what a click does
    >>> asking.preferences.of("ill").recall_weight > 0.5
    True
    """
    return _widget_class()(Interview(votes, classes, metric=metric))


@cache
def _widget_class() -> type:
    """The widget's class; made when it is needed, because anywidget is an extra."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtra(
            "this widget needs anywidget; install it with: pip install 'compromis[notebook]', "
            "or answer compromis.tradeoffs.Interview step by step"
        ) from None

    class AskingWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """The question, with a button for each result; ``interview`` and ``preferences`` are the present ones."""

        _esm = (Path(__file__).parent / "asking.js").read_text("utf-8")
        answers = traitlets.List().tag(sync=True)
        page = traitlets.Dict().tag(sync=True)

        def __init__(self, interview: Interview) -> None:
            self.interview = interview
            super().__init__(answers=list(interview.answers), page=_page(interview))
            self.observe(self._answered, "answers")

        def _answered(self, change: Any) -> None:
            self.interview = self.interview.taken_up(change["new"])
            self.page = _page(self.interview)

        @property
        def preferences(self) -> Preferences:
            return self.interview.preferences()

        def __repr__(self) -> str:
            return f"<asking by choices: {self.interview!r}>"

        def _repr_mimebundle_(self, **options: Any) -> Any:
            """Add the question as HTML and as text, for readers without a kernel."""
            bundle = super()._repr_mimebundle_(**options)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
            return {**data, "text/plain": str(self.interview), "text/html": self.interview._repr_html_()}, metadata

    return AskingWidget


def _page(interview: Interview) -> dict[str, Any]:
    """Return what the widget shows, as plain values."""
    question = interview.question
    return {
        "number": None if question is None else question.number,
        "most": interview.most,
        "sides": [] if question is None else [[f"finds {one}" for one in side] for side in question.told],
        "known": [
            {"name": one.name, "range": f"{one.value:.2g} ({one.low:.2g} to {one.high:.2g})", "shares": one.shares}
            for one in interview.known
        ],
    }
