"""The panel in notebooks, and its script and style."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._results import shared_style
from compromis._typing import Floats, Label
from compromis.errors import InputError, MissingExtra
from compromis.evaluation.evaluate import Evaluation, evaluate
from compromis.evidence.votes import Votes
from compromis.preferences import Preferences
from compromis.reports.panel.document import panel_document, preferences_document
from compromis.weights.decision import Decision

MODULES = (
    "elements", "evidence", "preferences", "loss", "baselines", "order", "descent", "search", "cuts",
    "headline", "tables", "link", "curves", "controls", "results", "actions", "panel",
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
      model.set("state", { preferences: state.preferences, weights: state.weights, by: state.by });
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
) -> Any:
    """Show the panel in a notebook; the preferences and weights set by hand can be read from the result.

    Parameters
    ----------
    evaluation : Evaluation or Votes
        An evaluation made with ``y_proba=``, or votes with their true classes.
    preferences : Preferences, optional
        The preferences at first; without them the evaluation's, else every class alike.
    weights : array-like of shape (K,), optional
        The weights at first. Without them the panel starts from the predictions of the evaluation, of votes from equal weights;
        'Tune on these rows' searches for weights.
    smoothing : float
        What is added to every vote.

    Returns
    -------
    anywidget.AnyWidget
        Shows itself; ``.preferences``, ``.weights`` and ``.decision`` are the present ones. Where no kernel runs, as in a notebook
        on GitHub or one that nbconvert wrote, the result stands there as a table.

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
        given = np.ones(len(evaluation.classes)) if weights is None else weights
        result = evaluate(evaluation.counts(given, smoothing=smoothing), preferences=preferences)
    elif isinstance(evaluation, Evaluation):
        votes, result = evaluation.votes, evaluation
        preferences = evaluation.preferences if preferences is None else preferences
    else:
        raise InputError(
            f"a panel is made of an Evaluation or of Votes, got {type(evaluation).__name__}; call compromis.evaluate first"
        )
    if votes is None:
        raise InputError("the evaluation has no votes to weigh; evaluate with y_proba=, or pass Votes")
    page = panel_document(
        votes,
        preferences,
        weights,
        smoothing=smoothing,
        before=result.counts,
        positive=result.pos_label,
        follows=False,
    )
    decision = Decision(votes.classes, page["weights"], smoothing=smoothing)
    return _widget_class()(decision, preferences or Preferences(), page, result)


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

        def __init__(self, decision: Decision, first: Preferences, page: dict[str, Any], result: Evaluation) -> None:
            super().__init__(page=page, state={})
            self._decision, self._first, self._result = decision, first, result

        def __repr__(self) -> str:
            return f"<panel of {self._result!r}>"

        def _repr_mimebundle_(self, **options: Any) -> Any:
            """Add the result as HTML and as text to what shows the sliders, for readers without a kernel."""
            bundle = super()._repr_mimebundle_(**options)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
            note = "<p>The sliders of this panel need a running notebook.</p>"
            fallback = {
                "text/plain": f"{self!r}\n\n{self._result.headline}",
                "text/html": self._result._repr_html_() + note,
            }
            return {**data, **fallback}, metadata

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
