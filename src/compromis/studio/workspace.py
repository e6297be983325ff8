"""Tuning: a first answer at once from the weights before, then the full search."""

from __future__ import annotations

import itertools
import secrets
import threading
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from compromis.errors import InputError
from compromis.evidence.inputs import read_class_weights
from compromis.evidence.votes import Votes
from compromis.measures.pragma import shortfall
from compromis.measures.verdict import judge
from compromis.preferences import Preferences
from compromis.reports.panel import panel_document
from compromis.studio.comparing import class_rates, compare_class
from compromis.studio.forms import PreferencesForm, answers, form_of
from compromis.studio.jobs import Job, Jobs, Report
from compromis.studio.loading import Columns, Gathered, gather_decisions, gather_votes
from compromis.studio.storage import Places, Source
from compromis.weights import Sweep, WeightSearch, search_weights

SAMPLE = 40_000
"""Patterns that the first descent sees at most."""


def tune(
    patterns: Votes,
    preferences: Preferences,
    smoothing: float,
    before: NDArray[np.float64],
    job: Job,
) -> WeightSearch:
    """Return the best weights found; what a quick descent from the weights `before` finds is offered to those who wait.

    Preferences that changed a little has its best weights near. Of many patterns the first descent sees a sample; what it offers
    is counted on all of them.
    """

    def descend(some: Votes, start: NDArray[np.float64]) -> WeightSearch:
        method = Sweep(rounds=0, start=tuple(start.tolist()))
        return search_weights(
            some,
            preferences=preferences,
            smoothing=smoothing,
            method=method,
            progress=lambda _, loss: job.report(0.0, f"loss {loss:.4f}"),
        )

    start = before
    if len(patterns) > SAMPLE:
        start = descend(sampled(patterns, SAMPLE), before).weights
        job.offer(_offered(patterns, preferences, start, smoothing))
    near = descend(patterns, start)
    if job.result is None:
        job.offer(search_shown(near))
    full = search_weights(
        patterns,
        preferences=preferences,
        smoothing=smoothing,
        progress=lambda share, loss: job.report(0.95 * share, f"loss {loss:.4f}"),
    )
    return min(full, near, key=lambda one: (shortfall(one.counts, one.arrays), one.loss))


def sampled(patterns: Votes, most: int) -> Votes:
    """Return about `most` patterns, as many of each class as there are up to its share; they weigh what their class weighs."""
    generator = np.random.default_rng(0)
    each = max(1, most // len(patterns.classes))
    chosen, scale = [], []
    for place in range(len(patterns.classes)):
        own = np.flatnonzero((patterns.truth == place) & (patterns.multiplicity > 0))
        kept = own if len(own) <= each else np.sort(generator.choice(own, each, replace=False))
        chosen.append(kept)
        if len(kept):
            scale.append(np.full(len(kept), patterns.multiplicity[own].sum() / patterns.multiplicity[kept].sum()))
    rows = np.concatenate(chosen)
    weight = patterns.multiplicity[rows] * np.concatenate(scale)
    return Votes(
        votes=patterns.votes[rows],
        truth=patterns.truth[rows],
        multiplicity=weight,
        classes=patterns.classes,
        rows=len(rows),
    )


def _offered(
    patterns: Votes, preferences: Preferences, weights: NDArray[np.float64], smoothing: float
) -> dict[str, Any]:
    counts = patterns.counts(weights, smoothing=smoothing)
    verdict = judge(counts, preferences.on(patterns.classes))
    return {
        "weights": weights.tolist(),
        "counts": counts.matrix.tolist(),
        "loss": verdict.loss,
        "feasible": not verdict.shortfalls,
        "verdict": str(verdict),
    }


def search_shown(found: WeightSearch) -> dict[str, Any]:
    """Return a search for the page."""
    return {
        "weights": found.weights.tolist(),
        "counts": found.counts.matrix.tolist(),
        "loss": found.loss,
        "optimal": found.optimal,
        "feasible": found.feasible,
        "method": found.method,
        "message": found.message,
        "seconds": found.seconds,
        "verdict": str(found.verdict),
        **class_rates(found.counts),
    }


MOST_MODELS = 50
MOST_UPLOAD = 2_000_000_000
"""Bytes of an upload."""
MOST_PANEL = 8_000_000
"""Bytes of evidence that a page takes; beyond them votes are binned for its curves."""
MOST_VOTES = 100_000
"""Votes up to which the page searches by itself; beyond them the server does, which is quicker."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model was loaded, so that it can be loaded again."""

    source: str
    name: str
    columns: Columns
    model: str | None = None
    """The model file whose votes are wanted; without it the columns hold votes."""


class Model(msgspec.Struct):
    """A loaded model: its evidence, and the weights that hold at present."""

    id: str
    recipe: Recipe
    name: str
    gathered: Gathered
    weights: NDArray[np.float64]
    document: dict[str, Any]
    """What the panel shows, without the preferences and the weights of the moment."""
    smoothing: float = 0.0

    @property
    def patterns(self) -> Votes:
        """The evidence."""
        return self.gathered.patterns

    def shown(self) -> dict[str, Any]:
        """Return what the page lists."""
        patterns = self.patterns
        return {
            "id": self.id,
            "name": self.name,
            "classes": list(patterns.classes),
            "support": [float(one) for one in patterns.support],
            "rows": patterns.rows,
            "patterns": len(patterns),
            "left_out": patterns.left_out,
            "dropped": self.gathered.dropped,
            "recipe": msgspec.to_builtins(self.recipe),
            "weights": self.weights.tolist(),
            "smoothing": self.smoothing,
        }


class Workspace:
    """The state of one studio; changes are short and under a lock, work happens outside it."""

    def __init__(self, places: Places, *, eager: bool = False, most_upload: int = MOST_UPLOAD) -> None:
        self.places = places
        self.most_upload = most_upload
        self._eager = eager
        self.jobs = Jobs()
        self.boot = secrets.token_hex(8)
        self.preferences: PreferencesForm | None = None
        self.warm = threading.Event()
        """Set when the compiled kernels are at hand."""
        self._models: dict[str, Model] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def shown(self) -> dict[str, Any]:
        """Return all that a page needs when it opens."""
        return {
            "boot": self.boot,
            "eager": self._eager,
            "most_upload": self.most_upload,
            "folder": str(self.places.output),
            "sources": [source_shown(one) for one in self.places.sources()],
            "models": [one.shown() for one in self._models.values()],
            "jobs": [job.shown() for job in self.jobs.unfinished()],
            "preferences": None if self.preferences is None else msgspec.to_builtins(self.preferences),
        }

    def model(self, number: str) -> Model:
        """Return the model of that number."""
        found = self._models.get(number)
        if found is None:
            raise InputError("this model is not loaded (any more); load it again")
        return found

    def models(self) -> list[Model]:
        """Return the models in the order they were loaded."""
        return list(self._models.values())

    def remove(self, number: str) -> None:
        """Forget a model."""
        with self._lock:
            self._models.pop(number, None)

    def load(self, recipe: Recipe, report: Report) -> dict[str, Any]:
        """Read a file into evidence, and keep it as a model."""
        source = self.places.source(recipe.source)
        model_file = None if recipe.model is None else self.places.source(recipe.model)
        gathered, weights, smoothing = _gathered(source, model_file, recipe, report)
        report(0.98, "preparing the panel")
        document = _document(gathered.patterns, smoothing)
        report(0.99, "preparing the panel")
        with self._lock:
            if len(self._models) >= MOST_MODELS:
                raise InputError(f"there are {MOST_MODELS} models already; remove one first")
            number = str(next(self._numbers))
            name = _unique(recipe.name or source.name, {one.name for one in self._models.values()})
            self._models[number] = Model(number, recipe, name, gathered, weights, document, smoothing)
        return self._models[number].shown()

    def tune(self, model: Model, form: PreferencesForm, job: Job) -> dict[str, Any]:
        """Search the weights that serve the preferences best and let them hold; a first result comes from the weights before."""
        note = (
            "searching" if self.warm.is_set() else "getting ready; after an installation this takes half a minute, once"
        )
        job.report(0.0, note)
        preferences = form.preferences(model.patterns.classes)
        found = tune(model.patterns, preferences, model.smoothing, model.weights, job)
        with self._lock:
            model.weights, self.preferences = found.weights, form
        return search_shown(found)

    def hold(self, model: Model, form: PreferencesForm, weights: list[float]) -> None:
        """Let weights hold that the page found."""
        checked = read_class_weights(weights, model.patterns.classes)
        form.preferences(model.patterns.classes)
        with self._lock:
            model.weights, self.preferences = checked, form

    def compare(self, label: str, metric: str, report: Report) -> dict[str, Any]:
        """Compare all models for one class over all recall weights."""
        models = [one for one in self.models() if label in one.patterns.classes]
        if not models:
            raise InputError(f"no model is loaded that knows the class {label!r}")
        result = compare_class({one.name: one.patterns for one in models}, label, metric, report)
        for curve, one in zip(result["curves"], models, strict=True):
            place = one.patterns.classes.index(label)
            rates = class_rates(one.patterns.counts(one.weights, smoothing=one.smoothing))
            curve["at"] = {name: values[place] for name, values in rates.items()}
        return result

    def panel(self, model: Model) -> dict[str, Any]:
        """Return the panel's document with the preferences and the weights that hold now."""
        preferences = self.preferences_for(model)
        counts = model.patterns.counts(model.weights, smoothing=model.smoothing)
        now = {
            "preferences": {"metric": preferences.metric, "classes": [answers(one) for one in preferences.classes]},
            "weights": model.weights.tolist(),
            "counts": counts.matrix.tolist(),
        }
        return model.document | now

    def preferences_for(self, model: Model) -> PreferencesForm:
        """Return the preferences that hold, with every class of the model named."""
        labels = model.patterns.classes
        preferences = Preferences() if self.preferences is None else self.preferences.preferences(labels)
        return form_of(preferences, labels)

    def close(self) -> None:
        """Stop all work, and remove the temporary files."""
        self.jobs.close()
        self.places.close()


def source_shown(source: Source) -> dict[str, Any]:
    """Return a source for the page: its number and name, not its path."""
    return {"id": source.id, "name": source.name, "kind": source.kind, "size": source.path.stat().st_size}


def _document(patterns: Votes, smoothing: float) -> dict[str, Any]:
    """Return the panel's document; it searches in the page if all votes are there and few, else here."""
    document = panel_document(patterns, smoothing=smoothing, most_bytes=MOST_PANEL)
    votes = document["evidence"]["patterns"] * len(patterns.classes)
    document["remote"] = document["binning"] is not None or votes > MOST_VOTES
    return document


def _gathered(
    source: Source, model_file: Source | None, recipe: Recipe, report: Report
) -> tuple[Gathered, NDArray[np.float64], float]:
    try:
        if model_file is None:
            gathered = gather_votes(source, recipe.columns, report)
            return gathered, np.ones(len(gathered.patterns.classes)), 0.0
        gathered, fitted = gather_decisions(model_file, source, recipe.columns, report)
    except InputError as error:
        spoken = source.spoken(str(error))
        raise InputError(spoken if model_file is None else model_file.spoken(spoken)) from error
    return gathered, fitted.decision.weights, fitted.decision.smoothing


def _unique(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(other for number in itertools.count(2) if (other := f"{name} ({number})") not in taken)
