"""The panel in notebooks, and its script and style."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from compromis._results import shared_style
from compromis._typing import Floats, Label
from compromis.errors import InputError, MissingExtra
from compromis.evaluation.evaluate import Evaluation
from compromis.evidence.votes import Votes
from compromis.preferences import Preferences
from compromis.reports.panel.document import panel_document, preferences_document, starting_weights
from compromis.weights.decision import Decision

MODULES = (
    "evidence", "preferences", "loss", "baselines", "order", "descent", "search", "cuts",
    "elements", "headline", "tables", "link", "curves", "controls", "results", "actions", "panel",
)  # fmt: skip
"""In an order in which each uses only earlier ones."""
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_HERE = Path(__file__).parent


@cache
def panel_assets() -> tuple[str, str]:
    """Return the panel's JavaScript, one ES module without imports, and its CSS.

    Examples
    --------
    >>> from compromis.reports import panel_assets
    >>> script, style = panel_assets()
    >>> "export function mountPanel" in script, "import " in script.split("export")[0]
    (True, False)
    """
    parts = [(_HERE / "js" / f"{name}.js").read_text("utf-8") for name in MODULES]
    style = shared_style() + (_HERE / "panel.css").read_text("utf-8")
    return "\n".join(_IMPORT.sub("", part) for part in parts), style


RENDER = """
function render({ model, el }) {
  const panel = mountPanel(el, model.get("page"), {
    onChange(state) {
      model.set("state", { preferences: state.preferences, weights: state.weights });
      model.save_changes();
    },
  });
  return () => panel.destroy();
}
export default { render };
"""
"""What anywidget calls; the panel reports every change to the model."""


def panel(
    evaluation: Evaluation | Votes,
    *,
    preferences: Preferences | None = None,
    weights: ArrayLike | None = None,
    smoothing: float = 0.0,
    random_state: int = 0,
) -> Any:
    """Show the panel in a notebook; the preferences and weights set by hand can be read from the result.

    Parameters
    ----------
    evaluation : Evaluation or Votes
        An evaluation made with ``y_proba=``, or votes with their true classes.
    preferences : Preferences, optional
        The preferences at first; without them the evaluation's, else every class alike.
    weights : array-like of shape (K,), optional
        The weights at first; without them those that a search finds for the preferences.
    smoothing : float
        What is added to every vote.
    random_state : int
        The seed of the search.

    Returns
    -------
    anywidget.AnyWidget
        Shows itself; ``.preferences``, ``.weights`` and ``.decision`` are the present ones.

    Examples
    --------
    >>> import compromis as cp
    >>> votes = cp.Votes.from_proba(["good", "bad", "bad"], [[3, 1], [2, 2], [0, 4]], labels=["good", "bad"])
    >>> knobs = cp.panel(votes, preferences=cp.Preferences.prioritise(["bad"]))
    >>> knobs.preferences == cp.Preferences.prioritise(["bad"])
    True
    """
    if isinstance(evaluation, Votes):
        votes: Votes | None = evaluation
    elif isinstance(evaluation, Evaluation):
        votes = evaluation.votes
        preferences = evaluation.preferences if preferences is None else preferences
    else:
        raise InputError(
            f"a panel is made of an Evaluation or of Votes, got {type(evaluation).__name__}; call compromis.evaluate first"
        )
    if votes is None:
        raise InputError("the evaluation has no votes to weigh; evaluate with y_proba=, or pass Votes")
    _, used = starting_weights(votes.merge(), preferences, weights, smoothing, random_state)
    page = panel_document(votes, preferences, used, smoothing=smoothing)
    return _widget_class()(Decision(votes.classes, used, smoothing=smoothing), preferences or Preferences(), page)


@cache
def _widget_class() -> type:
    """The widget's class; made when it is needed, because anywidget is an extra."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtra("panels need anywidget; install it with: pip install 'compromis[notebook]'") from None
    script, style = panel_assets()

    class PanelWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """The panel; ``preferences``, ``weights`` and ``decision`` are the present ones."""

        _esm = script + RENDER
        _css = style
        page = traitlets.Dict().tag(sync=True)
        state = traitlets.Dict().tag(sync=True)

        def __init__(self, decision: Decision, first: Preferences, page: dict[str, Any]) -> None:
            super().__init__(page=page, state={})
            self._decision, self._first = decision, first

        @property
        def preferences(self) -> Preferences:
            return _read_preferences(self.state, self._decision.classes, self._first)

        @property
        def weights(self) -> Floats:
            return self.decision.weights

        @property
        def decision(self) -> Decision:
            weights = self.state.get("weights", self._decision.weights)
            return Decision(self._decision.classes, weights, smoothing=self._decision.smoothing)

    return PanelWidget


def _read_preferences(state: dict[str, Any], classes: tuple[Label, ...], first: Preferences) -> Preferences:
    """Return the preferences of a panel's state; the first ones as long as it says the same."""
    if not state:
        return first
    given, initial = state["preferences"], preferences_document(first, classes)
    rows = [
        {name: row.get(name) for name in answers}
        for row, answers in zip(given["classes"], initial["classes"], strict=True)
    ]
    if given["metric"] == initial["metric"] and rows == initial["classes"]:
        return first
    costs: dict[str, Any] = {"cost": given["cost"], "labels": classes} if given.get("cost") else {}
    return Preferences(dict(zip(classes, rows, strict=True)), metric=given["metric"], **costs)
