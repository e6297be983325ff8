"""The panel's script and style, as one text each."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compromis.errors import InputError, MissingExtra
from compromis.evaluation.evaluate import Evaluation
from compromis.evaluation.render.html import shared_style
from compromis.evidence.votes import Votes
from compromis.preferences import Preference, Preferences
from compromis.reports.panel.document import answers_of, panel_document
from compromis.reports.result import starting_weights

MODULES = (
    "evidence", "preferences", "loss", "verdict", "order", "descent", "tune", "cuts",
    "elements", "curves", "controls", "results", "actions", "panel",
)  # fmt: skip
"""In an order in which each uses only those before it."""
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_HERE = Path(__file__).parent


@cache
def panel_assets() -> tuple[str, str]:
    """Return the panel's JavaScript, one ES module without imports, and its CSS.

    Examples
    --------
    >>> from compromis.reports.panel import panel_assets
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
"""What anywidget calls: the panel tells the model of every change."""


def panel(
    evaluation: Evaluation | Votes,
    *,
    preferences: Preferences | None = None,
    weights: ArrayLike | None = None,
    smoothing: float = 0.0,
    random_state: int = 0,
) -> Any:
    """Show the knobs in a notebook; what is set by hand can be read from the result.

    Parameters
    ----------
    evaluation : Evaluation or Votes
        An evaluation made with ``y_proba=``, or votes with their true classes.
    preferences : Preferences, optional
        What matters at first; without it the evaluation's, else every class alike.
    weights : array-like of shape (K,), optional
        The weights at first; without them those that a search finds for the preferences.
    smoothing : float
        What is added to every vote.
    random_state : int
        The seed of the search.

    Returns
    -------
    anywidget.AnyWidget
        Shows itself; ``.preferences``, ``.weights`` and ``.decision`` are what is set at the moment.

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
    return _widget_class()(votes.classes, preferences or Preferences(), used, page)


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
        """The knobs of preferences; ``preferences`` and ``weights`` are what is set at the moment."""

        _esm = script + RENDER
        _css = style
        page = traitlets.Dict().tag(sync=True)
        state = traitlets.Dict().tag(sync=True)

        def __init__(
            self, classes: tuple[Any, ...], first: Preferences, weights: NDArray[np.float64], page: dict[str, Any]
        ) -> None:
            super().__init__(page=page, state={})
            self._classes, self._first, self._weights = classes, first, weights

        @property
        def preferences(self) -> Preferences:
            """What matters, as set at the moment."""
            return read_state(self._classes, self._first, self.state)

        @property
        def weights(self) -> NDArray[np.float64]:
            """The weights that serve it best."""
            return np.array(self.state.get("weights", self._weights), dtype=np.float64)

        @property
        def decision(self) -> Any:
            """The weights as a decision that can be carried elsewhere."""
            from compromis.weights.decision import Decision

            return Decision(self._classes, self.weights, self.page["smoothing"])

    return PanelWidget


def read_state(classes: tuple[Any, ...], first: Preferences, state: dict[str, Any]) -> Preferences:
    """Return the preferences that a panel's state means; those it started from as long as it says the same."""
    if not state:
        return first
    preferences = state["preferences"]
    rows = dict(zip(classes, preferences["classes"], strict=True))
    if preferences["metric"] == first.metric.name and all(
        answer == row[name] for label, row in rows.items() for name, answer in answers_of(first.of(label)).items()
    ):
        return first
    return Preferences({label: _preference(row) for label, row in rows.items()}, metric=preferences["metric"])


def _preference(one: dict[str, Any]) -> Preference:
    minima = {name: one[name] for name in ("min_precision", "min_recall")}
    if one["recall_weight"] is not None:
        return Preference(one["importance"], recall_weight=one["recall_weight"], **minima)
    return Preference(one["importance"], one["precision_at_full_recall"], one["recall_at_full_precision"], **minima)
